//! No server was a primary.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 135, |case| case.is_at(Standstill::NoPrimary))],
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "For most of that time no server was a primary, and replicas grant nothing.",
    how: "Somebody made the primary a replica, as with REPLICAOF, and nothing had promoted another \
          server yet: Sentinels wait for a timeout first.",
    helps: "Change the primary by what promotes its successor: SENTINEL FAILOVER or FAILOVER.",
};
