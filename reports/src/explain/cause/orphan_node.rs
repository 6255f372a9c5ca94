//! No process knows of the first node in the queue.

use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { alone: Some(alone), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A node that no process knows of is the first of the queue.",
    how: "The reply to the create was lost, and the client created a second node: without looking \
          for the first one, or because the server that it asked was behind. The first one lives \
          as long as the session, which goes on.",
    helps: "A name that the client chooses and looks for before it creates again (Curator's \
            protection mode), at a server that has been told to come level (sync).",
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer => {
            "It had two nodes in the queue by then: it waited with the second, and did not know of \
             the first."
        }
        _ => {
            "The first node of the queue belongs to a live session, and no process takes it for \
             its own."
        }
    };
    said.to_owned()
}
