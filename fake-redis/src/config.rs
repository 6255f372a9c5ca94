//! How one server is set up: the part of redis.conf that has a meaning here.

pub(crate) mod events;
pub(crate) mod file;
pub(crate) mod kept;
pub(crate) mod output_limits;
pub(crate) mod parameters;

use bytes::Bytes;

/// Which Redis to be, where versions differ in what a lock can notice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RedisVersion {
    /// 6.2: relative expiry in the replication stream.
    V6_2,
    /// 7.0.
    #[default]
    V7_0,
    /// 7.2: WAIT counts the connection's own writes only.
    V7_2,
    /// 8.4: SET IFEQ and DELEX.
    V8_4,
}

impl RedisVersion {
    /// The version as INFO and HELLO state it.
    pub fn text(self) -> &'static str {
        match self {
            RedisVersion::V6_2 => "6.2.14",
            RedisVersion::V7_0 => "7.0.15",
            RedisVersion::V7_2 => "7.2.4",
            RedisVersion::V8_4 => "8.4.0",
        }
    }

    /// The version as one number, `0x00MMmmpp`, as `redis.REDIS_VERSION_NUM`.
    pub fn number(self) -> i64 {
        match self {
            RedisVersion::V6_2 => 0x0006_020e,
            RedisVersion::V7_0 => 0x0007_000f,
            RedisVersion::V7_2 => 0x0007_0204,
            RedisVersion::V8_4 => 0x0008_0400,
        }
    }
}

/// When the append-only file is made safe from power loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fsync {
    /// Before the reply leaves.
    Always,
    /// Once a second.
    EverySec,
    /// When the operating system likes to.
    No,
}

/// What survives the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Persistence {
    /// Nothing.
    #[default]
    None,
    /// Snapshots.
    Rdb,
    /// An append-only file.
    Aof {
        /// When it is synced.
        fsync: Fsync,
    },
}

/// When a snapshot is taken by itself: after more than so many seconds with at least so many
/// changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavePoint {
    /// Since the last snapshot.
    pub seconds: i64,
    /// Since the last snapshot.
    pub changes: u64,
}

impl SavePoint {
    /// Redis's own: `save 3600 1 300 100 60 10000`.
    pub const DEFAULTS: [SavePoint; 3] = [
        SavePoint { seconds: 3_600, changes: 1 },
        SavePoint { seconds: 300, changes: 100 },
        SavePoint { seconds: 60, changes: 10_000 },
    ];
}

/// How many bytes may wait for a client that does not read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutputLimit {
    /// With more it is disconnected; 0 is no limit.
    pub hard: u64,
    /// With more for longer than `soft_seconds` it is disconnected; 0 is no limit.
    pub soft: u64,
    /// How many seconds.
    pub soft_seconds: i64,
}

/// The limits by class of client: `client-output-buffer-limit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputLimits {
    /// Clients that wait for replies.
    pub normal: OutputLimit,
    /// Replicas.
    pub replica: OutputLimit,
    /// Clients that listen to a channel.
    pub pubsub: OutputLimit,
}

impl Default for OutputLimits {
    fn default() -> Self {
        const MEGABYTE: u64 = 1024 * 1024;
        OutputLimits {
            normal: OutputLimit::default(),
            replica: OutputLimit { hard: 256 * MEGABYTE, soft: 64 * MEGABYTE, soft_seconds: 60 },
            pubsub: OutputLimit { hard: 32 * MEGABYTE, soft: 8 * MEGABYTE, soft_seconds: 60 },
        }
    }
}

/// What goes when memory is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MaxmemoryPolicy {
    /// Nothing: commands that may need memory fail with `-OOM`.
    #[default]
    NoEviction,
    /// The least recently used key.
    AllKeysLru,
    /// The least frequently used key.
    AllKeysLfu,
    /// Any key.
    AllKeysRandom,
    /// The least recently used key among those with a time to live.
    VolatileLru,
    /// The least frequently used key among those with a time to live.
    VolatileLfu,
    /// Any key with a time to live.
    VolatileRandom,
    /// The key that expires first.
    VolatileTtl,
}

impl MaxmemoryPolicy {
    /// Every policy with its name in redis.conf.
    pub const NAMES: [(&'static str, MaxmemoryPolicy); 8] = [
        ("noeviction", MaxmemoryPolicy::NoEviction),
        ("allkeys-lru", MaxmemoryPolicy::AllKeysLru),
        ("allkeys-lfu", MaxmemoryPolicy::AllKeysLfu),
        ("allkeys-random", MaxmemoryPolicy::AllKeysRandom),
        ("volatile-lru", MaxmemoryPolicy::VolatileLru),
        ("volatile-lfu", MaxmemoryPolicy::VolatileLfu),
        ("volatile-random", MaxmemoryPolicy::VolatileRandom),
        ("volatile-ttl", MaxmemoryPolicy::VolatileTtl),
    ];

    /// Whether only keys with a time to live may go.
    pub fn volatile_only(self) -> bool {
        use MaxmemoryPolicy::{VolatileLfu, VolatileLru, VolatileRandom, VolatileTtl};
        matches!(self, VolatileLru | VolatileLfu | VolatileRandom | VolatileTtl)
    }
}

/// One server's configuration. The defaults are redis.conf's, but for persistence, which is off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeConfig {
    /// The name by which others reach this server.
    pub host: String,
    /// The port on which others reach this server.
    pub port: u16,
    /// The primary to follow, if any.
    pub replica_of: Option<(String, u16)>,
    /// Whether the server was started with a configuration file, which CONFIG REWRITE brings up to
    /// date; Sentinel asks for that with every change of roles.
    pub has_config_file: bool,
    /// What survives the process.
    pub persistence: Persistence,
    /// Whether an append-only file that is cut off at its end is loaded up to there.
    pub aof_load_truncated: bool,
    /// By how many per cent the append-only file grows before it is written again by itself; 0 is
    /// never.
    pub aof_rewrite_percentage: u32,
    /// How many bytes an append-only file has at least that is written again by itself.
    pub aof_rewrite_min_size: u64,
    /// When snapshots are taken by themselves, if they are what survives.
    pub save_points: Vec<SavePoint>,
    /// Writes need that many replicas that acknowledged lately; 0 is no demand.
    pub min_replicas_to_write: u32,
    /// How old a replica's last acknowledgement may be, in seconds; 0 is no demand.
    pub min_replicas_max_lag: u32,
    /// The bound on memory in bytes; 0 is none.
    pub maxmemory: u64,
    /// What goes when memory is full.
    pub maxmemory_policy: MaxmemoryPolicy,
    /// Sentinel prefers the replica with the smallest; 0 is never.
    pub replica_priority: u32,
    /// Bytes of the replication stream kept for partial resynchronisation.
    pub backlog_size: usize,
    /// Seconds of silence after which a replication link is given up.
    pub repl_timeout: u32,
    /// Seconds between a primary's pings to its replicas.
    pub repl_ping_period: u32,
    /// Whether a replica that lost its primary still answers reads.
    pub replica_serve_stale_data: bool,
    /// For how many seconds a snapshot for a replica is put off, so that others may share it.
    pub repl_diskless_sync_delay: u32,
    /// Whether it starts together with its replicas or its primary as part of a deployment that has
    /// been running for long: then they are in step at once, whatever the delay is.
    pub starts_in_step: bool,
    /// Whether a replica refuses writes of its clients.
    pub replica_read_only: bool,
    /// The longest argument in bytes.
    pub proto_max_bulk_len: usize,
    /// The most bytes that a connection may leave unserved.
    pub client_query_buffer_limit: usize,
    /// How many bytes may wait for clients that do not read.
    pub output_limits: OutputLimits,
    /// The most connections.
    pub max_clients: usize,
    /// Milliseconds of real time after which others are answered in the middle of a script; 0 is
    /// never. Without an [`Attendant`](crate::Attendant) it means nothing.
    pub busy_reply_threshold: i64,
    /// Seconds of idleness after which a client is disconnected; 0 is never.
    pub timeout: u32,
    /// The password of the default user.
    pub requirepass: Option<Bytes>,
    /// The password that this server gives its primary (`masterauth`).
    pub masterauth: Option<Bytes>,
    /// How many databases there are.
    pub databases: usize,
    /// Which keyspace events are published: a set of letters as in `notify-keyspace-events`.
    pub notify_keyspace_events: String,
    /// Whether keys are also deleted when nobody asks for them.
    pub active_expire: bool,
    /// Tap events are told for keys with this prefix; `None` tells none.
    pub tap_prefix: Option<Bytes>,
    /// Which Redis to be.
    pub version: RedisVersion,
}

impl Default for NodeConfig {
    fn default() -> Self {
        NodeConfig {
            host: String::from("127.0.0.1"),
            port: 6379,
            replica_of: None,
            has_config_file: false,
            persistence: Persistence::None,
            aof_load_truncated: true,
            aof_rewrite_percentage: 100,
            aof_rewrite_min_size: 64 * 1024 * 1024,
            save_points: SavePoint::DEFAULTS.to_vec(),
            min_replicas_to_write: 0,
            min_replicas_max_lag: 10,
            maxmemory: 0,
            maxmemory_policy: MaxmemoryPolicy::NoEviction,
            replica_priority: 100,
            backlog_size: 1024 * 1024,
            repl_timeout: 60,
            repl_ping_period: 10,
            replica_serve_stale_data: true,
            repl_diskless_sync_delay: 5,
            starts_in_step: false,
            replica_read_only: true,
            proto_max_bulk_len: 512 * 1024 * 1024,
            client_query_buffer_limit: 1024 * 1024 * 1024,
            output_limits: OutputLimits::default(),
            max_clients: 10_000,
            busy_reply_threshold: 5_000,
            timeout: 0,
            requirepass: None,
            masterauth: None,
            databases: 16,
            notify_keyspace_events: String::new(),
            active_expire: true,
            tap_prefix: None,
            version: RedisVersion::V7_0,
        }
    }
}
