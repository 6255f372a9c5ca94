//! How a server is set up, as `zoo.cfg` does it.

/// The number of a server in its ensemble (`myid`).
pub type MemberId = u8;

/// A server of an ensemble, and where the others reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its number, from 1.
    pub id: MemberId,
    /// Its name or address.
    pub host: String,
    /// The port at which clients and the other members reach it.
    pub port: u16,
}

/// How a server is set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Which member this is.
    pub me: MemberId,
    /// All members with this one; fewer than two mean a server that stands alone.
    pub members: Vec<Member>,
    /// The unit of all timeouts, in milliseconds (`tickTime`).
    pub tick_ms: u64,
    /// How many ticks a follower may take to come level with a new leader (`initLimit`).
    pub init_limit: u64,
    /// How many ticks a leader and a follower may not hear of each other (`syncLimit`).
    pub sync_limit: u64,
    /// The shortest timeout of a session, in milliseconds; two ticks if it is `None`.
    pub session_timeout_ms_min: Option<i32>,
    /// The longest timeout of a session, in milliseconds; twenty ticks if it is `None`.
    pub session_timeout_ms_max: Option<i32>,
    /// The longest frame of a client (`jute.maxbuffer`).
    pub frame_max: usize,
    /// How many clients are served at a time (`maxCnxns`); 0 sets no bound.
    pub clients_max: usize,
    /// How many clients of one host are served at a time (`maxClientCnxns`); 0 sets no bound.
    pub clients_per_host_max: usize,
    /// The judge is told who is first in the queue of contenders below a node whose path begins
    /// with a slash and this; `None` tells nothing.
    pub tap_prefix: Option<String>,
}

impl Default for Config {
    /// A server that stands alone, as Debian sets it up.
    fn default() -> Config {
        Config {
            me: 1,
            members: Vec::new(),
            tick_ms: 2_000,
            init_limit: 10,
            sync_limit: 5,
            session_timeout_ms_min: None,
            session_timeout_ms_max: None,
            frame_max: 0xfffff,
            clients_max: 0,
            clients_per_host_max: 60,
            tap_prefix: None,
        }
    }
}

impl Config {
    /// Whether the server is no member of an ensemble.
    pub(crate) fn is_alone(&self) -> bool {
        self.members.len() < 2
    }

    /// How many members are a majority.
    pub(crate) fn majority(&self) -> usize {
        self.members.len() / 2 + 1
    }

    /// The other members.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.id != self.me)
    }

    /// The timeout that a client gets who wants this one, in milliseconds.
    pub(crate) fn session_timeout(&self, wanted_ms: i32) -> i32 {
        let ticks = |count: u64| i32::try_from(self.tick_ms * count).unwrap_or(i32::MAX);
        let least = self.session_timeout_ms_min.unwrap_or_else(|| ticks(2));
        let most = self.session_timeout_ms_max.unwrap_or_else(|| ticks(20));
        wanted_ms.max(least).min(most)
    }

    /// Whether so many clients, and of them so many of one host, leave room for one more.
    pub(crate) fn has_room(&self, clients: usize, of_its_host: usize) -> bool {
        let is_below = |count: usize, bound: usize| bound == 0 || count < bound;
        is_below(clients, self.clients_max) && is_below(of_its_host, self.clients_per_host_max)
    }

    /// How long a follower and its leader may take until both serve, in milliseconds.
    pub(crate) fn init_ms(&self) -> u64 {
        self.tick_ms * self.init_limit
    }

    /// How long a follower and its leader may be silent, in milliseconds.
    pub(crate) fn sync_ms(&self) -> u64 {
        self.tick_ms * self.sync_limit
    }
}
