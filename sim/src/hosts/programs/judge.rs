//! The judge, as one process talks to it: a RESP server without latency, which no fault reaches.
//! What the process says becomes operations of the history.

use super::desk::Desk;
use super::resp::{courtesy, name, next_command, number};
use crate::setup::roster::Roster;
use crate::setup::scenario::{Hold, Scenario};
use crate::world::recorder::Recorder;
use bytes::{Bytes, BytesMut};
use fencepost_faults::{Node, draw};
use fencepost_reports::{Action, What};
use std::rc::Rc;

/// The most that one WORK may ask for, in milliseconds.
const WORK_MAX_MS: u64 = 3_600_000;

/// The judge of one life of a process.
pub(crate) struct Judge {
    pub(crate) node: Node,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) roster: Rc<Roster>,
    pub(crate) scenario: Rc<Scenario>,
    pub(crate) desk: Rc<Desk>,
    phase: Phase,
    has_spoken: bool,
}

/// How far the process is with its cycle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Acquiring(u64),
    Holding,
    Releasing { operation: u64, end: ReleaseEnd },
}

/// What the library of a process said of a release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReleaseEnd {
    /// Nothing to the contrary.
    Released,
    /// That the lock was gone.
    Lost,
    /// That it cannot tell.
    Unknown,
}

/// What the judge answers.
pub(crate) enum Answer {
    Now(String),
    /// After so much work.
    AfterWork {
        ms: u64,
    },
}

impl Judge {
    pub(crate) fn new(
        node: Node,
        (recorder, roster): (Rc<Recorder>, Rc<Roster>),
        scenario: Rc<Scenario>,
        desk: Rc<Desk>,
    ) -> Judge {
        Judge { node, recorder, roster, scenario, desk, phase: Phase::Idle, has_spoken: false }
    }

    /// Whether the process has told anything.
    pub(crate) fn has_heard(&self) -> bool {
        self.has_spoken
    }

    /// The answers to all whole commands of a connection.
    pub(crate) fn hears(&mut self, buffer: &mut BytesMut) -> Vec<Answer> {
        let mut answers = Vec::new();
        loop {
            match next_command(buffer) {
                Ok(Some(words)) => answers.push(match courtesy(&words) {
                    Some(answer) => Answer::Now(answer),
                    None => self.judges(&words),
                }),
                Ok(None) => return answers,
                Err(()) => {
                    buffer.clear();
                    answers.push(Answer::Now("-ERR Protocol error\r\n".to_owned()));
                    return answers;
                }
            }
        }
    }

    fn judges(&mut self, words: &[Bytes]) -> Answer {
        let said = name(&words[0]);
        self.has_spoken = true;
        let answer = match (said.as_str(), self.phase) {
            ("ACQUIRING", _) => self.acquiring(),
            ("ACQUIRED", Phase::Acquiring(operation)) => self.acquired(operation, words.get(2)),
            ("REFUSED", Phase::Acquiring(operation)) => self.refused(operation, words.get(2)),
            ("RELEASING", Phase::Holding) => self.releasing(),
            ("RELEASED", Phase::Releasing { operation, end }) => self.released(operation, end),
            ("LOST", _) => self.lost(),
            ("UNKNOWN", phase) => self.unknown(phase, words.get(2)),
            ("WORK", _) => return self.works(words.get(1)),
            ("ACQUIRED" | "REFUSED", _) => "-ERR say ACQUIRING first\r\n".to_owned(),
            ("RELEASING", _) => "-ERR say ACQUIRED first\r\n".to_owned(),
            ("RELEASED", _) => "-ERR say RELEASING first\r\n".to_owned(),
            _ => "-ERR expected ACQUIRING, ACQUIRED, REFUSED, RELEASING, RELEASED, LOST, UNKNOWN \
                  or WORK\r\n"
                .to_owned(),
        };
        Answer::Now(answer)
    }

    fn acquiring(&mut self) -> String {
        self.recorder.forgets_grant(self.node);
        self.phase = Phase::Acquiring(self.recorder.invoke(self.node, Action::Acquire));
        "+OK\r\n".to_owned()
    }

    /// How long the process is to hold the lock, in milliseconds.
    fn acquired(&mut self, operation: u64, token: Option<&Bytes>) -> String {
        let what = What::Ok {
            operation,
            owner: self.recorder.granted_to(self.node),
            token: token.and_then(number),
            valid_for_us: None,
            value: None,
        };
        self.recorder.record(self.node, what);
        self.desk.acquires(self.node, operation);
        self.phase = Phase::Holding;
        format!(":{}\r\n", self.draws_hold_ms())
    }

    fn draws_hold_ms(&self) -> u64 {
        let us = match self.scenario.hold {
            Hold::Drawn(range) => {
                let draws = &mut *self.roster.member(self.node).draws.borrow_mut();
                draw::log_uniform(draws, range.micros())
            }
            Hold::UntilValidity => self.scenario.ttl.0.0,
        };
        us / 1_000
    }

    fn refused(&mut self, operation: u64, reason: Option<&Bytes>) -> String {
        let reason = reason.map_or("refused".into(), |text| String::from_utf8_lossy(text));
        self.recorder.fail(self.node, operation, reason);
        self.ends_cycle()
    }

    fn releasing(&mut self) -> String {
        let operation = self.recorder.invoke(self.node, Action::Release);
        self.phase = Phase::Releasing { operation, end: ReleaseEnd::Released };
        "+OK\r\n".to_owned()
    }

    fn released(&mut self, operation: u64, end: ReleaseEnd) -> String {
        match end {
            ReleaseEnd::Released => self.recorder.ok(self.node, operation),
            ReleaseEnd::Lost => {
                self.recorder.fail(self.node, operation, "the lock was no longer held");
            }
            ReleaseEnd::Unknown => {
                self.recorder.info(self.node, operation, "the release may have happened");
            }
        }
        self.ends_cycle()
    }

    /// The library cannot say whether the lock was granted, which ends the cycle, or given back.
    fn unknown(&mut self, phase: Phase, reason: Option<&Bytes>) -> String {
        match phase {
            Phase::Acquiring(operation) => {
                let reason = reason.map_or("unknown".into(), |text| String::from_utf8_lossy(text));
                self.recorder.info(self.node, operation, reason);
                self.ends_cycle()
            }
            Phase::Releasing { operation, .. } => {
                self.phase = Phase::Releasing { operation, end: ReleaseEnd::Unknown };
                "+OK\r\n".to_owned()
            }
            Phase::Idle | Phase::Holding => "-ERR say ACQUIRING or RELEASING first\r\n".to_owned(),
        }
    }

    fn ends_cycle(&mut self) -> String {
        let left = &self.roster.member(self.node).cycles_left;
        left.set(left.get().saturating_sub(1));
        self.phase = Phase::Idle;
        "+OK\r\n".to_owned()
    }

    /// The process's library told it that the lock is gone.
    fn lost(&mut self) -> String {
        self.recorder.lost(self.node);
        if let Phase::Releasing { end, .. } = &mut self.phase {
            *end = ReleaseEnd::Lost;
        }
        "+OK\r\n".to_owned()
    }

    fn works(&self, ms: Option<&Bytes>) -> Answer {
        match ms.and_then(number::<u64>).filter(|ms| *ms <= WORK_MAX_MS) {
            Some(ms) => Answer::AfterWork { ms },
            None => {
                Answer::Now(format!("-ERR WORK: expected milliseconds, at most {WORK_MAX_MS}\r\n"))
            }
        }
    }
}
