//! No renewal by the holder reached the server in time.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry =
    Entry { is_beyond_leases: true, between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The lock renews its lease by itself, and no renewal reached the server in time.",
    how: "The renewing thread stood still with its process, the network was cut, or the server \
          was away.",
    helps: "Stop working when a renewal fails, and use fencing tokens: the process may learn of \
            it too late.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "The lock renews its lease by itself, but for the {} before it was over no renewal of {} \
         reached the server.",
        scene.lease(),
        scene.holder.process
    )
}
