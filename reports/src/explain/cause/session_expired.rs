//! The session of the holder ended.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The session of the holder ended (in etcd, the lease that it kept alive; in GemFire, its \
           membership), and its node, key or lock went, while the holder was in its section.",
    how: "The servers had not heard of the holder for the timeout of its session: its process \
          stood still, or the network was cut. The client learns of it only from a server. Or the \
          client had given the session up by itself and begun another one, as Curator does when it \
          was without a server for as long, and went on with the node of the first.",
    helps: "Show the storage the czxid of the node, the create revision of the key, the \
            sequencer, or a counter in the region, as a fencing token. Leaving the section when the connection is suspended, \
            or the session done or in jeopardy, helps against a cut network, not against a process \
            that stands still.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let (told, gone) = (scene.holder.completed, scene.gone());
    let header = &scene.timeline.history.header;
    let (heard, taken) = match header.has_queue() {
        true => ("that it was the first of the queue", "became the first of the queue"),
        false => ("that it had the lock", "got the lock"),
    };
    let when = match told.zip(gone).is_some_and(|(told, (gone, _))| gone < told) {
        true => format!("before {holder} had heard {heard}"),
        false => format!("while {holder} was in its section"),
    };
    let (node, session) = header.place();
    format!(
        "The servers ended the {session} of {holder}, and its {node} with it, {when}; so {taker} \
         {taken}."
    )
}
