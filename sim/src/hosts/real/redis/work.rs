use crate::hosts::programs::resp::{name, words};
use crate::hosts::real::judged::Trigger;
use crate::hosts::real::work::{Work, next_message};
use bytes::{Bytes, BytesMut};
use fencepost_machine::ConnectionId;
use redis_protocol::resp2::decode::decode_bytes_mut;

const HARMLESS: &[&str] = &[
    "AUTH", "CLIENT", "COMMAND", "ECHO", "EXISTS", "GET", "HELLO", "HEXISTS", "HGET", "HGETALL",
    "INFO", "MULTI", "PING", "PSUBSCRIBE", "PTTL", "PUBLISH", "PUNSUBSCRIBE", "REPLCONF", "ROLE",
    "SCRIPT", "SELECT", "SUBSCRIBE", "TIME", "TTL", "TYPE", "UNSUBSCRIBE", "WAIT", "WATCH",
];

pub(super) fn is_replication_request(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).to_ascii_uppercase();
    head.contains("\r\nPSYNC\r\n") || head.contains("\r\nSYNC\r\n")
}

pub(super) fn next_work(by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
    if is_raw || buffer.is_empty() {
        return next_message(by, buffer, is_raw);
    }
    match decode_bytes_mut(buffer) {
        Ok(None) => None,
        Ok(Some((frame, _, bytes))) => {
            let cause = match words(&frame) {
                Some(words) => cause(by, &words),
                None => Some(Trigger::of(by)),
            };
            Some(Work::Command { by, bytes: bytes.to_vec(), cause })
        }
        // The bytes are not RESP, for example an inline command.
        Err(_) => next_message(by, buffer, is_raw),
    }
}

fn cause(by: ConnectionId, words: &[Bytes]) -> Option<Trigger> {
    let name = name(&words[0]);
    if HARMLESS.contains(&name.as_str()) {
        return None;
    }
    let sets = (name == "SET").then(|| words.get(1).cloned()).flatten();
    // Redis may have refused a SET with NX, so the key may be unchanged.
    let sets = sets.filter(|_| !words.iter().any(|word| word.eq_ignore_ascii_case(b"NX")));
    Some(Trigger::Command { by, clears: name.starts_with("FLUSH"), sets })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: ConnectionId = ConnectionId(1);

    fn all(text: &str, is_raw: bool) -> Vec<Work> {
        let mut buffer = BytesMut::from(text);
        std::iter::from_fn(|| next_work(BY, &mut buffer, is_raw)).collect()
    }

    #[test]
    fn commands_are_told_apart_and_so_are_those_that_change_nothing() {
        let both = all("*1\r\n$4\r\nping\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n*1\r\n$4\r\nPI", false);
        let [Work::Command { cause: None, .. }, Work::Command { cause: Some(cause), bytes, .. }] =
            &both[..]
        else {
            panic!("{both:?}")
        };
        assert_eq!(bytes, b"*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n");
        assert_eq!(*cause, Trigger::of(BY));
    }

    #[test]
    fn what_servers_send_each_other_is_not_cut() {
        let text = "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPI";
        let whole = Work::Raw { by: BY, bytes: text.as_bytes().to_vec(), changes: true };
        assert_eq!(all(text, true), [whole]);
        assert!(is_replication_request(b"*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n"));
    }
}
