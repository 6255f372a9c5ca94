use crate::operators::wire::{Exchange, Heard};
use serde_json::Value;

pub(crate) enum Rule {
    Asks(fn(&str, &mut Value) -> bool),
    Unsent(fn(&str, &Value) -> Option<Value>),
    Hears(fn(&str, &mut Value) -> bool),
    NoDeletions,
}

fn parts(bytes: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head, body))
}

fn path_of(head: &str) -> Option<&str> {
    head.strip_prefix("POST /v3/")?.split(' ').next()
}

fn with_body(head: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let lines = head.split("\r\n").map(|line| match line.to_lowercase() {
        name if name.starts_with("content-length:") => format!("Content-Length: {}", body.len()),
        _ => line.to_owned(),
    });
    let lines: Vec<String> = lines.collect();
    format!("{}\r\n\r\n{body}", lines.join("\r\n")).into_bytes()
}

fn answer(body: &Value) -> Vec<u8> {
    with_body("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0", body)
}

impl Rule {
    pub(crate) fn hears(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Heard {
        let Some((head, body)) = parts(bytes).filter(|_| exchange.peer.is_client) else {
            return Heard::AsItIs;
        };
        let (Some(path), Ok(mut body)) = (path_of(head), serde_json::from_str::<Value>(body))
        else {
            return Heard::AsItIs;
        };
        let is_of_others = path == "kv/range" && body["max_create_revision"].is_string();
        exchange.peer.asked = format!("{path}{}", if is_of_others { "+" } else { "" }).into_bytes();
        match self {
            Rule::Asks(rule) => {
                let is_changed = rule(path, &mut body);
                Heard::changed(is_changed, with_body(head, &body))
            }
            Rule::Unsent(rule) => match rule(path, &body) {
                Some(body) => Heard::Answered(answer(&body)),
                None => Heard::AsItIs,
            },
            _ => Heard::AsItIs,
        }
    }

    pub(crate) fn says(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(bytes);
        match self {
            Rule::NoDeletions => {
                let is_told = text.contains("\"type\":\"DELETE\"");
                (is_told && exchange.peer.is_client).then(Vec::new)
            }
            Rule::Hears(rule) if exchange.peer.is_client => {
                let path = String::from_utf8_lossy(&exchange.peer.asked).into_owned();
                let (head, body) = parts(bytes)?;
                let mut body: Value = serde_json::from_str(body).ok()?;
                rule(&path, &mut body).then(|| with_body(head, &body))
            }
            _ => None,
        }
    }
}
