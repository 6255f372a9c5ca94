use super::entry::{Entry, Tells};
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use fencepost_faults::Node;

pub(super) static ENTRY: Entry = Entry {
    how: "The process considered the lock stale: it compared a time in the value with its own \
          clock, or two waiters took over the same stale lock. Or the process cleaned up after a \
          refused attempt and removed a lock that was not its own.",
    helps: "Let the server expire the key. A takeover must compare and replace in one command.",
    between: Some(between),
    alone: Some(alone),
    is_of_lock_code: true,
    tells: Tells::Takeover,
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    if scene.kind == Kind::ForeignRelease {
        return while_acquiring(scene.holder.process);
    }
    let remover = scene.gone().and_then(|(at, _)| scene.timeline.asked_by(at));
    let remover = remover.map_or_else(|| "another process".to_owned(), |node| node.to_string());
    format!("While acquiring the lock, {remover} removed {}'s lock.", scene.holder.process)
}

fn alone(case: &Case<'_, '_>) -> String {
    match (case.finding.kind, case.finding.processes.first()) {
        (Kind::ForeignRelease, Some(remover)) => while_acquiring(*remover),
        _ => String::new(),
    }
}

/// Continues a foreign release's first sentence, which names the remover and the lock's owner.
fn while_acquiring(remover: Node) -> String {
    format!("{remover} did so while acquiring the lock.")
}
