use super::{Story, Weight};
use crate::explain::evidence::{is_taken_again, overwritten_until};
use crate::explain::narrate;
use crate::explain::scene::Scene;
use crate::judge::timeline::{Acquisition, Grant, KeyEnd, KeySpan, Moment};
use crate::record::history::{Change, What};
use fencepost_faults::Node;

impl Story<'_, '_> {
    pub(super) fn lost(&mut self, holder: &Acquisition<'_>, taker: &Acquisition<'_>) {
        let timeline = self.timeline;
        let (Some(held), Some(taken)) = (&holder.grant, &taker.grant) else { return };
        let own = || timeline.keys_of(holder);
        let mut ends: Vec<(Moment, &KeySpan<'_>)> = own()
            .filter_map(|key| match key.to? {
                (at, KeyEnd::Changed { .. }) => Some((at, key)),
                (at, KeyEnd::Replaced) => {
                    self.taken_by_same_owner(key, taken.moment);
                    let (span, removed, _) = overwritten_until(timeline, holder, at, taken.moment)?;
                    self.overwritten(holder, span);
                    Some((removed, key))
                }
            })
            // A value that ended before the grant belongs to an earlier lock with the same value.
            .filter(|(at, _)| held.moment < *at && *at < taken.moment)
            .collect();
        ends.sort_by_key(|(at, _)| *at);
        let has_queue = timeline.history.header.has_queue();
        let section = timeline.section_of_call(holder.operation);
        let is_released = |at: Moment| {
            timeline.asked_by(at) == Some(holder.process)
                && section.is_none_or(|section| !section.covers(at))
        };
        for (place, (at, key)) in ends.into_iter().enumerate() {
            // In a queue, followers repeat the leader's removal, and the release adds only details.
            if place > 0 && (has_queue || is_released(at)) {
                self.add_event(Weight::Detail, at.index);
            } else if !self.repeats_an_earlier_removal(holder, key, at) {
                self.lost_at(holder, [held, taken], at, key);
            }
        }
        let sets = own().filter_map(|key| key.set.last()).filter(|set| **set < taken.moment);
        let by_another = |set: &&Moment| {
            timeline.asked_by(**set).is_some_and(|by| by.machine() != holder.process.machine())
        };
        for set in sets.filter(by_another) {
            let by = timeline.asked_by(*set).unwrap_or(holder.process);
            let lease = timeline.lease_asked(*set);
            let lease = lease.map_or(String::new(), |lease| format!(" to {lease}"));
            let (node, holder) = (timeline.history.events[set.index].node, holder.process);
            self.add(
                Weight::Turn,
                set.index,
                format!("{node} sets the lease of {holder}{lease} at the request of {by}."),
            );
        }
        for (index, event) in timeline.history.events.iter().enumerate() {
            let between = held.moment.index < index && index < taken.moment.index;
            let ours = taken.servers.iter().any(|(server, _)| *server == event.node);
            let forgets = timeline.history.events[index..]
                .iter()
                .take_while(|later| later.time_us == event.time_us)
                .any(|later| later.node == event.node && matches!(later.what, What::Server { .. }));
            if between && ours && matches!(event.what, What::Started) && !forgets {
                self.add(Weight::Detail, index, format!("{} restarts.", event.node));
            }
        }
    }

    /// Adds the grant with which a third process replaced the holder's lock, and the end of that
    /// process's lock. The cause's sentence may name this process.
    pub(super) fn replaced(&mut self, scene: &Scene<'_, '_>) {
        let timeline = self.timeline;
        let Some((at, KeyEnd::Replaced)) = scene.gone() else { return };
        let mut keys = timeline.keys.iter();
        let Some(next) = keys.find(|key| key.from == at) else { return };
        let is_third = next.by.is_some_and(|by| !scene.both().contains(&by));
        if !is_third || timeline.history.header.has_queue() {
            return;
        }
        self.add_event(Weight::Turn, at.index);
        let taken = scene.taker.grant.as_ref().map(|grant| grant.moment);
        if let Some((end, _)) = next.to.filter(|(end, _)| taken.is_some_and(|taken| *end < taken)) {
            self.add_event(Weight::Turn, end.index);
        }
    }

    pub(super) fn lost_counter(&mut self, holder: &Acquisition<'_>, taker: &Acquisition<'_>) {
        let timeline = self.timeline;
        let (Some(held), Some(taken)) = (&holder.grant, &taker.grant) else { return };
        let header = &timeline.history.header;
        let is_lost = |change: &Change| {
            matches!(
                change,
                Change::Forgotten | Change::Evicted | Change::Flushed | Change::Discarded
            )
        };
        for (index, event) in timeline.history.events.iter().enumerate() {
            let is_between = held.moment.index < index && index < taken.moment.index;
            let is_loss = match &event.what {
                What::Server { key, change, .. } => header.is_token_counter(key) && is_lost(change),
                _ => false,
            };
            if is_between && is_loss {
                self.add_event(Weight::Turn, index);
            }
        }
    }

    /// Returns whether a lagging replica only repeated its primary's removal of an earlier lock
    /// with the same value. Some owners reuse their value for the next lock.
    fn repeats_an_earlier_removal(
        &self,
        holder: &Acquisition<'_>,
        key: &KeySpan<'_>,
        at: Moment,
    ) -> bool {
        let timeline = self.timeline;
        let is_copied = |what: &What| match what {
            What::Server { change, by, primary, .. } => {
                *change == Change::Removed && by.is_none() && !primary
            }
            _ => false,
        };
        let Some(held) = holder.grant.as_ref().map(|grant| grant.moment) else { return false };
        let mut own = timeline.keys_of(holder);
        is_copied(&timeline.history.events[at.index].what)
            && !own.any(|other| {
                let ends = other.to.map(|(to, _)| to).filter(|_| other.node != key.node);
                ends.is_some_and(|ends| held < ends && ends < at)
            })
    }

    /// Adds other processes' grants under the same owner value, and the end of the last one.
    fn taken_by_same_owner(&mut self, key: &KeySpan<'_>, before: Moment) {
        let mut end = key.to;
        while let Some((at, KeyEnd::Replaced)) = end.filter(|(at, _)| *at < before) {
            let mut keys = self.timeline.keys.iter();
            let next = keys.find(|next| (next.node, next.from) == (key.node, at));
            let is_other = |next: &&KeySpan<'_>| next.value == key.value && next.by != key.by;
            let Some(next) = next.filter(is_other) else { return };
            self.add_event(Weight::Turn, at.index);
            end = next.to;
        }
        if let Some((at, _)) =
            end.filter(|(at, _)| *at < before && Some(*at) != key.to.map(|to| to.0))
        {
            self.add_event(Weight::Turn, at.index);
        }
    }

    fn overwritten(&mut self, holder: &Acquisition<'_>, span: &KeySpan<'_>) {
        let Some(by) = span.by else { return };
        let (node, holder) = (span.node, holder.process);
        self.add(
            Weight::Turn,
            span.from.index,
            format!("{by} overwrites the lock of {holder} at {node}, but does not get the lock."),
        );
    }

    fn lost_at(
        &mut self,
        holder: &Acquisition<'_>,
        [held, taken]: [&Grant; 2],
        at: Moment,
        key: &KeySpan<'_>,
    ) {
        let timeline = self.timeline;
        let event = &timeline.history.events[at.index];
        let is_forgotten = matches!(event.what, What::Server { change: Change::Forgotten, .. });
        let mut own = timeline.keys_of(holder);
        let is_copied_again =
            own.any(|span| span.node == event.node && at < span.from && span.from < taken.moment);
        if is_taken_again(timeline, holder, event.node, at) || is_forgotten && is_copied_again {
            return;
        }
        let section = timeline.section_of_call(holder.operation);
        let while_inside = match section.is_some_and(|section| section.covers(at)) {
            true => format!(", while {} is in its critical section", holder.process),
            false => String::new(),
        };
        let granted = |grant: &Grant| {
            let mut servers = grant.servers.iter();
            servers.any(|(server, _)| *server == event.node)
        };
        let is_primary = matches!(event.what, What::Server { primary: true, .. });
        let decides = is_of_quorum(taken, event.node);
        let weight = match timeline.asked_by(at) {
            None if !is_primary || !granted(held) && !granted(taken) => Weight::Detail,
            None if timeline.history.header.quorum > 1 && !decides => Weight::Detail,
            _ => Weight::Turn,
        };
        if timeline.asked_by(at) == Some(holder.process) && !while_inside.is_empty() {
            self.inner_release(holder.process, at);
        }
        let granted = self.set_at(key);
        if key.by.is_some() && held.moment < granted && weight != Weight::Detail {
            self.add_event(Weight::Turn, granted.index);
        }
        let text = narrate::text(timeline.history, event);
        self.add(weight, at.index, format!("{} {text}{while_inside}.", event.node));
    }

    /// Adds the process's last call before the removal, if this call releases an inner acquisition.
    fn inner_release(&mut self, process: Node, removed: Moment) {
        let history = self.timeline.history;
        let before = history.events[..removed.index].iter().enumerate().rev();
        let mut calls = before.filter(|(_, event)| {
            event.node == process && matches!(event.what, What::Invoke { .. })
        });
        if let Some((index, event)) = calls.next()
            && narrate::is_inner_release(history, event)
        {
            self.add_event(Weight::Turn, index);
        }
    }

    /// Returns when the value was set, before any release lowered its count.
    fn set_at(&self, key: &KeySpan<'_>) -> Moment {
        let timeline = self.timeline;
        let before = |span: &KeySpan<'_>| {
            let mut keys = timeline.keys.iter();
            keys.find(|it| it.node == span.node && it.to == Some((span.from, KeyEnd::Replaced)))
        };
        let mut first = Some(key).filter(|key| timeline.is_lowered(key));
        let mut from = key.from;
        while let Some(set) = first.and_then(before) {
            from = set.from;
            first = Some(set).filter(|set| timeline.is_lowered(set));
        }
        from
    }
}

pub(super) fn is_of_quorum(grant: &Grant, server: Node) -> bool {
    grant.servers.iter().any(|(node, at)| *node == server && *at <= grant.moment)
}
