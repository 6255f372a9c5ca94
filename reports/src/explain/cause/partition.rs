//! The network was cut.

use super::entry::{Entry, Need};
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use fencepost_faults::FaultKind;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::Fault(FaultKind::Partition)],
    between: Some(between),
    alone: Some(alone),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The network was cut at a server: meanwhile no process was granted the lock, or a \
           process heard of its grant when most of the lease was over.",
    how: "A process on the side of the minority cannot have the lock without risking that another \
          has it too. One that waits for its answer for as long as the cut lasts counts its lease \
          from too late.",
    helps: "Count the validity from the moment before the request was sent, as Redlock does. Let \
            callers give up in time, and do without the lock what can be done without it.",
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer => {
            "The network was cut while that answer was on its way, and the lock did not look at how \
             long it had waited."
        }
        _ => "The network was cut at a server, and meanwhile nobody was granted the lock.",
    };
    said.to_owned()
}

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "The network was cut while the answer that {} was granted the lock was on its way; when it \
         came, {} was over.",
        scene.holder.process,
        scene.spent()
    )
}
