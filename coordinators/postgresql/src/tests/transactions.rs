use super::world::{World, query};
use fencepost_machine::SyncError;

#[test]
fn an_update_waits_for_the_row_and_looks_at_it_anew() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.ask(first, "BEGIN; UPDATE t SET v = 2 WHERE k = 1");
    assert_eq!(world.ask(second, "UPDATE t SET v = v + 10 WHERE v = 1"), "", "it waits");
    world.ask(first, "COMMIT");
    assert_eq!(world.take_words(second), "UPDATE 0", "the latest version is another");
    assert_eq!(world.ask(second, "SELECT v FROM t"), "(2) | SELECT 1");
}

#[test]
fn repeatable_read_refuses_what_another_has_changed() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.ask(second, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t");
    world.ask(first, "UPDATE t SET v = 2");
    let said = world.ask(second, "UPDATE t SET v = 3");
    assert!(said.starts_with("ERROR 40001: could not serialize access"), "{said}");
    assert!(world.ask(second, "SELECT 1").starts_with("ERROR 25P02"), "the block has failed");
}

#[test]
fn a_key_share_lock_survives_updates_of_other_columns() {
    let (lock, update) = ("BEGIN; SELECT v FROM t FOR KEY SHARE", "UPDATE t SET v = v + 1");
    for (before, after) in [("SELECT 1", update), (update, "SELECT 1"), (update, update)] {
        let mut world = World::new();
        let (locker, writer, other) = (world.session(), world.session(), world.session());
        world.ask(writer, &format!("BEGIN; {before}"));
        assert_eq!(world.ask(locker, lock), "BEGIN | (1) | SELECT 1");
        world.ask(writer, &format!("{after}; COMMIT"));
        let said = world.ask(other, "SELECT v FROM t FOR UPDATE NOWAIT");
        assert!(said.starts_with("ERROR 55P03"), "{before}, {after}: {said}");
        assert_eq!(world.ask(writer, "UPDATE t SET k = 5"), "", "it waits");
        world.ask(locker, "COMMIT");
        assert_eq!(world.take_words(writer), "UPDATE 1");
        assert_eq!(world.ask(other, "DELETE FROM t"), "DELETE 1");
    }
}

#[test]
fn a_key_share_lock_waits_for_a_second_update_that_changes_the_key() {
    let mut world = World::new();
    let (writer, locker) = (world.session(), world.session());
    world.ask(writer, "BEGIN; UPDATE t SET v = 2; UPDATE t SET k = 9");
    assert_eq!(world.ask(locker, "SELECT v FROM t FOR KEY SHARE"), "", "it waits");
    world.ask(writer, "ROLLBACK");
    assert_eq!(world.take_words(locker), "(1) | SELECT 1");
}

#[test]
fn a_try_does_not_pass_a_session_that_waits_for_the_lock() {
    let check = |held: &str, tried: &str, expected: &str| {
        let mut world = World::new();
        let (holder, waiter) = (world.session(), world.session());
        world.ask(holder, &format!("SELECT {held}(7)"));
        assert_eq!(world.ask(waiter, "SELECT pg_advisory_lock(7)"), "", "it waits");
        let said = world.ask(holder, &format!("SELECT {tried}(7)"));
        assert_eq!(said, format!("({expected}) | SELECT 1"), "{held}, then {tried}");
    };
    check("pg_advisory_lock", "pg_try_advisory_lock_shared", "f");
    check("pg_advisory_lock", "pg_try_advisory_xact_lock_shared", "f");
    check("pg_advisory_lock_shared", "pg_try_advisory_lock", "f");
    check("pg_advisory_lock_shared", "pg_try_advisory_lock_shared", "t");
    check("pg_advisory_lock", "pg_try_advisory_lock", "t");
    check("pg_advisory_lock", "pg_advisory_lock_shared", "");
}

#[test]
fn an_insert_waits_for_the_other_with_its_key() {
    for (end, expected) in [("COMMIT", "ERROR 23505"), ("ROLLBACK", "INSERT 0 1")] {
        let mut world = World::new();
        let (first, second) = (world.session(), world.session());
        world.ask(first, "BEGIN; INSERT INTO t VALUES (2, 2)");
        assert_eq!(world.ask(second, "INSERT INTO t VALUES (2, 3)"), "");
        world.ask(first, end);
        assert!(world.take_words(second).starts_with(expected), "after {end}");
    }
}

#[test]
fn who_waits_for_a_row_gets_it_in_order() {
    let mut world = World::new();
    let sessions: Vec<u32> = (0..4).map(|_| world.session()).collect();
    for id in &sessions {
        world.ask(*id, "BEGIN");
        world.send(*id, &query("SELECT v FROM t FOR UPDATE"));
    }
    for (index, id) in sessions.iter().enumerate() {
        assert_eq!(world.take_words(*id), "(1) | SELECT 1", "the turn of {index}");
        for later in &sessions[index + 1..] {
            assert_eq!(world.take_words(*later), "", "not yet");
        }
        world.ask(*id, "COMMIT");
    }
}

#[test]
fn a_connection_that_ends_takes_its_transaction_and_its_locks_with_it() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.ask(first, "SELECT pg_advisory_lock(7)");
    world.ask(first, "BEGIN; UPDATE t SET v = 9");
    assert_eq!(world.ask(second, "SELECT pg_advisory_lock(7), v FROM t FOR UPDATE"), "");
    world.hang_up(first);
    assert_eq!(world.take_words(second), "(, 1) | SELECT 1");
}

#[test]
fn who_is_gone_while_waiting_still_gets_what_it_waited_for() {
    let mut world = World::new();
    let (first, second, third) = (world.session(), world.session(), world.session());
    world.ask(first, "BEGIN; UPDATE t SET v = 2");
    assert_eq!(world.ask(second, "UPDATE t SET v = v + 10"), "");
    world.hang_up(second);
    world.ask(first, "COMMIT");
    assert_eq!(world.ask(third, "SELECT v FROM t"), "(12) | SELECT 1", "nobody noticed the end");
}

#[test]
fn a_restart_keeps_what_was_committed_and_nothing_else() {
    let mut world = World::new();
    let id = world.session();
    world.ask(id, "CREATE TABLE u (k int PRIMARY KEY, n varchar(9) DEFAULT 'n', c timestamp)");
    world.ask(id, "INSERT INTO u (k, c) VALUES (1, '2024-02-29 01:02:03.5'), (2, NULL)");
    world.ask(id, "DELETE FROM t");
    world.ask(id, "BEGIN; INSERT INTO t VALUES (5, 5)");
    world.restart();
    let id = world.session();
    assert_eq!(
        world.ask(id, "SELECT * FROM u ORDER BY k"),
        "(1, n, 2024-02-29 01:02:03.5) | (2, n, NULL) | SELECT 2"
    );
    assert_eq!(world.ask(id, "SELECT count(*) FROM t"), "(0) | SELECT 1");
    assert!(world.ask(id, "INSERT INTO u VALUES (1)").starts_with("ERROR 23505"));
}

#[test]
fn a_commit_is_answered_and_seen_once_the_disk_has_it() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.syncs_at_once = false;
    assert_eq!(world.ask(first, "UPDATE t SET v = 2"), "");
    assert_eq!(world.ask(second, "SELECT v FROM t"), "(1) | SELECT 1");
    let mut lost = World::new();
    lost.disk = world.disk.clone();
    lost.disk.power_loss();
    lost.restart();
    let id = lost.session();
    assert_eq!(lost.ask(id, "SELECT v FROM t"), "(1) | SELECT 1", "the power fails before");
    world.finish_sync();
    assert_eq!(world.take_words(first), "UPDATE 1");
    assert_eq!(world.ask(second, "SELECT v FROM t"), "(2) | SELECT 1");
    world.disk.power_loss();
    world.restart();
    let id = world.session();
    assert_eq!(world.ask(id, "SELECT v FROM t"), "(2) | SELECT 1", "the power fails after");
}

#[test]
fn a_commit_that_cannot_be_synced_ends_the_server_and_recovery_finds_it() {
    let mut world = World::new();
    let id = world.session();
    world.fail_syncs(Some(SyncError::Io));
    assert_eq!(world.ask(id, "UPDATE t SET v = 2"), "", "it is not acknowledged");
    assert!(world.has_stopped);
    world.fail_syncs(None);
    world.restart();
    let id = world.session();
    assert_eq!(world.ask(id, "SELECT v FROM t"), "(2) | SELECT 1", "the page cache has it");
}
