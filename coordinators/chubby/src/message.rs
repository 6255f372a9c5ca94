//! Messages between replicas, each a line of words. Some end with a state as JSON.

use crate::state::State;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Accepted {
    pub(crate) ballot: u64,
    pub(crate) index: u64,
    pub(crate) state: State,
}

impl Accepted {
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.ballot, self.index)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    Prepare {
        ballot: u64,
    },
    /// Agrees to a `Prepare`. Contains the state that the replica accepted last.
    Promise {
        ballot: u64,
        accepted: Accepted,
    },
    Refuse {
        promised: u64,
    },
    /// Asks the replica to accept a state, and thereby to grant the master a lease.
    Accept {
        round: u64,
        committed: u64,
        accepted: Accepted,
    },
    Ack {
        ballot: u64,
        index: u64,
        round: u64,
    },
    Commit {
        ballot: u64,
        index: u64,
    },
}

impl Message {
    pub(crate) fn line(&self) -> String {
        let json = |accepted| serde_json::to_string(accepted).unwrap_or_default();
        match self {
            Message::Prepare { ballot } => format!("prepare {ballot}\n"),
            Message::Promise { ballot, accepted } => {
                format!("promise {ballot} {}\n", json(accepted))
            }
            Message::Refuse { promised } => format!("refuse {promised}\n"),
            Message::Accept { round, committed, accepted } => {
                format!("accept {round} {committed} {}\n", json(accepted))
            }
            Message::Ack { ballot, index, round } => format!("ack {ballot} {index} {round}\n"),
            Message::Commit { ballot, index } => format!("commit {ballot} {index}\n"),
        }
    }

    pub(crate) fn read(line: &str) -> Option<Message> {
        let (head, json) = line.split_at(line.find('{').unwrap_or(line.len()));
        let words: Vec<&str> = head.split_ascii_whitespace().collect();
        let number = |at: usize| words.get(at)?.parse().ok();
        let accepted = || serde_json::from_str(json).ok();
        Some(match (*words.first()?, words.len()) {
            ("prepare", 2) => Message::Prepare { ballot: number(1)? },
            ("promise", 2) => Message::Promise { ballot: number(1)?, accepted: accepted()? },
            ("refuse", 2) => Message::Refuse { promised: number(1)? },
            ("accept", 3) => {
                let (round, committed) = (number(1)?, number(2)?);
                Message::Accept { round, committed, accepted: accepted()? }
            }
            ("ack", 4) => Message::Ack { ballot: number(1)?, index: number(2)?, round: number(3)? },
            ("commit", 3) => Message::Commit { ballot: number(1)?, index: number(2)? },
            _ => return None,
        })
    }
}
