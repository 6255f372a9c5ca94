//! A release never arrived, or arrived late.

use super::entry::{Entry, LossRule, Reach, Step, at};
use crate::explain::evidence::{Case, HeldUp, Loss, Misheard, Remover, Standstill, release};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Moment;
use crate::record::history::Header;

pub(super) static ENTRY: Entry = Entry {
    rules: &[
        at(Step::Standstill, 40, |case| case.is_at(Standstill::ReleaseUnheard)),
        at(Step::Misheard, 30, |case| case.is_misheard(Misheard::Succeeded)),
        at(Step::Astray, 20, |case| case.held_up() == Some(HeldUp::OnItsWay)),
    ],
    loss: Some(LossRule { turn: 50, reach: Reach::Replicas, holds: arrived_late }),
    between: Some(between),
    alone: Some(alone),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A release never arrived, or arrived when the lock had changed hands.",
    how: "The network was cut or slow, or the process died before it sent the release.",
    helps: "An expiry frees the lock in the end. A release must compare the owner's value, so \
            that a late one does nothing.",
};

fn arrived_late(_: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    match loss.remover() {
        Some(Remover::Itself) => loss.may_be_a_late_release(),
        Some(Remover::Thread(by)) => loss.may_be_a_late_release_of(by),
        Some(Remover::Process(_)) | None => false,
    }
}

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let sent = |arrived: Option<Moment>| {
        let sent = release::sent(scene.timeline, holder, arrived?)?;
        Some(format!(" at {}", sent.time))
    };
    if scene.kind == Kind::ForeignRelease {
        let at = sent(scene.removed).unwrap_or_default();
        return format!(
            "{holder} had sent that release{at}, before {taker} was granted the lock, and the \
             network delivered it after that."
        );
    }
    let at = sent(scene.gone().map(|(gone, _)| gone)).unwrap_or_default();
    format!(
        "A release that {} had sent{at} for an earlier lock arrived late and removed this one.",
        holder.machine()
    )
}

fn alone(kind: Kind, header: &Header) -> String {
    if header.lives_with_session {
        let (node, session) = header.place();
        return format!(
            "A process gave the lock back and never heard whether that arrived, and its {node} \
             stood on: it lives as long as its {session}."
        );
    }
    let said = match kind {
        Kind::WrongAnswer => {
            "No server had applied its release by then: a fault was at work meanwhile."
        }
        _ => {
            "A process gave the lock back and never heard whether that arrived, and its lock stood \
             on."
        }
    };
    said.to_owned()
}
