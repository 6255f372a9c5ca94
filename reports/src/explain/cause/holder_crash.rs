use super::entry::{Entry, Need};

pub(super) static ENTRY: Entry = Entry {
    how: "The key has no expiry or a long one, or the process crashed between the command that \
          takes the lock and the one that sets its expiry.",
    helps: "Take the lock and set its expiry in one command. On Redis, use SET key value NX PX \
            ttl; on memcached, use add with an expiry.",
    needs: &[Need::DeadProcess],
    alone: Some(|_| "A process crashed, and its lock remained at the server.".to_owned()),
    ..Entry::PLAIN
};
