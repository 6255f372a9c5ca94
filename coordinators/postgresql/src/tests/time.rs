use super::world::{World, message};

const SECOND: u64 = 1_000_000;

fn waiting(setting: &str) -> (World, u32, u32) {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.ask(first, "BEGIN; UPDATE t SET v = 2");
    world.ask(second, setting);
    assert_eq!(world.ask(second, "UPDATE t SET v = 3"), "");
    (world, first, second)
}

#[test]
fn waits_end_by_their_timeouts_and_not_before() {
    let cases = [
        ("SET lock_timeout = '2s'", "ERROR 55P03: canceling statement due to lock timeout"),
        (
            "SET statement_timeout = '2s'",
            "ERROR 57014: canceling statement due to statement timeout",
        ),
    ];
    for (setting, expected) in cases {
        let (mut world, _, second) = waiting(setting);
        world.step_wall_clock(3_600 * SECOND as i64);
        world.pass(2 * SECOND - 1);
        assert_eq!(world.take_words(second), "", "the wall clock does not matter");
        world.pass(1);
        assert_eq!(world.take_words(second), expected);
        assert_eq!(world.ask(second, "SELECT v FROM t"), "(1) | SELECT 1", "the session goes on");
    }
}

#[test]
fn who_is_idle_in_a_transaction_is_thrown_out() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.ask(first, "SET idle_in_transaction_session_timeout = 5000");
    world.ask(first, "BEGIN; UPDATE t SET v = 2");
    assert_eq!(world.ask(second, "UPDATE t SET v = v + 10"), "");
    world.pass(5 * SECOND - 1);
    assert_eq!(world.take_words(second), "");
    world.pass(1);
    assert!(world.take_words(first).starts_with("FATAL 25P03"));
    assert_eq!(world.closed, [first]);
    assert_eq!(world.take_words(second), "UPDATE 1");
    assert_eq!(world.ask(second, "SELECT v FROM t"), "(11) | SELECT 1");
}

#[test]
fn a_deadlock_is_found_after_its_timeout() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.ask(first, "INSERT INTO t VALUES (2, 2)");
    world.ask(first, "BEGIN; UPDATE t SET v = 0 WHERE k = 1");
    world.ask(second, "BEGIN; UPDATE t SET v = 0 WHERE k = 2");
    assert_eq!(world.ask(first, "UPDATE t SET v = 0 WHERE k = 2"), "");
    world.pass(SECOND / 2);
    assert_eq!(world.ask(second, "UPDATE t SET v = 0 WHERE k = 1"), "");
    world.pass(SECOND / 2 - 1);
    assert_eq!(world.take_words(first), "");
    world.pass(1);
    assert_eq!(
        world.take_words(first),
        "ERROR 40P01: deadlock detected",
        "it has waited for a second"
    );
    assert_eq!(world.take_words(second), "UPDATE 1");
}

#[test]
fn now_is_the_wall_clock_at_the_start_of_the_transaction() {
    let mut world = World::new();
    let id = world.session();
    assert_eq!(
        world.ask(id, "BEGIN; SELECT now()::text"),
        "BEGIN | (2023-11-14 22:13:20+00) | SELECT 1"
    );
    world.step_wall_clock(SECOND as i64);
    assert_eq!(world.ask(id, "SELECT now()::text"), "(2023-11-14 22:13:20+00) | SELECT 1");
    assert_eq!(
        world.ask(id, "SELECT clock_timestamp()::text"),
        "(2023-11-14 22:13:21+00) | SELECT 1"
    );
    assert_eq!(world.ask(id, "SELECT clock_timestamp() - now() AS s"), "(00:00:01) | SELECT 1");
}

#[test]
fn a_statement_is_cancelled_by_who_knows_the_secret() {
    let (mut world, first, second) = waiting("SELECT 1");
    let welcomed = world.connect();
    world.send(welcomed, &super::world::startup());
    let bytes = world.take(welcomed);
    let at = bytes.windows(5).position(|window| window == b"K\0\0\0\x0c").unwrap();
    let (key, secret) = (&bytes[at + 5..at + 9], &bytes[at + 9..at + 13]);
    let cancel = |key: &[u8], secret: &[u8]| {
        let body = [&80_877_102_u32.to_be_bytes()[..], key, secret].concat();
        message(0, &body)[1..].to_vec()
    };
    world.send(welcomed, &super::world::query("UPDATE t SET v = 4"));
    let stranger = world.connect();
    world.send(stranger, &cancel(key, &[0; 4]));
    assert_eq!(world.take_words(welcomed), "", "a wrong secret does nothing");
    let friend = world.connect();
    world.send(friend, &cancel(key, secret));
    assert_eq!(world.take_words(welcomed), "ERROR 57014: canceling statement due to user request");
    world.ask(first, "COMMIT");
    assert_eq!(world.take_words(second), "UPDATE 1");
}
