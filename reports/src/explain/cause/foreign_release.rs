use super::entry::Entry;
use crate::explain::evidence::LateRelease;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;

pub(super) static ENTRY: Entry = Entry {
    how: "The release deletes the key without comparing its value, or compares and deletes in two \
          commands.",
    helps: "Use a random value for each acquisition, and release with a script that compares and \
            deletes in one step.",
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let removed = scene.gone().and_then(|(at, _)| Some((scene.timeline.asked_by(at)?, at.time)));
    match removed {
        Some((by, at)) if by.machine() != holder.machine() => {
            let sent = scene.removal_sent().filter(|(sender, sent)| {
                let granted = scene.holder.grant.as_ref().map(|grant| grant.moment);
                *sender == by && granted.is_some_and(|granted| *sent < granted)
            });
            let late = sent.map_or(String::new(), |(_, sent)| {
                format!(
                    ", by a release that it had sent at {}, before {holder} got the lock",
                    sent.time
                )
            });
            let owner = scene.holder.owner.filter(|owner| {
                let mut own = scene.timeline.acquisitions.iter();
                own.any(|one| {
                    one.process == by && one.invoked.time < at && one.owner == Some(owner)
                })
            });
            let same = owner.map_or(String::new(), |owner| {
                format!(" Both processes use the owner value {owner:?}.")
            });
            format!("{by} had removed the lock of {holder} at {at}{late}.{same}")
        }
        _ if scene.kind == Kind::ForeignRelease
            && scene.late_release() == Some(LateRelease::SentTwice) =>
        {
            format!(
                "The release of {holder} had already removed the lock of {holder}. Before the \
                 release ended, {taker} was granted the lock, and the release removed that lock, \
                 too, without comparing the owner."
            )
        }
        _ if scene.kind == Kind::ForeignRelease => format!(
            "{holder} had started the release before {taker} was granted the lock; the server was \
             down meanwhile, and {holder} sent the release again without comparing the owner."
        ),
        _ => format!("Another process had removed the lock of {holder}."),
    }
}
