use super::entry::{Entry, Need};
use crate::explain::evidence::Case;

pub(super) static ENTRY: Entry = Entry {
    how: "The call ended before it had set the expiry, before it had left the queue, or before it \
          had sent the release; or the library still counts the abandoned call.",
    helps: "Set the expiry in the command that takes the lock. Clean up in the library when a call \
            is dropped or interrupted. Or run acquires and releases in a separate task that is \
            never cancelled (asyncio.shield, tokio::spawn).",
    needs: &[Need::GivenUp],
    alone: Some(alone),
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    let header = &case.timeline.history.header;
    if let Some(delay) = header.lock_delay_us.filter(|_| case.left_lock_delay()) {
        return format!(
            "The application had cancelled or interrupted a lock call. The lock of that call \
             remained until its session ended, and then its lock-delay of {delay} blocked every \
             process."
        );
    }
    if header.lives_with_session {
        let (node, session) = header.place();
        return format!(
            "The application had cancelled or interrupted a lock call, and the {node} of that call \
             remained, because it lives as long as its {session}."
        );
    }
    "The application had cancelled or interrupted a lock call, and the state that the call left \
     behind blocked every process."
        .to_owned()
}
