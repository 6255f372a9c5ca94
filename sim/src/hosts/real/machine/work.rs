//! What has arrived at a server, cut into what is handed to it at a time.

use super::Trigger;
use crate::hosts::programs::resp::{name, words};
use bytes::{Bytes, BytesMut};
use fencepost_machine::{ConnectionId, OperatorAction};
use redis_protocol::resp2::decode::decode_bytes_mut;

/// Commands after which no key and no part of the server is another one.
const HARMLESS: &[&str] = &[
    "AUTH",
    "CLIENT",
    "COMMAND",
    "ECHO",
    "EXISTS",
    "GET",
    "HELLO",
    "HEXISTS",
    "HGET",
    "HGETALL",
    "INFO",
    "MULTI",
    "PING",
    "PSUBSCRIBE",
    "PTTL",
    "PUBLISH",
    "PUNSUBSCRIBE",
    "REPLCONF",
    "ROLE",
    "SCRIPT",
    "SELECT",
    "SUBSCRIBE",
    "TIME",
    "TTL",
    "TYPE",
    "UNSUBSCRIBE",
    "WAIT",
    "WATCH",
];

/// Something that is handed to a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// A command of a client, and what it is to the judge if it may change anything.
    Command { by: ConnectionId, bytes: Vec<u8>, cause: Option<Trigger> },
    /// Bytes of another server.
    Raw { by: ConnectionId, bytes: Vec<u8> },
    /// A connection is closed.
    End { of: ConnectionId },
    /// An operator types something.
    Operator(OperatorAction),
}

impl Work {
    /// Whether what it changes must not be mixed up with what others change.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self, Work::Command { cause: Some(_), .. } | Work::Operator(_))
    }

    /// Whether a replica asks for all that follows.
    pub(super) fn begins_replication(&self) -> bool {
        let Work::Command { bytes, .. } = self else { return false };
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).to_ascii_uppercase();
        head.contains("\r\nPSYNC\r\n") || head.contains("\r\nSYNC\r\n")
    }
}

/// The next thing that has arrived over a connection; `None` if no command is whole.
pub(super) fn next_work(by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
    if buffer.is_empty() {
        return None;
    }
    if is_raw {
        return Some(Work::Raw { by, bytes: buffer.split().to_vec() });
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
        // A command that somebody types by hand.
        Err(_) => {
            Some(Work::Command { by, bytes: buffer.split().to_vec(), cause: Some(Trigger::of(by)) })
        }
    }
}

fn cause(by: ConnectionId, words: &[Bytes]) -> Option<Trigger> {
    let name = name(&words[0]);
    if HARMLESS.contains(&name.as_str()) {
        return None;
    }
    let sets = (name == "SET").then(|| words.get(1).cloned()).flatten();
    // A SET that was refused changes nothing.
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
        assert_eq!(all(text, true), [Work::Raw { by: BY, bytes: text.as_bytes().to_vec() }]);
        let psync = &all("*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n", false)[0];
        assert!(psync.begins_replication());
    }
}
