use super::entry::{Entry, Tells};
use crate::explain::scene::Scene;
use crate::judge::timeline::KeyEnd;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    how: "A session-level or transaction-level lock lasts as long as its connection. The \
          connection ends when the server restarts, when the server ends an idle transaction, when \
          the network or a proxy drops it, or when its client library closes it. The process does \
          not notice: a working process sends nothing, and a process queued at a server that \
          lost power waits for an answer until its own timeout.",
    helps: "Write the guarded data on the same connection, in the transaction that holds the lock, \
            so that the write fails together with the lock. Otherwise use fencing tokens that the \
            storage checks. For waiters, use keepalives or short waits that start again.",
    between: Some(between),
    alone: Some(|_| ALONE.to_owned()),
    tells: Tells::BrokenConnections,
    ..Entry::PLAIN
};

const ALONE: &str = "The waiting processes waited on connections that had ended when their server \
                     went down.";

fn between(scene: &Scene<'_, '_>) -> String {
    let (holder, held_at) = (scene.holder.process, scene.held_at());
    match scene.gone() {
        Some((_, KeyEnd::Changed { change: Change::Forgotten, .. })) => format!(
            "{held_at} restarted while {holder} was in its critical section. The restart closed \
             {holder}'s connection and so released its lock."
        ),
        gone => {
            let is_before =
                gone.zip(scene.holder.completed).is_some_and(|((gone, _), entered)| gone < entered);
            let when = match is_before {
                true => format!("before {holder} entered its critical section"),
                false => format!("while {holder} was in its critical section"),
            };
            format!(
                "{holder}'s connection to {held_at} ended {when}, and so its lock was released."
            )
        }
    }
}
