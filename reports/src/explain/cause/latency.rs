use super::entry::{Entry, Measure};
use super::lost_reply::counted;
use crate::explain::evidence::{Case, Obstacle, Standstill, UntrueAnswer};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;

pub(super) static ENTRY: Entry = Entry {
    how: "The client counts its lease from the answer instead of the request, or treats a command \
          with a late answer as failed.",
    helps: "Count the validity from the moment before the request was sent, as Redlock does. Wait \
            longer for an answer than the network can take, and make commands safe to repeat.",
    between: Some(between),
    alone: Some(alone),
    measure: Some(Measure::Latency),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "{} received the answer to its acquire so late that {} had passed.",
        scene.holder.process,
        scene.passed_lease()
    )
}

fn alone(case: &Case<'_, '_>) -> String {
    let is_counted =
        case.is_at(Standstill::KeptByCount) || case.is_untrue_answer(UntrueAnswer::KeptByCount);
    if let Some(said) = is_counted.then(|| counted(case)).flatten() {
        return said;
    }
    let said = match case.finding.kind {
        Kind::WrongAnswer if case.is_untrue_answer(UntrueAnswer::Late(Obstacle::Delay)) => {
            "Messages to or from a server were late during the call, and the lock did not check \
             how long it had waited."
        }
        Kind::WrongAnswer => {
            "Messages to or from a server were late during the call, and the client did not wait \
             for the answer."
        }
        _ => {
            "Messages to or from a server were late, or an answer reached a client that had given \
              up."
        }
    };
    said.to_owned()
}
