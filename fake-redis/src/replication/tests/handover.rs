use super::{deployment, field};
use crate::world::{World, text};

fn state(world: &mut World, host: &str) -> (String, String) {
    (field(world, host, "role"), field(world, host, "master_failover_state"))
}

fn is(state: (String, String), role: &str, failover: &str) -> bool {
    state == (role.to_owned(), failover.to_owned())
}

#[test]
fn a_replica_that_has_everything_takes_over_within_a_moment_and_without_a_snapshot() {
    let mut world = deployment(2, |_| {});
    world.ask("redis-1", &["SET", "k", "v"]);
    world.run_for(1_100);
    let id = field(&mut world, "redis-1", "master_replid");
    assert_eq!(world.ask_text("redis-1", &["FAILOVER", "TO", "redis-3", "6379"]), "OK");
    world.run_for(300);
    assert!(is(state(&mut world, "redis-3"), "master", "no-failover"));
    assert!(is(state(&mut world, "redis-1"), "slave", "no-failover"));
    assert_eq!(field(&mut world, "redis-1", "master_host"), "redis-3");
    assert_eq!(field(&mut world, "redis-3", "master_replid2"), id, "the old history goes on");
    assert_eq!(world.ask_text("redis-3", &["SET", "k", "w"]), "OK");
    world.run_for(100);
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "w");
}

#[test]
fn writes_wait_for_the_failover_and_reads_do_not() {
    let mut world = deployment(1, |_| {});
    world.ask("redis-1", &["SET", "k", "v"]);
    world.cut("redis-1", "redis-2");
    let (writer, reader) = (world.connect("redis-1"), world.connect("redis-1"));
    world.call(writer, &["SET", "k", "last"]);
    assert_eq!(text(&world.call(reader, &["FAILOVER"])), "OK");
    world.send_command(writer, &["SET", "k", "too late"]);
    world.run_for(2_000);
    assert_eq!(world.next_frame(writer), None, "the replica has not caught up");
    assert_eq!(text(&world.call(reader, &["GET", "k"])), "last");
    assert!(is(state(&mut world, "redis-1"), "master", "waiting-for-sync"));
    world.heal();
    world.run_for(2_000);
    assert_eq!(
        world.drain_texts(writer),
        ["-READONLY You can't write against a read only replica."]
    );
    assert_eq!(world.ask_text("redis-2", &["GET", "k"]), "last", "what was acknowledged is there");
    assert_eq!(field(&mut world, "redis-2", "role"), "master");
}

#[test]
fn without_force_a_replica_that_lags_ends_the_failover_and_writes_go_on() {
    let mut world = deployment(1, |_| {});
    world.cut("redis-1", "redis-2");
    let writer = world.connect("redis-1");
    world.call(writer, &["SET", "k", "v"]);
    assert_eq!(world.ask_text("redis-1", &["FAILOVER", "TIMEOUT", "500"]), "OK");
    world.send_command(writer, &["SET", "k", "w"]);
    world.run_for(400);
    assert_eq!(world.next_frame(writer), None);
    world.run_for(300);
    assert_eq!(world.drain_texts(writer), ["OK"]);
    assert!(is(state(&mut world, "redis-1"), "master", "no-failover"));
}

#[test]
fn with_force_the_place_is_handed_over_when_the_time_is_up_and_asked_for_until_somebody_aborts() {
    let mut world = deployment(1, |_| {});
    world.cut_one_way("redis-1", "redis-2");
    world.ask("redis-1", &["SET", "k", "lost"]);
    let order = ["FAILOVER", "TO", "redis-2", "6379", "FORCE", "TIMEOUT", "500"];
    assert_eq!(world.ask_text("redis-1", &order), "OK");
    world.run_for(1_000);
    assert!(is(state(&mut world, "redis-1"), "slave", "failover-in-progress"));
    world.crash("redis-2");
    world.heal();
    world.run_for(1_000);
    assert!(is(state(&mut world, "redis-1"), "slave", "failover-in-progress"), "it goes on asking");
    assert_eq!(world.ask_text("redis-1", &["FAILOVER", "ABORT"]), "OK");
    assert!(is(state(&mut world, "redis-1"), "master", "no-failover"));
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "w"]), "OK");
}

#[test]
fn who_does_not_share_the_history_does_not_take_over() {
    let mut world = deployment(2, |_| {});
    let unknown = "0".repeat(40);
    let replid = "-ERR PSYNC FAILOVER replid must match my replid.";
    assert_eq!(world.ask_text("redis-2", &["PSYNC", &unknown, "1", "FAILOVER"]), replid);
    assert_eq!(field(&mut world, "redis-2", "role"), "slave");
    let to_master = "-ERR PSYNC FAILOVER can't be sent to a master.";
    assert_eq!(world.ask_text("redis-1", &["PSYNC", &unknown, "1", "FAILOVER"]), to_master);
}

#[test]
fn a_target_that_refuses_ends_the_failover() {
    let mut world = deployment(2, |_| {});
    world.cut("redis-1", "redis-2");
    world.ask("redis-1", &["SET", "k", "v"]);
    world.ask("redis-1", &["FAILOVER", "TO", "redis-2", "6379", "FORCE", "TIMEOUT", "300"]);
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.run_for(1_000);
    world.heal();
    world.run_for(1_000);
    assert!(is(state(&mut world, "redis-1"), "master", "no-failover"));
    assert_eq!(world.ask_text("redis-1", &["SET", "k", "w"]), "OK");
}

#[test]
fn while_it_fails_over_nothing_expires_and_nobody_can_follow_or_be_followed() {
    let mut world = deployment(1, |_| {});
    world.cut("redis-1", "redis-2");
    world.ask("redis-1", &["SET", "k", "v", "PX", "100"]);
    world.ask("redis-1", &["FAILOVER"]);
    world.run_for(500);
    assert_eq!(world.ask_text("redis-1", &["DBSIZE"]), "1");
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "(nil)", "masked all the same");
    for (words, refusal) in [
        (&["FAILOVER"][..], "-ERR FAILOVER already in progress."),
        (&["REPLICAOF", "NO", "ONE"], "-ERR REPLICAOF not allowed while failing over."),
        (&["PSYNC", "?", "-1"], "-NOMASTERLINK Can't SYNC while failing over"),
    ] {
        assert_eq!(world.ask_text("redis-1", words), refusal, "{words:?}");
    }
    assert_eq!(world.ask_text("redis-1", &["FAILOVER", "ABORT"]), "OK");
    world.run_for(500);
    assert_eq!(world.ask_text("redis-1", &["DBSIZE"]), "0");
}

#[test]
fn failover_is_refused_in_redis_s_words() {
    let mut world = deployment(1, |_| {});
    for (words, refusal) in [
        (&["ABORT"][..], "-ERR No failover in progress."),
        (&["TO", "redis-2", "1"], "-ERR FAILOVER target HOST and PORT is not a replica."),
        (&["TO", "redis-2", "x"], "-ERR value is not an integer or out of range"),
        (&["TO", "redis-2"], "-ERR syntax error"),
        (&["TIMEOUT", "0"], "-ERR FAILOVER timeout must be greater than 0"),
        (&["TIMEOUT", "5", "TIMEOUT", "5"], "-ERR syntax error"),
        (
            &["TO", "redis-2", "6379", "FORCE"],
            "-ERR FAILOVER with force option requires both a timeout and target HOST and IP.",
        ),
    ] {
        assert_eq!(
            world.ask_text("redis-1", &[&["FAILOVER"], words].concat()),
            refusal,
            "{words:?}"
        );
    }
    let on_replica = world.ask_text("redis-2", &["FAILOVER"]);
    assert_eq!(on_replica, "-ERR FAILOVER is not valid when server is a replica.");
    let alone = deployment(0, |_| {}).ask_text("redis-1", &["FAILOVER"]);
    assert_eq!(alone, "-ERR FAILOVER requires connected replicas.");
}
