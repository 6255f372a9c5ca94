use super::lost;
use crate::explain::evidence::{flight, release};
use crate::judge::finding::Clash;
use crate::judge::timeline::{
    Acquisition, FaultSpan, KeyEnd, KeySpan, Moment, StorageRequest, Timeline,
};
use crate::record::history::{Action, Change, Header, Keeping, What};
use fencepost_faults::{FaultKind, Impact, Node, SimTime};

/// The period from the first grant to the end of the violation, with its conflicting acquisitions.
pub(super) struct Between<'t, 'h> {
    timeline: &'t Timeline<'h>,
    both: [&'t Acquisition<'h>; 2],
    pub(super) from: SimTime,
    taken: SimTime,
    until: SimTime,
    /// When the late write was sent, and when the storage accepted it.
    late_write: Option<(SimTime, SimTime)>,
    is_split: bool,
}

impl<'t, 'h> Between<'t, 'h> {
    pub(super) fn new(
        timeline: &'t Timeline<'h>,
        clash: Clash,
        until: SimTime,
        is_split: bool,
    ) -> Between<'t, 'h> {
        let both = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
        let from = both[0].grant.as_ref().map_or(both[0].invoked, |grant| grant.moment).time;
        let taken = both[1].grant.as_ref().map_or(until, |grant| grant.moment.time);
        let late_write = clash.late_write.and_then(|landed| {
            let (sent, _) = flight::sent(timeline, clash)?;
            Some((sent.time, timeline.moment(landed).time))
        });
        Between { timeline, both, from, taken, until, late_write, is_split }
    }

    pub(super) fn faults(&self) -> Vec<(Relevance, &'t FaultSpan<'h>)> {
        let processes = self.both.map(|one| one.process);
        let removal = self.late_removal();
        let mut faults: Vec<(Relevance, &FaultSpan<'_>)> = self
            .timeline
            .faults
            .iter()
            .rev()
            .filter(|fault| self.acted(fault) || holds_up(removal, fault))
            .filter(|fault| !takes_data(fault) || self.is_of_deciding_servers(fault))
            .map(|fault| {
                let is_between = self.from <= fault.from.time && fault.from.time <= self.taken;
                match fault {
                    _ if self.delays_write(fault) || delays_sending(removal, fault) => {
                        (Relevance::Delays, fault)
                    }
                    _ if holds_up(removal, fault) => (Relevance::OfHolder, fault),
                    _ => (relevance(fault, processes, is_between), fault),
                }
            })
            // After the second grant, only the holder and the storage still matter.
            .filter(|(relevance, fault)| {
                let is_late = self.taken < fault.from.time && !fault.names(Node::Storage);
                !is_late || *relevance <= Relevance::OfHolder
            })
            .collect();
        faults.sort_by_key(|(relevance, _)| *relevance);
        faults
    }

    fn delays_write(&self, fault: &FaultSpan<'_>) -> bool {
        flight::holds_up_storage(fault)
            && fault.names(self.both[0].process)
            && self.late_write.is_some_and(|(sent, landed)| hits_message(fault, sent, landed))
    }

    fn acted(&self, fault: &FaultSpan<'_>) -> bool {
        let may_matter =
            !is_over(fault, self.from) || self.is_split && fault.kind == FaultKind::Promote;
        fault.touches(self.from, self.until)
            && self.concerns(fault)
            && may_matter
            && !is_of_unused_clock(self.timeline, fault)
            && !self.is_of_idle_link(fault)
            && !self.is_later_delay(fault)
            && !self.takes_no_lock(fault)
            && !self.is_earlier_step(fault)
            && !self.is_of_replication(fault)
            && !self.is_of_unrelated_clock(fault)
    }

    /// Returns whether the fault can hit only messages between processes and the storage, and no
    /// such message is known to have been hit.
    fn is_of_idle_link(&self, fault: &FaultSpan<'_>) -> bool {
        let holds_up = matches!(fault.kind.impact(), Impact::HoldsUpMessages);
        let is_link = fault.nodes.iter().all(|node| node.is_process() || *node == Node::Storage);
        let requests = &self.timeline.storage;
        let is_in_transit = |request: &StorageRequest| {
            let sent = self.timeline.invocation_of(request.operation);
            fault.names(request.process)
                && sent.is_some_and(|sent| hits_message(fault, sent.time, request.moment.time))
        };
        let waits = self
            .both
            .iter()
            .any(|one| fault.names(one.process) && self.waited_for_storage(one.process, fault));
        holds_up
            && is_link
            && fault.names(Node::Storage)
            && !waits
            && !requests.iter().any(is_in_transit)
    }

    /// Returns whether the fault is a delay of the storage that began after the late write.
    fn is_later_delay(&self, fault: &FaultSpan<'_>) -> bool {
        fault.kind == FaultKind::Delay
            && fault.names(Node::Storage)
            && self.late_write.is_some_and(|(sent, _)| sent < fault.from.time)
    }

    /// Returns whether the fault made servers lose keys but, in the history, not the lock.
    fn takes_no_lock(&self, fault: &FaultSpan<'_>) -> bool {
        let lost = |change| matches!(change, Change::Evicted | Change::Flushed);
        let timeline = self.timeline;
        let is_hit = |span: &KeySpan<'_>| match span.to {
            Some((at, KeyEnd::Changed { change, .. })) => {
                lost(change) && fault.names(span.node) && at.time == fault.from.time
            }
            _ => false,
        };
        let is_known = !timeline.history.header.locks_unseen;
        let mut keys = timeline.keys.iter();
        fault.kind.impact() == Impact::LosesKeys && is_known && !keys.any(is_hit)
    }

    /// Returns whether the fault may have hit a storage request with an unknown outcome.
    fn waited_for_storage(&self, process: Node, fault: &FaultSpan<'_>) -> bool {
        let events = &self.timeline.history.events;
        events.iter().enumerate().any(|(index, event)| {
            let What::Info { operation, .. } = event.what else { return false };
            let sent = self.timeline.invocation_of(operation);
            let is_request = |sent: &Moment| {
                let what = &events[sent.index].what;
                matches!(
                    what,
                    What::Invoke { action: Action::Read { .. } | Action::Write { .. }, .. }
                )
            };
            event.node == process
                && sent.filter(is_request).is_some_and(|sent| {
                    hits_message(fault, sent.time, self.timeline.moment(index).time)
                })
        })
    }

    /// Returns whether the fault names a conflicting process, or names no process at all, but names
    /// the storage or a server that may have granted the lock.
    fn concerns(&self, fault: &FaultSpan<'_>) -> bool {
        let involved = |machine: &Node| self.involves(*machine);
        let mut processes = fault.nodes.iter().filter(|node| node.is_process()).peekable();
        fault.nodes.iter().any(involved) && (processes.peek().is_none() || processes.any(involved))
    }

    fn involves(&self, machine: Node) -> bool {
        let is_unseen = self.timeline.history.header.locks_unseen && machine.is_server();
        machine == Node::Storage
            || is_unseen
            || self.both.iter().any(|one| {
                let servers = one.grant.iter().flat_map(|grant| &grant.servers);
                one.process.machine() == machine
                    || servers.into_iter().any(|(server, _)| *server == machine)
            })
    }

    /// Returns whether the fault changes a clock, although the lock needs no quorum, and a restart,
    /// flush, eviction or discard ended the lock.
    fn is_of_unrelated_clock(&self, fault: &FaultSpan<'_>) -> bool {
        let ended = self.timeline.gone(self.both[0]);
        let is_lost = |change| {
            matches!(
                change,
                Change::Forgotten | Change::Flushed | Change::Evicted | Change::Discarded
            )
        };
        fault.kind.impact() == Impact::BendsClock
            && self.timeline.history.header.quorum <= 1
            && ended.is_some_and(|(_, how)| match how {
                KeyEnd::Changed { change, .. } => is_lost(change),
                KeyEnd::Replaced => false,
            })
    }

    /// Returns whether the fault only delays replication, and one server made both grants.
    fn is_of_replication(&self, fault: &FaultSpan<'_>) -> bool {
        let header = &self.timeline.history.header;
        let granted = self.both.map(|one| one.grant.as_ref().map(|grant| grant.node));
        is_redis(header)
            && header.quorum <= 1
            && granted[0].is_some()
            && granted[0] == granted[1]
            && matches!(fault.kind.impact(), Impact::HoldsUpMessages)
            && fault.nodes.iter().all(|node| node.is_server())
    }

    /// Returns whether the fault stepped clocks of servers before the first grant, and the second
    /// grant cannot depend on a copy of the lock. Such a step does not change the lease.
    fn is_earlier_step(&self, fault: &FaultSpan<'_>) -> bool {
        let granted = self.both.map(|one| one.grant.as_ref().map(|grant| grant.node));
        fault.kind == FaultKind::ClockJump
            && fault.from.time < self.from
            && fault.nodes.iter().all(|node| node.is_server())
            && (granted[0] == granted[1] || self.timeline.history.header.quorum > 1)
    }

    /// Returns whether the fault names only servers of the later grant's quorum, if it has one.
    fn is_of_deciding_servers(&self, fault: &FaultSpan<'_>) -> bool {
        let second = self.both[1].grant.as_ref();
        let second = second.filter(|_| self.timeline.history.header.quorum > 1);
        second.is_none_or(|grant| fault.nodes.iter().all(|node| lost::is_of_quorum(grant, *node)))
    }

    /// Returns another process that removed the holder's lock with a release that began before the
    /// holder's grant, and the times of the release and of the removal.
    fn late_removal(&self) -> Option<(Node, SimTime, SimTime)> {
        let (timeline, [holder, taker]) = (self.timeline, self.both);
        let (held, taken) = (holder.grant.as_ref()?.moment, taker.grant.as_ref()?.moment);
        let ends = timeline.keys_of(holder).filter_map(|span| Some(span.to?.0));
        ends.filter(|at| held < *at && *at <= taken).find_map(|at| {
            let by = timeline.asked_by(at)?;
            let sent = release::unknown(timeline, by, at)?;
            (by.machine() != holder.process.machine() && sent < held)
                .then_some((by, sent.time, at.time))
        })
    }
}

/// Returns whether the fault may have hit a request or its answer. A delay hits only messages sent
/// during the delay; other faults also hit messages in transit.
fn hits_message(fault: &FaultSpan<'_>, sent: SimTime, answered: SimTime) -> bool {
    match fault.kind {
        FaultKind::Delay => fault.touches(sent, sent) || fault.touches(answered, answered),
        _ => fault.touches(sent, answered),
    }
}

/// Returns whether the fault may have delayed the late release.
fn holds_up(removal: Option<(Node, SimTime, SimTime)>, fault: &FaultSpan<'_>) -> bool {
    removal.is_some_and(|(by, sent, removed)| {
        fault.names(by)
            && matches!(fault.kind.impact(), Impact::HoldsUpMessages | Impact::Freezes)
            && fault.touches(sent, removed)
    })
}

/// Returns whether the fault may have delayed the late release, and was active when it was sent.
fn delays_sending(removal: Option<(Node, SimTime, SimTime)>, fault: &FaultSpan<'_>) -> bool {
    holds_up(removal, fault) && removal.is_some_and(|(_, sent, _)| fault.touches(sent, sent))
}

/// Relevance of a fault to a clash, in the order in which a narrative selects faults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relevance {
    /// The fault may have delayed the late write, or was active when the late release was sent.
    Delays,
    /// The fault names the holder and changes no clock, or may have delayed the late release.
    OfHolder,
    /// The fault stopped servers, or changed their data or roles, between the two grants.
    OfServers,
    /// The fault names the process that was granted the lock later, and changes no clock.
    OfTaker,
    Other,
}

fn relevance(fault: &FaultSpan<'_>, [holder, taker]: [Node; 2], is_between: bool) -> Relevance {
    match fault.kind.impact() {
        _ if takes_data(fault) && is_between => Relevance::OfServers,
        Impact::BendsClock => Relevance::Other,
        _ if fault.names(holder) => Relevance::OfHolder,
        _ if fault.names(taker) => Relevance::OfTaker,
        _ => Relevance::Other,
    }
}

fn takes_data(fault: &FaultSpan<'_>) -> bool {
    let impact = fault.kind.impact();
    matches!(impact, Impact::Kills | Impact::LosesKeys | Impact::TakesOver)
        && fault.nodes.iter().all(|node| node.is_server())
}

/// Returns whether the fault changed keys or roles before the first grant.
fn is_over(fault: &FaultSpan<'_>, granted: SimTime) -> bool {
    let is_instant = matches!(fault.kind.impact(), Impact::LosesKeys | Impact::TakesOver);
    is_instant && fault.from.time < granted
}

/// Returns whether the fault changes only servers' clocks, and no lock depends on these clocks.
fn is_of_unused_clock(timeline: &Timeline<'_>, fault: &FaultSpan<'_>) -> bool {
    let bends = fault.kind.impact() == Impact::BendsClock;
    if !bends || fault.nodes.iter().any(|node| !node.is_server()) {
        return false;
    }
    let header = &timeline.history.header;
    // Clock steps do not affect the clocks that measure sessions.
    if fault.kind == FaultKind::ClockJump && header.lives_with_session {
        return true;
    }
    let measures = |what: &What| match what {
        What::Server { change, lease_us, .. } => *change == Change::Expired || lease_us.is_some(),
        _ => false,
    };
    let measured = timeline.history.events.iter().any(|event| measures(&event.what));
    header.kept_as == Some(Keeping::Connection) || is_redis(header) && !measured
}

fn is_redis(header: &Header) -> bool {
    header.kept_as.is_none() && !header.lives_with_session && !header.locks_unseen
}
