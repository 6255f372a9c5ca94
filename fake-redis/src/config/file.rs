//! Reads and writes the file of CONFIG REWRITE, with one modelled parameter per line.

use super::parameters;
use crate::config::NodeConfig;
use crate::config::parameters::{Change, Parameter};
use crate::protocol::inline::split_words;
use bytes::Bytes;

const REPLICA_OF: &str = "replicaof";

pub(crate) fn write(config: &NodeConfig) -> Bytes {
    let mut lines: Vec<String> =
        changeable().map(|row| line(row.names[0], &[&(row.show)(config)])).collect();
    if let Some((host, port)) = &config.replica_of {
        lines.push(line(REPLICA_OF, &[host, &port.to_string()]));
    }
    Bytes::from(lines.concat())
}

pub(crate) fn read(file: &[u8], started: NodeConfig) -> NodeConfig {
    let mut config = NodeConfig { replica_of: None, ..started };
    for line in file.split(|byte| *byte == b'\n') {
        let words = split_words(line).unwrap_or_default();
        let words: Vec<&str> =
            words.iter().filter_map(|word| std::str::from_utf8(word).ok()).collect();
        match words[..] {
            [REPLICA_OF, host, port] => {
                config.replica_of = port.parse().ok().map(|port| (host.to_owned(), port));
            }
            [name, value] => {
                if let Some(parameter) = parameters::find(name) {
                    let _ = parameter.change.apply(&mut config, value);
                }
            }
            _ => {}
        }
    }
    config
}

/// Returns the parameters to write. `appendonly` is first, because it must precede `appendfsync`.
fn changeable() -> impl Iterator<Item = &'static Parameter> {
    let is_first = |row: &&Parameter| row.names[0] == "appendonly";
    let can_change = |row: &&Parameter| !matches!(row.change, Change::Never);
    let all = parameters::ALL.iter();
    all.clone().filter(is_first).chain(all.filter(move |row| !is_first(row))).filter(can_change)
}

fn line(name: &str, values: &[&str]) -> String {
    let quoted: String = values.iter().map(|value| format!(" {}", quoted(value))).collect();
    format!("{name}{quoted}\n")
}

fn quoted(value: &str) -> String {
    let escaped: String = value.bytes().map(escaped).collect();
    format!("\"{escaped}\"")
}

fn escaped(byte: u8) -> String {
    match byte {
        b'\\' | b'"' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Fsync, MaxmemoryPolicy, Persistence, SavePoint};

    fn changed() -> NodeConfig {
        NodeConfig {
            replica_of: Some(("redis-2".to_owned(), 7_000)),
            persistence: Persistence::Aof { fsync: Fsync::Always },
            aof_load_truncated: false,
            aof_rewrite_percentage: 15,
            aof_rewrite_min_size: 16,
            stop_writes_on_bgsave_error: false,
            save_points: vec![SavePoint { seconds: 5, changes: 1 }],
            min_replicas_to_write: 1,
            min_replicas_max_lag: 2,
            maxmemory: 3,
            maxmemory_policy: MaxmemoryPolicy::VolatileTtl,
            replica_priority: 4,
            backlog_size: 5,
            repl_timeout: 6,
            repl_ping_period: 7,
            repl_diskless_sync_delay: 14,
            replica_serve_stale_data: false,
            replica_read_only: false,
            proto_max_bulk_len: 8 << 20,
            client_query_buffer_limit: 9 << 20,
            max_clients: 10,
            busy_reply_threshold: 11,
            timeout: 12,
            requirepass: Some(Bytes::from("a \"word\"\n\\ of Zo\u{eb}")),
            masterauth: Some(Bytes::from("another")),
            notify_keyspace_events: "AKE".to_owned(),
            ..NodeConfig::default()
        }
    }

    #[test]
    fn what_was_rewritten_is_read_again() {
        for written in [changed(), NodeConfig { replica_of: None, ..changed() }] {
            let started =
                NodeConfig { replica_of: Some(("redis-9".to_owned(), 1)), ..NodeConfig::default() };
            let read = read(&write(&written), started);
            assert_eq!(read, written);
        }
    }

    #[test]
    fn what_the_file_does_not_say_stays_as_it_was_started() {
        let started =
            NodeConfig { port: 7_001, tap_prefix: Some(Bytes::from("lock")), ..changed() };
        let read = read(b"timeout 5\nport 1\nnonsense\n", started.clone());
        assert_eq!(read, NodeConfig { timeout: 5, replica_of: None, ..started });
    }
}
