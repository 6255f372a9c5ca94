use super::world::{World, query};

const BEGIN: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";

fn last_of(steps: &[(usize, &str)]) -> String {
    let mut world = World::new();
    let ids = [world.session(), world.session(), world.session()];
    world.ask(ids[0], "INSERT INTO t VALUES (2, 2); CREATE TABLE u (a int PRIMARY KEY, b int)");
    let (last, before) = steps.split_last().unwrap();
    for (who, sql) in before {
        let said = world.ask(ids[*who], sql);
        assert!(!said.contains("ERROR"), "{who}: {sql}: {said}");
    }
    world.send(ids[last.0], &query(last.1));
    let said = String::from_utf8_lossy(&world.take(ids[last.0])).into_owned();
    match (said.find("40001"), said.find("Reason code: ")) {
        (Some(_), Some(at)) => {
            let detail = &said[at..];
            assert!(said.contains(
                "could not serialize access due to read/write dependencies among transactions"
            ));
            assert!(said.contains("The transaction might succeed if retried."));
            format!("40001 {}", detail.split('\0').next().unwrap())
        }
        _ => said.split('\0').rfind(|part| part.contains("COMMIT")).unwrap_or(&said).to_owned(),
    }
}

#[test]
fn rejects_a_write_skew() {
    let said = last_of(&[
        (0, BEGIN),
        (1, BEGIN),
        (0, "SELECT count(*) FROM t WHERE v > 0"),
        (1, "SELECT count(*) FROM t WHERE v > 0"),
        (0, "UPDATE t SET v = 0 WHERE k = 1"),
        (1, "UPDATE t SET v = 0 WHERE k = 2"),
        (0, "COMMIT"),
        (1, "COMMIT"),
    ]);
    let reason = "Canceled on identification as a pivot, during commit attempt.";
    assert_eq!(said, format!("40001 Reason code: {reason}"));
}

#[test]
fn rejects_a_receipt_of_a_batch_that_was_reported() {
    let said = last_of(&[
        (0, BEGIN),
        (0, "SELECT v FROM t WHERE k = 1"),
        (1, BEGIN),
        (1, "UPDATE t SET v = v + 1 WHERE k = 1"),
        (1, "COMMIT"),
        (2, BEGIN),
        (2, "SELECT v FROM t WHERE k = 1"),
        (2, "SELECT * FROM u WHERE b = 1"),
        (2, "COMMIT"),
        (0, "INSERT INTO u VALUES (1, 1)"),
    ]);
    let reason = "Canceled on identification as a pivot, during write.";
    assert_eq!(said, format!("40001 Reason code: {reason}"));
}

#[test]
fn accepts_a_receipt_if_the_report_came_before_the_end_of_the_batch() {
    let said = last_of(&[
        (2, BEGIN),
        (2, "SELECT v FROM t WHERE k = 1"),
        (0, BEGIN),
        (0, "SELECT v FROM t WHERE k = 1"),
        (1, BEGIN),
        (1, "UPDATE t SET v = v + 1 WHERE k = 1"),
        (1, "COMMIT"),
        (2, "SELECT * FROM u WHERE b = 1"),
        (2, "COMMIT"),
        (0, "INSERT INTO u VALUES (1, 1)"),
        (0, "COMMIT"),
    ]);
    assert!(said.contains("COMMIT"), "{said}");
}

#[test]
fn accepts_a_pivot_whose_last_writer_does_not_commit_first() {
    let said = last_of(&[
        (0, BEGIN),
        (1, BEGIN),
        (2, BEGIN),
        (0, "SELECT v FROM t WHERE k = 1"),
        (0, "INSERT INTO u VALUES (7, 7)"),
        (1, "SELECT v FROM t WHERE k = 2"),
        (1, "UPDATE t SET v = 5 WHERE k = 1"),
        (0, "COMMIT"),
        (2, "UPDATE t SET v = 6 WHERE k = 2"),
        (1, "COMMIT"),
        (2, "COMMIT"),
    ]);
    assert!(said.contains("COMMIT"), "{said}");
}

#[test]
fn rejects_a_read_of_a_pivot_that_is_committed() {
    let said = last_of(&[
        (0, BEGIN),
        (1, BEGIN),
        (2, BEGIN),
        (0, "SELECT v FROM t WHERE k = 2"),
        (1, "SELECT a FROM u WHERE a = 1"),
        (2, "INSERT INTO u VALUES (1, 1)"),
        (2, "COMMIT"),
        (1, "UPDATE t SET v = 5 WHERE k = 1"),
        (1, "COMMIT"),
        (0, "SELECT v FROM t WHERE k = 1"),
    ]);
    assert!(said.starts_with("40001 Reason code: Canceled on conflict out to pivot "), "{said}");
    assert!(said.ends_with(", during read."), "{said}");
}

#[test]
fn rejects_a_second_insert_of_a_key_that_both_had_looked_for() {
    let steps = |looks: bool| {
        let look = |who| looks.then_some((who, "SELECT b FROM u WHERE a = 1"));
        let mut steps = vec![(0, BEGIN), (1, BEGIN)];
        steps.extend(look(0).into_iter().chain(look(1)));
        steps.extend([(0, "INSERT INTO u VALUES (1, 1)"), (0, "COMMIT")]);
        steps.push((1, "INSERT INTO u VALUES (1, 2)"));
        steps
    };
    let reason = "Canceled on identification as a pivot, during write.";
    assert_eq!(last_of(&steps(true)), format!("40001 Reason code: {reason}"));
    assert!(last_of(&steps(false)).contains("23505"), "nobody has looked");
}

/// The errors are those of PostgreSQL 15.20. In 15.18 both cases report a concurrent update.
#[test]
fn rejects_doing_nothing_because_of_a_row_of_a_pivot() {
    let steps = |looks: bool| {
        let look = looks.then_some((0, "SELECT b FROM u WHERE a = 2"));
        let mut steps = vec![(0, BEGIN), (1, BEGIN)];
        steps.extend([(0, "INSERT INTO u VALUES (3, 3)"), (1, "INSERT INTO u VALUES (2, 2)")]);
        steps.extend(look);
        steps.push((0, "COMMIT"));
        steps.push((1, "INSERT INTO u VALUES (3, 3) ON CONFLICT DO NOTHING"));
        steps
    };
    let said = last_of(&steps(true));
    assert!(said.starts_with("40001 Reason code: Canceled on conflict out to pivot "), "{said}");
    let said = last_of(&steps(false));
    assert!(said.contains("due to concurrent update"), "{said}");
}

#[test]
fn accepts_a_write_skew_with_a_transaction_that_is_not_serializable() {
    for other in ["BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN"] {
        let said = last_of(&[
            (0, BEGIN),
            (1, other),
            (0, "SELECT count(*) FROM t WHERE v > 0"),
            (1, "SELECT count(*) FROM t WHERE v > 0"),
            (0, "UPDATE t SET v = 0 WHERE k = 1"),
            (1, "UPDATE t SET v = 0 WHERE k = 2"),
            (1, "COMMIT"),
            (0, "COMMIT"),
        ]);
        assert!(said.contains("COMMIT"), "{said}");
    }
}

#[test]
fn a_commit_that_waits_for_the_disk_can_no_longer_be_cancelled() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    world.ask(first, "INSERT INTO t VALUES (2, 2)");
    for id in [first, second] {
        world.ask(id, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM t");
    }
    world.ask(first, "UPDATE t SET v = 0 WHERE k = 1");
    world.syncs_at_once = false;
    assert_eq!(world.ask(first, "COMMIT"), "", "it waits for the disk");
    let said = world.ask(second, "UPDATE t SET v = 0 WHERE k = 2");
    assert!(
        said.starts_with("ERROR 40001: could not serialize access due to read/write"),
        "{said}"
    );
    world.finish_sync();
    assert_eq!(world.take_words(first), "COMMIT");
}

#[test]
fn a_declared_reader_is_refused() {
    let mut world = World::new();
    let id = world.session();
    let said = world.ask(id, "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY; SELECT v FROM t");
    let refusal = "ERROR 0A000: SERIALIZABLE READ ONLY is not supported by this server";
    assert_eq!(said, format!("BEGIN | {refusal}"));
}

#[test]
fn nothing_is_remembered_once_all_have_ended() {
    let mut world = World::new();
    let (first, second) = (world.session(), world.session());
    for _ in 0..3 {
        for id in [first, second] {
            world.ask(id, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT v FROM t");
        }
        world.ask(first, "UPDATE t SET v = v + 1");
        world.ask(first, "COMMIT");
        assert!(!world.machine.core.serializable.is_empty(), "the second overlaps the first");
        world.ask(second, "COMMIT");
        assert!(world.machine.core.serializable.is_empty());
    }
}
