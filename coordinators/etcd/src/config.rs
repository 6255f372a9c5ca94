pub use fencepost_machine::peers::Member;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    pub me: u8,
    /// All members, including this one. With fewer than two members, the server is standalone.
    pub members: Vec<Member>,
    pub seed: u64,
    /// Heartbeat interval, in milliseconds (`--heartbeat-interval`).
    pub heartbeat_ms: u64,
    pub election_ticks: u64,
    /// `true` if the server-side lock checks the waiter's key after the wait (since 3.5.0).
    pub lock_checks_key: bool,
    pub connections_max: usize,
    /// Prefix of the lock names that the server reports to the judge. `None` reports no locks.
    pub tap_prefix: Option<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            me: 1,
            members: Vec::new(),
            seed: 0,
            heartbeat_ms: 100,
            election_ticks: 10,
            lock_checks_key: false,
            connections_max: 10_000,
            tap_prefix: None,
        }
    }
}

impl Config {
    /// Minimum election timeout in milliseconds (`--election-timeout`).
    pub fn election_ms(&self) -> u64 {
        self.heartbeat_ms * self.election_ticks
    }

    /// Minimum ttl in seconds (`minTTL` of `etcdserver.NewServer`).
    pub fn ttl_min(&self) -> i64 {
        let ticks = 3 * self.election_ticks / 2;
        i64::try_from((ticks * self.heartbeat_ms).div_ceil(1_000)).unwrap_or(i64::MAX)
    }

    pub(crate) fn request_ms(&self) -> u64 {
        5_000 + 2 * self.election_ms()
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.id != self.me)
    }
}

pub(crate) fn member_id(member: u8) -> u64 {
    0x8e9e_05c5_2164_6900 + u64::from(member)
}

pub(crate) const CLUSTER_ID: u64 = 0xcdf8_18a7_5b17_f600;
