//! Formats messages as readable text, with decoded keys.

use crate::peers::GREETING;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_machine::wording::Speaker;

/// The types of HTTP/2 frames (RFC 9113, section 6), by number.
const FRAMES: [&str; 10] = [
    "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY",
    "WINDOW_UPDATE", "CONTINUATION",
];
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub fn etcd(_: Speaker, bytes: &[u8]) -> String {
    if let Some(frames) = http2(bytes.strip_prefix(PREFACE).unwrap_or(bytes)) {
        return frames;
    }
    if bytes.starts_with(GREETING) || bytes.get(4) == Some(&b'{') {
        return member(bytes);
    }
    if bytes.first() == Some(&0) {
        return "HTTP/2 part of a frame".to_owned();
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

/// Names the frames of a gRPC client or server, with the texts of DATA frames. Returns `None` if
/// the bytes are not whole frames.
fn http2(mut bytes: &[u8]) -> Option<String> {
    let mut words = vec!["HTTP/2".to_owned()];
    while let Some((&[a, b, c, kind, _, stream, ..], rest)) = bytes.split_first_chunk::<9>() {
        let (body, after) = rest.split_at_checked(u32::from_be_bytes([0, a, b, c]) as usize)?;
        words.push((*FRAMES.get(usize::from(kind)).filter(|_| stream < 0x80)?).to_owned());
        if kind == 0 {
            words.extend(texts(body));
        }
        bytes = after;
    }
    (bytes.is_empty() && words.len() > 1).then(|| words.join(" "))
}

fn texts(message: &[u8]) -> impl Iterator<Item = String> {
    let runs = message.split(|byte| !byte.is_ascii_graphic());
    runs.filter(|run| run.len() >= 4).map(|run| String::from_utf8_lossy(run).into_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_grpc_are_not_messages_of_members() {
        let headers = [0, 0, 2, 1, 4, 0, 0, 0, 1, 0x83, 0x86];
        let data = b"\0\0\x0d\0\x01\0\0\0\x01\0\0\0\0\x08\x0a\x06orders";
        let call = [&headers[..], data].concat();
        assert_eq!(etcd(Speaker::Client, &call), "HTTP/2 HEADERS DATA orders");
        assert_eq!(etcd(Speaker::Client, &[PREFACE, &headers].concat()), "HTTP/2 HEADERS");
        let vote = br#"{"term":2,"body":{"Vote":{}}}"#;
        let vote = [&(vote.len() as u32).to_be_bytes()[..], vote].concat();
        assert_eq!(etcd(Speaker::Client, &vote), "raft Vote");
        assert_eq!(etcd(Speaker::Client, &call[..5]), "HTTP/2 part of a frame");
    }
}
