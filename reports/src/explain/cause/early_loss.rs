//! How a lock was lost at its servers before its lease was over.
//!
//! Looked at are the servers that granted both acquisitions. If they give different reasons, the
//! first of [`PRECEDENCE`] counts: what somebody did to the lock comes before what a server lost,
//! that before what a clock did.

use super::{Cause, overrun, release, takeover};
use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Grant, KeyEnd, KeySpan, Moment, Timeline};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::{FaultKind, Micros, Node, SimTime};

/// Which of several reasons counts.
const PRECEDENCE: [Cause; 18] = [
    Cause::StaleTakeover,
    Cause::SharedOwner,
    Cause::ForeignRelease,
    Cause::LostReply,
    Cause::LostRelease,
    Cause::EarlyRelease,
    Cause::SessionExpired,
    Cause::Flush,
    Cause::Eviction,
    Cause::RestartWithoutDelay,
    Cause::SplitBrain,
    Cause::AsyncReplicationLoss,
    Cause::ClockJump,
    Cause::ClockDrift,
    Cause::ClockSkew,
    Cause::CoarseExpiry,
    Cause::Interleaving,
    Cause::Unexplained,
];

/// Redis keeps time in whole milliseconds, and a key lives until its last one is over.
const GRANULARITY: Micros = Micros::from_millis(2);
/// The coarsest unit in which a server counts leases.
const COARSE: Micros = Micros::from_secs(1);

/// The earlier lock as one server saw it.
struct Lost<'t, 'h> {
    timeline: &'t Timeline<'h>,
    holder: &'t Acquisition<'h>,
    taker: &'t Acquisition<'h>,
    /// When this server granted the lock to the taker.
    granted_again: Moment,
}

/// The cause, if any server granted the later acquisition before the earlier lease was over there.
pub(super) fn cause(timeline: &Timeline<'_>, clash: Clash) -> Option<Cause> {
    let (holder, taker) =
        (&timeline.acquisitions[clash.earlier], &timeline.acquisitions[clash.later]);
    let single = timeline.history.header.quorum <= 1;
    let Some(held) = holder.grant.as_ref() else {
        let copy = taker.grant.as_ref().filter(|_| single);
        return release::took_back(timeline, holder)
            .or_else(|| copy.and_then(|taken| loss_of_a_copy(timeline, holder, taker, taken)));
    };
    let Some(taken) = taker.grant.as_ref() else {
        return (single && let_in_by_a_copy(timeline, taker, held.node))
            .then_some(Cause::AsyncReplicationLoss);
    };
    let mut reasons = Vec::new();
    for (node, granted_again) in &taken.servers {
        let lost = Lost { timeline, holder, taker, granted_again: *granted_again };
        match held.servers.iter().find(|(server, _)| server == node) {
            Some((_, granted)) if granted < granted_again => reasons.extend(lost.at(*node)),
            None if single && two_primaries(timeline, held, (*node, *granted_again)) => {
                reasons.push(Cause::SplitBrain);
            }
            None if single => reasons.extend(lost.elsewhere(held.node, *node)),
            _ => {}
        }
    }
    PRECEDENCE.into_iter().find(|cause| reasons.contains(cause))
}

impl Lost<'_, '_> {
    /// Whether the lease, as last set at this server, was over when the lock was granted again. A
    /// lock that renews it by itself would have gone on doing so had the server not lost it before.
    /// Where the lease ran out up to a second short because the server counts in whole seconds,
    /// that second counts as over for a holder that stayed beyond the whole of it.
    fn lease_was_over(&self, node: Node) -> bool {
        if self.timeline.history.header.has_no_ttl() {
            return false;
        }
        let set = overrun::last_set(self.timeline, self.holder, node, self.granted_again);
        let over = set + self.timeline.history.header.ttl_us;
        let lost_before = || {
            let span = self.span_at(node).filter(|_| overrun::renews_by_itself(self.timeline));
            span.and_then(|span| span.to).is_some_and(|(to, how)| {
                let by_itself = matches!(how, KeyEnd::Changed { change: Change::Expired, .. });
                to <= self.granted_again && !by_itself && to.time + GRANULARITY < over
            })
        };
        let granted_again = self.granted_again.time;
        let was_over = granted_again + GRANULARITY >= over
            || granted_again + COARSE >= over
                && self.ran_out_short(node)
                && self.stayed_beyond(over);
        was_over && !lost_before()
    }

    /// Whether the lock ran out at a server that counts in whole seconds and had given it less than
    /// the lease.
    fn ran_out_short(&self, node: Node) -> bool {
        let span = self.span_at(node).filter(|_| matches!(node, Node::Server(_)));
        span.is_some_and(|span| {
            let how = span.to.filter(|(at, _)| *at <= self.granted_again).map(|(_, how)| how);
            let ran_out = matches!(how, Some(KeyEnd::Changed { change: Change::Expired, .. }));
            ran_out && self.was_given(span).is_none_or(|given| self.is_short(given))
        })
    }

    /// How long the server gave the lock when its lease was set last, by its own clock, if it said
    /// so.
    fn was_given(&self, span: &KeySpan<'_>) -> Option<Micros> {
        Some(span.runs_out?.since(span.set.last()?.time))
    }

    fn is_short(&self, given: Micros) -> bool {
        given + GRANULARITY < self.timeline.history.header.ttl_us
    }

    /// Whether the holder was still in its section then.
    fn stayed_beyond(&self, over: SimTime) -> bool {
        let section = self.timeline.acquisition_of(self.holder.operation);
        let section = section.and_then(|index| self.timeline.section_of(index));
        section.is_some_and(|section| section.ends(self.timeline.end) > over)
    }

    /// The span of the holder's value at a server that was lost before the lock was granted again;
    /// or else the last.
    fn span_at(&self, node: Node) -> Option<&KeySpan<'_>> {
        let (timeline, holder, before) = (self.timeline, self.holder, self.granted_again);
        overrun::lost_at(timeline, holder, node, before)
            .or_else(|| overrun::own_spans(timeline, holder, node, before).last().copied())
    }

    /// How the server that granted both lost the first; `None` if the lease was over.
    fn at(&self, node: Node) -> Option<Cause> {
        if self.lease_was_over(node) {
            return None;
        }
        Some(self.span_at(node).map_or(Cause::Unexplained, |span| self.reason(span)))
    }

    /// How the lock was lost between the server that granted it and another that granted it again.
    fn elsewhere(&self, held_at: Node, taken_at: Node) -> Option<Cause> {
        if self.lease_was_over(held_at) {
            return None;
        }
        let first = self
            .span_at(held_at)
            .map(|span| self.reason(span))
            .filter(|cause| is_replicated(*cause));
        let there = match self.span_at(taken_at) {
            None => Some(Cause::AsyncReplicationLoss),
            Some(span) if removed_by_replication(span) => None,
            Some(span) => Some(self.reason(span)),
        };
        // What was done to the lock where it stood reaches the other server too; what was lost
        // there need not have mattered.
        first.or(there).or(Some(Cause::Unexplained))
    }

    /// Why a span of the holder's value ended before its time.
    fn reason(&self, span: &KeySpan<'_>) -> Cause {
        let Some((at, how)) = span.to.filter(|(at, _)| *at <= self.granted_again) else {
            return Cause::Unexplained;
        };
        let KeyEnd::Changed { change, by, .. } = how else { return self.replaced(span, at) };
        match change {
            Change::Removed => self.removed(by, at),
            Change::Flushed => Cause::Flush,
            Change::Evicted => Cause::Eviction,
            Change::Forgotten => Cause::RestartWithoutDelay,
            Change::Discarded => Cause::AsyncReplicationLoss,
            Change::Expired if self.timeline.history.header.lives_with_session => {
                Cause::SessionExpired
            }
            Change::Expired => self.expired_early(span, at),
            Change::Granted | Change::Extended | Change::Restored => Cause::Unexplained,
        }
    }

    fn removed(&self, by: Option<Node>, at: Moment) -> Cause {
        let process = self.holder.process;
        let Some(by) = by else { return Cause::Unexplained };
        if by != process {
            // Another thread of the process may have sent it for an earlier lock under the same
            // owner value.
            let is_own = by.machine() == process.machine();
            let takeover = takeover::is_stale_takeover(self.timeline, by, at);
            return if is_own && release::is_astray(self.timeline, by, at) {
                Cause::LostRelease
            } else if is_own {
                Cause::SharedOwner
            } else if takeover {
                Cause::StaleTakeover
            } else {
                Cause::ForeignRelease
            };
        }
        let from = self.holder.invoked.time;
        let mut faults = self.timeline.faults.iter();
        let lost_reply = faults
            .any(|fault| fault.hits(process, FaultKind::LostReply) && fault.touches(from, at.time));
        let mut sections = self.timeline.sections.iter();
        let still_in = sections.find(|section| section.process == process && section.covers(at));
        let gives_back = still_in.is_some_and(|section| {
            release::began_between(self.timeline, process, section.from, at)
        });
        match (lost_reply, still_in) {
            (true, _) => Cause::LostReply,
            (false, Some(_)) if gives_back => Cause::EarlyRelease,
            // It had not begun to give this lock back, or did not know yet that it had it: what
            // removed it was meant for an earlier one.
            (false, _) if release::is_astray(self.timeline, process, at) => Cause::LostRelease,
            (false, Some(_)) => Cause::EarlyRelease,
            (false, None) => Cause::Unexplained,
        }
    }

    /// A key that ran out too soon in true time did so by a clock: the server's own since the lease
    /// was set or, if it got the key with an absolute time of another server, any clock of the two
    /// at any time before. Without any, a server that followed had not received that the lease was
    /// extended; or a server that is no Redis counts in whole seconds.
    fn expired_early(&self, span: &KeySpan<'_>, at: Moment) -> Cause {
        let set = span.set.last();
        let since = set.map_or(SimTime::ZERO, |set| set.time);
        let granting = self.holder.grant.as_ref().map(|grant| grant.node).filter(|_| set.is_none());
        let hosts: Vec<Node> = granting.into_iter().chain([span.node]).collect();
        let missed = || {
            (set.is_none() && self.ran_out_as_first_set(at)).then_some(Cause::AsyncReplicationLoss)
        };
        // Other coordinators count by a clock that is never stepped.
        if let (Node::Server(_), Some(set)) = (span.node, set) {
            let drifted = self.fault_on(FaultKind::ClockDrift, &hosts, since, at.time);
            let in_the_last_second =
                set.time + self.timeline.history.header.ttl_us < at.time + COARSE;
            return match self.was_given(span) {
                Some(given) if self.is_short(given) => Cause::CoarseExpiry,
                _ if drifted => Cause::ClockDrift,
                None if in_the_last_second => Cause::CoarseExpiry,
                _ => Cause::Unexplained,
            };
        }
        self.clock_fault(&hosts, since, at.time).or_else(missed).unwrap_or(Cause::Unexplained)
    }

    /// Whether the lease, had it never been extended, was over.
    fn ran_out_as_first_set(&self, at: Moment) -> bool {
        let first = self.holder.grant.as_ref().map(|grant| grant.moment.time);
        first.is_some_and(|first| {
            at.time + GRANULARITY >= first + self.timeline.history.header.ttl_us
        })
    }

    /// Another value took the place of one that stood: the server had lost it without saying so, by
    /// a restart or by its clock; or the processes go by clocks of their own; or their steps
    /// interleaved.
    fn replaced(&self, span: &KeySpan<'_>, at: Moment) -> Cause {
        if let Some(keeping) = self.timeline.history.header.kept_as {
            return self.taken_over(keeping, span, at);
        }
        let between = &self.timeline.history.events[span.from.index..at.index];
        if between
            .iter()
            .any(|event| event.node == span.node && matches!(event.what, What::Crashed))
        {
            return Cause::RestartWithoutDelay;
        }
        let processes = [self.holder.process, self.taker.process];
        match self.expired_early(span, at) {
            Cause::Unexplained => {
                self.clock_fault(&processes, SimTime::ZERO, at.time).unwrap_or(Cause::Interleaving)
            }
            clock => clock,
        }
    }

    /// A row was overwritten by who considered it expired: by a clock of two processes, or of the
    /// server.
    fn taken_over(&self, keeping: Keeping, span: &KeySpan<'_>, at: Moment) -> Cause {
        let replacer = self.timeline.replacer(at).unwrap_or(self.taker.process);
        let both = [self.holder.process, replacer].map(Node::machine);
        let set = span.set.last().map_or(SimTime::ZERO, |set| set.time);
        let found = match keeping {
            Keeping::RowByClients => {
                self.clock_fault(&both, SimTime::ZERO, at.time).map(|_| Cause::ClockSkew)
            }
            Keeping::RowByServer => self.clock_fault(&[span.node], set, at.time),
            Keeping::Connection | Keeping::Lease => None,
        };
        found.unwrap_or(Cause::Unexplained)
    }

    /// What was wrong with the clocks of these hosts in a span: a step comes before a rate. An
    /// instantaneous step counts from its begin.
    fn clock_fault(&self, hosts: &[Node], since: SimTime, until: SimTime) -> Option<Cause> {
        if self.fault_on(FaultKind::ClockJump, hosts, since, until) {
            return Some(Cause::ClockJump);
        }
        self.fault_on(FaultKind::ClockDrift, hosts, since, until).then_some(Cause::ClockDrift)
    }

    fn fault_on(&self, kind: FaultKind, hosts: &[Node], since: SimTime, until: SimTime) -> bool {
        let mut faults = self.timeline.faults.iter().filter(|fault| fault.kind == kind);
        faults.any(|fault| {
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

/// Whether two servers acted as primary when they granted: the one that was promoted later had been
/// promoted before the other one granted.
pub(super) fn two_primaries(timeline: &Timeline<'_>, held: &Grant, taken: (Node, Moment)) -> bool {
    let grants = [(held.node, held.moment), taken];
    let promoted = grants.map(|(node, at)| promoted(timeline, node, at));
    let granted_by_the_other = match promoted[0] < promoted[1] {
        true => grants[0].1,
        false => grants[1].1,
    };
    let latest = promoted[0].max(promoted[1]);
    latest.is_some_and(|latest| latest < granted_by_the_other)
}

/// Since when at the latest a server has been a primary that grants at a moment: its first deed as
/// one after its last as a replica. `None` if it never was a replica before.
fn promoted(timeline: &Timeline<'_>, node: Node, at: Moment) -> Option<Moment> {
    let mut since = None;
    for (index, event) in timeline.history.events[..=at.index].iter().enumerate().rev() {
        match &event.what {
            What::Server { primary: true, .. } if event.node == node => since = Some(index),
            What::Server { primary: false, .. } if event.node == node => {
                return since.map(|index| timeline.moment(index));
            }
            _ => {}
        }
    }
    None
}

/// Whether no server granted an acquisition, and what let it in was an earlier lock of its own,
/// which still stood at a server that had followed the holder's and never received the holder's
/// lock.
fn let_in_by_a_copy(timeline: &Timeline<'_>, taker: &Acquisition<'_>, held_at: Node) -> bool {
    let Some(entered) = taker.completed else { return false };
    timeline.keys.iter().any(|span| {
        let stands = span.from < entered && span.to.is_none_or(|(to, _)| entered < to);
        stands && span.by.is_none() && span.node != held_at && timeline.is_lock_of(span, taker)
    })
}

/// How a holder whom no server granted the lock lost it: what let it in was an earlier lock of its
/// own, which still stood at the server that granted it again.
fn loss_of_a_copy(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    taker: &Acquisition<'_>,
    taken: &Grant,
) -> Option<Cause> {
    let lost = Lost { timeline, holder, taker, granted_again: taken.moment };
    let entered = holder.completed?;
    let span = lost.span_at(taken.node).filter(|span| span.from < entered)?;
    Some(lost.reason(span)).filter(|cause| *cause != Cause::Unexplained)
}

/// Whether a replica followed a removal of its primary.
pub(super) fn removed_by_replication(span: &KeySpan<'_>) -> bool {
    matches!(span.to, Some((_, KeyEnd::Changed { change: Change::Removed, by: None, .. })))
}

/// Whether a loss at a primary reaches its replicas too.
fn is_replicated(cause: Cause) -> bool {
    use Cause::{
        ClockDrift, ClockJump, EarlyRelease, Eviction, Flush, ForeignRelease, LostRelease,
        LostReply, StaleTakeover,
    };
    matches!(
        cause,
        ForeignRelease
            | StaleTakeover
            | EarlyRelease
            | LostReply
            | LostRelease
            | Flush
            | Eviction
            | ClockJump
            | ClockDrift
    )
}
