use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    how: "An operator made the primary a replica, for example with REPLICAOF, and no other server \
          had been promoted yet: Sentinels wait for a timeout first. Or FAILOVER promoted a server \
          without the Sentinels, which kept naming the old primary.",
    helps: "Change the primary with the command that promotes its successor: SENTINEL FAILOVER \
            with Sentinels, FAILOVER without.",
};
