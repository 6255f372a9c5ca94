//! The part of a story that explains why no process gets the lock.

use super::{Story, Weight};
use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, KeySpan, Moment};
use crate::record::history::What;

impl Story<'_, '_> {
    pub(super) fn last_lock(&mut self, finding: &Finding) {
        let timeline = self.timeline;
        let begun = timeline.keys.iter().filter(|key| key.from.time <= finding.at);
        let Some(last) = begun.max_by_key(|key| key.from) else { return };
        self.add_event(Weight::Turn, last.from.index);
        let until = finding.at + finding.duration;
        if let Some((to, _)) = last.to.filter(|(to, _)| to.time <= until) {
            self.add_event(Weight::Turn, to.index);
        }
        let blocks = |key: &&KeySpan<'_>| {
            let stood = timeline.existed_until(key).min(until).since(key.from.time);
            finding.at < key.from.time && finding.duration.0 < 2 * stood.0
        };
        if let Some(blocking) = timeline.keys.iter().find(blocks) {
            self.add_event(Weight::Turn, blocking.from.index);
        }
        let mut owners = timeline.acquisitions.iter().rev();
        // At a lagging server, a node may become first in the queue after its owner has left.
        let is_owner = |one: &Acquisition<'_>| one.owner.is_some() && one.owner == last.value;
        let has_queue = timeline.history.header.has_queue();
        let owner = owners.find(|one| timeline.is_lock_of(last, one) || has_queue && is_owner(one));
        let left = owner
            .and_then(|owner| timeline.section_of(timeline.acquisition_of(owner.operation)?)?.to);
        if let Some(left) = left.filter(|left| left.time <= until) {
            self.add_event(Weight::Turn, left.index);
            self.unknown_outcome(left);
        }
    }

    fn unknown_outcome(&mut self, invoked: Moment) {
        let events = &self.timeline.history.events;
        let What::Invoke { operation: release, .. } = events[invoked.index].what else { return };
        let is_unknown = |what: &What| match what {
            What::Info { operation, .. } => *operation == release,
            _ => false,
        };
        let mut later = (invoked.index..events.len()).filter(|at| is_unknown(&events[*at].what));
        if let Some(at) = later.next() {
            self.add_event(Weight::Turn, at);
        }
    }
}
