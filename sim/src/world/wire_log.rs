//! Every message as it was sent and as it arrived, for pictures. Must never know anything that the
//! world decides by: with or without it a run is the same.

use super::agenda::HostIndex;
use super::socket::Kind;
use super::state::State;
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{Trace, WireMessage};
use std::collections::BTreeMap;

/// More messages than this are only counted.
const KEPT_MAX: usize = 100_000;
/// A label is cut behind so many characters.
const LABEL_MAX: usize = 96;

/// The messages so far.
#[derive(Debug, Default)]
pub(crate) struct WireLog {
    trace: Trace,
    /// Where the messages that are under way stand in the trace, by their serial number.
    under_way: BTreeMap<u64, usize>,
    /// What the next data message says.
    label: String,
}

impl WireLog {
    /// Reads the bytes that are about to be sent.
    pub(crate) fn reads(&mut self, bytes: &[u8]) {
        self.label = label(bytes);
    }

    fn sent(&mut self, serial: u64, kind: Kind, [from, to]: [Node; 2], now: SimTime) {
        if self.trace.messages.len() >= KEPT_MAX {
            self.trace.left_out += 1;
            return;
        }
        let label = match kind {
            Kind::Connect => "connect".to_owned(),
            Kind::Accepted => "accepted".to_owned(),
            Kind::Refused => "refused".to_owned(),
            Kind::Data => std::mem::take(&mut self.label),
            Kind::End => "end".to_owned(),
            Kind::Reset => "reset".to_owned(),
        };
        self.under_way.insert(serial, self.trace.messages.len());
        self.trace.messages.push(WireMessage { from, to, sent_us: now, arrived_us: None, label });
    }

    fn arrived(&mut self, serial: u64, now: SimTime) {
        if let Some(index) = self.under_way.remove(&serial) {
            self.trace.messages[index].arrived_us = Some(now);
        }
    }

    /// What was written down.
    pub(crate) fn into_trace(self) -> Trace {
        self.trace
    }
}

impl State {
    /// Writes a message down as it is sent: over which connection is told by the socket at one of
    /// its ends.
    pub(super) fn note_sent(
        &mut self,
        serial: u64,
        kind: Kind,
        (from, to): (HostIndex, HostIndex),
        socket: u32,
    ) {
        let thread = self.sockets.get(socket as usize).map_or(1, |end| end.thread);
        let (ends, now) = ([from, to].map(|host| self.node(host).of_thread(thread)), self.now);
        if let Some(wire) = &mut self.wire {
            wire.sent(serial, kind, ends, now);
        }
    }

    /// Writes down that a message has reached its host.
    pub(super) fn note_arrived(&mut self, serial: u64) {
        let now = self.now;
        if let Some(wire) = &mut self.wire {
            wire.arrived(serial, now);
        }
    }
}

/// RESP bytes in words: `SET lock a41f NX PX 10000`, `OK`, `(nil)`. Several commands or replies are
/// parted by ` | `.
fn label(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
    let mut words: Vec<String> = Vec::new();
    // How many words of the array that is being read are still to come.
    let mut left = 0_u64;
    while let Some(line) = lines.next() {
        let (head, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let number: i64 = rest.parse().unwrap_or(-1);
        let word = match head {
            "*" | "%" | "~" | ">" => {
                left = u64::try_from(number).unwrap_or(0) * if head == "%" { 2 } else { 1 };
                if words.is_empty() || left == 0 { continue } else { "|".to_owned() }
            }
            "$" | "=" if number < 0 => "(nil)".to_owned(),
            "$" | "=" => lines.next().unwrap_or_default().to_owned(),
            "_" => "(nil)".to_owned(),
            "+" | "-" | ":" | "," | "#" | "(" => rest.to_owned(),
            _ => line.to_owned(),
        };
        words.push(if left == 0 && !words.is_empty() { format!("| {word}") } else { word.clone() });
        left = if word == "|" { left } else { left.saturating_sub(1) };
    }
    cut(&words.join(" "))
}

fn cut(text: &str) -> String {
    let clean: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match clean.char_indices().nth(LABEL_MAX) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_replies_are_read_as_people_write_them() {
        assert_eq!(label(b"*3\r\n$3\r\nSET\r\n$4\r\nlock\r\n$1\r\na\r\n"), "SET lock a");
        assert_eq!(label(b"+OK\r\n"), "OK");
        assert_eq!(label(b":1\r\n"), "1");
        assert_eq!(label(b"$-1\r\n"), "(nil)");
        assert_eq!(label(b"-STALE token 3\r\n"), "STALE token 3");
    }

    #[test]
    fn several_commands_in_one_message_are_parted() {
        assert_eq!(label(b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nINFO\r\n"), "PING | INFO");
        assert_eq!(label(b"+OK\r\n:2\r\n"), "OK | 2");
    }

    #[test]
    fn a_message_that_never_arrives_has_no_arrival() {
        let mut log = WireLog::default();
        let ends = [Node::Client(1), Node::Redis(1)];
        log.sent(0, Kind::Connect, ends, SimTime(5));
        log.sent(1, Kind::Connect, ends, SimTime(6));
        log.arrived(1, SimTime(9));
        let arrivals: Vec<_> =
            log.into_trace().messages.iter().map(|message| message.arrived_us).collect();
        assert_eq!(arrivals, [None, Some(SimTime(9))]);
    }
}
