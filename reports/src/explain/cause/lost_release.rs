use super::entry::Entry;
use crate::explain::evidence::{Case, LateRelease, release};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::timeline::Moment;

pub(super) static ENTRY: Entry = Entry {
    how: "The network was partitioned or slow, the server was paused before it executed the \
          release, or the process crashed before it sent the release.",
    helps: "Set an expiry, which eventually frees the lock. Compare the owner's value in the \
            release, so that a late release has no effect.",
    between: Some(between),
    alone: Some(alone),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let sent = |arrived: Option<Moment>| release::sent(scene.timeline, holder, arrived?);
    let at = |sent: Option<Moment>| sent.map_or(String::new(), |sent| format!(" at {}", sent.time));
    if scene.kind == Kind::ForeignRelease {
        let of_removal = sent(scene.removed);
        let granted = scene.taker.grant.as_ref().map(|grant| grant.moment);
        if of_removal.zip(granted).is_some_and(|(sent, granted)| granted < sent) {
            let of_earlier = at(sent(scene.gone().map(|(gone, _)| gone)));
            return format!(
                "A release that {holder} had sent{of_earlier} for an earlier lock arrived late and \
                 removed the later lock of {holder}. The next release of {holder} then removed the \
                 lock of {taker}."
            );
        }
        let late = executed_after_pause(scene)
            .unwrap_or_else(|| "the network delivered it only afterwards".to_owned());
        return format!(
            "{holder} had sent the release{}, before {taker} was granted the lock, but {late}.",
            at(of_removal)
        );
    }
    let gone = scene.gone().map(|(gone, _)| gone);
    let unanswered = gone.map(|gone| release::unanswered(scene.timeline, holder, gone));
    let machine = holder.machine();
    if unanswered.is_some_and(|releases| releases > 1) {
        return format!(
            "A release that {machine} had sent earlier, and that had no answer, arrived late and \
             removed this lock."
        );
    }
    format!(
        "A release that {machine} had sent{} for an earlier lock arrived late and removed this \
         lock.",
        at(sent(gone))
    )
}

fn executed_after_pause(scene: &Scene<'_, '_>) -> Option<String> {
    let removed =
        scene.removed.filter(|_| scene.late_release() == Some(LateRelease::AtPausedServer))?;
    let server = scene.timeline.history.events[removed.index].node;
    let (timeline, holder) = (scene.timeline, scene.holder.process);
    let sent = release::sent(timeline, holder, removed)?;
    let pause = release::server_pause(timeline, (holder, server), sent, removed)?;
    let (from, to) = (pause.from.time, pause.to?.time);
    Some(format!("{server} was paused from {from} to {to} and executed it only afterwards"))
}

fn alone(case: &Case<'_, '_>) -> String {
    let header = &case.timeline.history.header;
    let (lock, because) = match header.lives_with_session {
        true => {
            let (node, session) = header.place();
            (node, format!(", because it lives as long as its {session}"))
        }
        false => ("lock", String::new()),
    };
    let is_wait = case.finding.kind != Kind::WrongAnswer;
    if let Some((process, sent, removed)) = case.unconfirmed_release().filter(|_| is_wait) {
        let until = removed.map_or(String::new(), |removed| format!(" until {removed}"));
        return format!(
            "{process} tried to release the lock at {sent} and got no confirmation. Its {lock} \
             remained{until}{because}."
        );
    }
    if let Some((process, (server, at))) =
        case.grant().map(|one| one.process).zip(case.taken_back())
    {
        return format!(
            "{process} had itself removed its lock at {server} at {}: its locks have the same \
             owner value, so a late release of an earlier one removes a later one.",
            at.time
        );
    }
    match is_wait {
        false => {
            "No server had applied the release by then; a fault was active meanwhile.".to_owned()
        }
        true => format!(
            "A process tried to release the lock and got no confirmation, and its {lock} \
             remained{because}."
        ),
    }
}
