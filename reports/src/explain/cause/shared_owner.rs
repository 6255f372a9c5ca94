//! Threads have one owner value.

use super::entry::{Entry, LossRule, Reach, Step, at};
use crate::explain::evidence::{Case, Loss, Remover, owners};
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Owners, 10, shares_owner)],
    loss: Some(LossRule { turn: 20, reach: Reach::Server, holds: is_of_a_thread }),
    between: Some(between),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "Threads of one process have the same owner value, and a server took one for the \
           other.",
    how: "The value names the process or the host and not the acquisition.",
    helps: "A random value for each acquisition, or one for each thread.",
};

fn shares_owner(case: &Case<'_, '_>) -> bool {
    case.finding.clash.is_some_and(|clash| owners::shares_owner(case.timeline, clash))
}

/// Another thread of the process may also have sent it for an earlier lock under the same owner
/// value; that is another cause.
fn is_of_a_thread(_: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    match loss.remover() {
        Some(Remover::Thread(by)) => !loss.may_be_a_late_release_of(by),
        _ => false,
    }
}

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    format!("{holder} and {taker} have one owner value, and the server took the one for the other.")
}
