use crate::protocol::error::CommandResult;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command, Server};
use crate::state::subscription::Kind;
use std::fmt::Write;

pub(crate) static COMMANDS: &[Command] =
    &[Command::new("info", -1, Flags::LOADING.union(Flags::STALE), Keys::NONE, info)];

struct Section {
    title: &'static str,
    by_default: bool,
    write: fn(&Server, &mut String),
}

const TEXT_LENGTH: usize = 4 * 1024;

const SECTIONS: &[Section] = &[
    Section { title: "Server", by_default: true, write: server },
    Section { title: "Clients", by_default: true, write: clients },
    Section { title: "Memory", by_default: true, write: memory },
    Section { title: "Persistence", by_default: true, write: Server::write_persistence_info },
    Section { title: "Stats", by_default: true, write: stats },
    Section { title: "Replication", by_default: true, write: Server::write_replication_info },
    Section { title: "CPU", by_default: true, write: cpu },
    Section { title: "Modules", by_default: true, write: |_, _| {} },
    Section { title: "Commandstats", by_default: false, write: calls },
    Section { title: "Errorstats", by_default: true, write: errors },
    Section {
        title: "Cluster",
        by_default: true,
        write: |_, text| text.push_str("cluster_enabled:0\r\n"),
    },
    Section { title: "Keyspace", by_default: true, write: keyspace },
];

fn info(call: &mut Call<'_>) -> CommandResult {
    let asked: Vec<Vec<u8>> = call.args.from(1).iter().map(<[u8]>::to_ascii_lowercase).collect();
    let is_asked = |section: &Section| {
        let by_name = |word: &Vec<u8>| match &**word {
            b"all" | b"everything" => true,
            b"default" => section.by_default,
            word => section.title.as_bytes().eq_ignore_ascii_case(word),
        };
        if asked.is_empty() { section.by_default } else { asked.iter().any(by_name) }
    };
    let mut text = String::with_capacity(TEXT_LENGTH);
    for section in SECTIONS.iter().filter(|section| is_asked(section)) {
        text.push_str(if text.is_empty() { "# " } else { "\r\n# " });
        text.push_str(section.title);
        text.push_str("\r\n");
        (section.write)(call.server, &mut text);
    }
    call.reply.verbatim(b"txt", text.as_bytes());
    Ok(())
}

fn server(server: &Server, text: &mut String) {
    let uptime = server.clock.uptime_seconds();
    let _ = write!(
        text,
        "redis_version:{}\r\nredis_git_sha1:00000000\r\nredis_git_dirty:0\r\n\
        redis_build_id:0\r\nredis_mode:standalone\r\n\
         os:fake-redis\r\narch_bits:64\r\nmonotonic_clock:simulated\r\n\
         multiplexing_api:none\r\nprocess_id:1\r\n\
         process_supervised:no\r\nrun_id:{}\r\ntcp_port:{}\r\nserver_time_usec:{}\r\n\
         uptime_in_seconds:{uptime}\r\n\
         uptime_in_days:{}\r\nhz:10\r\nconfigured_hz:10\r\nlru_clock:{}\r\n\
         executable:fake-redis\r\nconfig_file:\r\n\
         io_threads_active:0\r\n",
        server.config.version.text(),
        server.life.run_id,
        server.config.port,
        server.clock.now.0,
        uptime / 86_400,
        (server.now_ms() / 1_000) & 0xff_ffff,
    );
}

fn clients(server: &Server, text: &mut String) {
    let _ = write!(
        text,
        "connected_clients:{}\r\ncluster_connections:0\r\nmaxclients:{}\r\n\
        client_recent_max_input_buffer:0\r\n\
         client_recent_max_output_buffer:0\r\nblocked_clients:{}\r\n\
         tracking_clients:0\r\nclients_in_timeout_table:0\r\n",
        server.roster.connected_count(),
        server.config.max_clients,
        server
            .roster
            .connected()
            .map(|key| server.client(key))
            .filter(|client| client.service.waits())
            .count(),
    );
}

const TOTAL_MEMORY: usize = 8 << 30;

fn human(bytes: usize) -> String {
    const UNITS: [&str; 4] = ["K", "M", "G", "T"];
    if bytes < 1_024 {
        return format!("{bytes}B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1_024.0, 0);
    while value >= 1_024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1_024.0, unit + 1);
    }
    format!("{value:.2}{}", UNITS[unit])
}

fn memory(server: &Server, text: &mut String) {
    let used = server.used_memory();
    let policy = server.config.maxmemory_policy;
    let named = crate::config::MaxmemoryPolicy::NAMES.iter().find(|(_, known)| *known == policy);
    for field in ["used_memory", "used_memory_rss", "used_memory_peak", "total_system_memory"] {
        let bytes = if field == "total_system_memory" { TOTAL_MEMORY } else { used };
        let _ = write!(text, "{field}:{bytes}\r\n{field}_human:{}\r\n", human(bytes));
    }
    let _ = write!(
        text,
        "used_memory_peak_perc:100.00%\r\nused_memory_overhead:0\r\nused_memory_startup:0\r\n\
         used_memory_lua:0\r\nused_memory_lua_human:0B\r\nused_memory_scripts:0\r\n\
         used_memory_scripts_human:0B\r\nmaxmemory_human:{}\r\nmem_fragmentation_ratio:1.00\r\n\
         active_defrag_running:0\r\n",
        human(usize::try_from(server.config.maxmemory).unwrap_or(usize::MAX)),
    );
    let _ = write!(
        text,
        "used_memory_dataset:{used}\r\nnumber_of_cached_scripts:{}\r\n\
        number_of_functions:0\r\n\
         number_of_libraries:0\r\nmaxmemory:{}\r\nmaxmemory_policy:{}\r\nmem_allocator:rust\r\n\
         lazyfree_pending_objects:0\r\n\
         lazyfreed_objects:0\r\n",
        server.scripts.len(),
        server.config.maxmemory,
        named.map_or("", |(name, _)| name),
    );
}

fn stats(server: &Server, text: &mut String) {
    let counters = &server.statistics;
    let _ = write!(
        text,
        "total_connections_received:{}\r\ntotal_commands_processed:{}\r\n\
        instantaneous_ops_per_sec:0\r\n\
         rejected_connections:{}\r\nexpired_keys:{}\r\nevicted_keys:{}\r\nevicted_clients:0\r\n\
         keyspace_hits:{}\r\n\
         keyspace_misses:{}\r\npubsub_channels:{}\r\npubsub_patterns:{}\r\n\
         pubsubshard_channels:{}\r\n\
         tracking_total_keys:0\r\ntracking_total_items:0\r\ntracking_total_prefixes:0\r\n\
         total_error_replies:{}\r\n",
        counters.connections_received,
        counters.commands,
        counters.connections_rejected,
        counters.expired_keys,
        counters.evicted_keys,
        counters.keyspace_hits,
        counters.keyspace_misses,
        server.pubsub.of(Kind::Channel).len(),
        server.pubsub.of(Kind::Pattern).len(),
        server.pubsub.of(Kind::ShardChannel).len(),
        counters.errors_total,
    );
}

fn cpu(_: &Server, text: &mut String) {
    text.push_str("used_cpu_sys:0.000000\r\nused_cpu_user:0.000000\r\n");
}

fn calls(server: &Server, text: &mut String) {
    for (command, calls) in server.statistics.calls() {
        let _ = write!(
            text,
            "cmdstat_{}:calls={},usec=0,usec_per_call=0.00,rejected_calls={},failed_calls={}\r\n",
            command.full_name, calls.executed, calls.rejected, calls.failed
        );
    }
}

fn errors(server: &Server, text: &mut String) {
    for (code, count) in server.statistics.errors() {
        let _ = write!(text, "errorstat_{}:count={count}\r\n", String::from_utf8_lossy(code));
    }
}

fn keyspace(server: &Server, text: &mut String) {
    for db in 0..server.keyspace.databases() {
        let database = server.database(db);
        if database.len() > 0 {
            let (keys, expires) = (database.len(), database.volatile_len());
            let _ = write!(text, "db{db}:keys={keys},expires={expires},avg_ttl=0\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn bytes_read_as_redis_writes_them() {
        let told = [0, 1_023, 1_536, 1 << 20, 8 << 30].map(human);
        assert_eq!(told, ["0B", "1023B", "1.50K", "1.00M", "8.00G"]);
    }
}
