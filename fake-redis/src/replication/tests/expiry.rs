use super::{changes, deployment};
use fencepost_machine::KeyChange;
use redis_protocol::resp2::types::BytesFrame;

#[test]
fn a_replica_with_a_fast_clock_masks_a_key_and_grants_it_anew_after_its_promotion() {
    let mut world = deployment(1, |_| {});
    world.step_clock("redis-2", 10_000);
    assert_eq!(world.ask_text("redis-1", &["SET", "lock", "holder", "NX", "PX", "8000"]), "OK");
    world.run_for(500);
    assert_eq!(world.ask("redis-2", &["GET", "lock"]), BytesFrame::Null, "masked");
    assert_eq!(world.ask_text("redis-1", &["GET", "lock"]), "holder", "7.5 s left");
    assert_eq!(changes(world.taps("redis-2"), "lock"), [KeyChange::Granted], "masked, not deleted");
    world.crash("redis-1");
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    assert_eq!(world.ask_text("redis-2", &["SET", "lock", "thief", "NX", "PX", "8000"]), "OK");
    assert_eq!(
        changes(world.taps("redis-2"), "lock"),
        [KeyChange::Granted, KeyChange::Expired, KeyChange::Granted]
    );
}

#[test]
fn a_replica_deletes_an_expired_key_only_when_its_primary_says_so() {
    let mut world = deployment(1, |_| {});
    world.step_clock("redis-2", -60_000);
    world.ask("redis-1", &["SET", "k", "v", "PX", "1000"]);
    world.run_for(900);
    assert_eq!(world.ask_text("redis-2", &["GET", "k"]), "v");
    world.run_for(500);
    assert_eq!(
        world.ask("redis-2", &["GET", "k"]),
        BytesFrame::Null,
        "by a DEL, though its own clock says 59 s"
    );
    assert_eq!(changes(world.taps("redis-1"), "k"), [KeyChange::Granted, KeyChange::Expired]);
    assert_eq!(changes(world.taps("redis-2"), "k"), [KeyChange::Granted, KeyChange::Removed]);
}

/// `dbRandomKey` (db.c) gives up after 100 tries and replies with the expired key.
#[test]
fn a_replica_may_reply_with_a_random_key_that_has_expired() {
    let mut world = deployment(1, |_| {});
    world.step_clock("redis-2", 10_000);
    world.ask("redis-1", &["SET", "k", "v", "PX", "8000"]);
    world.run_for(500);
    assert_eq!(world.ask("redis-2", &["GET", "k"]), BytesFrame::Null, "expired");
    assert_eq!(world.ask_text("redis-2", &["RANDOMKEY"]), "k");
}

#[test]
fn a_promoted_replica_deletes_what_has_expired_by_itself() {
    let mut world = deployment(1, |_| {});
    world.ask("redis-1", &["SET", "k", "v", "PX", "1000"]);
    world.run_for(10);
    world.crash("redis-1");
    world.ask("redis-2", &["REPLICAOF", "NO", "ONE"]);
    world.run_for(1_500);
    assert_eq!(changes(world.taps("redis-2"), "k"), [KeyChange::Granted, KeyChange::Expired]);
}

#[test]
fn a_full_resynchronisation_keeps_absolute_times_to_live() {
    let mut world = deployment(1, |_| {});
    world.ask("redis-1", &["SET", "k", "v", "PX", "5000"]);
    world.start_node("redis-3", super::replica());
    world.run_for(2_000);
    let expires = world
        .taps("redis-3")
        .iter()
        .find(|tap| tap.change == KeyChange::Restored)
        .unwrap()
        .expires_at_ms;
    let granted = world
        .taps("redis-1")
        .iter()
        .find(|tap| tap.change == KeyChange::Granted)
        .unwrap()
        .expires_at_ms;
    assert_eq!(expires, granted);
}
