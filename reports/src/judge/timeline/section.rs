//! A history's critical sections, from an acquire's success to a release, a loss or a crash.

use super::{Acquisition, Moment, Outcome, moments};
use crate::record::history::{Action, Event, History, What};
use fencepost_faults::{Micros, Node, SimTime};
use std::collections::BTreeMap;

/// A half-open period, including pauses, in which a thread believed that it held the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// Index in the timeline's acquisitions.
    pub acquisition: usize,
    pub process: Node,
    pub from: Moment,
    /// End of the critical section; `None` if it was open at the end of the history.
    pub to: Option<Moment>,
    pub ended_by: SectionEnd,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SectionEnd {
    Release,
    Lost,
    /// The process crashed. After a restart, the process is no longer in its critical section.
    Crash,
    Open,
}

impl Section {
    pub fn ends(&self, history_end: SimTime) -> SimTime {
        self.to.map_or(history_end, |to| to.time)
    }

    pub fn shared_with(&self, other: &Section, history_end: SimTime) -> Micros {
        let from = self.from.time.max(other.from.time);
        self.ends(history_end).min(other.ends(history_end)).since(from)
    }

    pub fn covers(&self, moment: Moment) -> bool {
        self.from <= moment && self.to.is_none_or(|to| moment < to)
    }
}

/// Returns the critical sections in order of start. A release ends the last open section of its
/// thread, a loss all sections of its thread, and a crash all sections of its process.
pub(super) fn all(history: &History, acquisitions: &[Acquisition<'_>]) -> Vec<Section> {
    let granted: BTreeMap<usize, usize> = acquisitions
        .iter()
        .enumerate()
        .filter(|(_, one)| one.outcome == Outcome::Granted)
        .filter_map(|(acquisition, one)| Some((one.completed?.index, acquisition)))
        .collect();
    let mut sections = Vec::new();
    let mut open: BTreeMap<Node, Vec<usize>> = BTreeMap::new();
    for (moment, event) in moments(history) {
        if let Some(&acquisition) = granted.get(&moment.index) {
            open.entry(event.node).or_default().push(sections.len());
            let (process, ended_by) = (event.node, SectionEnd::Open);
            sections.push(Section { acquisition, process, from: moment, to: None, ended_by });
        }
        let Some(ended_by) = ending(event) else { continue };
        let is_hit = |node: Node| {
            node == event.node || ended_by == SectionEnd::Crash && node.machine() == event.node
        };
        for stack in open.iter_mut().filter(|(node, _)| is_hit(**node)).map(|(_, stack)| stack) {
            let keep =
                if ended_by == SectionEnd::Release { stack.len().saturating_sub(1) } else { 0 };
            for index in stack.drain(keep..) {
                sections[index].to = Some(moment);
                sections[index].ended_by = ended_by;
            }
        }
    }
    sections
}

fn ending(event: &Event) -> Option<SectionEnd> {
    match &event.what {
        What::Invoke { action: Action::Release, .. } => Some(SectionEnd::Release),
        What::Lost => Some(SectionEnd::Lost),
        What::Crashed => Some(SectionEnd::Crash),
        _ => None,
    }
}
