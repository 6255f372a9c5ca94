use super::early_loss;
use super::loss::is_of_members;
use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Grant, KeyEnd, Timeline};
use crate::record::history::{Change, What};
use fencepost_faults::FaultKind;

pub(crate) struct Counter<'t, 'h> {
    timeline: &'t Timeline<'h>,
    holder: &'t Acquisition<'h>,
    earlier: &'t Grant,
    later: &'t Grant,
    between: Vec<&'h What>,
    tokens: [Option<u64>; 2],
    is_of_members: bool,
}

impl<'t, 'h> Counter<'t, 'h> {
    pub(super) fn of_clash(timeline: &'t Timeline<'h>, clash: Clash) -> Option<Counter<'t, 'h>> {
        let [earlier, later] =
            [clash.earlier, clash.later].map(|index| timeline.acquisitions[index].grant.as_ref());
        let (earlier, later) = (earlier?, later?);
        let tokens = [clash.earlier, clash.later].map(|index| timeline.acquisitions[index].token);
        let nodes = [earlier.node, later.node];
        let is_of_members = is_of_members(timeline);
        let between = timeline.history.events.iter().skip(earlier.moment.index);
        let between = between.take(later.moment.index.saturating_sub(earlier.moment.index));
        // Members of a distributed system share the counter, so changes at all servers count.
        let here = between.filter(|event| match is_of_members {
            true => !event.node.is_process(),
            false => nodes.contains(&event.node),
        });
        let between = here.map(|event| &event.what).collect();
        let holder = &timeline.acquisitions[clash.earlier];
        Some(Counter { timeline, holder, earlier, later, between, tokens, is_of_members })
    }

    pub(crate) fn is_one_of_many(&self) -> bool {
        self.timeline.history.header.quorum > 1
    }

    /// Returns whether one server issued a token twice and did not lose its counter in between.
    /// Token 1 does not count, because a new counter also issues it.
    pub(crate) fn is_no_counter(&self) -> bool {
        let [earlier, later] = self.tokens;
        let header = &self.timeline.history.header;
        let loses = |what: &What| match what {
            What::Server { key, change, .. } => {
                header.is_token_counter(key)
                    && !matches!(change, Change::Granted | Change::Extended)
            }
            _ => false,
        };
        earlier == later
            && earlier.is_some_and(|token| token > 1)
            && self.earlier.node == self.later.node
            && !self.between.iter().any(|what| loses(what))
    }

    pub(crate) fn was_flushed(&self) -> bool {
        let flushes = |what: &What| matches!(what, What::FaultBegan { kind, .. } if *kind == FaultKind::FlushAll);
        self.is_changed(Change::Flushed) || self.between.iter().any(|what| flushes(what))
    }

    pub(crate) fn was_evicted(&self) -> bool {
        let header = &self.timeline.history.header;
        self.between.iter().any(|what| match what {
            What::Server { key, change, .. } => {
                *change == Change::Evicted && header.is_token_counter(key)
            }
            _ => false,
        })
    }

    pub(crate) fn has_two_primaries(&self) -> bool {
        let later = (self.later.node, self.later.moment);
        early_loss::two_primaries(self.timeline, self.earlier, later)
    }

    pub(crate) fn lost_earlier_lock(&self) -> bool {
        let is_forgotten = |how| matches!(how, KeyEnd::Changed { change: Change::Forgotten, .. });
        self.timeline.keys.iter().filter(|span| span.node == self.later.node).any(|span| {
            self.timeline.is_lock_of(span, self.holder)
                && span.to.is_some_and(|(at, how)| at < self.later.moment && is_forgotten(how))
        })
    }

    pub(crate) fn is_a_copy(&self) -> bool {
        let is_elsewhere = self.earlier.node != self.later.node;
        !self.is_of_members && (is_elsewhere || self.is_changed(Change::Discarded))
    }

    pub(crate) fn was_forgotten(&self) -> bool {
        let crashes = |what: &&What| matches!(what, What::Crashed);
        self.is_changed(Change::Forgotten) || self.between.iter().any(crashes)
    }

    fn is_changed(&self, wanted: Change) -> bool {
        let is_it = |what: &What| matches!(what, What::Server { change, .. } if *change == wanted);
        self.between.iter().any(|what| is_it(what))
    }
}
