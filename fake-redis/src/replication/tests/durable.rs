use super::deployment;
use crate::config::{Fsync, NodeConfig, Persistence, RedisVersion};
use crate::world::{World, text};

const EVERY_SECOND: Persistence = Persistence::Aof { fsync: Fsync::EverySec };
const ALWAYS: Persistence = Persistence::Aof { fsync: Fsync::Always };
const NEVER: Persistence = Persistence::Aof { fsync: Fsync::No };

fn pair(primary: Persistence, replica: Persistence) -> World {
    deployment(1, |config| {
        config.version = RedisVersion::V7_2;
        config.persistence = if config.replica_of.is_some() { replica } else { primary };
    })
}

fn alone(persistence: Persistence) -> World {
    let mut world = World::new();
    let config = NodeConfig { version: RedisVersion::V7_2, persistence, ..NodeConfig::default() };
    world.start_node("redis-1", config);
    world
}

fn set_and_wait(world: &mut World, words: [&str; 3]) -> (String, u64) {
    let client = world.connect("redis-1");
    world.call(client, &["SET", "k", "v"]);
    let begun = world.elapsed_ms();
    let reply = text(&world.call(client, &["WAITAOF", words[0], words[1], words[2]]));
    (reply, world.elapsed_ms() - begun)
}

#[test]
fn our_own_disk_is_waited_for_until_it_has_synced() {
    let mut world = alone(EVERY_SECOND);
    world.run_for(1_100);
    let (reply, took) = set_and_wait(&mut world, ["1", "0", "0"]);
    assert_eq!(reply, "1 0");
    assert!(took < 10, "the first of a second is synced at once: {took} ms");
    let (reply, took) = set_and_wait(&mut world, ["1", "0", "0"]);
    assert_eq!(reply, "1 0");
    assert!((800..1_000).contains(&took), "the second ends, and then it is synced: {took} ms");
    assert_eq!(
        set_and_wait(&mut world, ["0", "0", "0"]).0,
        "0 0",
        "who demands nothing is told how things are"
    );
}

#[test]
fn with_fsync_always_the_write_is_safe_when_its_reply_comes() {
    let (reply, took) = set_and_wait(&mut alone(ALWAYS), ["1", "0", "0"]);
    assert_eq!(reply, "1 0");
    assert!(took < 10, "{took} ms");
}

#[test]
fn without_fsync_the_time_runs_out() {
    let (reply, took) = set_and_wait(&mut alone(NEVER), ["1", "0", "2000"]);
    assert_eq!(reply, "0 0");
    assert!((2_000..2_020).contains(&took), "{took} ms");
}

#[test]
fn a_connection_that_wrote_nothing_has_nothing_to_wait_for() {
    let mut world = alone(NEVER);
    world.ask("redis-1", &["SET", "k", "another's"]);
    assert_eq!(world.ask_text("redis-1", &["WAITAOF", "1", "0", "0"]), "1 0");
}

#[test]
fn a_replica_counts_once_it_says_that_its_disk_has_synced() {
    let mut world = pair(EVERY_SECOND, EVERY_SECOND);
    let (reply, took) = set_and_wait(&mut world, ["1", "1", "0"]);
    assert_eq!(reply, "1 1");
    assert!(took <= 2_100, "a sync and an acknowledgement, each within a second: {took} ms");
}

#[test]
fn a_replica_without_an_append_only_file_never_counts() {
    for replica in [Persistence::None, Persistence::Rdb, NEVER] {
        let mut world = pair(ALWAYS, replica);
        let client = world.connect("redis-1");
        world.call(client, &["SET", "k", "v"]);
        assert_eq!(text(&world.call(client, &["WAITAOF", "0", "1", "5000"])), "1 0", "{replica:?}");
        assert_eq!(
            text(&world.call(client, &["WAIT", "1", "1000"])),
            "1",
            "{replica:?}: it has the write all the same"
        );
    }
}

#[test]
fn what_waitaof_promised_survives_a_loss_of_power_on_all() {
    let mut world = pair(EVERY_SECOND, EVERY_SECOND);
    assert_eq!(set_and_wait(&mut world, ["1", "1", "0"]).0, "1 1");
    for host in ["redis-1", "redis-2"] {
        world.lose_power(host);
        let config = NodeConfig { persistence: EVERY_SECOND, ..NodeConfig::default() };
        world.start_node(host, config);
        assert_eq!(world.ask_text(host, &["GET", "k"]), "v", "{host}");
    }
}

#[test]
fn a_file_that_is_switched_off_and_on_again_begins_with_all_data() {
    let mut world = alone(EVERY_SECOND);
    let client = world.connect("redis-1");
    for _ in 0..2 {
        world.call(client, &["SET", "k", "the first of a second is synced at once"]);
    }
    world.send_command(client, &["WAITAOF", "1", "0", "0"]);
    world.run_for(10);
    let disabled = "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";
    world.ask("redis-1", &["CONFIG", "SET", "appendonly", "no"]);
    world.run_for(10);
    assert_eq!(world.drain_texts(client), [disabled], "who waits for it is told");
    assert_eq!(text(&world.call(client, &["WAITAOF", "1", "0", "0"])), disabled);
    world.call(client, &["SET", "late", "v"]);
    world.ask("redis-1", &["CONFIG", "SET", "appendonly", "yes"]);
    assert_eq!(text(&world.call(client, &["WAITAOF", "1", "0", "100"])), "1 0");
    world.lose_power("redis-1");
    world.start_node("redis-1", NodeConfig { persistence: EVERY_SECOND, ..NodeConfig::default() });
    assert_eq!(world.ask_text("redis-1", &["GET", "late"]), "v");
}

#[test]
fn a_stricter_fsync_covers_what_was_written_before() {
    let mut world = alone(NEVER);
    let client = world.connect("redis-1");
    world.call(client, &["SET", "k", "v"]);
    world.ask("redis-1", &["CONFIG", "SET", "appendfsync", "everysec"]);
    assert_eq!(text(&world.call(client, &["WAITAOF", "1", "0", "1500"])), "1 0");
}

#[test]
fn waitaof_is_refused_with_bad_numbers_on_replicas_and_by_older_servers() {
    let mut world = pair(ALWAYS, ALWAYS);
    for (words, refusal) in [
        (["x", "0", "0"], "-ERR value is not an integer or out of range"),
        (["2", "0", "0"], "-ERR value is out of range, value must between 0 and 1"),
        (["-1", "0", "0"], "-ERR value is out of range, value must between 0 and 1"),
        (["0", "x", "0"], "-ERR value is out of range, must be positive"),
        (["0", "-1", "0"], "-ERR value is out of range, must be positive"),
        (["0", "0", "x"], "-ERR timeout is not an integer or out of range"),
        (["0", "0", "-1"], "-ERR timeout is negative"),
    ] {
        assert_eq!(
            world.ask_text("redis-1", &["WAITAOF", words[0], words[1], words[2]]),
            refusal,
            "{words:?}"
        );
    }
    let on_replica = world.ask_text("redis-2", &["WAITAOF", "0", "0", "0"]);
    assert!(
        on_replica.starts_with("-ERR WAITAOF cannot be used with replica instances."),
        "{on_replica}"
    );
    let without_file = alone(Persistence::None).ask_text("redis-1", &["WAITAOF", "1", "0", "0"]);
    assert!(without_file.contains("appendonly is disabled"), "{without_file}");
    let unknown = deployment(0, |_| {}).ask_text("redis-1", &["WAITAOF", "0", "0", "0"]);
    assert!(unknown.starts_with("-ERR unknown command 'WAITAOF'"), "{unknown}");
}

#[test]
fn in_a_transaction_waitaof_does_not_wait() {
    let mut world = alone(NEVER);
    let client = world.connect("redis-1");
    world.call(client, &["SET", "k", "v"]);
    for words in [&["MULTI"][..], &["WAITAOF", "1", "0", "0"]] {
        world.call(client, words);
    }
    assert_eq!(text(&world.call(client, &["EXEC"])), "0 0");
}
