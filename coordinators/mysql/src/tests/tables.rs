use super::world::World;
use crate::Config;
use fencepost_machine::KeyChange;

const SECOND: u64 = 1_000_000;
const SCHEMA: &str = "CREATE DATABASE d; USE d;
    CREATE TABLE locks (name VARCHAR(20) NOT NULL PRIMARY KEY, n INT NOT NULL DEFAULT 0);
    INSERT INTO locks (name) VALUES ('lock')";
const FOR_UPDATE: &str = "SELECT name FROM locks WHERE name = 'lock' FOR UPDATE";
const TOO_LONG: &str = "ERROR 1205: Lock wait timeout exceeded; try restarting transaction";

fn world() -> World {
    let (schema, watch) = (SCHEMA.to_owned(), Some("lock".to_owned()));
    World::of(Config { schema, watch, ..Config::default() })
}

fn session(world: &mut World) -> u32 {
    let id = world.session();
    assert_eq!(world.ask(id, "USE d"), "OK");
    id
}

#[test]
fn a_row_is_waited_for_until_the_wait_takes_too_long_and_the_transaction_goes_on() {
    let mut world = world();
    let (a, b) = (session(&mut world), session(&mut world));
    world.ask(a, "BEGIN");
    assert_eq!(world.ask(a, FOR_UPDATE), "(lock)");
    world.ask(b, "BEGIN");
    world.ask(b, "INSERT INTO locks (name) VALUES ('own')");
    assert_eq!(world.ask(b, FOR_UPDATE), "");
    world.pass(50 * SECOND - 1);
    assert_eq!(world.take_words(b), "");
    world.pass(1);
    assert_eq!(world.take_words(b), TOO_LONG);
    assert_eq!(world.ask(b, "COMMIT"), "OK");
    assert_eq!(world.ask(a, "SELECT COUNT(*) FROM locks"), "(2)", "the insertion was kept");
}

#[test]
fn a_row_is_free_when_the_connection_ends_or_is_killed() {
    let mut world = world();
    let ids = [session(&mut world), session(&mut world), session(&mut world)];
    let [a, b, c] = ids;
    for id in ids {
        world.ask(id, "BEGIN");
    }
    assert_eq!(world.ask(a, FOR_UPDATE), "(lock)");
    assert_eq!(world.ask(b, FOR_UPDATE), "");
    world.hang_up(a);
    assert_eq!(world.take_words(b), "(lock)");
    assert_eq!(world.ask(c, FOR_UPDATE), "");
    let d = session(&mut world);
    assert_eq!(world.ask(d, "KILL 4"), "OK");
    assert_eq!(world.take_words(c), "(lock)");
    let changes: Vec<KeyChange> = world.taps.iter().map(|tap| tap.change).collect();
    let (granted, removed) = (KeyChange::Granted, KeyChange::Removed);
    assert_eq!(changes, [granted, removed, granted, removed, granted]);
}

#[test]
fn whoever_waits_for_a_row_and_has_gone_gets_it_and_gives_it_back() {
    let mut world = world();
    let (a, b, c) = (session(&mut world), session(&mut world), session(&mut world));
    world.ask(a, "BEGIN");
    world.ask(a, FOR_UPDATE);
    world.ask(b, "BEGIN");
    world.ask(b, FOR_UPDATE);
    world.hang_up(b);
    world.pass(10 * SECOND);
    world.ask(c, "BEGIN");
    assert_eq!(world.ask(c, FOR_UPDATE), "", "nobody looks whether b is still there");
    world.ask(a, "COMMIT");
    assert_eq!(world.take_words(c), "(lock)", "b got it, and the server read that it was gone");
}

#[test]
fn two_who_lock_the_gap_of_a_missing_row_cannot_both_insert_it() {
    let mut world = world();
    let (a, b) = (session(&mut world), session(&mut world));
    for id in [a, b] {
        world.ask(id, "BEGIN");
        assert_eq!(world.ask(id, "SELECT n FROM locks WHERE name = 'new' FOR UPDATE"), "");
    }
    let insert = "INSERT INTO locks (name) VALUES ('new')";
    assert_eq!(world.ask(a, insert), "");
    let deadlock = "ERROR 1213: Deadlock found when trying to get lock; try restarting transaction";
    assert_eq!(world.ask(b, insert), deadlock);
    assert_eq!(world.take_words(a), "OK");
}

#[test]
fn a_server_that_starts_again_has_what_was_committed() {
    let mut world = world();
    let (a, b) = (session(&mut world), session(&mut world));
    world.ask(a, "UPDATE locks SET n = n + 1 WHERE name = 'lock'");
    world.ask(a, "INSERT INTO locks VALUES ('gone', 1), ('kept', 2)");
    world.ask(a, "DELETE FROM locks WHERE name = 'gone'");
    world.ask(b, "BEGIN");
    world.ask(b, "DELETE FROM locks");
    world.start_again(Config::default());
    let c = session(&mut world);
    assert_eq!(world.ask(c, "SELECT * FROM locks"), "(kept, 2) | (lock, 1)");
    assert_eq!(world.ask(c, "DROP TABLE locks"), "OK");
    world.start_again(Config::default());
    let d = session(&mut world);
    assert_eq!(world.ask(d, "SELECT * FROM locks"), "ERROR 1146: Table 'd.locks' doesn't exist");
}

#[test]
fn a_commit_is_answered_when_the_disk_has_it_and_its_locks_are_free_before() {
    let mut world = world();
    let (a, b) = (session(&mut world), session(&mut world));
    world.ask(a, "BEGIN");
    world.ask(a, "UPDATE locks SET n = 7 WHERE name = 'lock'");
    assert_eq!(world.ask(b, FOR_UPDATE), "");
    world.syncs_at_once = false;
    assert_eq!(world.ask(a, "COMMIT"), "");
    assert_eq!(world.take_words(b), "(lock)");
    world.syncs_at_once = true;
    world.pass(1);
    world.send(b, &[]);
    assert_eq!(world.take_words(a), "OK");
}

#[test]
fn a_primary_key_can_have_a_name() {
    let mut world = world();
    let id = session(&mut world);
    let create = "CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT \
                  NULL, CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION)) ENGINE=InnoDB";
    assert_eq!(world.ask(id, create), "OK");
    assert_eq!(world.ask(id, "INSERT INTO INT_LOCK VALUES ('a', 'b')"), "OK");
    let said = world.ask(id, "INSERT INTO INT_LOCK VALUES ('a', 'b')");
    assert_eq!(said, "ERROR 1062: Duplicate entry 'a-b' for key 'PRIMARY'");
}
