use super::lease::{COARSE, GRANULARITY, is_given_short, last_lease};
use super::value_time::begins_with_unix_time;
use super::{release, takeover, value_time};
use crate::judge::timeline::{
    Acquisition, FaultSpan, KeyEnd, KeySpan, Moment, Outcome, Section, Timeline, is_one_owner,
};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::{FaultKind, Node, SimTime};

pub(crate) struct Loss<'t, 'h> {
    pub(super) timeline: &'t Timeline<'h>,
    pub(super) holder: &'t Acquisition<'h>,
    pub(super) taker: &'t Acquisition<'h>,
    pub(super) how: LossKind<'t, 'h>,
}

#[derive(Clone, Copy)]
pub(super) enum LossKind<'t, 'h> {
    Ended {
        span: &'t KeySpan<'h>,
        at: Moment,
        how: KeyEnd,
    },
    /// The process removed the lock before it learned of the grant.
    TakenBack {
        removed: Moment,
    },
    TwoPrimaries,
    /// The server let the lease run out, and another primary extended it before or afterwards.
    ExtendedElsewhere {
        server: Node,
        at: Moment,
    },
    NeverReceived,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remover {
    Itself,
    Thread(Node),
    Process(Node),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EarlyExpiry {
    ByClock(FaultKind),
    InWholeSeconds,
    /// The server's copy of the lock lacked the extension of the lease.
    ByFirstLease,
    ByOtherLease,
    Unknown,
}

/// Hosts whose clocks may have ended a lock early. A step before `since` has no effect.
struct Clocks {
    hosts: Vec<Node>,
    since: SimTime,
}

impl<'t, 'h> Loss<'t, 'h> {
    pub(crate) fn ended_by(&self, wanted: Change) -> bool {
        matches!(
            self.how,
            LossKind::Ended { how: KeyEnd::Changed { change, .. }, .. } if change == wanted
        )
    }

    pub(crate) fn has_two_primaries(&self) -> bool {
        matches!(self.how, LossKind::TwoPrimaries | LossKind::ExtendedElsewhere { .. })
    }

    pub(crate) fn extended_elsewhere(&self) -> Option<(Node, Moment)> {
        match self.how {
            LossKind::ExtendedElsewhere { server, at } => Some((server, at)),
            _ => None,
        }
    }

    pub(crate) fn is_not_replicated(&self) -> bool {
        matches!(self.how, LossKind::NeverReceived) && !is_of_members(self.timeline)
            || self.ended_by(Change::Discarded)
            || self.ran_out() == Some(EarlyExpiry::ByFirstLease)
            || self.was_let_in_by_a_copy()
    }

    /// Returns `true` if no server granted the lock: the holder mistook a copy of its earlier lock
    /// for a grant, and the copy then expired.
    fn was_let_in_by_a_copy(&self) -> bool {
        let LossKind::Ended { span, .. } = self.how else { return false };
        self.holder.grant.is_none() && span.by.is_none() && self.ended_by(Change::Expired)
    }

    pub(crate) fn ended_with_session(&self) -> bool {
        let header = &self.timeline.history.header;
        match header.kept_as {
            // If no clock explains the early end of the lease, the member had left.
            Some(Keeping::MemberLease) => {
                self.ended_by(Change::Expired) && self.ran_out() == Some(EarlyExpiry::Unknown)
            }
            _ => header.lives_with_session && self.ended_by(Change::Expired),
        }
    }

    pub(crate) fn remover(&self) -> Option<Remover> {
        let process = self.holder.process;
        let by = match self.how {
            LossKind::TakenBack { .. } => return Some(Remover::Itself),
            LossKind::Ended {
                at,
                how: KeyEnd::Changed { change: Change::Removed, by, .. },
                ..
            } => release::thread_of(self.timeline, by?, at),
            _ => return None,
        };
        Some(match by {
            by if by == process => Remover::Itself,
            by if by.machine() == process.machine() => Remover::Thread(by),
            by => Remover::Process(by),
        })
    }

    pub(crate) fn removed_by_itself(&self) -> Option<Moment> {
        (self.remover() == Some(Remover::Itself)).then(|| self.removed()).flatten()
    }

    fn removed(&self) -> Option<Moment> {
        match self.how {
            LossKind::Ended { at, .. } => Some(at),
            LossKind::TakenBack { removed } => Some(removed),
            LossKind::TwoPrimaries
            | LossKind::ExtendedElsewhere { .. }
            | LossKind::NeverReceived => None,
        }
    }

    pub(crate) fn is_takeover_of(&self, process: Node) -> bool {
        let is_takeover = |at| takeover::is_stale_takeover(self.timeline, process, at);
        self.removed().is_some_and(is_takeover)
    }

    pub(crate) fn may_be_a_late_release_of(&self, process: Node) -> bool {
        self.removed().is_some_and(|at| release::has_release_in_transit(self.timeline, process, at))
    }

    pub(crate) fn may_be_a_late_release(&self) -> bool {
        !self.is_given_back() && self.may_be_a_late_release_of(self.holder.process)
    }

    pub(crate) fn lost_a_reply(&self) -> bool {
        let LossKind::Ended { at, .. } = self.how else { return false };
        let process = self.holder.process;
        // A reply lost before the release of this critical section began cannot have caused it.
        let release = self.section_then().and_then(|section| {
            let sent = release::unknown(self.timeline, process, at)?;
            (section.from < sent).then_some(sent)
        });
        let from = release.unwrap_or(self.holder.invoked);
        let mut faults = self.timeline.faults.iter();
        faults.any(|fault| {
            let is_then = fault.from < at && fault.to.is_none_or(|to| from < to);
            is_then && fault.hits(process, FaultKind::LostReply)
        })
    }

    pub(crate) fn is_in_use(&self) -> bool {
        matches!(self.how, LossKind::TakenBack { .. }) || self.section_then().is_some()
    }

    fn is_given_back(&self) -> bool {
        let process = self.holder.process;
        self.section_then()
            .zip(self.removed())
            .is_some_and(|(section, at)| release::is_open(self.timeline, process, section.from, at))
    }

    fn section_then(&self) -> Option<&Section> {
        let LossKind::Ended { at, .. } = self.how else { return None };
        let process = self.holder.process;
        let mut sections = self.timeline.sections.iter();
        sections.find(|section| section.process == process && section.covers(at))
    }

    pub(crate) fn was_forgotten(&self) -> bool {
        self.ended_by(Change::Forgotten)
            || self.replaced_after_a_crash()
            || is_of_members(self.timeline) && matches!(self.how, LossKind::NeverReceived)
    }

    pub(crate) fn was_replaced(&self) -> bool {
        matches!(self.how, LossKind::Ended { how: KeyEnd::Replaced, .. })
            && self.ran_out() == Some(EarlyExpiry::Unknown)
    }

    pub(crate) fn is_renewed_over(&self) -> bool {
        let LossKind::Ended { at, how: KeyEnd::Replaced, .. } = self.how else { return false };
        renewed_over(self.timeline, self.holder, at).is_some()
    }

    fn replaced_after_a_crash(&self) -> bool {
        let LossKind::Ended { span, at, how: KeyEnd::Replaced } = self.how else { return false };
        let mut between = self.timeline.history.events[span.from.index..at.index].iter();
        self.timeline.history.header.kept_as.is_none()
            && between.any(|event| event.node == span.node && matches!(event.what, What::Crashed))
    }

    pub(crate) fn ran_out(&self) -> Option<EarlyExpiry> {
        let LossKind::Ended { span, at, how } = self.how else { return None };
        let header = &self.timeline.history.header;
        match how {
            KeyEnd::Changed { change: Change::Expired, .. } => {
                (!header.lives_with_session).then(|| self.ran_out_early(span, at))
            }
            KeyEnd::Changed { .. } => None,
            KeyEnd::Replaced if header.kept_as.is_some() || self.replaced_after_a_crash() => None,
            KeyEnd::Replaced => Some(self.replaced_early(span, at)),
        }
    }

    /// Returns why a process could replace the key before the true end of the lease. Neither a
    /// wrong rate nor whole seconds explain the loss of most of a lease. Processes that compare a
    /// time in the value can replace it at any time, because their clocks drift apart.
    fn replaced_early(&self, span: &KeySpan<'_>, at: Moment) -> EarlyExpiry {
        let is_too_early = span.runs_out.is_some() && self.is_too_early_for_drift(span, at);
        let by_server = match span.runs_out {
            None => EarlyExpiry::Unknown,
            Some(_) => self.ran_out_early(span, at),
        };
        match by_server {
            EarlyExpiry::InWholeSeconds | EarlyExpiry::ByClock(FaultKind::ClockDrift)
                if is_too_early => {}
            EarlyExpiry::Unknown => {}
            known => return known,
        }
        match self.clock_fault(&self.clocks_of_processes(span, at), at.time) {
            Some(_) if is_too_early && !begins_with_unix_time(span) => EarlyExpiry::Unknown,
            clock => clock.map_or(EarlyExpiry::Unknown, EarlyExpiry::ByClock),
        }
    }

    /// Returns why the server ended the key before the true end of the lease.
    fn ran_out_early(&self, span: &KeySpan<'_>, at: Moment) -> EarlyExpiry {
        let set = span.set.last();
        if self.is_shortened(span) {
            return EarlyExpiry::ByOtherLease;
        }
        let clocks = self.clocks_of_servers(span);
        // Except for Redis and GemFire, servers do not end leases by a clock that can be stepped.
        let is_stepped = self.timeline.history.header.kept_as == Some(Keeping::MemberLease);
        if let (Node::Server(_), Some(set), false) = (span.node, set, is_stepped) {
            let drifted = self.fault_on(FaultKind::ClockDrift, &clocks, at.time).is_some();
            let in_the_last_second =
                set.time + self.timeline.history.header.ttl_us < at.time + COARSE;
            let is_short = is_given_short(self.timeline, span);
            return match is_short {
                Some(true) => EarlyExpiry::InWholeSeconds,
                _ if drifted => EarlyExpiry::ByClock(FaultKind::ClockDrift),
                None if in_the_last_second => EarlyExpiry::InWholeSeconds,
                _ => EarlyExpiry::Unknown,
            };
        }
        if set.is_none() && self.ran_out_as_first_set(at) {
            return EarlyExpiry::ByFirstLease;
        }
        match self.clock_fault(&clocks, at.time) {
            Some(FaultKind::ClockDrift) if self.is_too_early_for_drift(span, at) => {
                EarlyExpiry::Unknown
            }
            Some(clock) => EarlyExpiry::ByClock(clock),
            None => EarlyExpiry::Unknown,
        }
    }

    /// Returns whether the lease lost more than half of its length, which would need a clock that
    /// runs at more than twice the right rate.
    fn is_too_early_for_drift(&self, span: &KeySpan<'_>, at: Moment) -> bool {
        let from = span.set.last().map_or(span.from.time, |set| set.time);
        let ends = span.runs_out.unwrap_or(from + self.timeline.history.header.ttl_us);
        at.time.since(from).0 < ends.since(from).0 / 2
    }

    fn clocks_of_servers(&self, span: &KeySpan<'_>) -> Clocks {
        let set = span.set.last();
        let since = set.map_or(SimTime::ZERO, |set| set.time);
        let granting = self.holder.grant.as_ref().map(|grant| grant.node).filter(|_| set.is_none());
        Clocks { hosts: granting.into_iter().chain([span.node]).collect(), since }
    }

    /// Returns the clocks of the writer of a value and of the process that replaced it at `at`. If
    /// the processes ask the server for the time, returns the server's clock.
    fn clocks_of_processes(&self, span: &KeySpan<'_>, at: Moment) -> Clocks {
        if begins_with_unix_time(span) && value_time::is_by_server(self.timeline) {
            let set = self.holder.grant.as_ref().map_or(span.from, |grant| grant.moment);
            let is_stepped = value_time::is_stepped_between(self.timeline, set, at);
            let hosts = is_stepped.then_some(span.node).into_iter().collect();
            return Clocks { hosts, since: self.holder.invoked.time };
        }
        let writer = span.by.unwrap_or(self.holder.process);
        let replacer = self.timeline.replacer(at).unwrap_or(self.taker.process);
        let hosts = [writer, replacer].map(Node::machine);
        Clocks { hosts: hosts.to_vec(), since: SimTime::ZERO }
    }

    pub(crate) fn wrong_clock(&self, kind: FaultKind) -> Option<&'t FaultSpan<'h>> {
        let LossKind::Ended { span, at, how } = self.how else { return None };
        let kept_as = self.timeline.history.header.kept_as;
        let is_replaced = how == KeyEnd::Replaced;
        let clocks = match kept_as {
            Some(Keeping::RowByServer) if is_replaced => {
                vec![Clocks { hosts: vec![span.node], since: self.reckoned_from(span) }]
            }
            // Only the processes compare a time in the value, unless the server also ends a lease.
            None if is_replaced && span.runs_out.is_none() && begins_with_unix_time(span) => {
                vec![self.clocks_of_processes(span, at)]
            }
            None if is_replaced => {
                vec![self.clocks_of_servers(span), self.clocks_of_processes(span, at)]
            }
            _ => vec![self.clocks_of_servers(span)],
        };
        clocks.iter().find_map(|clocks| self.fault_on(kind, clocks, at.time))
    }

    fn is_shortened(&self, span: &KeySpan<'_>) -> bool {
        let by_another = |set: &Moment| {
            let by = self.timeline.asked_by(*set).map(Node::machine);
            by.is_some_and(|by| by != self.holder.process.machine())
        };
        let (Some(set), Some(runs_out)) = (span.set.last(), span.runs_out) else { return false };
        let own = last_lease(self.timeline, self.holder, span.node, *set);
        by_another(set) && runs_out + GRANULARITY < own.ends()
    }

    fn ran_out_as_first_set(&self, at: Moment) -> bool {
        let first = self.holder.grant.as_ref().map(|grant| grant.moment.time);
        first.is_some_and(|first| {
            at.time + GRANULARITY >= first + self.timeline.history.header.ttl_us
        })
    }

    pub(crate) fn is_by_clock(&self, kind: FaultKind) -> bool {
        self.ran_out() == Some(EarlyExpiry::ByClock(kind))
            || self.overwritten_by_clock(Keeping::RowByServer) == Some(kind)
    }

    pub(crate) fn is_by_clocks_of_processes(&self) -> bool {
        self.overwritten_by_clock(Keeping::RowByClients).is_some()
    }

    fn overwritten_by_clock(&self, keeping: Keeping) -> Option<FaultKind> {
        let LossKind::Ended { span, at, how: KeyEnd::Replaced } = self.how else { return None };
        if self.timeline.history.header.kept_as != Some(keeping) {
            return None;
        }
        match keeping {
            Keeping::RowByClients => self.clock_fault(&self.clocks_of_processes(span, at), at.time),
            Keeping::RowByServer => {
                let clocks = Clocks { hosts: vec![span.node], since: self.reckoned_from(span) };
                let is_too_early = span.runs_out.is_some() && self.is_too_early_for_drift(span, at);
                self.clock_fault(&clocks, at.time)
                    .filter(|kind| *kind != FaultKind::ClockDrift || !is_too_early)
            }
            Keeping::Connection
            | Keeping::Lease
            | Keeping::Session
            | Keeping::Membership
            | Keeping::MemberLease => None,
        }
    }

    /// Returns when the server read its clock to set the last lease: at the start of the acquire,
    /// if the recorded lease is more than a second shorter than the ttl.
    fn reckoned_from(&self, span: &KeySpan<'_>) -> SimTime {
        let Some(set) = span.set.last() else { return SimTime::ZERO };
        let left = match self.timeline.history.events[set.index].what {
            What::Server { lease_us, .. } => lease_us,
            _ => None,
        };
        let is_short = left.is_some_and(|left| left + COARSE < self.timeline.history.header.ttl_us);
        if is_short { self.holder.invoked.time.min(set.time) } else { set.time }
    }

    /// Returns the kind of clock fault at these hosts. A step takes precedence over a wrong rate.
    fn clock_fault(&self, clocks: &Clocks, until: SimTime) -> Option<FaultKind> {
        let mut kinds = [FaultKind::ClockJump, FaultKind::ClockDrift].into_iter();
        kinds.find(|kind| self.fault_on(*kind, clocks, until).is_some())
    }

    fn fault_on(
        &self,
        kind: FaultKind,
        Clocks { hosts, since }: &Clocks,
        until: SimTime,
    ) -> Option<&'t FaultSpan<'h>> {
        let since = *since;
        let mut faults = self.timeline.faults.iter().filter(|fault| fault.kind == kind);
        faults.rfind(|fault| {
            let hit = hosts.iter().any(|host| fault.names(*host));
            let begins = fault.from.time <= until
                && (kind != FaultKind::ClockJump || since <= fault.from.time);
            hit && begins
                && (kind == FaultKind::ClockJump
                    || since == SimTime::ZERO
                    || fault.touches(since, until))
        })
    }
}

/// Returns whether the members of the group grant the lock themselves, as in GemFire.
pub(crate) fn is_of_members(timeline: &Timeline<'_>) -> bool {
    let kept_as = timeline.history.header.kept_as;
    matches!(kept_as, Some(Keeping::Membership | Keeping::MemberLease))
}

pub(crate) fn renewed_over(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    at: Moment,
) -> Option<Node> {
    let written = timeline.keys.iter().find(|span| span.from == at)?;
    let by = written.by.filter(|by| by.machine() != holder.process.machine())?;
    let mut own = timeline.acquisitions.iter().filter(|one| one.process.machine() == by.machine());
    let is_acquiring = own.clone().any(|one| one.is_open_at(at));
    let had_it = own.any(|one| {
        let was_granted = one.outcome == Outcome::Granted && one.invoked < at;
        was_granted && one.owner.zip(written.value).is_some_and(|(own, now)| is_one_owner(now, own))
    });
    (had_it && !is_acquiring).then_some(by)
}
