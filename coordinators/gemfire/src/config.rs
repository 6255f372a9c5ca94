pub use fencepost_machine::peers::Member as Server;

/// Default `member-timeout` of a real member, in microseconds.
pub const MEMBER_TIMEOUT_US: u64 = 5_000_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    pub me: u8,
    /// All servers, including this one. With fewer than two servers, the server runs alone.
    pub servers: Vec<Server>,
    pub member_timeout_us: u64,
    pub connections_max: usize,
    /// Prefix of the lock names that the server reports to the judge. `None` reports no locks.
    pub tap_prefix: Option<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            me: 1,
            servers: Vec::new(),
            member_timeout_us: MEMBER_TIMEOUT_US,
            connections_max: 10_000,
            tap_prefix: None,
        }
    }
}

impl Config {
    pub(crate) fn others(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(|server| server.id != self.me)
    }

    /// Returns how long a member may be silent before the others remove it.
    pub(crate) fn silence_us(&self) -> u64 {
        self.member_timeout_us / 2 * 5
    }

    /// Returns how long the others wait after the end of a member's connection to remove it.
    pub(crate) fn cut_off_us(&self) -> u64 {
        self.member_timeout_us / 2 * 3
    }

    pub(crate) fn heartbeat_us(&self) -> u64 {
        (self.member_timeout_us / 2).max(1)
    }
}
