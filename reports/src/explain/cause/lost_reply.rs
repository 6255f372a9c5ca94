//! A command was applied, but its reply was lost.

use super::entry::{Entry, Need};
use crate::explain::evidence::Case;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use fencepost_faults::{FaultKind, Impact};

pub(super) static ENTRY: Entry = Entry {
    needs: &[
        Need::DeadServer,
        Need::DeadProcess,
        Need::Fault(FaultKind::Partition),
        Need::Impact(Impact::LosesReply),
        Need::Impact(Impact::LosesRequest),
        Need::Impact(Impact::Kills),
        Need::Impact(Impact::Freezes),
        Need::Impact(Impact::IsOperated),
    ],
    between: Some(|_| "A server applied a command whose sender never heard of it.".to_owned()),
    alone: Some(alone),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A command was applied, and its sender never heard of it.",
    how: "The connection broke between the command and its answer; the client sent it again, or \
          gave up.",
    helps: "Make commands safe to repeat: a process that finds its own value holds the lock.",
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer if case.is_of_a_grant() => {
            "A message was lost while that answer was on its way, and the lock did not look at how \
             long it had waited."
        }
        Kind::WrongAnswer => {
            "A server had applied its command, and what it was told is not the answer to that: a \
             fault was at work meanwhile."
        }
        _ => {
            "A server had applied a command whose sender never heard of it, and the lock stood on \
             there."
        }
    };
    said.to_owned()
}
