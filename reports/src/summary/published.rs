//! Which certificates are published with this version: `docs/certificates`.
//!
//! A test of `fencepost` holds the table to the files.

/// A published certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Published {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// The lock.
    pub client: &'static str,
    /// The families of the faults.
    pub fault: &'static str,
    /// How many faults and late messages at most, of how many processes, in words.
    pub bounds: &'static str,
}

const fn of(
    client: &'static str,
    fault: &'static str,
    name: &'static str,
    bounds: &'static str,
) -> Published {
    Published { name, client, fault, bounds }
}

/// All of them, by name.
#[rustfmt::skip]
pub const PUBLISHED: &[Published] = &[
    of("fencing", "client-crash", "fencing-client-crash", "1 fault, 2 processes"),
    of("fencing", "latency", "fencing-latency", "1 fault, 2 processes"),
    of("fencing", "latency", "fencing-latency-delays-1", "1 fault and 1 late message, 2 processes"),
    of("fencing", "lost-reply", "fencing-lost-reply-2", "2 faults, 2 processes"),
    of("fencing", "lost-reply", "fencing-lost-reply-delays-1", "1 fault and 1 late message, 2 processes"),
    of("fencing", "none", "fencing-delays-2", "2 late messages, 2 processes"),
    of("fencing", "none", "fencing-none", "no fault, 2 processes"),
    of("fencing", "partition", "fencing-partition", "1 fault, 2 processes"),
    of("fencing", "restart", "fencing-restart-aof-always", "1 fault, 2 processes, aof-always"),
    of("fencing", "restart", "fencing-restart-aof-always-delays-1", "1 fault and 1 late message, 2 processes, aof-always"),
    of("redlock", "client-crash", "redlock-client-crash", "1 fault, 2 processes, 3 masters"),
    of("redlock", "latency", "redlock-latency", "1 fault, 2 processes, 3 masters"),
    of("redlock", "latency", "redlock-latency-5-masters", "1 fault, 2 processes, 5 masters"),
    of("redlock", "lost-reply", "redlock-lost-reply-2", "2 faults, 2 processes, 3 masters"),
    of("redlock", "lost-reply", "redlock-lost-reply-5-masters", "1 fault, 2 processes, 5 masters"),
    of("redlock", "lost-reply", "redlock-lost-reply-delays-1", "1 fault and 1 late message, 2 processes, 3 masters"),
    of("redlock", "none", "redlock-delays-2", "2 late messages, 2 processes, 3 masters"),
    of("redlock", "none", "redlock-none", "no fault, 2 processes, 3 masters"),
    of("redlock", "partition", "redlock-partition", "1 fault, 2 processes, 3 masters"),
    of("redlock", "restart", "redlock-restart-after-12s", "1 fault, 2 processes, 3 masters, back after 12s"),
    of("redlock", "restart", "redlock-restart-aof-always", "1 fault, 2 processes, 3 masters, aof-always"),
    of("single-node", "client-crash", "single-node-client-crash", "1 fault, 2 processes"),
    of("single-node", "client-crash", "single-node-client-crash-delays-1", "1 fault and 1 late message, 2 processes"),
    of("single-node", "latency", "single-node-latency", "1 fault, 2 processes"),
    of("single-node", "latency", "single-node-latency-2", "2 faults, 2 processes"),
    of("single-node", "latency", "single-node-latency-delays-1", "1 fault and 1 late message, 2 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-2", "2 faults, 2 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-3-processes", "2 faults, 3 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-3-processes-delays-1", "1 fault and 1 late message, 3 processes"),
    of("single-node", "lost-reply", "single-node-lost-reply-delays-1", "1 fault and 1 late message, 2 processes"),
    of("single-node", "none", "single-node-delays-2", "2 late messages, 2 processes"),
    of("single-node", "none", "single-node-none", "no fault, 2 processes"),
    of("single-node", "partition", "single-node-partition", "1 fault, 2 processes"),
    of("single-node", "restart", "single-node-restart-aof-always", "1 fault, 2 processes, aof-always"),
    of("single-node", "restart", "single-node-restart-aof-always-2", "2 faults, 2 processes, aof-always"),
    of("single-node", "restart", "single-node-restart-aof-always-delays-1", "1 fault and 1 late message, 2 processes, aof-always"),
];

/// Those of a lock under the faults of some families.
pub fn published(client: &str, fault: &str) -> impl Iterator<Item = &'static Published> {
    PUBLISHED.iter().filter(move |one| one.client == client && one.fault == fault)
}

impl Published {
    /// Its file, from the folder of the documentation.
    pub fn file(&self) -> String {
        format!("certificates/{}.json", self.name)
    }
}
