//! A history, prepared for the checkers.

mod acquisition;
mod fault_span;
mod granting;
mod key_span;
mod roles;
mod section;
mod storage_log;

pub use acquisition::{Acquisition, Grant, Outcome};
pub use fault_span::FaultSpan;
pub(crate) use key_span::of_key;
pub use key_span::{KeyEnd, KeySpan};
pub use roles::Roles;
pub use section::{Section, SectionEnd};
pub use storage_log::StorageRequest;

use crate::record::history::{Action, Change, Event, History, Turn, What};
use fencepost_faults::{Impact, Micros, Node, SimTime};
use std::collections::BTreeMap;

/// A position in a history, ordered by time and then by index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment {
    pub time: SimTime,
    /// Index in the history's events.
    pub index: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub(crate) server: Node,
    pub(crate) from: Moment,
    pub(crate) until: SimTime,
    is_over: bool,
}

#[derive(Debug)]
pub struct Timeline<'h> {
    pub history: &'h History,
    /// Ordered by time of invocation.
    pub acquisitions: Vec<Acquisition<'h>>,
    /// Ordered by start.
    pub sections: Vec<Section>,
    /// Ordered by start.
    pub keys: Vec<KeySpan<'h>>,
    /// A request that the storage answered twice counts once.
    pub storage: Vec<StorageRequest>,
    /// Ordered by start.
    pub faults: Vec<FaultSpan<'h>>,
    pub roles: Roles,
    /// Time at which all faults had ended; `None` if the run ended earlier.
    pub healed: Option<Moment>,
    /// End of the run or, if unrecorded, time of the last event.
    pub end: SimTime,
    by_operation: BTreeMap<u64, usize>,
    invocations: BTreeMap<u64, usize>,
    given_up: BTreeMap<u64, usize>,
}

impl<'h> Timeline<'h> {
    /// Expects a history that `validate` accepts, or one lock's part from [`History::by_lock`].
    pub fn new(history: &'h History) -> Timeline<'h> {
        let mut acquisitions = acquisition::all(history);
        granting::set_grants(history, &mut acquisitions);
        let by_operation =
            acquisitions.iter().enumerate().map(|(index, one)| (one.operation, index)).collect();
        let sections = section::all(history, &acquisitions);
        let healed = moments(history)
            .find(|(_, event)| matches!(event.what, What::Healed))
            .map(|(moment, _)| moment);
        Timeline {
            history,
            sections,
            keys: key_span::all(history),
            storage: storage_log::all(history, &by_operation),
            faults: fault_span::all(history),
            roles: Roles::new(history),
            healed,
            end: end(history),
            acquisitions,
            by_operation,
            invocations: invocations(history),
            given_up: given_up(history),
        }
    }

    pub fn acquisition_of(&self, operation: u64) -> Option<usize> {
        self.by_operation.get(&operation).copied()
    }

    pub fn invocation_of(&self, operation: u64) -> Option<Moment> {
        self.invocations.get(&operation).map(|index| self.moment(*index))
    }

    pub fn given_up(&self, operation: u64) -> Option<Moment> {
        self.given_up.get(&operation).map(|index| self.moment(*index))
    }

    pub(crate) fn is_inner(&self, section: &Section) -> bool {
        self.sections.iter().any(|outer| {
            outer.process == section.process
                && outer.from < section.from
                && outer.covers(section.from)
        })
    }

    pub fn moment(&self, index: usize) -> Moment {
        Moment { time: self.history.events[index].time_us, index }
    }

    pub(crate) fn asked_by(&self, at: Moment) -> Option<Node> {
        match &self.history.events[at.index].what {
            What::Server { by, .. } => *by,
            _ => None,
        }
    }

    /// Returns the requested lease; `None` at servers other than Redis, which do not record it.
    pub(crate) fn lease_asked(&self, at: Moment) -> Option<Micros> {
        let event = &self.history.events[at.index];
        match (&event.what, event.node) {
            (What::Server { lease_us, .. }, Node::Redis(_)) => *lease_us,
            _ => None,
        }
    }

    pub(crate) fn lease_recorded(&self, at: Moment) -> Option<Micros> {
        match self.history.events[at.index].what {
            What::Server { lease_us, .. } => lease_us,
            _ => None,
        }
    }

    pub(crate) fn paused(&self, host: Node, from: SimTime, until: SimTime) -> Micros {
        let pauses = self.faults.iter().filter(|fault| fault.does(Impact::Freezes, host));
        pauses.fold(Micros::ZERO, |sum, fault| sum + fault.within(from, until))
    }

    pub(crate) fn downtimes(&self) -> Vec<(SimTime, SimTime)> {
        let mut down: Vec<(Node, SimTime, Option<SimTime>)> = Vec::new();
        for event in self.history.events.iter().filter(|event| event.node.is_server()) {
            match event.what {
                What::Crashed => down.push((event.node, event.time_us, None)),
                What::Started => {
                    let mut open =
                        down.iter_mut().filter(|(node, _, to)| *node == event.node && to.is_none());
                    if let Some((.., to)) = open.next() {
                        *to = Some(event.time_us);
                    }
                }
                _ => {}
            }
        }
        down.into_iter().map(|(_, from, to)| (from, to.unwrap_or(self.end))).collect()
    }

    /// Returns the downtimes of servers that stopped because a sync failed.
    pub(crate) fn stopped_by_disks(&self) -> Vec<(Node, (SimTime, SimTime))> {
        let events = &self.history.events;
        let stops = events
            .iter()
            .enumerate()
            .filter(|(_, event)| matches!(event.what, What::Turn { turn: Turn::DiskFailed, .. }));
        let until = |index: usize, node: Node| {
            let mut after = events[index..].iter();
            let back = after.find(|event| event.node == node && event.what == What::Started);
            back.map_or(self.end, |event| event.time_us)
        };
        let spans =
            stops.map(|(index, event)| (event.node, (event.time_us, until(index, event.node))));
        spans.collect()
    }

    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        let mut refusals: Vec<Refusal> = Vec::new();
        for (moment, event) in moments(self.history) {
            let node = event.node;
            let mut open = refusals.iter_mut().filter(|one| one.server == node && !one.is_over);
            match (&event.what, open.next()) {
                (What::Turn { turn: Turn::RefusesWrites, .. }, None) => {
                    let (from, until) = (moment, self.end);
                    refusals.push(Refusal { server: node, from, until, is_over: false });
                }
                (What::Turn { turn: Turn::TakesWrites, .. } | What::Crashed, Some(open)) => {
                    (open.until, open.is_over) = (moment.time, true);
                }
                _ => {}
            }
        }
        refusals
    }

    /// Returns one of `processes` that waits until the end of the run although its node expired,
    /// and when the node expired.
    pub(crate) fn waiter_without_node(&self, processes: &[Node]) -> Option<(Node, Moment)> {
        let open = self.acquisitions.iter().filter(|one| one.completed.is_none());
        let mut waiting = open.filter(|one| processes.contains(&one.process));
        waiting.find_map(|one| {
            let mut later = self.history.events.iter().enumerate().skip(one.invoked.index);
            let (index, _) = later.find(|(_, event)| match &event.what {
                What::Server { key, change: Change::Expired, value: Some(node), .. } => {
                    let is_own = || creator(self.history, node) == Some(one.process);
                    *key == self.history.header.resource && is_own()
                }
                _ => false,
            })?;
            Some((one.process, self.moment(index)))
        })
    }

    pub fn section_of(&self, acquisition: usize) -> Option<&Section> {
        self.sections.iter().find(|section| section.acquisition == acquisition)
    }

    /// Returns the critical section that the acquire with this operation number began.
    pub(crate) fn section_of_call(&self, operation: u64) -> Option<&Section> {
        self.section_of(self.acquisition_of(operation)?)
    }

    /// Returns the acquire that was a process's open operation at this time.
    pub(crate) fn acquiring(&self, process: Node, at: Moment) -> Option<&Acquisition<'h>> {
        self.acquisitions.iter().find(|one| one.process == process && one.is_open_at(at))
    }

    /// Returns the two acquisitions in the order of their grants. If a grant is not recorded,
    /// returns them in the order of their answers.
    pub fn in_grant_order(&self, a: usize, b: usize) -> (usize, usize) {
        let (one, other) = (&self.acquisitions[a], &self.acquisitions[b]);
        let place = match (&one.grant, &other.grant) {
            (Some(first), Some(second)) => (first.moment, second.moment),
            _ => (one.completed.unwrap_or(one.invoked), other.completed.unwrap_or(other.invoked)),
        };
        if place.1 < place.0 { (b, a) } else { (a, b) }
    }

    /// Returns the time of the grant. If the servers do not report grants, returns when the process
    /// learned of the grant, unless a fault may have delayed the answer.
    pub fn granted_at(&self, acquisition: usize) -> Option<Moment> {
        let one = &self.acquisitions[acquisition];
        let is_told = self.history.header.locks_unseen && one.outcome == Outcome::Granted;
        let told = one.completed.filter(|_| is_told);
        let machine = one.process.machine();
        let delays = |fault: &FaultSpan<'_>, told: Moment| {
            let concerns = |node: &Node| node.is_server() || *node == machine;
            fault.kind.impact() != Impact::BendsClock
                && fault.touches(one.invoked.time, told.time)
                && fault.nodes.iter().any(concerns)
        };
        let told = told.filter(|told| !self.faults.iter().any(|fault| delays(fault, *told)));
        one.grant.as_ref().map(|grant| grant.moment).or(told)
    }

    /// Returns the successful acquisitions with a known time of grant, ordered by that time.
    pub fn granted_in_order(&self) -> Vec<usize> {
        let is_granted = |index: &usize| self.acquisitions[*index].outcome == Outcome::Granted;
        let granted = (0..self.acquisitions.len()).filter(is_granted);
        let mut order: Vec<(Moment, usize)> =
            granted.filter_map(|index| Some((self.granted_at(index)?, index))).collect();
        order.sort();
        order.into_iter().map(|(_, index)| index).collect()
    }

    /// Returns `true` if the value at a server was this acquisition's lock. A copy on a replica
    /// belongs to the grant that the replica copied.
    pub fn is_lock_of(&self, span: &KeySpan<'_>, acquisition: &Acquisition<'_>) -> bool {
        let rests_on = |grant: &Grant| grant.servers.contains(&(span.node, span.from));
        if self.history.header.quorum > 1 && acquisition.grant.as_ref().is_some_and(rests_on) {
            return true;
        }
        let Some(value) = span
            .value
            .filter(|value| acquisition.owner.is_some_and(|owner| is_one_owner(value, owner)))
        else {
            return false;
        };
        let by = span.granted.or_else(|| self.last_granted(value, span.from)).map(|of| of.0);
        // A copy may arrive after its process got the lock again.
        let set = span.granted.filter(|_| span.by.is_none()).map_or(span.from, |(_, at)| at);
        let began = |grant: &Grant| {
            let granted = grant.servers.iter().map(|(_, moment)| *moment).min();
            // A grant may rely on a value that the same process had set earlier.
            let found = |at: Moment| !grant.created && span.to.is_none_or(|(to, _)| at < to);
            granted.is_none_or(|granted| granted <= set || found(granted))
        };
        by.is_none_or(|by| by.machine() == acquisition.process.machine())
            && acquisition.grant.as_ref().is_none_or(began)
    }

    /// Returns the values at all servers that were this acquisition's lock, in order of start.
    pub(crate) fn keys_of<'t>(
        &'t self,
        acquisition: &Acquisition<'_>,
    ) -> impl Iterator<Item = &'t KeySpan<'h>> {
        self.keys.iter().filter(|span| self.is_lock_of(span, acquisition))
    }

    pub(crate) fn gone(&self, acquisition: &Acquisition<'_>) -> Option<(Moment, KeyEnd)> {
        let own = self.keys_of(acquisition);
        if self.history.header.has_members() {
            // Each server that grants the lock takes over the lock of the previous server, so only
            // the end at the last server counts.
            return own.max_by_key(|span| span.from)?.to;
        }
        own.filter_map(|span| span.to).min_by_key(|(at, _)| *at)
    }

    /// Returns `true` if the process had an earlier lock with the same owner value. A late release
    /// of the earlier lock can then remove the later lock.
    pub(crate) fn reuses_owner(&self, acquisition: &Acquisition<'_>) -> bool {
        self.acquisitions.iter().any(|earlier| {
            let values = earlier.owner.zip(acquisition.owner);
            earlier.process == acquisition.process
                && earlier.invoked < acquisition.invoked
                && values.is_some_and(|(before, now)| is_one_owner(before, now))
        })
    }

    pub(crate) fn replacer(&self, at: Moment) -> Option<Node> {
        self.keys.iter().find(|span| span.from == at)?.by
    }

    /// Returns the end of the value or, if earlier, of its lease. The lease does not count if the
    /// server's clock was wrong, or if a command removed a key that the server would have removed
    /// at the end of the lease.
    pub(crate) fn existed_until(&self, span: &KeySpan<'_>) -> SimTime {
        let told = span.to.map_or(self.end, |(to, _)| to.time);
        let over = match span.to {
            Some((_, KeyEnd::Changed { change: Change::Expired, .. })) => {
                span.runs_out.or_else(|| self.after_ttl(span))
            }
            Some((_, KeyEnd::Changed { by: Some(_), .. })) if !self.history.header.has_rows() => {
                None
            }
            _ => span.runs_out,
        };
        let set = span.set.last().map_or(span.from, |set| *set).time;
        let is_bent = |over: SimTime| {
            let mut faults = self.faults.iter();
            faults.any(|fault| {
                fault.does(Impact::BendsClock, span.node) && fault.touches(set, over.max(set))
            })
        };
        let over = over.filter(|over| !is_bent(*over));
        over.map_or(told, |over| over.max(span.from.time).min(told))
    }

    fn after_ttl(&self, span: &KeySpan<'_>) -> Option<SimTime> {
        let set = span.set.last().filter(|_| !self.history.header.has_no_ttl())?;
        Some(set.time + self.history.header.ttl_us)
    }

    /// Returns `true` if the value is a lower count of the same owner, which is a partial release.
    pub(crate) fn is_lowered(&self, span: &KeySpan<'_>) -> bool {
        let before = self.keys.iter().find(|before| {
            before.node == span.node && before.to == Some((span.from, KeyEnd::Replaced))
        });
        let values = before.and_then(|before| before.value).zip(span.value);
        values.is_some_and(|(before, now)| is_lower_count(before, now))
    }

    pub(crate) fn exists_at(&self, span: &KeySpan<'_>, at: Moment) -> bool {
        let is_gone = span.to.is_some_and(|(to, _)| to <= at);
        span.from < at && !is_gone && at.time <= self.existed_until(span)
    }

    pub(crate) fn last_granted(&self, value: &str, before: Moment) -> Option<(Node, Moment)> {
        let granted = |span: &&KeySpan<'_>| {
            span.from < before
                && span.by.is_some()
                && span.value.is_some_and(|other| is_one_owner(other, value))
        };
        let span = self.keys.iter().rev().find(granted)?;
        Some((span.by?, span.from))
    }

    /// Returns the process that was last granted this value, and when. If the server recorded no
    /// such grant, grants by all servers count.
    pub fn owner_of(&self, value: &str, server: Node, before: Moment) -> Option<(Node, Moment)> {
        let stood = |span: &&KeySpan<'_>| {
            let is_earlier = span.node == server && span.from < before;
            is_earlier && span.value.is_some_and(|other| is_one_owner(other, value))
        };
        let here = self.keys.iter().rev().find(stood).and_then(|span| span.granted);
        here.or_else(|| self.last_granted(value, before))
    }
}

/// Returns `true` if both values name the same owner. The value of a re-entrant lock is
/// `owner=count`.
pub(crate) fn is_one_owner(one: &str, other: &str) -> bool {
    // Most owners differ in the first byte, so this test avoids most comparisons.
    let may_be_same =
        one.is_empty() || other.is_empty() || one.as_bytes()[0] == other.as_bytes()[0];
    may_be_same && (one == other || owner_of_value(one) == owner_of_value(other))
}

pub(crate) fn is_lower_count(before: &str, now: &str) -> bool {
    let ((owner, high), (same, low)) = (owner_and_count(before), owner_and_count(now));
    owner == same && low < high
}

pub(crate) fn has_count(value: &str) -> bool {
    owner_of_value(value) != value
}

fn owner_of_value(value: &str) -> &str {
    owner_and_count(value).0
}

/// Returns the process that created this node, or that acquired the lock with it.
pub(crate) fn creator(history: &History, node: &str) -> Option<Node> {
    history.events.iter().find_map(|event| match &event.what {
        What::Server { change, value: Some(value), by, .. } => {
            let tells = matches!(change, Change::Granted | Change::Restored) && value == node;
            by.filter(|_| tells)
        }
        What::Ok { owner: Some(owner), .. } if owner == node => Some(event.node),
        _ => None,
    })
}

fn owner_and_count(value: &str) -> (&str, Option<u64>) {
    let counted = |(owner, count): (&'_ str, &str)| {
        let digits = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| (owner.len(), count.parse().ok()))
    };
    match value.rsplit_once('=').and_then(counted) {
        Some((end, count)) => (&value[..end], count),
        None => (value, None),
    }
}

fn end(history: &History) -> SimTime {
    let last = history.events.last().map_or(SimTime::ZERO, |event| event.time_us);
    history.ended.map_or(last, |ended| ended.at_us.max(last))
}

fn moments(history: &History) -> impl DoubleEndedIterator<Item = (Moment, &Event)> {
    history
        .events
        .iter()
        .enumerate()
        .map(|(index, event)| (Moment { time: event.time_us, index }, event))
}

fn given_up(history: &History) -> BTreeMap<u64, usize> {
    let events = history.events.iter().enumerate();
    let given_up = events.filter_map(|(index, event)| match event.what {
        What::GivenUp { operation, .. } => Some((operation, index)),
        _ => None,
    });
    given_up.collect()
}

fn invocations(history: &History) -> BTreeMap<u64, usize> {
    moments(history)
        .filter_map(|(moment, event)| match &event.what {
            What::Invoke { operation, .. } => Some((*operation, moment.index)),
            _ => None,
        })
        .collect()
}

fn acquire_invoked(event: &Event) -> Option<u64> {
    match &event.what {
        What::Invoke { operation, action: Action::Acquire } => Some(*operation),
        _ => None,
    }
}
