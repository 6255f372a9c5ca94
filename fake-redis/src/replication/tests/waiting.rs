use super::{deployment, field};
use crate::config::RedisVersion;
use crate::world::{World, text};

fn set_and_wait(world: &mut World, replicas: &str, timeout_ms: &str) -> (String, u64) {
    let client = world.connect("redis-1");
    world.call(client, &["SET", "k", "v"]);
    let begun = world.elapsed_ms();
    let reply = text(&world.call(client, &["WAIT", replicas, timeout_ms]));
    (reply, world.elapsed_ms() - begun)
}

#[test]
fn wait_returns_as_soon_as_replicas_acknowledge() {
    let mut world = deployment(2, |_| {});
    let (reply, took) = set_and_wait(&mut world, "2", "1000");
    assert_eq!(reply, "2");
    assert!(took < 10, "replicas are asked at once: {took} ms");
}

#[test]
fn wait_counts_those_who_acknowledged_when_the_time_is_up() {
    let mut world = deployment(2, |_| {});
    world.cut("redis-1", "redis-3");
    let (reply, took) = set_and_wait(&mut world, "2", "300");
    assert_eq!(reply, "1");
    assert!((300..320).contains(&took), "{took} ms");
}

#[test]
fn wait_without_a_timeout_waits_for_good() {
    let mut world = deployment(1, |_| {});
    world.cut("redis-1", "redis-2");
    let client = world.connect("redis-1");
    world.call(client, &["SET", "k", "v"]);
    world.send_command(client, &["WAIT", "1", "0"]);
    world.send_command(client, &["GET", "k"]);
    world.run_for(20_000);
    assert_eq!(world.next_frame(client), None, "nor is what follows served");
    world.heal();
    world.run_for(1_100);
    assert_eq!(world.drain_texts(client), ["1", "v"]);
}

#[test]
fn a_brand_new_connection_does_not_wait_and_a_used_one_does_before_7_2() {
    for (version, used) in [(RedisVersion::V7_0, "0"), (RedisVersion::V7_2, "1")] {
        let mut world = deployment(1, |config| config.version = version);
        world.cut("redis-1", "redis-2");
        world.ask("redis-1", &["SET", "k", "another's"]);
        let client = world.connect("redis-1");
        assert_eq!(text(&world.call(client, &["WAIT", "1", "100"])), "1");
        world.call(client, &["GET", "k"]);
        assert_eq!(text(&world.call(client, &["WAIT", "1", "100"])), used, "{version:?}");
    }
}

#[test]
fn wait_is_refused_on_replicas_and_with_bad_numbers() {
    let mut world = deployment(1, |_| {});
    let refused = world.ask_text("redis-2", &["WAIT", "1", "0"]);
    assert!(refused.starts_with("-ERR WAIT cannot be used with replica instances."), "{refused}");
    let not_integer = "-ERR value is not an integer or out of range";
    assert_eq!(world.ask_text("redis-1", &["WAIT", "x", "0"]), not_integer);
    let bad_timeout = "-ERR timeout is not an integer or out of range";
    assert_eq!(world.ask_text("redis-1", &["WAIT", "1", "x"]), bad_timeout);
    assert_eq!(world.ask_text("redis-1", &["WAIT", "1", "-1"]), "-ERR timeout is negative");
}

#[test]
fn who_waits_is_disconnected_when_the_primary_becomes_a_replica() {
    let mut world = deployment(1, |_| {});
    world.cut("redis-1", "redis-2");
    let client = world.connect("redis-1");
    world.call(client, &["SET", "k", "v"]);
    world.send_command(client, &["WAIT", "1", "0"]);
    world.run_for(10);
    world.ask("redis-1", &["REPLICAOF", "redis-2", "6379"]);
    world.run_for(10);
    let told = world.drain_texts(client);
    assert!(told[0].starts_with("-UNBLOCKED force unblock"), "{told:?}");
    assert!(!world.is_open(client));
}

#[test]
fn writes_are_refused_once_too_few_replicas_have_acknowledged_lately() {
    let mut world = deployment(1, |config| {
        config.min_replicas_to_write = 1;
        config.min_replicas_max_lag = 3;
    });
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "1"]), "OK");
    assert_eq!(field(&mut world, "redis-1", "min_slaves_good_slaves"), "1");
    world.cut("redis-1", "redis-2");
    world.run_for(2_000);
    assert_eq!(
        world.ask_text("redis-1", &["SET", "k", "2"]),
        "OK",
        "the window in which writes are still lost"
    );
    world.run_for(4_000);
    assert_eq!(
        world.ask_text("redis-1", &["SET", "k", "3"]),
        "-NOREPLICAS Not enough good replicas to write."
    );
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "2");
    world.heal();
    world.run_for(1_500);
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "4"]), "OK");
}

#[test]
fn in_a_transaction_wait_does_not_wait() {
    let mut world = deployment(1, |_| {});
    world.cut("redis-1", "redis-2");
    let client = world.connect("redis-1");
    world.call(client, &["SET", "k", "v"]);
    for words in [&["MULTI"][..], &["SET", "k", "w"], &["WAIT", "1", "0"]] {
        world.call(client, words);
    }
    assert_eq!(text(&world.call(client, &["EXEC"])), "OK 0");
}

#[test]
fn the_answer_to_wait_holds_nothing_of_a_script_before_it() {
    let mut world = deployment(1, |_| {});
    let client = world.connect("redis-1");
    world.call(client, &["EVAL", "redis.call('SET', KEYS[1], 'v')", "1", "k"]);
    assert_eq!(text(&world.call(client, &["WAIT", "1", "1000"])), "1");
}

/// The server checks a write against a count of good replicas that may be up to a second old.
#[test]
fn min_replicas_go_by_the_count_of_the_last_second() {
    let mut world = deployment(1, |config| {
        config.min_replicas_to_write = 1;
        config.min_replicas_max_lag = 3;
    });
    world.cut("redis-1", "redis-2");
    let mut counts = Vec::new();
    while counts.last() != Some(&"0".to_owned()) {
        let is_taken = world.ask_text("redis-1", &["SET", "k", "v"]) == "OK";
        let count = super::field(&mut world, "redis-1", "min_slaves_good_slaves");
        assert_eq!(is_taken, count == "1");
        counts.push(count);
        world.run_for(20);
    }
    let lag = super::field(&mut world, "redis-1", "slave0");
    assert!(lag.ends_with("lag=4"), "{lag}");
    world.ask("redis-1", &["CONFIG", "SET", "min-replicas-max-lag", "10"]);
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "v"]), "OK", "CONFIG SET counts anew");
}
