use super::entry::Entry;

pub(super) static ENTRY: Entry = Entry {
    how: "An operator made the primary a replica, for example with REPLICAOF, and no other server \
          had been promoted yet: Sentinels wait for a timeout first. Or FAILOVER promoted a server \
          without the Sentinels, which kept naming the old primary.",
    helps: "Change the primary with the command that promotes its successor: SENTINEL FAILOVER \
            with Sentinels, FAILOVER without.",
    ..Entry::PLAIN
};
