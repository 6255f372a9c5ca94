use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::judge::finding::Kind;

pub(super) static ENTRY: Entry = Entry {
    how: "The reply to the create was lost, and the client created a second node, either without \
          looking for the first one or because the server that it asked lagged behind. The first \
          node lives as long as the session, which continues.",
    helps: "Put a client-chosen name into the node and look for it before creating another one \
            (Curator's protection mode), after a sync that makes the server catch up.",
    alone: Some(alone),
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer => {
            "The process had two nodes in the queue by then: it waited with the second and did not \
             know of the first."
        }
        _ => {
            "The first node in the queue belongs to a live session, but no process considers it \
             its own."
        }
    };
    said.to_owned()
}
