pub use fencepost_machine::peers::Member;

pub type MemberId = u8;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    pub me: MemberId,
    /// All members, including this one. With fewer than two members, the server is standalone.
    pub members: Vec<Member>,
    /// Length of a tick, in milliseconds (`tickTime`).
    pub tick_ms: u64,
    /// Number of ticks that a follower may take to synchronise with a new leader (`initLimit`).
    pub init_limit: u64,
    /// Number of ticks without a message after which leader and follower disconnect (`syncLimit`).
    pub sync_limit: u64,
    /// Minimum session timeout in milliseconds. `None` means two ticks.
    pub session_timeout_ms_min: Option<i32>,
    /// Maximum session timeout in milliseconds. `None` means twenty ticks.
    pub session_timeout_ms_max: Option<i32>,
    /// Maximum length of a client's frame, in bytes (`jute.maxbuffer`).
    pub frame_max: usize,
    /// Maximum number of clients (`maxCnxns`). 0 means no limit.
    pub clients_max: usize,
    /// Maximum number of clients per host (`maxClientCnxns`). 0 means no limit.
    pub clients_per_host_max: usize,
    /// Prefix of the reported locks' paths, without the leading slash. `None` reports no locks.
    pub tap_prefix: Option<String>,
}

impl Default for Config {
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
    pub(crate) fn is_alone(&self) -> bool {
        self.members.len() < 2
    }

    pub(crate) fn majority(&self) -> usize {
        self.members.len() / 2 + 1
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.id != self.me)
    }

    pub(crate) fn session_timeout(&self, wanted_ms: i32) -> i32 {
        let ticks = |count: u64| i32::try_from(self.tick_ms * count).unwrap_or(i32::MAX);
        let least = self.session_timeout_ms_min.unwrap_or_else(|| ticks(2));
        let most = self.session_timeout_ms_max.unwrap_or_else(|| ticks(20));
        wanted_ms.max(least).min(most)
    }

    pub(crate) fn has_room(&self, clients: usize, of_its_host: usize) -> bool {
        let is_below = |count: usize, bound: usize| bound == 0 || count < bound;
        is_below(clients, self.clients_max) && is_below(of_its_host, self.clients_per_host_max)
    }

    pub(crate) fn init_ms(&self) -> u64 {
        self.tick_ms * self.init_limit
    }

    pub(crate) fn sync_ms(&self) -> u64 {
        self.tick_ms * self.sync_limit
    }
}
