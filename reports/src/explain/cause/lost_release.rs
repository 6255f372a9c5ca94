//! A release never arrived, or arrived late.

use super::entry::Entry;
use crate::explain::evidence::{Case, release};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Moment;

pub(super) static ENTRY: Entry =
    Entry { between: Some(between), alone: Some(alone), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A release never arrived, or arrived when the lock had changed hands.",
    how: "The network was cut or slow, or the process died before it sent the release.",
    helps: "An expiry frees the lock in the end. A release must compare the owner's value, so \
            that a late one does nothing.",
};

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

fn alone(case: &Case<'_, '_>) -> String {
    let header = &case.timeline.history.header;
    if header.lives_with_session {
        let (node, session) = header.place();
        return format!(
            "A process gave the lock back and never heard whether that arrived, and its {node} \
             stood on: it lives as long as its {session}."
        );
    }
    let said = match case.finding.kind {
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
