use super::world::{World, query};
use crate::Config;

const SECOND: u64 = 1_000_000;

#[test]
fn a_wait_ends_when_its_time_is_over() {
    let mut world = World::new();
    let (a, b) = (world.session(), world.session());
    assert_eq!(world.ask(a, "SELECT GET_LOCK('x', 0)"), "(1)");
    assert_eq!(world.ask(b, "SELECT GET_LOCK('x', 2.5)"), "");
    world.pass(2 * SECOND);
    assert_eq!(world.take_words(b), "");
    world.pass(SECOND / 2);
    assert_eq!(world.take_words(b), "(0)");
}

#[test]
fn a_wait_goes_by_the_wall_clock() {
    let mut world = World::new();
    let (a, b) = (world.session(), world.session());
    world.ask(a, "SELECT GET_LOCK('x', 0)");
    assert_eq!(world.ask(b, "SELECT GET_LOCK('x', 10)"), "");
    world.step_wall_clock(-5 * SECOND as i64);
    world.pass(10 * SECOND);
    assert_eq!(world.take_words(b), "", "the clock says that five seconds are left");
    world.step_wall_clock(5 * SECOND as i64);
    world.pass(SECOND);
    assert_eq!(world.take_words(b), "(0)");
}

#[test]
fn whoever_waits_gets_the_lock_of_a_connection_that_ends_and_of_one_that_is_silent() {
    let mut world = World::new();
    let (a, b, c) = (world.session(), world.session(), world.session());
    world.ask(a, "SET wait_timeout = 5");
    world.ask(a, "SELECT GET_LOCK('x', 0)");
    world.ask(b, "SELECT GET_LOCK('x', 100)");
    world.ask(c, "SELECT GET_LOCK('x', 100)");
    world.pass(4 * SECOND);
    assert_eq!(world.take_words(b), "");
    world.pass(SECOND);
    assert_eq!((world.take_words(b), world.take_words(c)), ("(1)".to_owned(), String::new()));
    assert_eq!(world.closed, [a], "without a word");
    world.hang_up(b);
    assert_eq!(world.take_words(c), "(1)");
}

#[test]
fn nobody_is_silent_while_it_waits() {
    let mut world = World::new();
    let (a, b) = (world.session(), world.session());
    world.ask(b, "SET wait_timeout = 1");
    world.ask(a, "SELECT GET_LOCK('x', 0)");
    world.ask(b, "SELECT GET_LOCK('x', 3)");
    world.pass(3 * SECOND - 1);
    assert_eq!((world.take_words(b), world.closed.clone()), (String::new(), Vec::new()));
    world.pass(1);
    assert_eq!(world.take_words(b), "(0)");
    world.pass(SECOND);
    assert_eq!(world.closed, [b]);
}

#[test]
fn a_waiter_that_has_gone_is_noticed_when_it_looks_and_can_get_the_lock_before() {
    let mut world = World::new();
    let (a, b, c, d) = (world.session(), world.session(), world.session(), world.session());
    world.ask(a, "SELECT GET_LOCK('x', 0)");
    world.ask(b, "SELECT GET_LOCK('y', 0), GET_LOCK('x', 100)");
    assert_eq!(world.ask(c, "SELECT GET_LOCK('y', 100)"), "");
    world.pass(SECOND + SECOND / 4);
    world.hang_up(b);
    world.pass(SECOND / 2);
    assert_eq!(world.take_words(c), "", "it has not been noticed that b is gone");
    world.pass(SECOND / 4);
    assert_eq!(world.take_words(c), "(1)", "at the next full second of the wait");
    world.ask(d, "SELECT GET_LOCK('x', 100)");
    world.hang_up(d);
    world.ask(a, "SELECT RELEASE_LOCK('x')");
    assert_eq!(world.ask(a, "SELECT IS_FREE_LOCK('x')"), "(1)", "d got it and was gone");
}

#[test]
fn a_login_that_takes_too_long_is_over() {
    let mut world = World::new();
    let a = world.connect();
    world.pass(10 * SECOND - 1);
    assert!(world.closed.is_empty());
    world.pass(1);
    assert_eq!(world.closed, [a]);
}

#[test]
fn too_many_clients_are_refused() {
    let mut world = World::of(Config { clients_max: 1, ..Config::default() });
    let (a, _) = (world.session(), world.session());
    let c = world.connect();
    assert_eq!(world.take_words(c), "ERROR 1040: Too many connections");
    assert_eq!(world.closed, [c]);
    world.hang_up(a);
    let d = world.session();
    assert_eq!(world.ask(d, "SELECT 1"), "(1)");
}

#[test]
fn a_statement_is_killed_alone_or_with_its_session() {
    let mut world = World::new();
    let (a, b, c) = (world.session(), world.session(), world.session());
    world.ask(a, "SELECT GET_LOCK('x', 0)");
    world.ask(b, "SELECT GET_LOCK('x', 100), GET_LOCK('x', 100)");
    assert_eq!(world.ask(c, "KILL QUERY 4"), "OK");
    assert_eq!(world.take_words(b), "(NULL, NULL)");
    world.ask(b, "SELECT GET_LOCK('x', 100)");
    assert_eq!(world.ask(c, "KILL 3"), "OK");
    assert_eq!(world.take_words(b), "(1)", "the session of a is over");
    assert_eq!(world.closed, [a]);
    assert_eq!(world.ask(c, "KILL 5"), "ERROR 1927: Connection was killed");
    assert_eq!(world.closed, [a, c]);
}

#[test]
fn several_statements_are_answered_one_by_one_and_stop_at_an_error() {
    let mut world = World::new();
    let (a, b) = (world.session(), world.session());
    world.send(a, &super::world::packet(0, b"\x1b\0\0"));
    world.take_words(a);
    world.ask(b, "SELECT GET_LOCK('x', 0)");
    assert_eq!(world.ask(a, "DO 1; SELECT GET_LOCK('x', 9), 2; SELECT nothing; DO 1"), "");
    world.send(a, &query("SELECT 3"));
    world.ask(b, "DO RELEASE_LOCK('x')");
    let error = "ERROR 1054: Unknown column 'nothing' in 'SELECT'";
    assert_eq!(world.take_words(a), format!("OK | (1, 2) | {error} | (3)"));
}
