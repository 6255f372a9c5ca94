use super::values::{ensemble, ip_address, seed};
use crate::setup::scenario::{Persistence, RedisVersion};
use crate::setup::span::{Span, SpanRange};
use clap::{Args, ValueEnum};
use std::net::IpAddr;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct ServeArguments {
    /// Coordinator to serve (see `fencepost list coordinators`).
    #[arg(long, value_name = "K", default_value = "redis")]
    pub(crate) coordinator: String,
    /// Clock of the servers: the computer's clock, or a manual clock that advances only on command.
    ///
    /// You send the commands on an admin connection, whose address `serve` prints when the servers
    /// are ready. See docs/commanded-redis.md.
    #[arg(long, value_name = "C", default_value = "real")]
    pub(crate) clock: ServedClock,
    #[command(flatten)]
    pub(crate) play: PlayArguments,
    /// Port of the first server; the other servers use the next ports. With 0, `serve` chooses free
    /// ports and prints them [default: the coordinator's usual port, such as 6379 for redis].
    #[arg(long, value_name = "P")]
    pub(crate) port: Option<u16>,
    /// IP address to listen on. Because every client has full access to these test servers, an
    /// address other than loopback needs --requirepass or --no-protected-mode.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = ip_address)]
    pub(crate) bind: IpAddr,
    /// Listen on the --bind address without a password, as Redis does with `protected-mode no`.
    #[arg(long)]
    pub(crate) no_protected_mode: bool,
    /// Also stop when standard input ends.
    ///
    /// Give `serve` a pipe as standard input, and keep the other end open in your test process.
    /// When the test process ends or is killed, the pipe closes and `serve` stops.
    #[arg(long)]
    pub(crate) end_with_stdin: bool,
    /// Number of independent redis or memcached servers, 1 to 64.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=64),
    )]
    pub(crate) nodes: u16,
    /// Number of servers in a zookeeper ensemble, etcd cluster, chubby cell or gemfire system: 1, 3
    /// or 5 [default: 1].
    #[arg(long, value_name = "N", value_parser = ensemble)]
    pub(crate) servers: Option<u16>,
    /// Number of replicas of the redis master, 0 to 64.
    #[arg(
        long,
        value_name = "R",
        default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=64),
    )]
    pub(crate) replicas: u16,
    /// Number of Sentinels, 0 to 64. They monitor the redis master under the name `mymaster`.
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=64),
    )]
    pub(crate) sentinels: u16,
    /// Time without a reply after which a Sentinel considers a server down.
    #[arg(long, value_name = "D", default_value = "30s")]
    pub(crate) down_after: Span,
    /// Data that survives a restart of a Redis server. With `--clock real` and without --fault,
    /// every value except `none` requires --dir.
    #[arg(long, value_name = "P", default_value = "none")]
    pub(crate) persistence: Persistence,
    /// Folder for the servers' files, with a subfolder for each server. redis keeps the data that
    /// --persistence selects. zookeeper, postgresql, mysql, etcd and chubby keep all their data.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Redis version to imitate.
    #[arg(long, value_name = "V", default_value = "7.0")]
    pub(crate) redis_version: RedisVersion,
    /// Maximum number of connections to a server (for zookeeper, from one address) [default: 10000
    /// for redis, etcd, chubby and gemfire, 1024 for memcached, 60 for zookeeper, 100 for
    /// postgresql, 151 for mysql].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_clients: Option<u32>,
    /// Memory limit of each redis or memcached server, in bytes; 0 means no limit for redis, and
    /// 64 MB for memcached.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) maxmemory: u64,
    /// Password that redis clients must send.
    #[arg(long, value_name = "PASSWORD")]
    pub(crate) requirepass: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct PlayArguments {
    /// Play a fault plan of this family in real time. Join several families with `+`.
    ///
    /// --seed selects the plan. `serve` injects its faults into the servers, and reports each fault
    /// on stderr. See docs/commanded-redis.md#play-a-plan.
    #[arg(long, value_name = "F", help_heading = "Plan")]
    pub(crate) fault: Option<String>,
    /// Seed of the plan, in decimal or hexadecimal (0x...).
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        requires = "fault",
        value_parser = seed,
        help_heading = "Plan",
    )]
    pub(crate) seed: u64,
    /// Duration of the plan. The servers stop when the plan or its last repetition ends. Without
    /// this option, all faults begin in the plan's first minute, and the servers keep running.
    #[arg(long, value_name = "D", requires = "fault", help_heading = "Plan")]
    pub(crate) duration: Option<Span>,
    /// Number of times to play the plan. All faults end before the plan starts again.
    #[arg(
        long,
        value_name = "K",
        default_value_t = 1,
        requires = "fault",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Plan",
    )]
    pub(crate) repeat: u32,
    /// Lease duration of the locks under test. The durations of many faults depend on it.
    #[arg(
        long,
        value_name = "D",
        default_value = "10s",
        requires = "fault",
        help_heading = "Plan"
    )]
    pub(crate) ttl: Span,
    /// Time for which a server stays down before it restarts.
    #[arg(
        long,
        value_name = "A..B",
        default_value = "0s",
        requires = "fault",
        help_heading = "Plan"
    )]
    pub(crate) restart_delay: SpanRange,
    /// Not supported: `serve` plays plans only on simulated servers.
    #[arg(long, requires = "fault", hide = true)]
    pub(crate) real: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum ServedClock {
    /// Time of the computer's clock.
    Real,
    /// Time that commands on the admin connection set.
    Manual,
}
