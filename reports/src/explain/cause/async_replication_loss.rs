//! The write that granted the lock, or gave it back, never reached a server.

use super::entry::{Entry, LossRule, Measure, Reach, Step, at};
use crate::explain::evidence::{Case, Loss, RanOut, Standstill, release};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    rules: &[
        at(Step::Standstill, 20, |case| case.is_at(Standstill::ReleaseNotCopied)),
        at(Step::Counter, 50, |case| case.counter().is_some_and(|counter| counter.is_a_copy())),
        at(Step::Astray, 30, was_never_there),
    ],
    loss: Some(LossRule { turn: 120, reach: Reach::Server, holds: is_not_replicated }),
    between: Some(between),
    alone: Some(|_, _| {
        "The lock had been given back, but the server that was promoted never received that: \
         replication is asynchronous."
            .to_owned()
    }),
    measure: Some(Measure::ReplicationLag),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The server that granted the lock again had never received it, or had discarded it in \
           a resynchronisation.",
    how: "Replication is asynchronous: the primary answers before its replicas have the write, \
          and a failover promotes one of them.",
    helps: "WAIT after the grant makes it rarer, and no more. Use independent masters with a \
            majority, or fencing tokens from a store that does not lose them.",
};

fn is_not_replicated(_: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    loss.was_never_received()
        || loss.ended_by(Change::Discarded)
        || loss.ran_out() == Some(RanOut::AsFirstSet)
}

fn was_never_there(case: &Case<'_, '_>) -> bool {
    let never = |clash| release::was_never_there(case.timeline, case.finding, clash);
    case.finding.clash.is_some_and(never)
}

fn between(scene: &Scene<'_, '_>) -> String {
    let ([holder, taker], held_at, taken_at) = (scene.both(), scene.held_at(), scene.taken_at());
    if held_at != taken_at {
        return format!(
            "{held_at} had granted {holder}, but {taken_at}, which granted {taker}, never had that \
             write: replication is asynchronous."
        );
    }
    if scene.kind == Kind::ForeignRelease {
        return format!(
            "{holder} had been granted its lock by {held_at}, which a failover had replaced, and \
             released what stood at another server."
        );
    }
    format!("{held_at} discarded what it had granted when it resynchronised with another primary.")
}
