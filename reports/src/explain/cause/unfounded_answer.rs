use super::entry::Entry;
use crate::explain::evidence::{Case, Standstill, granted_by};
use crate::explain::scene::Scene;
use crate::judge::checker::wrong_answer::{
    Unsupported, too_few, unsupported, was_granted, was_over,
};
use crate::judge::finding::Kind;
use crate::record::history::Keeping;

pub(super) static ENTRY: Entry = Entry {
    how: "The lock's code swallowed a server error, or it gave up and returned, and the caller did \
          not check the result.",
    helps: "Propagate errors. Check the result of acquire, or use a lock whose acquire raises an \
            error when it gives up.",
    between: Some(between),
    alone: Some(alone),
    is_of_lock_code: true,
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer if case.grant().is_some_and(|one| was_granted(case.timeline, one)) => {
            "No fault delayed that answer: the lock's own code gave it."
        }
        Kind::WrongAnswer if case.grant().is_some() => {
            "No server had given that answer: the lock's own code gave it."
        }
        Kind::WrongAnswer => {
            "No fault delayed or lost messages between the process and the server meanwhile: the \
             lock's own code gave that answer."
        }
        _ if case.is_at(Standstill::OwnerReleased) => {
            "A process was told that it had released the lock, but its key remained at the server \
             without an expiry."
        }
        _ => {
            "A server had granted the lock to a process whose acquire reported that it did not get \
             the lock, although no fault was active meanwhile, and the lock remained there."
        }
    };
    said.to_owned()
}

fn between(scene: &Scene<'_, '_>) -> String {
    let timeline = scene.timeline;
    if timeline.history.header.kept_as == Some(Keeping::Lease) {
        let one = if scene.holder.grant.is_none() { scene.holder } else { scene.taker };
        return format!(
            "The lock's own code told {} that it had the lock, although its key was not the first \
             in the queue at any server.",
            one.process
        );
    }
    for one in [scene.holder, scene.taker] {
        let Some(servers) = granted_by(timeline, one) else { continue };
        return format!(
            "The lock's own code told {} that it had the lock, although {}.",
            one.process,
            too_few(timeline, one, servers)
        );
    }
    if let Some(Unsupported::Validity(stated, supported)) = unsupported(timeline, scene.holder) {
        return format!(
            "The lock's own code told {} that its lock was valid for {stated}, but {supported} \
             later {}. The holder left within the stated time.",
            scene.holder.process,
            was_over(timeline)
        );
    }
    if scene.holder.grant.is_none() && scene.taker.grant.is_none() {
        return "The lock's own code told both that they had the lock, although no server had \
                granted it to either during its acquire."
            .to_owned();
    }
    let told = if scene.holder.grant.is_none() { scene.holder } else { scene.taker };
    let same = match scene.same_value_at(told) {
        Some((server, owner)) => format!(
            " {server} had the lock of {owner}, with the same value that {} writes.",
            told.process
        ),
        None => String::new(),
    };
    format!(
        "The lock's own code told {} that it had the lock, although no server had granted it \
         during that acquire.{same}",
        told.process
    )
}
