//! Formats messages as readable text, with decoded keys.

use crate::peers::GREETING;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_machine::wording::Speaker;

pub fn etcd(_: Speaker, bytes: &[u8]) -> String {
    if bytes.starts_with(GREETING) || bytes.first() == Some(&0) {
        return member(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or(("", &text));
    let first = head.lines().next().unwrap_or_default();
    let first = first.trim_end_matches(" HTTP/1.1").trim_start_matches("HTTP/1.1 ");
    let lines = body.lines().filter(|line| line.starts_with('{')).map(plain);
    let lines: Vec<String> = lines.collect();
    let words = [first.to_owned(), lines.join(" | ")];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn member(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(4..).unwrap_or_default());
    let body = text.split_once("\"body\":").map_or("", |(_, body)| body);
    let name: String =
        body.chars().filter(char::is_ascii_alphabetic).take_while(|_| true).collect();
    let name = body.split('"').nth(1).unwrap_or(&name);
    format!("raft {name}").trim_end().to_owned()
}

fn plain(json: &str) -> String {
    let mut words = String::new();
    let mut rest = json;
    while let Some((before, after)) = rest.split_once('"') {
        words.push_str(before);
        let Some((inside, behind)) = after.split_once('"') else { break };
        words.push_str(&readable(inside));
        rest = behind;
    }
    words + rest
}

fn readable(text: &str) -> String {
    let decoded = if text.len() >= 8 { STANDARD.decode(text).ok() } else { None };
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let is_plain = |text: &String| text.chars().all(|it| it.is_ascii_graphic() || it == ' ');
    decoded.filter(is_plain).unwrap_or_else(|| text.to_owned())
}
