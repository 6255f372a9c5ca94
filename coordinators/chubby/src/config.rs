//! How a replica is set up.

use crate::times::SESSION_LEASE_US;

/// A replica, and where clients and the other replicas reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its number, from 1.
    pub id: u8,
    /// Its name or address.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// How a replica is set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Which member this is.
    pub me: u8,
    /// All members of the cell with this one; fewer than two mean a cell of one.
    pub members: Vec<Member>,
    /// What the waits between elections are drawn from.
    pub seed: u64,
    /// By how much a master extends the lease of a session, in microseconds.
    pub session_lease_us: u64,
    /// How many connections are served at a time.
    pub connections_max: usize,
    /// The judge is told who holds the locks whose names begin with this; `None` tells nothing.
    pub tap_prefix: Option<String>,
}

impl Default for Config {
    /// A cell of one, with the lease of the paper.
    fn default() -> Config {
        Config {
            me: 1,
            members: Vec::new(),
            seed: 0,
            session_lease_us: SESSION_LEASE_US,
            connections_max: 10_000,
            tap_prefix: None,
        }
    }
}

impl Config {
    /// How long before the end of a lease the master answers the KeepAlive.
    pub(crate) fn answers_before_us(&self) -> u64 {
        self.session_lease_us / 3
    }

    /// The other members.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.id != self.me)
    }
}
