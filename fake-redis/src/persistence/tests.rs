use crate::config::{Fsync, NodeConfig, Persistence, SavePoint};
use crate::front::node::Node;
use crate::world::World;
use bytes::Bytes;
use fencepost_machine::{
    ConnectionId, DiskImage, Input, KeyChange, Machine, Now, Output, Outputs, WallTime,
};

fn world(persistence: Persistence) -> (World, NodeConfig) {
    let mut world = World::new();
    let config = NodeConfig { persistence, ..NodeConfig::default() };
    world.start_node("redis-1", config.clone());
    (world, config)
}

const ALWAYS: Persistence = Persistence::Aof { fsync: Fsync::Always };
const EVERY_SECOND: Persistence = Persistence::Aof { fsync: Fsync::EverySec };
const NEVER: Persistence = Persistence::Aof { fsync: Fsync::No };

fn survives(persistence: Persistence, wait_ms: u64, end: impl Fn(&mut World)) -> bool {
    let (mut world, config) = world(persistence);
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "v"]), "OK");
    world.run_for(wait_ms);
    end(&mut world);
    world.start_node("redis-1", config);
    world.ask_text("redis-1", &["GET", "k"]) == "v"
}

#[test]
fn a_process_crash_loses_nothing_of_an_append_only_file() {
    let crash = |world: &mut World| world.crash("redis-1");
    for persistence in [ALWAYS, EVERY_SECOND, NEVER] {
        assert!(survives(persistence, 0, crash), "{persistence:?}");
    }
}

#[test]
fn a_process_crash_loses_what_was_only_in_memory() {
    let crash = |world: &mut World| world.crash("redis-1");
    assert!(!survives(Persistence::None, 0, crash));
    assert!(!survives(Persistence::Rdb, 0, crash));
}

#[test]
fn a_power_loss_loses_nothing_with_fsync_always() {
    assert!(survives(ALWAYS, 0, |world| world.lose_power("redis-1")));
}

#[test]
fn with_fsync_every_second_the_first_write_of_a_second_is_synced_at_once_and_later_ones_wait() {
    let survivors = |wait_ms| {
        let (mut world, config) = world(EVERY_SECOND);
        world.run_for(1_100);
        world.ask("redis-1", &["SET", "first", "1"]);
        world.run_for(100);
        world.ask("redis-1", &["SET", "second", "2"]);
        world.run_for(wait_ms);
        world.lose_power("redis-1");
        world.start_node("redis-1", config);
        world.ask_text("redis-1", &["MGET", "first", "second"])
    };
    assert_eq!(survivors(700), "1 (nil)", "its second is not over");
    assert_eq!(survivors(900), "1 2", "the next second has begun, and serverCron has looked");
}

fn survives_behind_a_sync(sync_ms: u64, wait_ms: u64) -> bool {
    let (mut world, config) = world(EVERY_SECOND);
    world.sync_us = sync_ms * 1_000;
    world.run_for(1_100);
    world.ask("redis-1", &["SET", "before", "1"]);
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "v"]), "OK");
    world.run_for(wait_ms);
    world.crash("redis-1");
    world.start_node("redis-1", config);
    assert_eq!(world.ask_text("redis-1", &["GET", "before"]), "1");
    world.ask_text("redis-1", &["GET", "k"]) == "v"
}

#[test]
fn a_write_that_waits_for_a_sync_dies_with_the_process_though_it_was_acknowledged() {
    assert!(!survives_behind_a_sync(300, 200), "the sync is under way");
    assert!(survives_behind_a_sync(300, 400), "it is done");
}

#[test]
fn a_write_waits_for_a_sync_for_no_more_than_two_seconds() {
    assert!(!survives_behind_a_sync(10_000, 1_800));
    assert!(survives_behind_a_sync(10_000, 2_100));
}

#[test]
fn a_key_whose_time_was_lengthened_after_the_rewrite_outlives_a_restart() {
    let (mut world, config) = world(ALWAYS);
    world.ask("redis-1", &["SET", "k", "v", "PX", "1000"]);
    world.ask("redis-1", &["BGREWRITEAOF"]);
    world.ask("redis-1", &["PEXPIRE", "k", "60000"]);
    world.run_for(2_000);
    world.crash("redis-1");
    world.start_node("redis-1", config);
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "v");
}

#[test]
fn a_power_loss_loses_everything_without_fsync() {
    assert!(!survives(NEVER, 60_000, |world| world.lose_power("redis-1")));
}

#[test]
fn with_fsync_always_the_reply_waits_for_the_disk() {
    let (mut world, config) = world(ALWAYS);
    world.sync_us = 50_000;
    let (writer, reader) = (world.connect("redis-1"), world.connect("redis-1"));
    world.send_command(writer, &["SET", "k", "v"]);
    world.run_for(20);
    world.send_command(reader, &["GET", "k"]);
    world.run_for(20);
    assert_eq!(
        (world.next_frame(writer), world.next_frame(reader)),
        (None, None),
        "the server stands still meanwhile"
    );
    let mut lost = world.disk("redis-1").clone();
    lost.power_loss();
    assert_eq!(lost.image().append_only, Bytes::new());
    world.run_for(20);
    assert_eq!(
        (world.drain_texts(writer), world.drain_texts(reader)),
        (vec!["OK".to_owned()], vec!["v".to_owned()])
    );
    world.lose_power("redis-1");
    world.start_node("redis-1", config);
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "v");
}

#[test]
fn an_answer_that_waits_for_a_sync_will_be_sent() {
    let config = NodeConfig { persistence: ALWAYS, ..NodeConfig::default() };
    let now = Now::unstepped(WallTime(1_700_000_000_000_000));
    let mut node = Node::new(config, DiskImage::default(), 7, now.wall);
    let mut out = Outputs::default();
    let connection = ConnectionId(1);
    node.handle(Input::Timer, now, &mut out);
    node.handle(Input::Accepted { connection, peer: "client" }, now, &mut out);
    assert!(!node.will_send());
    node.handle(Input::Received { connection, bytes: b"SET k v\r\n" }, now, &mut out);
    assert!(node.will_send());
    while node.will_send() {
        node.handle(Input::DiskSynced, now, &mut out);
    }
    let sent = |output: &Output| matches!(output, Output::Send { bytes, .. } if bytes.ends_with(b"+OK\r\n"));
    assert!(out.list.iter().any(sent));
}

#[test]
fn times_to_live_are_absolute_and_run_on_while_the_server_is_down() {
    for persistence in [EVERY_SECOND, Persistence::Rdb] {
        let (mut world, config) = world(persistence);
        world.ask("redis-1", &["SET", "short", "v", "PX", "3000"]);
        world.ask("redis-1", &["SET", "long", "v", "PX", "60000"]);
        let granted =
            world.taps("redis-1").iter().find(|tap| tap.key == "long").unwrap().expires_at_ms;
        world.ask("redis-1", &["SAVE"]);
        world.crash("redis-1");
        world.run_for(10_000);
        world.start_node("redis-1", config);
        assert_eq!(world.ask_text("redis-1", &["GET", "short"]), "(nil)", "{persistence:?}");
        assert_eq!(world.ask_text("redis-1", &["GET", "long"]), "v");
        let restored = world.taps("redis-1").iter().find(|tap| tap.key == "long").unwrap();
        assert_eq!(restored.change, KeyChange::Restored);
        assert_eq!(restored.expires_at_ms, granted);
    }
}

#[test]
fn snapshots_are_taken_on_demand_and_at_save_points() {
    assert!(survives(Persistence::Rdb, 0, |world| {
        assert_eq!(world.ask_text("redis-1", &["SAVE"]), "OK");
        world.lose_power("redis-1");
    }));
    let mut world = World::new();
    let save_points = vec![SavePoint { seconds: 10, changes: 2 }];
    let config = NodeConfig { persistence: Persistence::Rdb, save_points, ..NodeConfig::default() };
    world.start_node("redis-1", config);
    world.ask("redis-1", &["SET", "a", "1"]);
    world.run_for(60_000);
    assert!(world.disk("redis-1").image().snapshot.is_none(), "one change is not enough");
    world.ask("redis-1", &["SET", "b", "2"]);
    world.run_for(10);
    assert!(world.disk("redis-1").image().snapshot.is_some(), "the time had passed already");
    let first = world.disk("redis-1").clone();
    world.ask("redis-1", &["SET", "c", "3"]);
    world.ask("redis-1", &["SET", "d", "4"]);
    world.run_for(5_000);
    assert_eq!(*world.disk("redis-1"), first, "not before ten seconds are over");
    world.run_for(7_000);
    assert_ne!(*world.disk("redis-1"), first);
}

#[test]
fn a_cut_off_tail_is_left_out_and_cut_away() {
    let (mut world, config) = world(NEVER);
    world.ask("redis-1", &["SET", "a", "1"]);
    world.ask("redis-1", &["SET", "b", "2"]);
    world.crash("redis-1");
    let whole = world.disk("redis-1").image();
    let length = whole.append_only.len();
    for cut in 1..=27 {
        let mut image = whole.clone();
        image.append_only = whole.append_only.slice(..length - cut);
        *world.disk("redis-1") = fencepost_machine::Disk::holding(image);
        world.start_node("redis-1", config.clone());
        assert_eq!(world.ask_text("redis-1", &["GET", "a"]), "1");
        assert_eq!(world.ask_text("redis-1", &["GET", "b"]), "(nil)", "{cut} bytes are missing");
        world.ask("redis-1", &["SET", "c", "3"]);
        world.crash("redis-1");
        world.start_node("redis-1", config.clone());
        assert_eq!(world.ask_text("redis-1", &["GET", "c"]), "3", "what is appended later is read");
        world.crash("redis-1");
    }
}

#[test]
fn a_rewritten_file_holds_the_same_data() {
    let (mut world, config) = world(EVERY_SECOND);
    world.ask("redis-1", &["SET", "a", "1"]);
    world.ask("redis-1", &["BGREWRITEAOF"]);
    world.ask("redis-1", &["SET", "b", "2"]);
    assert!(!world.disk("redis-1").image().append_only.is_empty());
    world.crash("redis-1");
    world.start_node("redis-1", config);
    assert_eq!(world.ask_text("redis-1", &["GET", "a"]), "1");
    assert_eq!(world.ask_text("redis-1", &["GET", "b"]), "2");
}

#[test]
fn a_file_that_has_grown_enough_is_rewritten_by_itself() {
    let mut world = World::new();
    let config = NodeConfig {
        persistence: EVERY_SECOND,
        aof_rewrite_min_size: 2_000,
        ..NodeConfig::default()
    };
    world.start_node("redis-1", config.clone());
    let mut largest = 0;
    for number in 0..1_000 {
        world.ask("redis-1", &["SET", "k", &number.to_string()]);
        largest = largest.max(world.disk("redis-1").image().append_only.len());
    }
    assert!((2_000..10_000).contains(&largest), "{largest}");
    world.run_for(2_000);
    world.crash("redis-1");
    world.start_node("redis-1", config);
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "999");
    world.ask("redis-1", &["CONFIG", "SET", "auto-aof-rewrite-percentage", "0"]);
    for _ in 0..1_000 {
        world.ask("redis-1", &["SET", "k", "v"]);
    }
    assert!(world.disk("redis-1").image().append_only.len() > 20_000, "it is switched off");
}

#[test]
fn a_full_resynchronisation_replaces_what_the_disk_of_the_replica_held() {
    for persistence in [EVERY_SECOND, Persistence::Rdb, Persistence::None] {
        let (mut world, config) = world(persistence);
        world.ask("redis-1", &["SET", "old", "1"]);
        world.start_node("redis-2", without_sync_delay());
        world.ask("redis-2", &["SET", "new", "2"]);
        world.ask("redis-1", &["REPLICAOF", "redis-2", "6379"]);
        world.run_for(2_000);
        world.lose_power("redis-1");
        world.start_node("redis-1", config);
        assert_eq!(world.ask_text("redis-1", &["GET", "old"]), "(nil)");
        assert_eq!(world.ask_text("redis-1", &["GET", "new"]), "2", "{persistence:?}");
    }
}

#[test]
fn a_former_replica_without_persistence_comes_back_with_the_snapshot_of_its_last_synchronisation() {
    let (mut world, config) = world(Persistence::None);
    world.start_node("redis-2", without_sync_delay());
    world.ask("redis-2", &["SET", "k", "old"]);
    world.ask("redis-1", &["REPLICAOF", "redis-2", "6379"]);
    world.run_for(2_000);
    world.ask("redis-1", &["REPLICAOF", "NO", "ONE"]);
    world.ask("redis-1", &["SET", "k", "new"]);
    world.crash("redis-1");
    world.start_node("redis-1", config);
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "old");
}

fn without_sync_delay() -> NodeConfig {
    NodeConfig { repl_diskless_sync_delay: 0, ..NodeConfig::default() }
}

#[test]
fn a_restarted_replica_goes_on_from_its_snapshot() {
    let mut world = World::new();
    world.start_node("redis-1", without_sync_delay());
    let replica = NodeConfig {
        persistence: Persistence::Rdb,
        replica_of: Some(("redis-1".to_owned(), 6379)),
        ..NodeConfig::default()
    };
    world.start_node("redis-2", replica.clone());
    world.run_for(2_000);
    world.ask("redis-1", &["SET", "a", "1"]);
    world.run_for(10);
    world.ask("redis-2", &["SAVE"]);
    world.crash("redis-2");
    world.ask("redis-1", &["SET", "b", "2"]);
    world.start_node("redis-2", replica);
    world.run_for(2_000);
    assert_eq!(world.ask_text("redis-2", &["GET", "b"]), "2");
    let changes: Vec<KeyChange> = world.taps("redis-2").iter().map(|tap| tap.change).collect();
    assert_eq!(
        changes,
        [KeyChange::Restored, KeyChange::Granted],
        "the snapshot, then only what it missed"
    );
}

#[test]
fn without_persistence_the_disk_is_never_touched() {
    let (mut world, _) = world(Persistence::None);
    world.ask("redis-1", &["SET", "k", "v"]);
    world.run_for(10_000);
    assert_eq!(*world.disk("redis-1"), fencepost_machine::Disk::default());
    let mut disk = fencepost_machine::Disk::default();
    assert_eq!(disk.apply(&Output::WakeAfter { micros: 1 }), fencepost_machine::DiskReply::None);
}
