use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::timeline::KeyEnd;

pub(super) static ENTRY: Entry = Entry {
    how: "The client id was set to the name of the application or of the host instead of a random \
          one. The statement that takes the lock admits every process with the id in the row.",
    helps: "Use an id that no other process has, such as a random id for each start, the library's \
            default.",
    between: Some(between),
    is_of_lock_code: true,
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    match scene.last_loss() {
        Some((by, at, how)) if by != taker && by.machine() != holder.machine() => {
            let deed = match how {
                KeyEnd::Replaced => "took over the row of",
                KeyEnd::Changed { .. } => "removed the row of",
            };
            format!("{by}, which has the client id of {holder}, {deed} {holder} at {at}.")
        }
        _ => format!(
            "{holder} and {taker} share a client id, so each treats the other's row as its own."
        ),
    }
}
