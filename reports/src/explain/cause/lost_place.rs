use super::entry::Entry;

pub(super) static ENTRY: Entry = Entry {
    how: "New processes do not check the queue, or the place of a live waiter was removed.",
    helps: "Choose the next process in the script that grants the lock.",
    alone: Some(|_| "The lock did not keep a waiter's place in the queue.".to_owned()),
    ..Entry::PLAIN
};
