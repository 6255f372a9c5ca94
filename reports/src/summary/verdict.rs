//! The verdict of a run: valid, violated or unknown.

#[cfg(test)]
mod tests;

use crate::judge::checker::lost_update::unrecorded;
use crate::judge::checker::stuck::{Progress, progress};
use crate::judge::checker::{CHECKERS, Checker};
use crate::judge::circle::circles;
use crate::judge::timeline::{Acquisition, Outcome, Section, Timeline};
use crate::record::history::{Action, History, What, WhyEnded};
use crate::summary::violation::{Violation, grouped, merged};
use fencepost_faults::{Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// Result of judging one run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    /// The run exercised the lock and broke no rule.
    Valid,
    /// The run broke at least one rule.
    Violated,
    /// The run broke no rule but is inconclusive, for example because it did not exercise the lock.
    Unknown {
        /// Reason for the verdict, in words.
        reason: String,
    },
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    pub verdict: Verdict,
    /// One entry for each kind and cause, in order of first occurrence.
    pub violations: Vec<Violation>,
}

/// Judges a history. Without findings, it is valid if it is conclusive, otherwise unknown.
pub fn judge(history: &History) -> Judgement {
    judge_by(CHECKERS, history)
}

pub fn judge_by(checkers: &[Checker], history: &History) -> Judgement {
    let locks = history.by_lock();
    match locks.is_empty() {
        true => judged(checkers, &[Timeline::new(history)]),
        false => judged(checkers, &locks.iter().map(Timeline::new).collect::<Vec<_>>()),
    }
}

pub(crate) fn judge_timelines(timelines: &[Timeline<'_>]) -> Judgement {
    judged(CHECKERS, timelines)
}

fn judged(checkers: &[Checker], timelines: &[Timeline<'_>]) -> Judgement {
    let circles = circles(timelines);
    let of = |(lock, timeline): (usize, &Timeline<'_>)| {
        let findings = checkers.iter().flat_map(|checker| (checker.check)(timeline));
        let closed = circles.iter().filter(|(first, _)| *first == lock);
        grouped(timeline, findings.chain(closed.map(|(_, finding)| finding.clone())).collect())
    };
    let violations = merged(timelines.iter().enumerate().flat_map(of).collect());
    let verdict = match (violations.is_empty(), unexercised(timelines)) {
        (false, _) => Verdict::Violated,
        (true, None) => Verdict::Valid,
        (true, Some(reason)) => Verdict::Unknown { reason },
    };
    Judgement { verdict, violations }
}

fn unexercised(timelines: &[Timeline<'_>]) -> Option<String> {
    if let Some(reason) = timelines.iter().find_map(unrecorded) {
        return Some(reason);
    }
    let reasons: [fn(&Timeline<'_>) -> Option<String>; 7] = [
        never_left, never_released, uncontended, no_fault_in_calls, unordered, misjudged,
        unfinished,
    ];
    reasons.iter().find_map(|reason| {
        let all: Option<Vec<String>> = timelines.iter().map(reason).collect();
        all?.into_iter().next()
    })
}

/// Returns why the run is inconclusive, if it was cut off after a process had been in its critical
/// section for longer than the progress bound.
fn never_left(timeline: &Timeline<'_>) -> Option<String> {
    let header = &timeline.history.header;
    let ended = timeline.history.ended.filter(|ended| ended.why != WhyEnded::Finished)?;
    let hangs = |section: &&Section| {
        section.to.is_none() && header.progress_bound_us < ended.at_us.since(section.from.time)
    };
    let section = timeline.sections.iter().find(hangs)?;
    Some(format!(
        "{} entered its critical section at {} and had not left it when the run ended at {}: check \
         whether the process hangs, or lengthen the run (--max-time)",
        section.process, section.from.time, ended.at_us
    ))
}

/// Returns why the run is inconclusive, if it was cut off after a live process had been in a
/// release call for longer than the progress bound.
fn never_released(timeline: &Timeline<'_>) -> Option<String> {
    let bound = timeline.history.header.progress_bound_us;
    let ended = timeline.history.ended.filter(|ended| ended.why != WhyEnded::Finished)?;
    let mut open: BTreeMap<u64, (Node, SimTime)> = BTreeMap::new();
    for event in &timeline.history.events {
        match &event.what {
            What::Invoke { operation, action: Action::Release } => {
                open.insert(*operation, (event.node, event.time_us));
            }
            What::Ok { operation, .. }
            | What::Fail { operation, .. }
            | What::Info { operation, .. } => {
                open.remove(operation);
            }
            What::Crashed => open.retain(|_, (process, _)| process.machine() != event.node),
            _ => {}
        }
    }
    let (process, from) = open.into_values().find(|(_, from)| bound < ended.at_us.since(*from))?;
    Some(format!(
        "{process} called release at {from}, and the call had not returned when the run ended at \
         {}: check whether the release waits for an event that never happens, or lengthen the run \
         (--max-time)",
        ended.at_us
    ))
}

fn uncontended(timeline: &Timeline<'_>) -> Option<String> {
    let own = timeline.acquisitions.iter().filter(|one| one.process.machine() != Node::Probe);
    if timeline.history.header.lock_per_job {
        let asked: BTreeSet<Node> = own.map(|one| one.process).collect();
        let why = "no two processes asked for the lock of the same job: offer each job to several \
                   processes";
        return (asked.len() < 2).then(|| why.to_owned());
    }
    let (granted, in_vain): (Vec<_>, Vec<_>) = own.partition(|one| one.outcome == Outcome::Granted);
    let processes: BTreeSet<Node> = granted.iter().map(|one| one.process).collect();
    if processes.len() >= 2 {
        return None;
    }
    let only = processes.first();
    let who = only.map_or("no process".to_owned(), |only| format!("only {only}"));
    let in_vain: Vec<Node> =
        in_vain.iter().map(|one| one.process).filter(|one| Some(one) != only).collect();
    let others: BTreeSet<String> = in_vain.iter().map(Node::to_string).collect();
    let others: Vec<String> = others.into_iter().collect();
    let advice = match (others.is_empty(), only) {
        (true, _) => {
            "at least two processes must compete: use more processes (--processes), more cycles \
             (--cycles) or a longer run (--max-time)"
                .to_owned()
        }
        (false, Some(_)) => format!(
            "{} tried {} times without success: shorten the critical sections (--hold) or lengthen \
             the pauses between cycles (--set think=1s..5s)",
            others.join(", "),
            in_vain.len()
        ),
        (false, None) => format!(
            "{} tried {} times without success{}: use more cycles (--cycles) or another seed",
            others.join(", "),
            in_vain.len(),
            last_unknown(timeline)
        ),
    };
    Some(format!("{who} acquired the lock; {advice}"))
}

/// If the outcome of the last acquire is unknown, returns why, in parentheses. Acquires of the
/// probe do not count.
fn last_unknown(timeline: &Timeline<'_>) -> String {
    let own = timeline.acquisitions.iter().filter(|one| one.process.machine() != Node::Probe);
    let last = own.filter_map(|one| one.completed).max();
    match last.map(|last| &timeline.history.events[last.index].what) {
        Some(What::Info { reason, .. }) => format!(" (the last outcome is unknown: {reason})"),
        _ => String::new(),
    }
}

fn no_fault_in_calls(timeline: &Timeline<'_>) -> Option<String> {
    let header = &timeline.history.header;
    if header.fault.is_none() && header.faults_planned == 0 {
        return None;
    }
    let busy = |fault: &crate::judge::timeline::FaultSpan<'_>| {
        let acquiring = timeline.acquisitions.iter().any(|one| one.is_open_at(fault.from));
        acquiring || timeline.sections.iter().any(|section| section.covers(fault.from))
    };
    match timeline.faults.iter().any(busy) {
        true => None,
        false if header.faults_planned == 0 => Some(format!(
            "the plan has no '{}' fault: the family does not apply to this lock's servers, or this \
             seed draws no fault; use another family or seed",
            header.fault
        )),
        false if timeline.faults.is_empty() => Some(format!(
            "the run ended before any '{}' fault began; use a longer run (--cycles, --max-time) or \
             another seed",
            header.fault
        )),
        false => Some(
            "no fault began while a process held or acquired the lock: use longer critical \
             sections (--hold), more processes (--processes) or another seed"
                .to_owned(),
        ),
    }
}

/// Returns why the run is inconclusive, if no recorded grant matches a successful acquire.
fn unordered(timeline: &Timeline<'_>) -> Option<String> {
    let all = timeline.acquisitions.iter().filter(|_| !timeline.history.header.locks_unseen);
    let other = all.into_iter().find(|one| {
        one.outcome == Outcome::Granted && one.grant.is_none() && !is_of_a_minority(timeline, one)
    })?;
    let who = match timeline.history.header.quorum {
        0 | 1 => "a server",
        _ => "a quorum of servers",
    };
    Some(format!(
        "no recorded grant of the lock '{}' by {who} matches acquire {} of {} ({} to {}): a lock \
         in Lua must write to this key and return the written value as its owner; a program must \
         name its key (--lock-key) and send ACQUIRING before its request; a history from \
         another tool must record every server's changes of the key",
        timeline.history.header.resource,
        other.operation,
        other.process,
        other.invoked.time,
        other.completed?.time
    ))
}

/// Returns `true` if at least one master reports the grant of an acquire that no quorum granted.
/// The rule `wrong-answer` judges such an acquire, so the run is not inconclusive.
fn is_of_a_minority(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> bool {
    let machine = one.process.machine();
    timeline.history.header.quorum > 1
        && timeline.keys.iter().any(|span| {
            let is_own = span.by.is_some_and(|by| by.machine() == machine);
            is_own && one.invoked < span.from && one.completed.is_some_and(|told| span.from < told)
        })
}

/// Returns why the run is inconclusive, if the storage rejected a request that it should accept.
fn misjudged(timeline: &Timeline<'_>) -> Option<String> {
    let mut highest = None;
    for request in &timeline.storage {
        match (request.accepted, request.token) {
            (true, token) => highest = highest.max(token),
            (false, Some(token)) if highest.is_none_or(|highest| highest <= token) => {
                let known = highest
                    .map_or("no token".to_owned(), |highest| format!("no token above {highest}"));
                return Some(format!(
                    "the storage rejected token {token} of {} although it had accepted {known}: \
                     the storage does not check tokens as documented, so use another storage",
                    request.process
                ));
            }
            (false, None) => {
                return Some(format!(
                    "the storage rejected a request of {} without a token: the storage does not \
                     check tokens as documented, so use another storage",
                    request.process
                ));
            }
            (false, Some(_)) => {}
        }
    }
    None
}

fn unfinished(timeline: &Timeline<'_>) -> Option<String> {
    let bound = timeline.history.header.progress_bound_us;
    (progress(timeline) == Progress::Unjudged).then(|| {
        format!(
            "after healing, no process acquired the lock, and no process tried for the whole bound \
             of {bound}: let processes try longer (acquire-timeout, --cycles, --max-time)"
        )
    })
}
