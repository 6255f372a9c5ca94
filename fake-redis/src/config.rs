//! Configuration of a server: the modelled part of redis.conf.

pub(crate) mod events;
pub(crate) mod file;
pub(crate) mod kept;
pub(crate) mod output_limits;
pub(crate) mod parameters;

use bytes::Bytes;

/// Redis version, where versions differ in ways a lock can observe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RedisVersion {
    /// 6.2: relative expiry in the replication stream.
    V6_2,
    /// 7.0.
    #[default]
    V7_0,
    /// 7.2: WAIT counts only the connection's own writes.
    V7_2,
    /// 8.4: SET IFEQ and DELEX.
    V8_4,
}

impl RedisVersion {
    /// Version as in INFO and HELLO.
    pub fn text(self) -> &'static str {
        match self {
            RedisVersion::V6_2 => "6.2.14",
            RedisVersion::V7_0 => "7.0.15",
            RedisVersion::V7_2 => "7.2.4",
            RedisVersion::V8_4 => "8.4.0",
        }
    }

    /// Version as `0x00MMmmpp`, as in `redis.REDIS_VERSION_NUM`.
    pub fn number(self) -> i64 {
        match self {
            RedisVersion::V6_2 => 0x0006_020e,
            RedisVersion::V7_0 => 0x0007_000f,
            RedisVersion::V7_2 => 0x0007_0204,
            RedisVersion::V8_4 => 0x0008_0400,
        }
    }
}

/// `appendfsync`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fsync {
    /// Before each reply.
    Always,
    /// Once a second.
    EverySec,
    /// Left to the operating system.
    No,
}

/// Persistence mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Persistence {
    /// None.
    #[default]
    None,
    /// Snapshots.
    Rdb,
    /// Append-only file.
    Aof {
        /// When it is synced.
        fsync: Fsync,
    },
}

/// `save`: an automatic snapshot after this time with at least this many changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavePoint {
    /// Since the last snapshot.
    pub seconds: i64,
    /// Since the last snapshot.
    pub changes: u64,
}

impl SavePoint {
    /// Redis's default: `save 3600 1 300 100 60 10000`.
    pub const DEFAULTS: [SavePoint; 3] = [
        SavePoint { seconds: 3_600, changes: 1 },
        SavePoint { seconds: 300, changes: 100 },
        SavePoint { seconds: 60, changes: 10_000 },
    ];
}

/// Limit on a client's unsent output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutputLimit {
    /// Bytes that disconnect the client immediately; 0 means no limit.
    pub hard: u64,
    /// Bytes that disconnect the client after `soft_seconds`; 0 means no limit.
    pub soft: u64,
    /// Duration in seconds.
    pub soft_seconds: i64,
}

/// Limits by class of client: `client-output-buffer-limit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputLimits {
    /// Normal clients.
    pub normal: OutputLimit,
    /// Replicas.
    pub replica: OutputLimit,
    /// Subscribers of channels.
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

/// Eviction policy when memory is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MaxmemoryPolicy {
    /// None: commands that may need memory fail with `-OOM`.
    #[default]
    NoEviction,
    /// The least recently used key.
    AllKeysLru,
    /// The least frequently used key.
    AllKeysLfu,
    /// A random key.
    AllKeysRandom,
    /// The least recently used key with a time to live.
    VolatileLru,
    /// The least frequently used key with a time to live.
    VolatileLfu,
    /// A random key with a time to live.
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

    /// Returns whether only keys with a time to live are evicted.
    pub fn volatile_only(self) -> bool {
        use MaxmemoryPolicy::{VolatileLfu, VolatileLru, VolatileRandom, VolatileTtl};
        matches!(self, VolatileLru | VolatileLfu | VolatileRandom | VolatileTtl)
    }
}

/// Configuration of a server. The defaults are redis.conf's, except that persistence is off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeConfig {
    /// Host name announced to others.
    pub host: String,
    /// Port announced to others.
    pub port: u16,
    /// The primary to replicate.
    pub replica_of: Option<(String, u16)>,
    /// The server was started with a configuration file, which CONFIG REWRITE updates.
    pub has_config_file: bool,
    /// Persistence mode.
    pub persistence: Persistence,
    /// Load an append-only file whose end is missing (`aof-load-truncated`).
    pub aof_load_truncated: bool,
    /// Growth in percent before an automatic rewrite of the append-only file; 0 means never.
    pub aof_rewrite_percentage: u32,
    /// Minimum size in bytes for an automatic rewrite of the append-only file.
    pub aof_rewrite_min_size: u64,
    /// Automatic snapshots, if persistence uses snapshots.
    pub save_points: Vec<SavePoint>,
    /// Minimum number of replicas for writes; 0 means no minimum.
    pub min_replicas_to_write: u32,
    /// Maximum age of a replica's last acknowledgement, in seconds; 0 disables the check.
    pub min_replicas_max_lag: u32,
    /// Memory limit in bytes; 0 means none.
    pub maxmemory: u64,
    /// Eviction policy.
    pub maxmemory_policy: MaxmemoryPolicy,
    /// Sentinel prefers replicas with a lower value; 0 means never promote.
    pub replica_priority: u32,
    /// Size in bytes of the backlog for partial resynchronization.
    pub backlog_size: usize,
    /// Silence in seconds after which a replication link is closed.
    pub repl_timeout: u32,
    /// Interval in seconds between a primary's pings to its replicas.
    pub repl_ping_period: u32,
    /// A replica without its primary still answers reads.
    pub replica_serve_stale_data: bool,
    /// Delay in seconds before a snapshot for a replica, so that other replicas may share it.
    pub repl_diskless_sync_delay: u32,
    /// Servers start in step, as in a running deployment, regardless of the sync delay.
    pub starts_in_step: bool,
    /// A replica refuses writes from its clients.
    pub replica_read_only: bool,
    /// Maximum length of an argument in bytes.
    pub proto_max_bulk_len: usize,
    /// Maximum number of unprocessed bytes of a connection.
    pub client_query_buffer_limit: usize,
    /// Limits on unsent output.
    pub output_limits: OutputLimits,
    /// Maximum number of connections.
    pub max_clients: usize,
    /// Milliseconds of real time after which other clients are answered during a script; 0 means
    /// never. Has no effect without an [`Attendant`](crate::Attendant).
    pub busy_reply_threshold: i64,
    /// Idle seconds after which a client is disconnected; 0 means never.
    pub timeout: u32,
    /// Password of the default user.
    pub requirepass: Option<Bytes>,
    /// Password sent to the primary (`masterauth`).
    pub masterauth: Option<Bytes>,
    /// Number of databases.
    pub databases: usize,
    /// Published keyspace events, as letters of `notify-keyspace-events`.
    pub notify_keyspace_events: String,
    /// Expired keys are also deleted without being accessed.
    pub active_expire: bool,
    /// Prefix of the keys whose changes are reported to the judge; `None` reports none.
    pub tap_prefix: Option<Bytes>,
    /// Redis version.
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
