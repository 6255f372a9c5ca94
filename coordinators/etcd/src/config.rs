//! How a server is set up.

/// A server of a cluster, and where the others reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its number, from 1.
    pub id: u8,
    /// Its name or address.
    pub host: String,
    /// The port at which clients and the other members reach it.
    pub port: u16,
}

/// How a server is set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Which member this is.
    pub me: u8,
    /// All members with this one; fewer than two mean a server that stands alone.
    pub members: Vec<Member>,
    /// What election timeouts are drawn from.
    pub seed: u64,
    /// The time between two heartbeats of a leader, in milliseconds (`--heartbeat-interval`).
    pub heartbeat_ms: u64,
    /// How many heartbeats an election timeout has (`--election-timeout`).
    pub election_ticks: u64,
    /// Whether the server-side lock looks for its key again once it has waited: etcd does since
    /// 3.5.0, and 3.4 never did.
    pub lock_checks_key: bool,
    /// How many connections are served at a time. The real server sets no bound.
    pub connections_max: usize,
    /// The judge is told who holds the locks whose keys begin with this; `None` tells nothing.
    pub tap_prefix: Option<String>,
}

impl Default for Config {
    /// A server that stands alone, as etcd sets itself up.
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
    /// How long a follower waits for a leader at least, in milliseconds.
    pub fn election_ms(&self) -> u64 {
        self.heartbeat_ms * self.election_ticks
    }

    /// The shortest ttl of a lease, in seconds: one and a half election timeouts, rounded up
    /// (`minTTL` of `etcdserver.NewServer`).
    pub fn ttl_min(&self) -> i64 {
        let ticks = 3 * self.election_ticks / 2;
        i64::try_from((ticks * self.heartbeat_ms).div_ceil(1_000)).unwrap_or(i64::MAX)
    }

    /// How long a request may take, in milliseconds (`ReqTimeout`).
    pub(crate) fn request_ms(&self) -> u64 {
        5_000 + 2 * self.election_ms()
    }

    /// The other members.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.id != self.me)
    }
}

/// The number by which clients know a member.
pub(crate) fn member_id(member: u8) -> u64 {
    0x8e9e_05c5_2164_6900 + u64::from(member)
}

/// The number by which clients know the cluster.
pub(crate) const CLUSTER_ID: u64 = 0xcdf8_18a7_5b17_f600;
