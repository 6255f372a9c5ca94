use super::{deployment, field, primary};
use crate::config::{Fsync, NodeConfig, Persistence};
use crate::world::{World, text};
use redis_protocol::resp2::types::BytesFrame;

const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', \
 KEYS[1]) else return 0 end";

/// Redis 7.0 keeps scripts only in memory (eval.c; docs "Scripting with Lua", script cache).
#[test]
fn a_restarted_server_knows_no_scripts_though_its_data_is_there() {
    let mut world = World::new();
    let config = NodeConfig { persistence: Persistence::Aof { fsync: Fsync::Always }, ..primary() };
    world.start_node("redis-1", config.clone());
    let sha = world.ask_text("redis-1", &["SCRIPT", "LOAD", RELEASE]);
    world.ask("redis-1", &["SET", "lock", "mine", "PX", "60000"]);
    world.crash("redis-1");
    world.start_node("redis-1", config);
    assert_eq!(world.ask_text("redis-1", &["GET", "lock"]), "mine");
    let reply = world.ask_text("redis-1", &["EVALSHA", &sha, "1", "lock", "mine"]);
    assert_eq!(reply, "-NOSCRIPT No matching script. Please use EVAL.");
    assert_eq!(world.ask_text("redis-1", &["EVAL", RELEASE, "1", "lock", "mine"]), "1");
}

/// A server executes a command even if the reply cannot reach the client (networking.c).
#[test]
fn a_set_nx_that_is_sent_again_after_its_reply_was_lost_finds_its_own_token() {
    let mut world = World::new();
    world.start_node("redis-1", primary());
    let first = world.connect("redis-1");
    world.run_for(10);
    world.cut_from_clients("redis-1");
    world.send_command(first, &["SET", "lock", "token", "NX", "PX", "10000"]);
    world.run_for(100);
    assert_eq!(world.next_frame(first), None, "the reply is lost");
    world.heal();
    let second = world.connect("redis-1");
    let again = world.call(second, &["SET", "lock", "token", "NX", "PX", "10000"]);
    assert_eq!(again, BytesFrame::Null, "not acquired");
    assert_eq!(text(&world.call(second, &["GET", "lock"])), "token", "and yet it holds the lock");
}

#[test]
fn a_command_that_waits_behind_a_slow_one_starts_its_time_to_live_when_it_is_executed() {
    let mut world = World::new();
    world.start_node("redis-1", primary());
    let (slow, locker) = (world.connect("redis-1"), world.connect("redis-1"));
    world.run_for(10);
    world.send_command(slow, &["DEBUG", "SLEEP", "3"]);
    world.run_for(10);
    world.send_command(locker, &["SET", "lock", "token", "NX", "PX", "5000"]);
    world.run_for(2_000);
    assert_eq!(world.next_frame(locker), None);
    world.run_for(1_000);
    assert_eq!(world.next_frame(locker).map(|frame| text(&frame)), Some("OK".to_owned()));
    let left: i64 = world.ask_text("redis-1", &["PTTL", "lock"]).parse().unwrap();
    assert!(left > 4_900, "3 s after it was sent it has {left} ms left");
}

/// The server does not store messages (pubsub.c; docs "Redis Pub/Sub", at-most-once delivery).
#[test]
fn a_message_that_is_published_while_nobody_listens_is_never_delivered() {
    let mut world = World::new();
    world.start_node("redis-1", primary());
    let listener = world.connect("redis-1");
    world.call(listener, &["SUBSCRIBE", "released"]);
    world.isolate("redis-1");
    world.run_for(10);
    world.crash("redis-1");
    world.heal();
    world.start_node("redis-1", primary());
    assert_eq!(world.ask_text("redis-1", &["PUBLISH", "released", "lock"]), "0");
    let back = world.connect("redis-1");
    assert_eq!(text(&world.call(back, &["SUBSCRIBE", "released"])), "subscribe released 1");
    world.run_for(1_000);
    assert_eq!(world.next_frame(back), None, "what was missed stays missed");
}

/// A replica still counts as good shortly after losing its link (`refreshGoodSlavesCount`).
#[test]
fn min_replicas_leaves_a_window_in_which_granted_locks_are_lost() {
    let mut world = deployment(1, |config| config.min_replicas_to_write = 1);
    world.cut("redis-1", "redis-2");
    assert_eq!(
        world.ask_text("redis-1", &["SET", "lock", "first", "NX", "PX", "60000"]),
        "OK",
        "within the lag"
    );
    world.run_for(12_000);
    let refused = world.ask_text("redis-1", &["SET", "other", "x"]);
    assert_eq!(refused, "-NOREPLICAS Not enough good replicas to write.");
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.ask("redis-2", &["CONFIG", "SET", "min-replicas-to-write", "0"]);
    let second = world.ask_text("redis-2", &["SET", "lock", "second", "NX", "PX", "60000"]);
    assert_eq!(second, "OK", "granted twice");
}

/// A full resynchronization first empties the data set (replication.c, `readSyncBulkPayload`).
#[test]
fn a_lock_that_only_the_old_primary_granted_is_discarded_when_it_follows_the_new_one() {
    let mut world = deployment(1, |_| {});
    world.cut("redis-1", "redis-2");
    world.ask("redis-1", &["SET", "lock", "old", "NX", "PX", "60000"]);
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.ask("redis-2", &["SET", "lock", "new", "NX", "PX", "60000"]);
    world.heal();
    world.ask("redis-1", &["REPLICAOF", "redis-2", "6379"]);
    world.run_for(3_000);
    assert_eq!(field(&mut world, "redis-1", "master_link_status"), "up");
    assert_eq!(world.ask_text("redis-1", &["GET", "lock"]), "new");
}
