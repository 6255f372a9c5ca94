use super::entry::{Entry, Need};
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use fencepost_faults::FaultKind;

pub(super) static ENTRY: Entry = Entry {
    how: "A process on the minority side cannot get the lock without the risk that another process \
          gets it too. A process that waits for its answer until the partition heals starts \
          counting its lease too late.",
    helps: "Count the validity from the moment before the request was sent, as Redlock does. Let \
            callers give up in time, and do without the lock where possible.",
    needs: &[Need::Fault(FaultKind::Partition)],
    between: Some(between),
    alone: Some(alone),
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer => {
            "A partition held up that answer, and the lock did not check how long it had waited."
        }
        _ => {
            "A server was partitioned from the network, and meanwhile no process was granted the \
              lock."
        }
    };
    said.to_owned()
}

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "A partition delayed the acquire of {}; when its answer arrived, {} had passed.",
        scene.holder.process,
        scene.passed_lease()
    )
}
