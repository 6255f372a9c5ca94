use crate::config::{NodeConfig, RedisVersion};
use crate::world::{World, text};
use fencepost_machine::{KeyChange, TapEvent};
use redis_protocol::resp2::types::BytesFrame;

mod durable;
mod expiry;
mod handover;
mod locks;
mod resync;
mod sentinel;
mod waiting;

fn primary() -> NodeConfig {
    NodeConfig { repl_diskless_sync_delay: 0, ..NodeConfig::default() }
}

fn replica() -> NodeConfig {
    NodeConfig { replica_of: Some(("redis-1".to_owned(), 6379)), ..primary() }
}

fn deployment(replicas: usize, change: impl Fn(&mut NodeConfig)) -> World {
    let mut world = World::new();
    for number in 1..=replicas + 1 {
        let mut config = if number == 1 { primary() } else { replica() };
        change(&mut config);
        world.start_node(&format!("redis-{number}"), config);
    }
    world.run_for(3_000);
    world
}

fn field(world: &mut World, host: &str, name: &str) -> String {
    let info = world.ask_text(host, &["INFO", "replication"]);
    let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("{host} has no {name}: {info}")).to_owned()
}

fn changes(taps: &[TapEvent], key: &str) -> Vec<KeyChange> {
    taps.iter().filter(|tap| tap.key == key.as_bytes()).map(|tap| tap.change).collect()
}

#[test]
fn a_replica_gets_the_data_and_then_the_stream() {
    let mut world = World::new();
    world.start_node("redis-1", primary());
    world.ask("redis-1", &["SET", "before", "1"]);
    world.start_node("redis-2", replica());
    world.run_for(1_000);
    world.ask("redis-1", &["SET", "after", "2"]);
    world.run_for(10);
    assert_eq!(world.ask_text("redis-2", &["GET", "before"]), "1");
    assert_eq!(world.ask_text("redis-2", &["GET", "after"]), "2");
    assert_eq!(changes(world.taps("redis-2"), "before"), [KeyChange::Restored]);
    assert_eq!(changes(world.taps("redis-2"), "after"), [KeyChange::Granted]);
    assert!(world.taps("redis-2").iter().all(|tap| !tap.primary && tap.by.is_none()));
}

#[test]
fn the_reply_leaves_before_the_replica_has_the_write() {
    let mut world = deployment(1, |_| {});
    world.cut_one_way("redis-1", "redis-2");
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "v"]), "OK");
    world.run_for(1_000);
    assert_eq!(world.ask("redis-2", &["GET", "k"]), BytesFrame::Null, "the replica lags");
    world.heal();
    world.run_for(10);
    assert_eq!(world.ask_text("redis-2", &["GET", "k"]), "v");
}

#[test]
fn replicas_refuse_writes() {
    let mut world = deployment(1, |_| {});
    let refusal = "-READONLY You can't write against a read only replica.";
    assert_eq!(world.ask_text("redis-2", &["SET", "k", "v"]), refusal);
}

#[test]
fn info_and_role_tell_who_follows_whom() {
    let mut world = deployment(2, |_| {});
    world.ask("redis-1", &["SET", "k", "v"]);
    world.run_for(1_500);
    let offset = field(&mut world, "redis-1", "master_repl_offset");
    assert_eq!(field(&mut world, "redis-1", "connected_slaves"), "2");
    assert_eq!(
        field(&mut world, "redis-1", "slave0"),
        format!("ip=redis-2,port=6379,state=online,offset={offset},lag=0")
    );
    for (name, value) in [
        ("role", "slave"),
        ("master_host", "redis-1"),
        ("master_port", "6379"),
        ("master_link_status", "up"),
        ("slave_repl_offset", offset.as_str()),
        ("slave_priority", "100"),
        ("slave_read_only", "1"),
    ] {
        assert_eq!(field(&mut world, "redis-2", name), value, "{name}");
    }
    assert_eq!(
        world.ask_text("redis-1", &["ROLE"]),
        format!("master {offset} redis-2 6379 {offset} redis-3 6379 {offset}")
    );
    assert_eq!(
        world.ask_text("redis-2", &["ROLE"]),
        format!("slave redis-1 6379 connected {offset}")
    );
    let id = field(&mut world, "redis-1", "master_replid");
    assert_eq!(field(&mut world, "redis-2", "master_replid"), id);
}

#[test]
fn a_replica_of_a_replica_gets_the_same_stream() {
    let mut world = deployment(1, |_| {});
    let chained = NodeConfig { replica_of: Some(("redis-2".to_owned(), 6379)), ..primary() };
    world.start_node("redis-3", chained);
    world.run_for(3_000);
    world.ask("redis-1", &["SET", "k", "v"]);
    world.run_for(1_100);
    assert_eq!(world.ask_text("redis-3", &["GET", "k"]), "v");
    let offsets =
        ["redis-1", "redis-2", "redis-3"].map(|host| field(&mut world, host, "master_repl_offset"));
    assert!(offsets.iter().all(|offset| *offset == offsets[0]), "{offsets:?}");
}

#[test]
fn without_its_primary_a_replica_serves_stale_data_only_if_it_may() {
    for (serves, expected) in [
        (true, "v"),
        (
            false,
            "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        ),
    ] {
        let mut world = deployment(1, |config| config.replica_serve_stale_data = serves);
        world.ask("redis-1", &["SET", "k", "v"]);
        world.run_for(10);
        world.crash("redis-1");
        world.run_for(2_000);
        assert_eq!(world.ask_text("redis-2", &["GET", "k"]), expected);
        assert_eq!(field(&mut world, "redis-2", "master_link_status"), "down");
        assert!(
            ["1", "2"]
                .contains(&field(&mut world, "redis-2", "master_link_down_since_seconds").as_str())
        );
    }
}

#[test]
fn other_databases_and_transactions_travel_too() {
    let mut world = deployment(1, |_| {});
    let client = world.connect("redis-1");
    for words in [&["SELECT", "3"][..], &["SET", "a", "1"], &["SELECT", "0"], &["SET", "b", "2"]] {
        assert_eq!(text(&world.call(client, words)), "OK");
    }
    world.run_for(10);
    let reader = world.connect("redis-2");
    assert_eq!(text(&world.call(reader, &["GET", "b"])), "2");
    world.call(reader, &["SELECT", "3"]);
    assert_eq!(text(&world.call(reader, &["GET", "a"])), "1");
}

#[test]
fn a_silent_link_is_given_up_after_the_timeout_on_both_sides() {
    let mut world = deployment(1, |config| {
        config.repl_timeout = 5;
        config.repl_ping_period = 1;
    });
    world.run_for(20_000);
    assert_eq!(
        field(&mut world, "redis-2", "master_link_status"),
        "up",
        "pings and acknowledgements keep it alive"
    );
    world.cut("redis-1", "redis-2");
    world.run_for(8_000);
    assert_eq!(field(&mut world, "redis-2", "master_link_status"), "down");
    assert_eq!(field(&mut world, "redis-1", "connected_slaves"), "0");
    world.heal();
    world.run_for(8_000);
    assert_eq!(field(&mut world, "redis-2", "master_link_status"), "up");
}

#[test]
fn a_backward_clock_step_does_not_stop_acknowledgements() {
    let mut world = deployment(1, |config| config.version = RedisVersion::V7_0);
    world.step_clock("redis-2", -3_600_000);
    world.run_for(5_000);
    world.ask("redis-1", &["SET", "k", "v"]);
    world.run_for(1_200);
    let offset = field(&mut world, "redis-1", "master_repl_offset");
    assert!(field(&mut world, "redis-1", "slave0").contains(&format!("offset={offset},lag=0")));
}
