use super::{Story, Weight};
use crate::explain::evidence::flight;
use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Moment};
use crate::record::history::{Action, What};
use fencepost_faults::Micros;

/// Shortest transit time of a write for which a narrative states when the write was sent.
const TRANSIT_TOLD: Micros = Micros::from_millis(100);
const WAIT_TOLD: Micros = Micros::from_secs(1);

impl Story<'_, '_> {
    /// Adds the event at which the late write was sent, if the write was in transit for long, or if
    /// its process sent the write after leaving its critical section.
    pub(super) fn sent(&mut self, clash: Clash) {
        let timeline = self.timeline;
        let landed = clash.late_write.map(|index| timeline.moment(index));
        let Some((landed, (sent, _))) = landed.zip(flight::sent(timeline, clash)) else { return };
        let left = timeline.section_of(clash.earlier).and_then(|section| section.to);
        let is_late = left.is_some_and(|left| left < sent);
        if is_late || TRANSIT_TOLD <= landed.time.since(sent.time) {
            self.add_event(Weight::Turn, sent.index);
            self.gives_up(sent, landed);
        }
    }

    /// Adds the event at which the process gave up waiting for the answer to its late write.
    fn gives_up(&mut self, sent: Moment, landed: Moment) {
        let events = &self.timeline.history.events;
        let What::Invoke { operation: write, .. } = events[sent.index].what else { return };
        let is_it = |at: &usize| match events[*at].what {
            What::Info { operation, .. } => operation == write,
            _ => false,
        };
        if let Some(at) = (sent.index..landed.index).find(is_it) {
            self.add_event(Weight::Turn, at);
        }
    }

    /// Adds the holder's longest wait for the storage without a pause, of at least `WAIT_TOLD`.
    pub(super) fn waits_for_storage(&mut self, holder: &Acquisition<'_>) {
        let timeline = self.timeline;
        let Some(section) = timeline.section_of_call(holder.operation) else { return };
        let events = &timeline.history.events;
        let asks = |what: &What| match what {
            What::Invoke { operation, action: Action::Read { acquisition } }
            | What::Invoke { operation, action: Action::Write { acquisition, .. } } => {
                (*acquisition == holder.operation).then_some(*operation)
            }
            _ => None,
        };
        let answered = |from: usize, request: u64| {
            (from..events.len()).find(|at| match events[*at].what {
                What::Ok { operation, .. }
                | What::Fail { operation, .. }
                | What::Info { operation, .. } => operation == request,
                _ => false,
            })
        };
        let waits = events.iter().enumerate().filter_map(|(sent, event)| {
            let answered = timeline.moment(answered(sent, asks(&event.what)?)?);
            let sent = timeline.moment(sent);
            let is_told = section.covers(sent)
                && WAIT_TOLD <= answered.time.since(sent.time)
                && timeline.paused(holder.process, sent.time, answered.time) == Micros::ZERO;
            is_told.then_some((answered.time.since(sent.time), sent, answered))
        });
        let longest: Option<(Micros, Moment, Moment)> = waits.max_by_key(|(waited, ..)| *waited);
        if let Some((_, sent, answered)) = longest {
            self.add_event(Weight::Witness, sent.index);
            self.add_event(Weight::Witness, answered.index);
        }
    }
}
