use super::entry::{Entry, Tells};

pub(super) static ENTRY: Entry = Entry {
    how: "The process considered the lock stale: it compared a time in the value with its own \
          clock, or two waiters took over the same stale lock. Or the process cleaned up after a \
          refused attempt and removed a lock that was not its own.",
    helps: "Let the server expire the key. A takeover must compare and replace in one command.",
    between: Some(|_| {
        "A process removed the existing lock, which was not its own, while it was acquiring."
            .to_owned()
    }),
    is_of_lock_code: true,
    tells: Tells::Takeover,
    ..Entry::PLAIN
};
