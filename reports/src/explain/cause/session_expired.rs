use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "The servers had not heard from the holder for its session timeout: its process was \
          paused, or the network was partitioned. The client learns about it only from a server. \
          Or the client had abandoned the session itself and started another one, as Curator does \
          after the session timeout without a server, and continued with the node of the first \
          session.",
    helps: "Send the czxid of the node, the create revision of the key, the sequencer, or a \
            counter in the region to the storage as a fencing token. Leaving the critical section \
            when the connection is suspended, or the session has ended or is in jeopardy, helps \
            against a partition but not against a paused process.",
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let (told, gone) = (scene.holder.completed, scene.gone());
    let header = &scene.timeline.history.header;
    let (heard, taken) = match header.has_queue() {
        true => ("that it was first in the queue", "became first in the queue"),
        false => ("that it had the lock", "got the lock"),
    };
    let when = match told.zip(gone).is_some_and(|(told, (gone, _))| gone < told) {
        true => format!("before {holder} learned {heard}"),
        false => format!("while {holder} was in its critical section"),
    };
    let (node, session) = header.place();
    let is_next = gone.is_none_or(|(gone, _)| scene.is_taken_next_after(gone));
    let first = gone.map_or(Vec::new(), |(gone, _)| scene.first_before_taker(gone));
    let so = match first.as_slice() {
        [] if is_next => format!("{taker} {taken}"),
        [other] if is_next => format!("{other} {taken}, and {taker} after it"),
        _ => "other processes could get the lock".to_owned(),
    };
    format!("The servers ended the {session} of {holder} and deleted its {node} {when}, so {so}.")
}
