use super::{changes, deployment, field, primary, replica};
use crate::config::NodeConfig;
use crate::world::World;
use fencepost_machine::KeyChange;
use redis_protocol::resp2::types::BytesFrame;

fn restored(world: &World, host: &str, key: &str) -> usize {
    changes(world.taps(host), key).iter().filter(|change| **change == KeyChange::Restored).count()
}

#[test]
fn a_short_interruption_is_made_up_from_the_backlog() {
    let mut world = deployment(1, |config| config.repl_timeout = 3);
    world.ask("redis-1", &["SET", "seen", "1"]);
    world.run_for(10);
    world.cut("redis-1", "redis-2");
    world.run_for(6_000);
    world.ask("redis-1", &["SET", "missed", "2"]);
    world.heal();
    world.run_for(3_000);
    assert_eq!(world.ask_text("redis-2", &["GET", "missed"]), "2");
    assert_eq!(
        changes(world.taps("redis-2"), "seen"),
        [KeyChange::Granted],
        "nothing was discarded"
    );
    assert_eq!(changes(world.taps("redis-2"), "missed"), [KeyChange::Granted]);
}

#[test]
fn beyond_the_backlog_everything_is_sent_again() {
    let mut world = deployment(1, |config| {
        config.repl_timeout = 3;
        config.backlog_size = 100;
    });
    world.ask("redis-1", &["SET", "seen", "1"]);
    world.run_for(10);
    world.cut("redis-1", "redis-2");
    world.run_for(6_000);
    world.ask("redis-1", &["SET", "missed", &"x".repeat(200)]);
    world.heal();
    world.run_for(3_000);
    assert_eq!(
        changes(world.taps("redis-2"), "seen"),
        [KeyChange::Granted, KeyChange::Discarded, KeyChange::Restored]
    );
    assert_eq!(changes(world.taps("redis-2"), "missed"), [KeyChange::Restored]);
}

#[test]
fn a_write_that_the_replica_never_got_is_lost_at_its_promotion() {
    let mut world = deployment(1, |_| {});
    world.ask("redis-1", &["SET", "kept", "1"]);
    world.run_for(10);
    world.cut("redis-1", "redis-2");
    assert_eq!(world.ask_text("redis-1", &["SET", "lock", "holder", "NX"]), "OK");
    world.crash("redis-1");
    assert_eq!(world.ask_text("redis-2", &["REPLICAOF", "NO", "ONE"]), "OK");
    assert_eq!(world.ask_text("redis-2", &["GET", "kept"]), "1");
    assert_eq!(
        world.ask_text("redis-2", &["SET", "lock", "thief", "NX"]),
        "OK",
        "both were granted the lock"
    );
}

#[test]
fn a_diverged_old_primary_loses_its_writes() {
    let mut world = deployment(1, |_| {});
    world.ask("redis-1", &["SET", "kept", "1"]);
    world.run_for(10);
    world.cut("redis-1", "redis-2");
    world.ask("redis-1", &["SET", "lock", "old"]);
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.ask("redis-2", &["SET", "lock", "new"]);
    world.heal();
    world.ask("redis-1", &["REPLICAOF", "redis-2", "6379"]);
    world.run_for(3_000);
    assert_eq!(world.ask_text("redis-1", &["GET", "lock"]), "new");
    assert_eq!(world.ask_text("redis-1", &["GET", "kept"]), "1");
    assert_eq!(
        changes(world.taps("redis-1"), "lock"),
        [KeyChange::Granted, KeyChange::Discarded, KeyChange::Restored]
    );
}

#[test]
fn replicas_go_on_with_the_promoted_one_without_starting_again() {
    let mut world = deployment(2, |_| {});
    world.ask("redis-1", &["SET", "k", "1"]);
    world.run_for(10);
    let old_id = field(&mut world, "redis-1", "master_replid");
    world.crash("redis-1");
    world.run_for(100);
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.ask("redis-3", &["REPLICAOF", "redis-2", "6379"]);
    world.run_for(2_000);
    world.ask("redis-2", &["SET", "k", "2"]);
    world.run_for(10);
    assert_eq!(world.ask_text("redis-3", &["GET", "k"]), "2");
    assert_eq!(restored(&world, "redis-3", "k"), 0);
    assert_eq!(field(&mut world, "redis-2", "master_replid2"), old_id);
    assert_eq!(field(&mut world, "redis-3", "master_replid2"), old_id);
    let new_id = field(&mut world, "redis-2", "master_replid");
    assert_eq!(field(&mut world, "redis-3", "master_replid"), new_id);
}

#[test]
fn a_replica_that_got_further_than_the_promoted_one_starts_again() {
    let mut world = deployment(2, |_| {});
    world.ask("redis-1", &["SET", "k", "1"]);
    world.run_for(10);
    world.cut_one_way("redis-1", "redis-2");
    world.ask("redis-1", &["SET", "ahead", "1"]);
    world.run_for(10);
    world.crash("redis-1");
    world.run_for(100);
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.ask("redis-3", &["REPLICAOF", "redis-2", "6379"]);
    world.run_for(2_000);
    assert_eq!(world.ask("redis-3", &["GET", "ahead"]), BytesFrame::Null);
    assert_eq!(changes(world.taps("redis-3"), "ahead"), [KeyChange::Granted, KeyChange::Discarded]);
}

#[test]
fn an_old_primary_that_wrote_nothing_more_goes_on_as_a_replica() {
    let mut world = deployment(1, |_| {});
    world.ask("redis-1", &["SET", "k", "1"]);
    world.run_for(1_100);
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.ask("redis-1", &["REPLICAOF", "redis-2", "6379"]);
    world.run_for(3_000);
    assert_eq!(
        restored(&world, "redis-1", "k"),
        0,
        "it offers its own history, which the new one knows"
    );
    assert_eq!(field(&mut world, "redis-1", "master_link_status"), "up");
}

#[test]
fn following_the_same_primary_again_changes_nothing() {
    let mut world = deployment(1, |_| {});
    let reply = world.ask_text("redis-2", &["SLAVEOF", "redis-1", "6379"]);
    assert_eq!(reply, "OK Already connected to specified master");
    assert_eq!(
        world.ask_text("redis-2", &["REPLICAOF", "redis-1", "none"]),
        "-ERR Invalid master port"
    );
    assert_eq!(world.ask_text("redis-1", &["REPLICAOF", "NO", "ONE"]), "OK");
}

#[test]
fn a_snapshot_waits_for_other_replicas_and_nobody_counts_meanwhile() {
    let mut world = World::new();
    world.start_node("redis-1", NodeConfig { repl_diskless_sync_delay: 5, ..primary() });
    world.run_for(1_500);
    world.ask("redis-1", &["SET", "k", "v"]);
    world.start_node("redis-2", replica());
    world.run_for(2_000);
    world.start_node("redis-3", replica());
    world.run_for(2_000);
    assert_eq!(field(&mut world, "redis-1", "connected_slaves"), "2");
    assert!(field(&mut world, "redis-1", "slave0").contains("state=wait_bgsave"));
    assert_eq!(world.ask_text("redis-1", &["WAIT", "1", "100"]), "0");
    assert_eq!(world.ask_text("redis-2", &["GET", "k"]), "(nil)");
    world.run_for(3_000);
    for host in ["redis-2", "redis-3"] {
        assert_eq!(world.ask_text(host, &["GET", "k"]), "v", "{host} shares the snapshot");
    }
    assert_eq!(world.ask_text("redis-1", &["WAIT", "2", "100"]), "2", "acknowledged at once");
}

#[test]
fn servers_that_start_in_step_do_not_wait_for_each_other() {
    let mut world = World::new();
    let config = NodeConfig { starts_in_step: true, ..NodeConfig::default() };
    world.start_node("redis-1", config.clone());
    world.start_node("redis-2", NodeConfig { replica_of: replica().replica_of, ..config });
    world.run_for(100);
    assert_eq!(world.ask_text("redis-1", &["WAIT", "1", "100"]), "1");
}
