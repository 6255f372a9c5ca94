use crate::explain::narrate;
use crate::record::history::{Access, Action, Change, Event, History, What};
use crate::summary::report::RunReport;
use fencepost_faults::Node;
use std::collections::BTreeSet;

pub(crate) struct Mark {
    pub(crate) sequence: u64,
    pub(crate) at: u64,
    pub(crate) node: Node,
    pub(crate) glyph: Glyph,
    pub(crate) whose: Option<Node>,
    pub(crate) text: String,
    pub(crate) note: Option<String>,
    pub(crate) is_witness: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Glyph {
    Asks,
    Granted,
    Releases,
    Hears,
    Fails,
    Sleeps,
    KeySet,
    KeyGone,
    Reads,
    Writes,
    Rejects,
    Dies,
    Starts,
    Turns,
    FaultBegins,
    FaultEnds,
}

pub(super) fn all(history: &History, run: &RunReport) -> Vec<Mark> {
    let witness: BTreeSet<u64> = run
        .violations
        .iter()
        .flat_map(|report| &report.violation.witness)
        .map(|event| event.sequence)
        .collect();
    let marks = history.events.iter().map(|event| Mark {
        sequence: event.sequence,
        at: event.time_us.0,
        node: event.node,
        glyph: glyph(&event.what),
        whose: process_of(event),
        text: narrate::text(history, event),
        note: note(&event.what),
        is_witness: witness.contains(&event.sequence),
    });
    marks.collect()
}

fn process_of(event: &Event) -> Option<Node> {
    match &event.what {
        What::Storage { by, .. } => Some(*by),
        What::Server { by, .. } => *by,
        _ => event.node.is_process().then_some(event.node),
    }
}

fn glyph(what: &What) -> Glyph {
    match what {
        What::Invoke { action: Action::Release, .. } => Glyph::Releases,
        What::Invoke { .. } | What::About { .. } => Glyph::Asks,
        What::Ok { owner: Some(_), .. } => Glyph::Granted,
        What::Ok { .. } => Glyph::Hears,
        What::Fail { .. } | What::Info { .. } | What::GivenUp { .. } | What::Lost => Glyph::Fails,
        What::Silent { .. } => Glyph::Sleeps,
        What::Crashed => Glyph::Dies,
        What::Turn { .. } => Glyph::Turns,
        What::Started => Glyph::Starts,
        What::Server { change: Change::Granted | Change::Extended | Change::Restored, .. } => {
            Glyph::KeySet
        }
        What::Server { .. } => Glyph::KeyGone,
        What::Storage { accepted: false, .. } => Glyph::Rejects,
        What::Storage { access: Access::Read, .. } => Glyph::Reads,
        What::Storage { access: Access::Write, .. } => Glyph::Writes,
        What::FaultBegan { .. } => Glyph::FaultBegins,
        What::FaultEnded { .. } | What::Healed => Glyph::FaultEnds,
    }
}

fn note(what: &What) -> Option<String> {
    match what {
        What::Storage { access: Access::Write, accepted: true, before, after, .. } => {
            Some(format!("{before}→{after}"))
        }
        _ => None,
    }
}
