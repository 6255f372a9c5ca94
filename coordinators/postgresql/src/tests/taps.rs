use super::world::World;
use crate::{Config, HeldWhen, LockTable, Watch};
use fencepost_machine::KeyChange;

const TTL_US: i64 = 10_000_000;

fn world() -> World {
    let present = HeldWhen::Present { owner: "who", stamp: "since", ttl_us: TTL_US };
    let taken = HeldWhen::Taken { owner: "who", at: "at", until: "until", ttl_us: TTL_US };
    let table = |table, held| LockTable { table, key: "k", held };
    let tables =
        vec![table("held", present), table("taken", taken), table("r", HeldWhen::ForUpdate)];
    let watch = Some(Watch { prefix: "lock".to_owned(), tables, advisory: (7, "lock".to_owned()) });
    let schema = "CREATE TABLE held (k char(8) PRIMARY KEY, who char(8), since timestamp);
        CREATE TABLE taken (k text PRIMARY KEY, who text, at timestamp, until timestamp);
        CREATE TABLE r (k text PRIMARY KEY); INSERT INTO r VALUES ('lock'), ('another')";
    World::of(Config { schema: schema.to_owned(), watch, ..Config::default() })
}

fn one(change: KeyChange, owner: &str, by: Option<u32>) -> Vec<(KeyChange, String, Option<u32>)> {
    vec![(change, owner.to_owned(), by)]
}

#[test]
fn a_row_is_told_of_when_it_is_committed() {
    let mut world = world();
    let (a, b) = (world.session(), world.session());
    world.ask(a, "BEGIN; INSERT INTO held VALUES ('lock', 'a', '2023-11-14 22:13:20')");
    assert_eq!(world.tap_lines(), []);
    world.ask(a, "COMMIT");
    let lease = world.taps[0].expires_at_ms;
    assert_eq!(lease, Some(1_700_000_010_000), "the stamp and the ttl");
    assert_eq!(world.tap_lines(), one(KeyChange::Granted, "a", Some(a)));
    world.ask(a, "UPDATE held SET since = now()");
    assert_eq!(world.tap_lines(), one(KeyChange::Extended, "a", Some(a)));
    world.ask(b, "BEGIN; DELETE FROM held; INSERT INTO held VALUES ('lock', 'b', now()); COMMIT");
    assert_eq!(world.tap_lines(), one(KeyChange::Granted, "b", Some(b)));
    world.ask(a, "BEGIN; DELETE FROM held; ROLLBACK");
    world.ask(a, "INSERT INTO held VALUES ('another', 'a', now())");
    assert_eq!(world.tap_lines(), [], "nothing has become of the lock");
    world.ask(a, "DELETE FROM held");
    assert_eq!(world.tap_lines(), one(KeyChange::Removed, "b", Some(a)));
}

#[test]
fn another_connection_under_the_same_name_is_granted_the_row_anew() {
    let mut world = world();
    let (a, b) = (world.session(), world.session());
    world.ask(a, "INSERT INTO held VALUES ('lock', 'app', now())");
    world.ask(b, "UPDATE held SET since = now()");
    let granted = |by| (KeyChange::Granted, "app".to_owned(), Some(by));
    assert_eq!(world.tap_lines(), [granted(a), granted(b)]);
}

#[test]
fn a_row_that_stays_is_given_back_by_an_earlier_end() {
    let mut world = world();
    let a = world.session();
    world.ask(a, "INSERT INTO taken VALUES ('lock', 'a', '2023-11-15 10:00', '2023-11-15 10:10')");
    assert_eq!(world.tap_lines(), one(KeyChange::Granted, "a", Some(a)));
    world.ask(a, "UPDATE taken SET until = '2023-11-15 10:20'");
    assert_eq!(world.tap_lines(), one(KeyChange::Extended, "a", Some(a)));
    world.ask(a, "UPDATE taken SET until = '2023-11-15 10:01'");
    assert_eq!(world.tap_lines(), one(KeyChange::Removed, "a", Some(a)));
    world.ask(a, "UPDATE taken SET at = '2023-11-15 10:02', until = '2023-11-15 10:12'");
    assert_eq!(world.tap_lines(), one(KeyChange::Granted, "a", Some(a)));
}

#[test]
fn a_late_or_repeated_release_neither_extends_nor_grants() {
    let mut world = world();
    let a = world.session();
    world.ask(a, "INSERT INTO taken VALUES ('lock', 'a', '2023-11-14 10:00', '2023-11-14 10:10')");
    world.tap_lines();
    world.ask(a, "UPDATE taken SET until = now()");
    assert_eq!(world.tap_lines(), one(KeyChange::Removed, "a", Some(a)));
    world.ask(a, "UPDATE taken SET until = now() + interval '1 second'");
    assert_eq!(world.tap_lines(), [], "a release that arrives twice grants nothing");
    world.ask(a, "UPDATE taken SET at = now(), until = now() + interval '10 seconds'");
    assert_eq!(world.tap_lines(), one(KeyChange::Granted, "a", Some(a)));
    world.ask(a, "UPDATE taken SET until = now()");
    world.tap_lines();
    world.restart();
    let a = world.session();
    world.ask(a, "UPDATE taken SET until = now() + interval '1 second'");
    assert_eq!(world.tap_lines(), [], "nor after a restart");
}

#[test]
fn a_row_lock_is_had_until_its_transaction_ends_and_by_nobody_when_its_connection_does() {
    let mut world = world();
    let (a, b) = (world.session(), world.session());
    world.ask(a, "BEGIN; SELECT * FROM r WHERE k = 'lock' FOR UPDATE");
    assert_eq!(world.tap_lines(), one(KeyChange::Granted, "1002", Some(a)));
    world.ask(b, "BEGIN; SELECT * FROM r WHERE k = 'lock' FOR UPDATE");
    assert_eq!(world.tap_lines(), [], "it waits");
    world.ask(a, "COMMIT");
    let (removed, granted) = (KeyChange::Removed, KeyChange::Granted);
    let handed_over =
        [(removed, "1002".to_owned(), Some(a)), (granted, "1003".to_owned(), Some(b))];
    assert_eq!(world.tap_lines(), handed_over);
    world.hang_up(b);
    assert_eq!(world.tap_lines(), one(KeyChange::Removed, "1003", None));
}

#[test]
fn an_advisory_lock_goes_with_its_connection_or_with_the_server() {
    let mut world = world();
    let (a, b) = (world.session(), world.session());
    world.ask(a, "SELECT pg_try_advisory_lock(7)");
    assert_eq!(world.tap_lines(), one(KeyChange::Granted, "1002", Some(a)));
    world.ask(b, "SELECT pg_try_advisory_lock(7), pg_try_advisory_lock(8)");
    assert_eq!(world.tap_lines(), [], "one is refused, the other is another's");
    world.ask(a, "SELECT pg_advisory_unlock(7)");
    assert_eq!(world.tap_lines(), one(KeyChange::Removed, "1002", Some(a)));
    world.ask(a, "SELECT pg_advisory_lock(7)");
    world.hang_up(a);
    assert_eq!(world.tap_lines().pop(), one(KeyChange::Removed, "1002", None).pop());
    world.ask(b, "SELECT pg_advisory_lock(7); INSERT INTO held VALUES ('lock', 'b', now())");
    world.tap_lines();
    world.restart();
    assert_eq!(world.tap_lines(), one(KeyChange::Restored, "b", None), "only the row is there");
}
