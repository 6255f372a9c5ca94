//! No server was a primary.

use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "For most of that time no server that clients were sent to was a primary, and replicas \
           grant nothing.",
    how: "Somebody made the primary a replica, as with REPLICAOF, and nothing had promoted another \
          server yet: Sentinels wait for a timeout first. Or FAILOVER promoted one without the \
          Sentinels, which went on naming the old primary.",
    helps: "Change the primary by what promotes its successor: SENTINEL FAILOVER where there are Sentinels, FAILOVER where there are none.",
};
