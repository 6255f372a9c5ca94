//! Every event as a mark on a lane.

use crate::explain::narrate;
use crate::record::history::{Access, Action, Change, Event, History, What};
use crate::summary::report::RunReport;
use fencepost_faults::Node;
use std::collections::BTreeSet;

/// One event.
pub(crate) struct Mark {
    /// Its number in the history.
    pub(crate) sequence: u64,
    /// When it happened.
    pub(crate) at: u64,
    /// The lane that it is on.
    pub(crate) node: Node,
    /// What kind of thing it is.
    pub(crate) glyph: Glyph,
    /// The process that it concerns, which is not always where it happened.
    pub(crate) whose: Option<Node>,
    /// What it says.
    pub(crate) text: String,
    /// What a write made of the guarded value: `8→9`.
    pub(crate) note: Option<String>,
    /// Whether it is evidence of a violation.
    pub(crate) is_witness: bool,
}

/// Kinds of marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Glyph {
    /// A process starts something.
    Asks,
    /// A process is granted the lock.
    Granted,
    /// A process gives the lock back.
    Releases,
    /// A process hears that something succeeded.
    Hears,
    /// A process hears of a failure, or does not know.
    Fails,
    /// A process that waits has sent nothing for a while.
    Sleeps,
    /// A server sets, extends or finds the lock again.
    KeySet,
    /// A server has the lock no more.
    KeyGone,
    /// The storage lets somebody read.
    Reads,
    /// The storage accepts a write.
    Writes,
    /// The storage rejects a request.
    Rejects,
    /// Software dies.
    Dies,
    /// Software starts.
    Starts,
    /// The part of a server or Sentinel changes.
    Turns,
    /// A fault begins.
    FaultBegins,
    /// A fault ends, or everything is healed.
    FaultEnds,
}

/// Every event of the history.
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
        whose: whose(event),
        text: narrate::text(history, event),
        note: note(&event.what),
        is_witness: witness.contains(&event.sequence),
    });
    marks.collect()
}

fn whose(event: &Event) -> Option<Node> {
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
