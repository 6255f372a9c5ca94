use super::entry::Entry;

pub(super) static ENTRY: Entry = Entry {
    how: "The processes take the same locks in different orders, and the locks have no expiry or \
          are renewed while their holders wait.",
    helps: "Take several locks in one order everywhere. Or release the first lock if the second \
            lock is not granted in time.",
    ..Entry::PLAIN
};
