use crate::config::{Fsync, NodeConfig, Persistence, RedisVersion, SavePoint};
use crate::world::World;
use fencepost_machine::{Damage, Response, SyncError};

const LOG_FAILS: &str = "-MISCONF Errors writing to the AOF file: Input/output error";

fn world(config: NodeConfig) -> World {
    let mut world = World::new();
    world.start_node("redis-1", config);
    world.run_for(1_100);
    world
}

fn appending(fsync: Fsync) -> NodeConfig {
    NodeConfig { persistence: Persistence::Aof { fsync }, ..NodeConfig::default() }
}

fn ask(world: &mut World, words: &[&str]) -> String {
    world.ask_text("redis-1", words)
}

#[test]
fn a_server_that_syncs_every_write_exits_without_a_reply_and_keeps_what_it_wrote() {
    let mut world = world(appending(Fsync::Always));
    assert_eq!(ask(&mut world, &["SET", "a", "1"]), "OK");
    world.fail_syncs("redis-1", Some(SyncError::Io));
    let client = world.connect("redis-1");
    world.send_command(client, &["SET", "b", "2"]);
    world.run_for(100);
    assert!(world.has_stopped("redis-1"));
    assert!(world.refusals("redis-1").is_empty(), "it stops instead");
    assert!(world.raw(client).is_empty(), "the write was not acknowledged");
    world.fail_syncs("redis-1", None);
    world.crash("redis-1");
    world.start_node("redis-1", appending(Fsync::Always));
    assert_eq!(ask(&mut world, &["MGET", "a", "b"]), "1 2", "the page cache has both");
}

#[test]
fn a_server_that_syncs_every_second_refuses_writes_and_pings_until_a_sync_succeeds() {
    let mut world = world(appending(Fsync::EverySec));
    world.fail_syncs("redis-1", Some(SyncError::Io));
    assert_eq!(ask(&mut world, &["SET", "a", "1", "PX", "4000"]), "OK", "the sync comes later");
    world.run_for(100);
    assert_eq!(ask(&mut world, &["SET", "b", "2"]), LOG_FAILS);
    let script = "return redis.call('SET', 'b', 2)";
    assert!(ask(&mut world, &["EVAL", script, "0"]).starts_with(LOG_FAILS));
    assert_eq!(ask(&mut world, &["PING"]), LOG_FAILS);
    assert_eq!(ask(&mut world, &["GET", "a"]), "1", "reads are served");
    assert!(ask(&mut world, &["INFO", "persistence"]).contains("aof_last_write_status:err"));
    assert_eq!(world.refusals("redis-1"), [true]);
    world.fail_syncs("redis-1", None);
    world.run_for(2_000);
    assert_eq!(ask(&mut world, &["SET", "b", "2"]), LOG_FAILS, "nothing was written, or synced");
    world.run_for(4_000);
    assert_eq!(ask(&mut world, &["SET", "b", "2"]), "OK", "the expiry of a key was synced");
    assert_eq!(world.refusals("redis-1"), [true, false]);
}

#[test]
fn a_full_disk_is_named() {
    let mut world = world(appending(Fsync::EverySec));
    world.fail_syncs("redis-1", Some(SyncError::Full));
    ask(&mut world, &["SET", "a", "1"]);
    world.run_for(100);
    let refusal = ask(&mut world, &["SET", "a", "2"]);
    assert_eq!(refusal, "-MISCONF Errors writing to the AOF file: No space left on device");
}

#[test]
fn after_a_failed_snapshot_writes_are_refused_until_one_succeeds() {
    let config = |stop_writes_on_bgsave_error| NodeConfig {
        persistence: Persistence::Rdb,
        save_points: vec![SavePoint { seconds: 1, changes: 1 }],
        stop_writes_on_bgsave_error,
        ..NodeConfig::default()
    };
    let mut world = world(config(true));
    let saved = ask(&mut world, &["LASTSAVE"]);
    world.fail_syncs("redis-1", Some(SyncError::Io));
    assert_eq!(ask(&mut world, &["SET", "a", "1"]), "OK");
    world.run_for(2_500);
    assert!(
        ask(&mut world, &["SET", "a", "2"]).starts_with("-MISCONF Redis is configured to save")
    );
    assert_eq!(ask(&mut world, &["LASTSAVE"]), saved);
    let info = ask(&mut world, &["INFO", "persistence"]);
    assert!(info.contains("rdb_last_bgsave_status:err"), "{info}");
    assert!(info.contains("rdb_changes_since_last_save:1"), "{info}");
    world.run_for(7_000);
    assert_eq!(world.refusals("redis-1"), [true], "no attempt that fails again is reported");
    assert_eq!(ask(&mut world, &["CONFIG", "SET", "stop-writes-on-bgsave-error", "no"]), "OK");
    assert_eq!(ask(&mut world, &["SET", "a", "2"]), "OK");
    assert_eq!(ask(&mut world, &["CONFIG", "SET", "stop-writes-on-bgsave-error", "yes"]), "OK");
    world.fail_syncs("redis-1", None);
    world.run_for(7_000);
    assert_ne!(ask(&mut world, &["LASTSAVE"]), saved);
    assert_eq!(ask(&mut world, &["SET", "a", "3"]), "OK", "it was saved again");
    assert_eq!(world.refusals("redis-1"), [true, false, true, false]);
}

#[test]
fn a_failed_rewrite_leaves_a_whole_log_and_is_tried_again() {
    let mut world = world(appending(Fsync::No));
    assert_eq!(ask(&mut world, &["SET", "a", "1"]), "OK");
    world.fail_syncs("redis-1", Some(SyncError::Io));
    ask(&mut world, &["BGREWRITEAOF"]);
    assert_eq!(ask(&mut world, &["SET", "a", "2"]), "OK");
    let mut early = world;
    early.crash("redis-1");
    early.start_node("redis-1", appending(Fsync::No));
    assert_eq!(ask(&mut early, &["GET", "a"]), "2");
    assert_eq!(ask(&mut early, &["SET", "a", "3"]), "OK");
    early.fail_syncs("redis-1", None);
    ask(&mut early, &["BGREWRITEAOF"]);
    early.run_for(100);
    early.lose_power("redis-1");
    early.start_node("redis-1", appending(Fsync::No));
    assert_eq!(ask(&mut early, &["GET", "a"]), "3", "a rewrite syncs");
}

#[test]
fn from_7_0_on_a_replica_that_cannot_sync_panics_at_the_next_replicated_write() {
    for (version, stops) in [(RedisVersion::V6_2, false), (RedisVersion::V7_0, true)] {
        assert_eq!(replica_stops_without_its_disk(version), stops, "{version:?}");
    }
}

fn replica_stops_without_its_disk(version: RedisVersion) -> bool {
    let mut world = World::new();
    let config = NodeConfig { version, repl_diskless_sync_delay: 0, ..appending(Fsync::EverySec) };
    world.start_node("redis-1", NodeConfig { persistence: Persistence::None, ..config.clone() });
    let replica_of = Some(("redis-1".to_owned(), 6379));
    world.start_node("redis-2", NodeConfig { replica_of, ..config });
    world.run_for(3_000);
    world.fail_syncs("redis-2", Some(SyncError::Io));
    assert_eq!(ask(&mut world, &["SET", "a", "1"]), "OK");
    world.run_for(1_500);
    assert!(!world.has_stopped("redis-2"));
    assert_eq!(ask(&mut world, &["SET", "a", "2"]), "OK");
    world.run_for(100);
    assert!(!world.has_stopped("redis-1"));
    world.has_stopped("redis-2")
}

#[test]
fn a_torn_log_is_loaded_without_its_last_command() {
    let mut world = world(appending(Fsync::EverySec));
    assert_eq!(ask(&mut world, &["SET", "early", "1"]), "OK");
    world.run_for(100);
    assert_eq!(ask(&mut world, &["SET", "first", "1"]), "OK");
    assert_eq!(ask(&mut world, &["SET", "last", "1"]), "OK");
    world.tear("redis-1", 3);
    world.start_node("redis-1", appending(Fsync::EverySec));
    assert_eq!(ask(&mut world, &["MGET", "early", "first", "last"]), "1 1 (nil)");
    let repaired = |damage: &Damage| damage.response == Response::Repaired;
    assert!(world.damages("redis-1").iter().all(repaired) && !world.damages("redis-1").is_empty());
}
