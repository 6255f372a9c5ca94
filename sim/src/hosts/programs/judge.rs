//! A RESP server that records one process's reported acquires and releases as operations.

use super::desk::HolderDesk;
use super::resp::{
    answer_handshake, milliseconds, name, next_command, number, parse_token, quoted, take_pair,
};
use super::watched::is_pattern;
use crate::setup::roster::Roster;
use crate::setup::scenario::{Hold, Scenario};
use crate::world::recorder::Recorder;
use bytes::{Bytes, BytesMut};
use fencepost_faults::{Micros, Node, draw};
use fencepost_reports::{Action, What};
use std::rc::Rc;

const WORK_MAX_MS: u64 = 3_600_000;

pub(crate) struct Judge {
    node: Node,
    recorder: Rc<Recorder>,
    roster: Rc<Roster>,
    scenario: Rc<Scenario>,
    desk: Rc<HolderDesk>,
    holders: Vec<Holder>,
    has_spoken: bool,
}

struct Holder {
    name: Option<Bytes>,
    node: Node,
    phase: Phase,
    lock: Option<Bytes>,
    /// Acquires of the open critical sections, the outermost first. A re-entrant lock has several.
    held: Vec<u64>,
    /// Number of sections in `held` that a loss has ended. The holder may still release them, but
    /// the next acquire does not nest in them.
    lost: usize,
}

impl Holder {
    fn is_inside(&self) -> bool {
        self.held.len() > self.lost
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Acquiring(u64),
    Holding,
    Releasing { operation: u64, end: ReleaseEnd },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReleaseEnd {
    Released,
    Lost,
    Unknown,
}

pub(crate) enum Answer {
    Now(String),
    AfterWork { ms: u64 },
}

impl Judge {
    pub(crate) fn new(
        node: Node,
        recorder: Rc<Recorder>,
        roster: Rc<Roster>,
        scenario: Rc<Scenario>,
        desk: Rc<HolderDesk>,
    ) -> Judge {
        let holders = Vec::new();
        Judge { node, recorder, roster, scenario, desk, holders, has_spoken: false }
    }

    pub(crate) fn has_received(&self) -> bool {
        self.has_spoken
    }

    pub(crate) fn is_inside(&self) -> bool {
        self.holders.iter().any(|holder| matches!(holder.phase, Phase::Holding))
    }

    pub(crate) fn is_amid(&self) -> bool {
        self.holders.iter().any(|holder| holder.phase != Phase::Idle)
    }

    pub(crate) fn receive(&mut self, buffer: &mut BytesMut) -> Vec<Answer> {
        let mut answers = Vec::new();
        loop {
            match next_command(buffer) {
                Ok(Some(words)) => answers.push(match answer_handshake(&words) {
                    Some(answer) => Answer::Now(answer),
                    None => self.execute(words),
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

    fn execute(&mut self, mut words: Vec<Bytes>) -> Answer {
        self.has_spoken = true;
        let said = name(&words[0]);
        if said == "WORK" {
            return parse_work(words.get(1));
        }
        let valid_ms = take_pair(&mut words, "VALID");
        let Some(holder) = self.holder(take_pair(&mut words, "AS")) else {
            return Answer::Now(match said.as_str() {
                "ACQUIRED" => format!(":{}\r\n", self.draw_hold_ms()),
                _ => "+OK\r\n".to_owned(),
            });
        };
        let detail = words.get(2);
        let answer = match (said.as_str(), self.holders[holder].phase) {
            ("ACQUIRING", _) => self.acquiring(holder, words.get(1)),
            ("ACQUIRED", Phase::Acquiring(operation)) => {
                match parse_grant(detail, valid_ms.as_ref()) {
                    Ok(grant) => self.acquired(holder, operation, grant),
                    Err(refusal) => refusal,
                }
            }
            ("REFUSED", Phase::Acquiring(operation)) => self.refused(holder, operation, detail),
            ("RELEASING", Phase::Holding) => self.releasing(holder),
            ("RELEASED", Phase::Releasing { operation, end }) => {
                self.released(holder, operation, end)
            }
            ("LOST", _) => self.lost(holder),
            ("UNKNOWN", phase) => self.unknown(holder, phase, detail),
            ("ACQUIRED" | "REFUSED", _) => "-ERR expected ACQUIRING first\r\n".to_owned(),
            ("RELEASING", _) => "-ERR expected ACQUIRED first\r\n".to_owned(),
            ("RELEASED", _) => "-ERR expected RELEASING first\r\n".to_owned(),
            _ => "-ERR expected ACQUIRING, ACQUIRED, REFUSED, RELEASING, RELEASED, LOST, UNKNOWN \
                  or WORK\r\n"
                .to_owned(),
        };
        Answer::Now(answer)
    }

    fn holder(&mut self, name: Option<Bytes>) -> Option<usize> {
        if let Some(known) = self.holders.iter().position(|holder| holder.name == name) {
            return Some(known);
        }
        let number = u16::try_from(self.holders.len() + 1).ok()?;
        let node = self.node.for_thread(number);
        if number > 1 && node == self.node {
            return None;
        }
        if let Some(name) = &name {
            self.desk.names(self.node, name.clone(), node);
        }
        let phase = Phase::Idle;
        self.holders.push(Holder { name, node, phase, lock: None, held: Vec::new(), lost: 0 });
        Some(self.holders.len() - 1)
    }

    fn acquiring(&mut self, holder: usize, lock: Option<&Bytes>) -> String {
        let has_pattern =
            self.scenario.programs.iter().any(|program| is_pattern(&program.lock_key));
        let holder = &mut self.holders[holder];
        if let Some(refusal) = refuse_lock(holder, lock, has_pattern, &self.desk) {
            return refusal;
        }
        holder.held.drain(..std::mem::take(&mut holder.lost));
        if let Phase::Acquiring(before) = holder.phase {
            self.recorder.info(holder.node, before, "ACQUIRING was said again before it ended");
        }
        if has_pattern && holder.lock.as_ref() != lock {
            holder.lock = lock.cloned();
            let lock = String::from_utf8_lossy(lock.map_or(&b""[..], Bytes::as_ref)).into_owned();
            self.recorder.record(holder.node, What::About { lock });
        }
        holder.phase = Phase::Acquiring(self.recorder.invoke(holder.node, Action::Acquire));
        "+OK\r\n".to_owned()
    }

    fn acquired(
        &mut self,
        holder: usize,
        operation: u64,
        (token, valid_for_us): (Option<u64>, Option<Micros>),
    ) -> String {
        let what = What::Ok { operation, owner: None, token, valid_for_us, value: None };
        let holder = &mut self.holders[holder];
        self.recorder.record(holder.node, what);
        self.desk.acquires(holder.node, operation);
        holder.held.push(operation);
        holder.phase = Phase::Holding;
        format!(":{}\r\n", self.draw_hold_ms())
    }

    fn draw_hold_ms(&self) -> u64 {
        let us = match self.scenario.hold {
            Hold::Drawn(range) => {
                let draws = &mut *self.roster.member(self.node).draws.borrow_mut();
                draw::log_uniform(draws, range.micros())
            }
            Hold::UntilValidity => self.scenario.ttl.0.0,
        };
        us / 1_000
    }

    fn refused(&mut self, holder: usize, operation: u64, reason: Option<&Bytes>) -> String {
        let reason = reason.map_or("refused".into(), |text| String::from_utf8_lossy(text));
        self.recorder.fail(self.holders[holder].node, operation, reason);
        self.end_call(holder)
    }

    fn releasing(&mut self, holder: usize) -> String {
        let holder = &mut self.holders[holder];
        let operation = self.recorder.invoke(holder.node, Action::Release);
        holder.held.pop();
        holder.lost = holder.lost.min(holder.held.len());
        holder.phase = Phase::Releasing { operation, end: ReleaseEnd::Released };
        "+OK\r\n".to_owned()
    }

    fn released(&mut self, holder: usize, operation: u64, end: ReleaseEnd) -> String {
        let node = self.holders[holder].node;
        match end {
            ReleaseEnd::Released => self.recorder.ok(node, operation),
            ReleaseEnd::Lost => {
                self.recorder.fail(node, operation, "the lock was no longer held");
            }
            ReleaseEnd::Unknown => {
                self.recorder.info(node, operation, "the release may have happened");
            }
        }
        self.end_call(holder)
    }

    fn unknown(&mut self, holder: usize, phase: Phase, reason: Option<&Bytes>) -> String {
        match phase {
            Phase::Acquiring(operation) => {
                let reason = reason.map_or("unknown".into(), |text| String::from_utf8_lossy(text));
                self.recorder.info(self.holders[holder].node, operation, reason);
                self.end_call(holder)
            }
            Phase::Releasing { operation, .. } => {
                self.holders[holder].phase =
                    Phase::Releasing { operation, end: ReleaseEnd::Unknown };
                "+OK\r\n".to_owned()
            }
            Phase::Idle | Phase::Holding => {
                "-ERR expected ACQUIRING or RELEASING first\r\n".to_owned()
            }
        }
    }

    /// Returns to the enclosing critical section or, if there is none, counts a cycle.
    fn end_call(&mut self, holder: usize) -> String {
        let holder = &mut self.holders[holder];
        match holder.held.last() {
            Some(outer) => {
                self.desk.acquires(holder.node, *outer);
                holder.phase = Phase::Holding;
            }
            None => {
                let left = &self.roster.member(self.node).cycles_left;
                left.set(left.get().saturating_sub(1));
                holder.phase = Phase::Idle;
            }
        }
        "+OK\r\n".to_owned()
    }

    fn lost(&mut self, holder: usize) -> String {
        let holder = &mut self.holders[holder];
        self.recorder.lost(holder.node);
        holder.lost = holder.held.len();
        if let Phase::Releasing { end, .. } = &mut holder.phase {
            *end = ReleaseEnd::Lost;
        }
        "+OK\r\n".to_owned()
    }
}

/// Refuses the `ACQUIRING` of a second lock, which the judge would mistake for the first one.
fn refuse_lock(
    holder: &Holder,
    lock: Option<&Bytes>,
    has_pattern: bool,
    desk: &HolderDesk,
) -> Option<String> {
    let lock = lock?;
    if !has_pattern {
        let first = desk.first_lock(lock);
        return (first != *lock).then(|| {
            format!(
                "-ERR there are several locks, {} and {}: name their keys with a pattern, for \
                 example --lock-key 'job:*'\r\n",
                quoted(&first),
                quoted(lock)
            )
        });
    }
    let held = holder.lock.as_ref().filter(|held| holder.is_inside() && *held != lock)?;
    Some(format!(
        "-ERR expected RELEASING first: a holder has one lock at a time, and this one still has \
         {}; name a second holder with AS\r\n",
        quoted(held)
    ))
}

fn parse_grant(
    token: Option<&Bytes>,
    valid_ms: Option<&Bytes>,
) -> Result<(Option<u64>, Option<Micros>), String> {
    let token = parse_token(token).map_err(|text| format!("-ERR ACQUIRED: {text}\r\n"))?;
    let valid = valid_ms.map(|word| {
        milliseconds(word)
            .ok_or_else(|| format!("-ERR VALID: expected milliseconds, not {}\r\n", quoted(word)))
    });
    Ok((token, valid.transpose()?))
}

fn parse_work(ms: Option<&Bytes>) -> Answer {
    match ms.and_then(number::<u64>).filter(|ms| *ms <= WORK_MAX_MS) {
        Some(ms) => Answer::AfterWork { ms },
        None => Answer::Now(format!("-ERR WORK: expected milliseconds, at most {WORK_MAX_MS}\r\n")),
    }
}

#[cfg(test)]
mod tests;
