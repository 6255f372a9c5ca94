use super::entry::{Entry, Measure};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;

pub(super) static ENTRY: Entry = Entry {
    how: "The holder sent the write in time; a slow network or a retry delivered it after the \
          lease had expired.",
    helps: "Use fencing tokens: only the storage can refuse a late write, and no check at the \
            client helps. A storage timeout well below the lease ends the waiting, not the write.",
    is_beyond_leases: true,
    between: Some(between),
    measure: Some(Measure::StorageDelay),
    ..Entry::PLAIN
};

/// Returns whether the finding is about another write, so a sentence must name the late writer.
fn is_of_another_write(kind: Kind) -> bool {
    kind.is_about_write() && !matches!(kind, Kind::StaleWrite | Kind::LostUpdate)
}

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    if matches!(scene.kind, Kind::Overlap | Kind::TokenRegression) {
        return format!(
            "{holder} waited for the storage. Without that wait, {holder} would have left its \
             critical section before its lease expired."
        );
    }
    if scene.kind == Kind::ForeignRelease {
        return format!("{holder} had waited for the storage, and released its lock late.");
    }
    let header = &scene.timeline.history.header;
    let lost = if header.lives_with_session { header.place().0 } else { "lock" };
    if scene.is_write_sent_after_the_grant() {
        let sent = scene.write_sent_after_the_loss().map_or(String::new(), |after| {
            format!(" {holder} sent the write {after} after its {lost} was gone.")
        });
        return format!(
            "{holder} waited for the storage. Without that wait, {holder} would have left its \
             critical section before its lease expired.{sent}"
        );
    }
    let on_its_way = match scene.write_sent_after_the_loss() {
        Some(after) => format!(
            "{holder} sent the write {after} after its {lost} was gone. It was still in transit to \
             the storage when"
        ),
        None if scene.is_overwritten_late() => {
            "The overwritten write was still in transit to the storage when".to_owned()
        }
        None if is_of_another_write(scene.kind) => {
            format!("{holder}'s write was still in transit to the storage when")
        }
        None => "The write was still in transit to the storage when".to_owned(),
    };
    let passed = scene.holder.grant.as_ref().map(|grant| grant.moment);
    let is_next = passed.is_none_or(|passed| scene.is_taken_next_after(passed));
    let told = match holder == taker {
        true => format!("{on_its_way} {taker} was granted the lock again."),
        false if is_next => format!("{on_its_way} the lock passed from {holder} to {taker}."),
        false => format!("{on_its_way} {taker} was granted the lock."),
    };
    match scene.served_before_sending() {
        Some(other) => {
            format!("{told} The storage had served {other} even before {holder} sent the write.")
        }
        None => told,
    }
}
