use super::entry::{Entry, Need};

pub(super) static ENTRY: Entry = Entry {
    how: "A fair queue gives the lock to its head, even if that process has crashed.",
    helps: "Let places in the queue expire.",
    needs: &[Need::DeadProcess],
    alone: Some(|_| {
        "A process that waited for the lock had crashed; the lock's key was free almost all the \
         time, but no process got the lock."
            .to_owned()
    }),
    ..Entry::PLAIN
};
