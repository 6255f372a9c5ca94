//! Server configuration: the modelled part of redis.conf.

pub(crate) mod events;
pub(crate) mod file;
pub(crate) mod kept;
pub(crate) mod output_limits;
pub(crate) mod parameters;

use bytes::Bytes;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RedisVersion {
    /// Redis 6.2, whose replication stream may contain relative expiry times.
    V6_2,
    /// Redis 7.0, whose replication stream contains absolute expiry times.
    #[default]
    V7_0,
    /// Redis 7.2, where WAIT waits only for the connection's own writes.
    V7_2,
    /// Redis 8.4, which has SET IFEQ and DELEX.
    V8_4,
}

impl RedisVersion {
    pub fn text(self) -> &'static str {
        match self {
            RedisVersion::V6_2 => "6.2.14",
            RedisVersion::V7_0 => "7.0.15",
            RedisVersion::V7_2 => "7.2.4",
            RedisVersion::V8_4 => "8.4.0",
        }
    }

    /// Returns the version as `0x00MMmmpp`, like `redis.REDIS_VERSION_NUM`.
    pub fn number(self) -> i64 {
        match self {
            RedisVersion::V6_2 => 0x0006_020e,
            RedisVersion::V7_0 => 0x0007_000f,
            RedisVersion::V7_2 => 0x0007_0204,
            RedisVersion::V8_4 => 0x0008_0400,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fsync {
    /// Syncs new commands before replying to them.
    Always,
    EverySec,
    No,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Persistence {
    /// No append-only file, and no automatic snapshots.
    #[default]
    None,
    Rdb,
    Aof {
        fsync: Fsync,
    },
}

/// Minimum time and number of changes before an automatic snapshot (`save`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavePoint {
    pub seconds: i64,
    pub changes: u64,
}

impl SavePoint {
    pub const DEFAULTS: [SavePoint; 3] = [
        SavePoint { seconds: 3_600, changes: 1 },
        SavePoint { seconds: 300, changes: 100 },
        SavePoint { seconds: 60, changes: 10_000 },
    ];
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutputLimit {
    /// Unread bytes at which the server immediately disconnects a client; 0 means no limit.
    pub hard: u64,
    /// Unread bytes that disconnect a client after `soft_seconds`; 0 means no limit.
    pub soft: u64,
    pub soft_seconds: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputLimits {
    pub normal: OutputLimit,
    pub replica: OutputLimit,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MaxmemoryPolicy {
    #[default]
    NoEviction,
    AllKeysLru,
    AllKeysLfu,
    AllKeysRandom,
    VolatileLru,
    VolatileLfu,
    VolatileRandom,
    VolatileTtl,
}

impl MaxmemoryPolicy {
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

    pub fn volatile_only(self) -> bool {
        use MaxmemoryPolicy::{VolatileLfu, VolatileLru, VolatileRandom, VolatileTtl};
        matches!(self, VolatileLru | VolatileLfu | VolatileRandom | VolatileTtl)
    }
}

/// Server configuration. The defaults are redis.conf's, except that persistence is off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeConfig {
    /// Host that the server announces to other servers.
    pub host: String,
    pub port: u16,
    /// Host and port of the primary to replicate; `None` for a primary.
    pub replica_of: Option<(String, u16)>,
    /// `true` if CONFIG REWRITE has a configuration file to update.
    pub has_config_file: bool,
    pub persistence: Persistence,
    /// `true` if the server loads a truncated append-only file (`aof-load-truncated`).
    pub aof_load_truncated: bool,
    /// Growth in percent that starts a rewrite of the append-only file; 0 means never.
    pub aof_rewrite_percentage: u32,
    /// Minimum size in bytes of an append-only file before an automatic rewrite.
    pub aof_rewrite_min_size: u64,
    /// `true` if the server refuses writes after a failed snapshot, unless `save_points` is empty.
    pub stop_writes_on_bgsave_error: bool,
    pub save_points: Vec<SavePoint>,
    /// Minimum number of good replicas for a write; 0 means no minimum.
    pub min_replicas_to_write: u32,
    /// Maximum age in seconds of the last acknowledgement of a good replica; 0 disables the check.
    pub min_replicas_max_lag: u32,
    /// Memory limit in bytes; 0 means no limit.
    pub maxmemory: u64,
    pub maxmemory_policy: MaxmemoryPolicy,
    /// Priority for promotion. Sentinel prefers lower values, and never promotes a replica with 0.
    pub replica_priority: u32,
    /// Size in bytes of the backlog, from which a replica can resynchronize partially.
    pub backlog_size: usize,
    /// Seconds of silence before the server closes a replication link.
    pub repl_timeout: u32,
    /// Interval in seconds between a primary's pings to its replicas.
    pub repl_ping_period: u32,
    pub replica_serve_stale_data: bool,
    /// Seconds to wait for more replicas before taking a snapshot for them.
    pub repl_diskless_sync_delay: u32,
    /// `true` if the server skips `repl_diskless_sync_delay` in the first second after its start.
    pub starts_in_step: bool,
    pub replica_read_only: bool,
    pub proto_max_bulk_len: usize,
    /// Maximum number of unprocessed bytes from one connection.
    pub client_query_buffer_limit: usize,
    pub output_limits: OutputLimits,
    pub max_clients: usize,
    /// Real milliseconds for which a script runs before other clients get `-BUSY`; 0 means never.
    /// Needs an [`InputDriver`](crate::InputDriver).
    pub busy_reply_threshold: i64,
    /// Seconds before the server disconnects an idle client; 0 means never.
    pub timeout: u32,
    pub requirepass: Option<Bytes>,
    pub masterauth: Option<Bytes>,
    pub databases: usize,
    /// Keyspace events to publish, as letters of `notify-keyspace-events`.
    pub notify_keyspace_events: String,
    pub active_expire: bool,
    /// Prefix of keys whose changes the server reports as `TapEvent`s; `None` reports no changes.
    pub tap_prefix: Option<Bytes>,
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
            stop_writes_on_bgsave_error: true,
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
