//! Cause `lost-release`: a release never arrived, or arrived late.

use super::entry::Entry;
use crate::explain::evidence::{Case, release};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Moment;

pub(super) static ENTRY: Entry =
    Entry { between: Some(between), alone: Some(alone), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A release never arrived, or arrived after the lock had changed hands.",
    how: "The network was partitioned or slow, or the process crashed before it sent the release.",
    helps: "Set an expiry, which eventually frees the lock. Compare the owner's value in the \
            release, so that a late release has no effect.",
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
            "{holder} had sent the release{at}, before {taker} was granted the lock, but the \
             network delivered it only afterwards."
        );
    }
    let at = sent(scene.gone().map(|(gone, _)| gone)).unwrap_or_default();
    format!(
        "A release that {} had sent{at} for an earlier lock arrived late and removed this lock.",
        holder.machine()
    )
}

fn alone(case: &Case<'_, '_>) -> String {
    let header = &case.timeline.history.header;
    if header.lives_with_session {
        let (node, session) = header.place();
        return format!(
            "A process released the lock but got no confirmation, and its {node} remained, because \
             it lives as long as its {session}."
        );
    }
    let said = match case.finding.kind {
        Kind::WrongAnswer => {
            "No server had applied the release by then; a fault was active meanwhile."
        }
        _ => "A process released the lock but got no confirmation, and its lock remained.",
    };
    said.to_owned()
}
