//! The application cancelled or interrupted a call, and what that had left behind stood on.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;
use crate::record::history::Header;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 35, |case| case.is_at(Standstill::CallGivenUp))],
    alone: Some(|_, header| alone(header)),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The application cancelled or interrupted a call of the lock, and what that had left \
           behind stood on.",
    how: "The call was over before it had set the expiry, before it had taken back its place in \
          the queue, or before it had sent the release; or the library still counts it.",
    helps: "Set the expiry in the command that takes the lock. Clean up in the library when a call \
            is dropped or interrupted. Or let acquires and releases run in a task of their own \
            that nobody cancels (asyncio.shield, tokio::spawn).",
};

fn alone(header: &Header) -> String {
    if header.lives_with_session {
        let (node, session) = header.place();
        return format!(
            "The application had cancelled or interrupted a call of the lock, and the {node} of \
             that call stood on: it lives as long as its {session}."
        );
    }
    "The application had cancelled or interrupted a call of the lock, and what that had left \
     behind kept everybody out."
        .to_owned()
}
