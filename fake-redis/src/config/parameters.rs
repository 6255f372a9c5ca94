use super::output_limits;
use crate::config::events::EventClasses;
use crate::config::output_limits::parse_memory;
use crate::config::{Fsync, MaxmemoryPolicy, NodeConfig, Persistence, SavePoint};
use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    Unknown,
    Because(String),
}

impl Refusal {
    pub(crate) fn because(why: &str) -> Self {
        Refusal::Because(why.to_owned())
    }
}

pub(crate) enum Change {
    Never,
    Switch(fn(&mut NodeConfig, bool)),
    Count(i64, i64, fn(&mut NodeConfig, u32)),
    /// A number of bytes with a minimum. The value may have a unit such as `kb`, `mb` or `gb`.
    Memory(u64, fn(&mut NodeConfig, u64)),
    Text(fn(&mut NodeConfig, &str) -> Result<(), Refusal>),
}

impl Change {
    pub(crate) fn apply(&self, config: &mut NodeConfig, value: &str) -> Result<(), Refusal> {
        match self {
            Change::Never => return Err(Refusal::because("can't set immutable config")),
            Change::Switch(set) => set(config, parse_switch(value)?),
            Change::Count(least, greatest, set) => {
                set(config, parse_count(value, *least, *greatest)?);
            }
            Change::Memory(least, set) => {
                let bytes = parse_memory(value)
                    .ok_or_else(|| Refusal::because("argument must be a memory value"))?;
                if bytes < *least {
                    return Err(not_between(i128::from(*least), i64::MAX));
                }
                set(config, bytes);
            }
            Change::Text(set) => set(config, value)?,
        }
        Ok(())
    }
}

fn parse_switch(value: &str) -> Result<bool, Refusal> {
    match value.to_ascii_lowercase().as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(Refusal::because("argument must be 'yes' or 'no'")),
    }
}

fn parse_count<N: TryFrom<i64>>(value: &str, least: i64, greatest: i64) -> Result<N, Refusal> {
    let number = crate::data::number::parse_integer(value.as_bytes());
    let number =
        number.ok_or_else(|| Refusal::because("argument couldn't be parsed into an integer"))?;
    let fitting = N::try_from(number).ok().filter(|_| (least..=greatest).contains(&number));
    fitting.ok_or_else(|| not_between(i128::from(least), greatest))
}

fn not_between(least: i128, greatest: i64) -> Refusal {
    Refusal::Because(format!("argument must be between {least} and {greatest} inclusive"))
}

pub(crate) struct Parameter {
    pub(crate) names: &'static [&'static str],
    pub(crate) show: fn(&NodeConfig) -> String,
    pub(crate) change: Change,
}

const fn row(
    names: &'static [&'static str],
    show: fn(&NodeConfig) -> String,
    change: Change,
) -> Parameter {
    Parameter { names, show, change }
}

const ANY: i64 = i32::MAX as i64;
const MEBIBYTE: u64 = 1024 * 1024;

pub(crate) static ALL: &[Parameter] = &[
    row(
        &["aof-load-truncated"],
        |c| yes_or_no(c.aof_load_truncated),
        Change::Switch(|c, on| c.aof_load_truncated = on),
    ),
    row(&["appendfsync"], show_fsync, Change::Text(set_fsync)),
    row(
        &["appendonly"],
        |c| yes_or_no(matches!(c.persistence, Persistence::Aof { .. })),
        Change::Switch(set_append_only),
    ),
    row(
        &["auto-aof-rewrite-min-size"],
        |c| c.aof_rewrite_min_size.to_string(),
        Change::Memory(0, |c, n| c.aof_rewrite_min_size = n),
    ),
    row(
        &["auto-aof-rewrite-percentage"],
        |c| c.aof_rewrite_percentage.to_string(),
        Change::Count(0, ANY, |c, n| c.aof_rewrite_percentage = n),
    ),
    row(
        &["busy-reply-threshold", "lua-time-limit"],
        |c| c.busy_reply_threshold.to_string(),
        Change::Text(|c, value| {
            c.busy_reply_threshold = parse_count(value, 0, i64::MAX)?;
            Ok(())
        }),
    ),
    row(
        &["client-output-buffer-limit"],
        |c| output_limits::show(&c.output_limits),
        Change::Text(set_output_limits),
    ),
    row(
        &["client-query-buffer-limit"],
        |c| c.client_query_buffer_limit.to_string(),
        Change::Memory(MEBIBYTE, |c, n| {
            c.client_query_buffer_limit = to_size(n);
        }),
    ),
    row(&["databases"], |c| c.databases.to_string(), Change::Never),
    row(
        &["masterauth"],
        |c| text(c.masterauth.as_ref()),
        Change::Text(|c, value| {
            c.masterauth = password(value);
            Ok(())
        }),
    ),
    row(
        &["maxclients"],
        |c| c.max_clients.to_string(),
        Change::Count(1, u32::MAX as i64, |c, n| c.max_clients = n as usize),
    ),
    row(&["maxmemory"], |c| c.maxmemory.to_string(), Change::Memory(0, |c, n| c.maxmemory = n)),
    row(&["maxmemory-policy"], show_policy, Change::Text(set_policy)),
    row(
        &["min-replicas-max-lag", "min-slaves-max-lag"],
        |c| c.min_replicas_max_lag.to_string(),
        Change::Count(0, ANY, |c, n| {
            c.min_replicas_max_lag = n;
        }),
    ),
    row(
        &["min-replicas-to-write", "min-slaves-to-write"],
        |c| c.min_replicas_to_write.to_string(),
        Change::Count(0, ANY, |c, n| c.min_replicas_to_write = n),
    ),
    row(&["notify-keyspace-events"], |c| events(c).letters(), Change::Text(set_events)),
    row(&["port"], |c| c.port.to_string(), Change::Never),
    row(
        &["proto-max-bulk-len"],
        |c| c.proto_max_bulk_len.to_string(),
        Change::Memory(MEBIBYTE, |c, n| {
            c.proto_max_bulk_len = to_size(n);
        }),
    ),
    row(
        &["replica-priority", "slave-priority"],
        |c| c.replica_priority.to_string(),
        Change::Count(0, ANY, |c, n| {
            c.replica_priority = n;
        }),
    ),
    row(
        &["replica-read-only", "slave-read-only"],
        |c| yes_or_no(c.replica_read_only),
        Change::Switch(|c, on| {
            c.replica_read_only = on;
        }),
    ),
    row(
        &["replica-serve-stale-data", "slave-serve-stale-data"],
        |c| yes_or_no(c.replica_serve_stale_data),
        Change::Switch(|c, on| c.replica_serve_stale_data = on),
    ),
    row(
        &["repl-backlog-size"],
        |c| c.backlog_size.to_string(),
        Change::Memory(1, |c, n| c.backlog_size = to_size(n)),
    ),
    row(
        &["repl-diskless-sync-delay"],
        |c| c.repl_diskless_sync_delay.to_string(),
        Change::Count(0, ANY, |c, n| c.repl_diskless_sync_delay = n),
    ),
    row(
        &["repl-ping-replica-period", "repl-ping-slave-period"],
        |c| c.repl_ping_period.to_string(),
        Change::Count(1, ANY, |c, n| c.repl_ping_period = n),
    ),
    row(
        &["repl-timeout"],
        |c| c.repl_timeout.to_string(),
        Change::Count(1, ANY, |c, n| c.repl_timeout = n),
    ),
    row(&["requirepass"], show_password, Change::Text(set_password)),
    row(&["save"], show_save_points, Change::Text(set_save_points)),
    row(
        &["stop-writes-on-bgsave-error"],
        |c| yes_or_no(c.stop_writes_on_bgsave_error),
        Change::Switch(|c, on| c.stop_writes_on_bgsave_error = on),
    ),
    row(&["timeout"], |c| c.timeout.to_string(), Change::Count(0, ANY, |c, n| c.timeout = n)),
];

pub(crate) fn find(name: &str) -> Option<&'static Parameter> {
    ALL.iter().find(|parameter| parameter.names.contains(&name))
}

fn to_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn yes_or_no(value: bool) -> String {
    String::from(if value { "yes" } else { "no" })
}

fn show_fsync(config: &NodeConfig) -> String {
    let name = match config.persistence {
        Persistence::Aof { fsync: Fsync::Always } => "always",
        Persistence::Aof { fsync: Fsync::No } => "no",
        _ => "everysec",
    };
    name.to_owned()
}

fn set_fsync(config: &mut NodeConfig, value: &str) -> Result<(), Refusal> {
    let wanted = match value.to_ascii_lowercase().as_str() {
        "always" => Fsync::Always,
        "everysec" => Fsync::EverySec,
        "no" => Fsync::No,
        _ => {
            return Err(Refusal::because(
                "argument(s) must be one of the following: everysec, always, no",
            ));
        }
    };
    if let Persistence::Aof { fsync } = &mut config.persistence {
        *fsync = wanted;
    }
    Ok(())
}

fn set_output_limits(config: &mut NodeConfig, value: &str) -> Result<(), Refusal> {
    config.output_limits =
        output_limits::parse(config.output_limits, value).map_err(Refusal::because)?;
    Ok(())
}

fn set_append_only(config: &mut NodeConfig, on: bool) {
    let is_on = matches!(config.persistence, Persistence::Aof { .. });
    if on != is_on {
        config.persistence =
            if on { Persistence::Aof { fsync: Fsync::EverySec } } else { Persistence::None };
    }
}

fn show_policy(config: &NodeConfig) -> String {
    let named =
        MaxmemoryPolicy::NAMES.iter().find(|(_, policy)| *policy == config.maxmemory_policy);
    named.map_or("noeviction", |(name, _)| name).to_owned()
}

fn set_policy(config: &mut NodeConfig, value: &str) -> Result<(), Refusal> {
    let named = MaxmemoryPolicy::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
    let (_, policy) = named.ok_or_else(|| {
        Refusal::because(
            "argument(s) must be one of the following: volatile-lru, volatile-lfu, \
             volatile-random, volatile-ttl, \
             allkeys-lru, allkeys-lfu, allkeys-random, noeviction",
        )
    })?;
    config.maxmemory_policy = *policy;
    Ok(())
}

fn events(config: &NodeConfig) -> EventClasses {
    EventClasses::parse(config.notify_keyspace_events.as_bytes()).unwrap_or_default()
}

fn set_events(config: &mut NodeConfig, value: &str) -> Result<(), Refusal> {
    let invalid = || Refusal::because("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
    EventClasses::parse(value.as_bytes()).ok_or_else(invalid)?;
    value.clone_into(&mut config.notify_keyspace_events);
    Ok(())
}

fn show_password(config: &NodeConfig) -> String {
    text(config.requirepass.as_ref())
}

fn set_password(config: &mut NodeConfig, value: &str) -> Result<(), Refusal> {
    config.requirepass = password(value);
    Ok(())
}

fn text(password: Option<&Bytes>) -> String {
    password.map(|password| String::from_utf8_lossy(password).into_owned()).unwrap_or_default()
}

fn password(value: &str) -> Option<Bytes> {
    (!value.is_empty()).then(|| Bytes::copy_from_slice(value.as_bytes()))
}

fn show_save_points(config: &NodeConfig) -> String {
    let points: Vec<String> = config
        .save_points
        .iter()
        .map(|point| format!("{} {}", point.seconds, point.changes))
        .collect();
    points.join(" ")
}

/// Sets the save points; an empty string removes them (`setConfigSaveOption` in config.c).
fn set_save_points(config: &mut NodeConfig, value: &str) -> Result<(), Refusal> {
    let invalid = || Refusal::because("Invalid save parameters");
    let words: Vec<&str> = value.split_ascii_whitespace().collect();
    if !words.len().is_multiple_of(2) {
        return Err(invalid());
    }
    let point = |pair: &[&str]| {
        let (seconds, changes) = (pair[0].parse::<i64>().ok()?, pair[1].parse::<i64>().ok()?);
        let changes = u64::try_from(changes).ok()?;
        (seconds >= 1).then_some(SavePoint { seconds, changes })
    };
    config.save_points =
        words.chunks_exact(2).map(point).collect::<Option<_>>().ok_or_else(invalid)?;
    Ok(())
}
