use super::lease::{
    COARSE, GRANULARITY, has_no_lease, is_given_short, last_lease, lost_at, overwritten_until,
    own_spans, removed_by_replication, renews_by_itself, waited_to_nest,
};
use super::loss::{EarlyExpiry, Loss, LossKind, is_of_members};
use super::release;
use crate::judge::finding::Clash;
use crate::judge::timeline::{
    Acquisition, FaultSpan, Grant, KeyEnd, KeySpan, Moment, Timeline, is_one_owner,
};
use crate::record::history::Change;
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};

pub(crate) struct LockLoss<'t, 'h> {
    /// The loss at the server of the earlier grant, if another server may have copied it.
    pub(crate) at_granting_server: Option<Loss<'t, 'h>>,
    pub(crate) at_taking_server: Option<Loss<'t, 'h>>,
}

struct Handover<'t, 'h> {
    timeline: &'t Timeline<'h>,
    holder: &'t Acquisition<'h>,
    taker: &'t Acquisition<'h>,
    granted_again: Moment,
    late_write: Option<Moment>,
}

pub(crate) fn of_clash<'t, 'h>(timeline: &'t Timeline<'h>, clash: Clash) -> Vec<LockLoss<'t, 'h>> {
    let (holder, taker) =
        (&timeline.acquisitions[clash.earlier], &timeline.acquisitions[clash.later]);
    let single = timeline.history.header.quorum <= 1;
    let lost = |how| LockLoss::at_taking_server(Loss { timeline, holder, taker, how });
    let Some(held) = holder.grant.as_ref() else {
        if let Some(removed) = release::early_removal(timeline, holder) {
            return vec![lost(LossKind::TakenBack { removed })];
        }
        let copy = taker.grant.as_ref().filter(|_| single);
        return copy
            .and_then(|taken| of_a_copy(timeline, (holder, taker), taken))
            .into_iter()
            .collect();
    };
    let Some(taken) = taker.grant.as_ref() else {
        let is_copy = single && was_let_in_by_copy(timeline, taker, held.node);
        return is_copy.then(|| lost(LossKind::NeverReceived)).into_iter().collect();
    };
    let late_write = clash.late_write.map(|index| timeline.moment(index));
    let mut losses = Vec::new();
    for (node, granted_again) in &taken.servers {
        let granted_again = *granted_again;
        let seen = Handover { timeline, holder, taker, granted_again, late_write };
        match held.servers.iter().find(|(server, _)| server == node) {
            Some((_, granted)) if *granted < granted_again => losses.extend(seen.at(*node)),
            None if single
                && (two_primaries(timeline, held, (*node, granted_again))
                    || seen.had_two_grantors(held.node)) =>
            {
                losses.push(lost(LossKind::TwoPrimaries));
            }
            None if single => losses.extend(seen.elsewhere(held.node, *node)),
            _ => {}
        }
    }
    losses
}

impl<'t, 'h> LockLoss<'t, 'h> {
    fn at_taking_server(loss: Loss<'t, 'h>) -> LockLoss<'t, 'h> {
        LockLoss { at_granting_server: None, at_taking_server: Some(loss) }
    }
}

impl<'t, 'h> Handover<'t, 'h> {
    /// Returns whether the lease was over at the next grant. A lease that the server had lost
    /// before does not count as over if the holder would otherwise have renewed it or left in time.
    fn lease_was_over(&self, node: Node) -> bool {
        if self.timeline.history.header.has_no_ttl() || self.had_no_lease(node) {
            return false;
        }
        let lease = last_lease(self.timeline, self.holder, node, self.granted_again);
        let over = lease.ends();
        let lost_before = || {
            self.span_at(node).and_then(|span| span.to).is_some_and(|(to, how)| {
                // A server that counts whole seconds may end a lease up to one second early.
                let margin = match (how, node) {
                    (KeyEnd::Changed { change: Change::Expired, .. }, Node::Server(_)) => COARSE,
                    _ => GRANULARITY,
                };
                // A replaced server may expire its copy before an extension at another server.
                lease.from <= to.time
                    && to <= self.granted_again
                    && to.time + margin < over
                    && (self.would_have_renewed(over, to) || self.is_late_by_nesting(over, to))
            })
        };
        let granted_again = self.granted_again.time;
        let was_over = granted_again + GRANULARITY >= over
            || granted_again + COARSE >= over
                && self.ran_out_short(node)
                && self.stayed_beyond(over);
        was_over && !lost_before()
    }

    /// Returns whether the server had the lock without an expiry, so there was no lease to end.
    fn had_no_lease(&self, node: Node) -> bool {
        let span = self.span_at(node);
        let by_time = |span: &KeySpan<'_>| matches!(span.to, Some((_, KeyEnd::Replaced)));
        span.is_some_and(|span| !by_time(span) && has_no_lease(self.timeline, span))
    }

    /// Returns whether the holder would have renewed the lost lock: the lock renews its lease, and
    /// the holder was not paused for the whole time between the loss and the end of the lease.
    fn would_have_renewed(&self, over: SimTime, lost: Moment) -> bool {
        let left = over.since(lost.time);
        let outlasts = |fault: &FaultSpan<'_>| {
            fault.does(Impact::Freezes, self.holder.process)
                && fault.within(lost.time, over) >= left
        };
        renews_by_itself(self.timeline) && !self.timeline.faults.iter().any(outlasts)
    }

    fn is_late_by_nesting(&self, over: SimTime, from: Moment) -> bool {
        let section = self.timeline.section_of_call(self.holder.operation);
        let waited = waited_to_nest(self.timeline, self.holder, from);
        section.is_some_and(|section| {
            waited > Micros::ZERO && section.ends(self.timeline.end).since(over) <= waited
        })
    }

    fn ran_out_short(&self, node: Node) -> bool {
        let span = self.span_at(node).filter(|_| matches!(node, Node::Server(_)));
        span.is_some_and(|span| {
            let how = span.to.filter(|(at, _)| *at <= self.granted_again).map(|(_, how)| how);
            let ran_out = matches!(how, Some(KeyEnd::Changed { change: Change::Expired, .. }));
            ran_out && is_given_short(self.timeline, span).is_none_or(|is_short| is_short)
        })
    }

    fn stayed_beyond(&self, over: SimTime) -> bool {
        let section = self.timeline.section_of_call(self.holder.operation);
        section.is_some_and(|section| section.ends(self.timeline.end) > over)
    }

    fn span_at(&self, node: Node) -> Option<&'t KeySpan<'h>> {
        let (timeline, holder, before) = (self.timeline, self.holder, self.granted_again);
        lost_at(timeline, holder, node, before)
            .or_else(|| own_spans(timeline, holder, node, before).last().copied())
    }

    fn at(&self, node: Node) -> Option<LockLoss<'t, 'h>> {
        let at_taking_server = self.span_at(node).and_then(|span| {
            let elsewhere = self.extended_elsewhere(span);
            elsewhere.map(|how| self.lost(how)).or_else(|| self.loss(span))
        });
        (!self.is_harmless(at_taking_server.as_ref(), node) && !self.lease_was_over(node))
            .then_some(LockLoss { at_granting_server: None, at_taking_server })
    }

    /// Returns whether a fast clock ended the lease but made no difference: at the correct end, the
    /// holder was paused, or still in its critical section with a lock that does not renew its
    /// lease. A late write that landed before that end makes a difference.
    fn is_harmless(&self, loss: Option<&Loss<'t, 'h>>, node: Node) -> bool {
        let drifted = loss.is_some_and(|loss| {
            loss.ran_out() == Some(EarlyExpiry::ByClock(FaultKind::ClockDrift))
        });
        if !drifted {
            return false;
        }
        let ends = last_lease(self.timeline, self.holder, node, self.granted_again).ends();
        let stays = || !renews_by_itself(self.timeline) && self.stayed_beyond(ends);
        let was_in_time = self.late_write.is_some_and(|landed| landed.time < ends);
        !was_in_time && (self.is_paused_at(ends) || stays())
    }

    fn is_paused_at(&self, time: SimTime) -> bool {
        self.timeline.faults.iter().any(|fault| {
            fault.does(Impact::Freezes, self.holder.process)
                && fault.from.time < time
                && fault.to.is_none_or(|to| time < to.time)
        })
    }

    fn elsewhere(&self, held_at: Node, taken_at: Node) -> Option<LockLoss<'t, 'h>> {
        if let Some(how) = self.extended_at_old_primary(held_at, taken_at) {
            return Some(LockLoss::at_taking_server(self.lost(how)));
        }
        if self.lease_was_over(held_at) {
            return None;
        }
        let first = || self.span_at(held_at).and_then(|span| self.loss(span));
        let discarded = || first().filter(|loss| loss.ended_by(Change::Discarded));
        let at_taking_server = match self.span_at(taken_at) {
            None if is_of_members(self.timeline) => {
                Some(discarded().unwrap_or_else(|| self.lost(LossKind::NeverReceived)))
            }
            None => Some(self.lost(LossKind::NeverReceived)),
            Some(span) if removed_by_replication(span) => {
                self.removed_only_earlier(held_at).then(|| self.lost(LossKind::NeverReceived))
            }
            Some(span) => self.loss(span),
        };
        if self.is_harmless(at_taking_server.as_ref(), held_at) {
            return None;
        }
        // After its promotion, a server no longer copies what its old primary loses.
        let promoted = self.timeline.roles.promoted(taken_at, self.granted_again);
        let ended = self.span_at(held_at).and_then(|span| span.to).map(|(at, _)| at);
        let is_copied = promoted.zip(ended).is_none_or(|(promoted, ended)| ended < promoted);
        Some(LockLoss { at_granting_server: first().filter(|_| is_copied), at_taking_server })
    }

    /// Returns whether the granting server removed only earlier locks with the same owner value. A
    /// removal at a replica then repeats one of these, and does not concern this lock.
    fn removed_only_earlier(&self, held_at: Node) -> bool {
        let removed = |how| matches!(how, KeyEnd::Changed { change: Change::Removed, .. });
        let owner = self.holder.owner;
        let granted = self.holder.grant.as_ref().map(|grant| grant.moment);
        let own = self.timeline.keys.iter().filter(|span| {
            let values = span.value.zip(owner);
            span.node == held_at && values.is_some_and(|(value, own)| is_one_owner(value, own))
        });
        let removals =
            own.filter_map(|span| span.to).filter(|(_, how)| removed(*how)).map(|(at, _)| at);
        let mut until_now = removals.filter(|at| *at <= self.granted_again).peekable();
        until_now.peek().is_some() && until_now.all(|at| Some(at) < granted)
    }

    /// If this server let the lease run out, returns the holder's last extension of the lease at
    /// another server that was promoted later.
    fn extended_elsewhere(&self, span: &KeySpan<'h>) -> Option<LossKind<'t, 'h>> {
        let Handover { timeline, holder, granted_again, .. } = *self;
        let expired = |how| matches!(how, KeyEnd::Changed { change: Change::Expired, .. });
        let (ended, _) = span.to.filter(|(at, how)| *at <= granted_again && expired(*how))?;
        let last_set = span.set.last().copied().unwrap_or(span.from);
        let runs_out = span.runs_out.unwrap_or(last_set.time + timeline.history.header.ttl_us);
        if ended.time + GRANULARITY < runs_out {
            return None;
        }
        let promoted_here = timeline.roles.promoted(span.node, granted_again);
        let own = timeline
            .keys
            .iter()
            .filter(|other| other.node != span.node && timeline.is_lock_of(other, holder));
        let extended = own.flat_map(|other| other.set.iter().map(|set| (other.node, *set)));
        let machine = Some(holder.process.machine());
        let later = extended.filter(|(server, set)| {
            let promoted = timeline.roles.promoted(*server, *set);
            last_set < *set
                && *set < granted_again
                && timeline.asked_by(*set).map(Node::machine) == machine
                && promoted_here < promoted
        });
        let (server, at) = later.max_by_key(|(_, set)| *set)?;
        Some(LossKind::ExtendedElsewhere { server, at })
    }

    /// Returns the holder's last extension at the old primary, which had granted the lock, after
    /// the lease had expired at a promoted server.
    fn extended_at_old_primary(&self, held_at: Node, taken_at: Node) -> Option<LossKind<'t, 'h>> {
        let Handover { timeline, holder, granted_again, .. } = *self;
        let promoted = timeline.roles.promoted(taken_at, granted_again)?;
        let span = self.span_at(taken_at).filter(|span| span.by.is_none())?;
        let expired = |how| matches!(how, KeyEnd::Changed { change: Change::Expired, .. });
        let (ended, _) = span.to.filter(|(at, how)| promoted < *at && expired(*how))?;
        let machine = Some(holder.process.machine());
        let own = timeline.keys.iter();
        let own = own.filter(|one| one.node == held_at && timeline.is_lock_of(one, holder));
        let extended = own.flat_map(|one| one.set.iter().copied()).filter(|set| {
            ended < *set
                && *set < granted_again
                && timeline.asked_by(*set).map(Node::machine) == machine
        });
        Some(LossKind::ExtendedElsewhere { server: held_at, at: extended.max()? })
    }

    /// Returns whether a former grantor discarded the lock only after the new grantor granted it.
    fn had_two_grantors(&self, held_at: Node) -> bool {
        let discarded = |how| matches!(how, KeyEnd::Changed { change: Change::Discarded, .. });
        let own = self.timeline.keys.iter().filter(|span| span.node == held_at);
        is_of_members(self.timeline)
            && own
                .filter(|span| span.from < self.granted_again)
                .filter(|span| self.timeline.is_lock_of(span, self.holder))
                .any(|span| {
                    span.to.is_some_and(|(to, how)| self.granted_again < to && discarded(how))
                })
    }

    fn loss(&self, span: &'t KeySpan<'h>) -> Option<Loss<'t, 'h>> {
        let (at, how) = span.to.filter(|(at, _)| *at <= self.granted_again)?;
        let removed = (how == KeyEnd::Replaced)
            .then(|| overwritten_until(self.timeline, self.holder, at, self.granted_again));
        let (span, at, how) = removed.flatten().unwrap_or((span, at, how));
        Some(self.lost(LossKind::Ended { span, at, how }))
    }

    fn lost(&self, how: LossKind<'t, 'h>) -> Loss<'t, 'h> {
        let Handover { timeline, holder, taker, .. } = *self;
        Loss { timeline, holder, taker, how }
    }
}

fn of_a_copy<'t, 'h>(
    timeline: &'t Timeline<'h>,
    (holder, taker): (&'t Acquisition<'h>, &'t Acquisition<'h>),
    taken: &Grant,
) -> Option<LockLoss<'t, 'h>> {
    let granted_again = taken.moment;
    let seen = Handover { timeline, holder, taker, granted_again, late_write: None };
    let entered = holder.completed?;
    let span = seen.span_at(taken.node).filter(|span| span.from < entered)?;
    seen.loss(span).map(LockLoss::at_taking_server)
}

pub(super) fn two_primaries(timeline: &Timeline<'_>, held: &Grant, taken: (Node, Moment)) -> bool {
    let grants = [(held.node, held.moment), taken];
    let promoted = grants.map(|(node, at)| timeline.roles.promoted(node, at));
    let granted_by_the_other = match promoted[0] < promoted[1] {
        true => grants[0].1,
        false => grants[1].1,
    };
    let latest = promoted[0].max(promoted[1]);
    held.node != taken.0 && latest.is_some_and(|latest| latest < granted_by_the_other)
}

fn was_let_in_by_copy(timeline: &Timeline<'_>, taker: &Acquisition<'_>, held_at: Node) -> bool {
    let Some(entered) = taker.completed else { return false };
    timeline.keys.iter().any(|span| {
        let stands = span.from < entered && span.to.is_none_or(|(to, _)| entered < to);
        stands && span.by.is_none() && span.node != held_at && timeline.is_lock_of(span, taker)
    })
}
