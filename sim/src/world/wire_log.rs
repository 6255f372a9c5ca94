use super::socket::Kind;
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{Trace, WireMessage};
use std::collections::BTreeMap;

const KEPT_MAX: usize = 100_000;
const COMMAND_MAX: usize = 96;
const LABEL_MAX: usize = 4 * COMMAND_MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detail {
    Words,
    Bytes,
    Ways,
    Times,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    pub message: usize,
    /// Number of the connection, unique within the run.
    pub connection: u32,
    /// Sent bytes; `None` if the sender closed the connection.
    pub bytes: Option<Vec<u8>>,
}

#[derive(Debug)]
pub(crate) struct WireLog {
    detail: Detail,
    trace: Trace,
    carried: Vec<Carried>,
    under_way: BTreeMap<u64, usize>,
    label: String,
    bytes: Vec<u8>,
}

impl WireLog {
    pub(crate) fn new(detail: Detail) -> WireLog {
        WireLog {
            detail,
            trace: Trace::default(),
            carried: Vec::new(),
            under_way: BTreeMap::new(),
            label: String::new(),
            bytes: Vec::new(),
        }
    }

    pub(super) fn wants_content(&self) -> bool {
        self.wants_bytes() || self.detail == Detail::Words
    }

    pub(super) fn wants_bytes(&self) -> bool {
        self.detail == Detail::Bytes
    }

    pub(super) fn takes(&mut self, bytes: &[u8]) {
        self.bytes = bytes.to_vec();
    }

    pub(crate) fn reads(&mut self, words: &str) {
        self.label = abbreviated(words);
    }

    pub(super) fn sent(
        &mut self,
        (serial, connection): (u64, u32),
        kind: Kind,
        [from, to]: [Node; 2],
        now: SimTime,
    ) {
        if self.detail == Detail::Times && kind != Kind::Data {
            return;
        }
        if self.trace.messages.len() >= KEPT_MAX {
            self.trace.left_out += 1;
            return;
        }
        let label = match kind {
            _ if self.detail != Detail::Words => String::new(),
            Kind::Connect => "connect".to_owned(),
            Kind::Accepted => "accepted".to_owned(),
            Kind::Refused => "refused".to_owned(),
            Kind::Data => std::mem::take(&mut self.label),
            Kind::End => "end".to_owned(),
            Kind::Reset => "reset".to_owned(),
        };
        let message = self.trace.messages.len();
        let bytes = match kind {
            Kind::Data => Some(Some(std::mem::take(&mut self.bytes))),
            Kind::End | Kind::Reset => Some(None),
            Kind::Connect | Kind::Accepted | Kind::Refused => None,
        };
        if let Some(bytes) = bytes.filter(|_| self.wants_bytes()) {
            self.carried.push(Carried { message, connection, bytes });
        }
        self.under_way.insert(serial, message);
        self.trace.messages.push(WireMessage { from, to, sent_us: now, arrived_us: None, label });
    }

    pub(super) fn arrived(&mut self, serial: u64, now: SimTime) {
        if let Some(index) = self.under_way.remove(&serial) {
            self.trace.messages[index].arrived_us = Some(now);
        }
    }

    pub(crate) fn into_trace(self) -> (Trace, Vec<Carried>) {
        (self.trace, self.carried)
    }
}

/// Cuts long commands, and then a long pipeline.
fn abbreviated(text: &str) -> String {
    let clean: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let commands: Vec<_> = clean.split(" | ").map(|command| cut(command, COMMAND_MAX)).collect();
    cut(&commands.join(" | "), LABEL_MAX)
}

fn cut(text: &str, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_does_not_hide_the_next_one_of_the_pipeline() {
        let script = "x".repeat(COMMAND_MAX + 1);
        let label = abbreviated(&format!("EVAL {script} | WAIT 2 1000"));
        assert!(label.ends_with("x… | WAIT 2 1000"), "{label}");
        let label = abbreviated(&[script.as_str(); 9].join(" | "));
        assert_eq!((label.chars().count(), label.ends_with('…')), (LABEL_MAX + 1, true));
    }

    #[test]
    fn a_message_that_never_arrives_has_no_arrival() {
        let mut log = WireLog::new(Detail::Words);
        let ends = [Node::Client(1), Node::Redis(1)];
        log.sent((0, 0), Kind::Connect, ends, SimTime(5));
        log.sent((1, 0), Kind::Connect, ends, SimTime(6));
        log.arrived(1, SimTime(9));
        let arrivals: Vec<_> =
            log.into_trace().0.messages.iter().map(|message| message.arrived_us).collect();
        assert_eq!(arrivals, [None, Some(SimTime(9))]);
    }

    #[test]
    fn times_are_kept_of_messages_with_content_only() {
        let mut log = WireLog::new(Detail::Times);
        let ends = [Node::Client(1), Node::Redis(1)];
        log.sent((0, 0), Kind::Connect, ends, SimTime(5));
        log.sent((1, 0), Kind::Data, ends, SimTime(6));
        log.arrived(1, SimTime(9));
        let messages = log.into_trace().0.messages;
        assert_eq!(messages.len(), 1);
        assert_eq!((messages[0].sent_us, messages[0].arrived_us), (SimTime(6), Some(SimTime(9))));
    }
}
