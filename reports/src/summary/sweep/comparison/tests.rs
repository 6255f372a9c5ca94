use super::*;
use crate::samples;

fn compared(a: &Sweep, b: &Sweep) -> Comparison {
    Comparison::of(("old", a), ("new", b), samples::tool()).unwrap()
}

fn only_of(client: &str, from: u64, to: u64) -> Sweep {
    let mut sweep = samples::sweep(from, to);
    sweep.cells.retain(|cell| cell.client == client);
    sweep
}

#[test]
fn a_sweep_does_not_differ_from_itself() {
    let sweep = samples::sweep(0, 60);
    let comparison = compared(&sweep, &sweep);
    assert_eq!(comparison.pairs.len(), 3);
    for pair in &comparison.pairs {
        assert_eq!((pair.p, pair.only_a.len(), pair.only_b.len()), (1.0, 0, 0), "{pair:?}");
    }
    assert!(comparison.settings.is_empty() && comparison.only_a.is_empty());
}

#[test]
fn two_locks_are_paired_by_their_faults() {
    let comparison = compared(&only_of("single-node", 0, 90), &only_of("redlock", 0, 90));
    let pair = &comparison.pairs[0];
    assert_eq!((pair.a.violated, pair.b.violated, pair.a.exercised), (30, 0, 90));
    assert_eq!(pair.difference, Difference::Less);
    assert!(!pair.only_a.is_empty() && pair.only_b.is_empty());
    let turned = compared(&only_of("redlock", 0, 90), &only_of("single-node", 0, 90));
    assert_eq!(turned.pairs[0].difference, Difference::More);
}

#[test]
fn what_chance_explains_is_no_difference() {
    let comparison = compared(&only_of("single-node", 0, 3), &only_of("redlock", 0, 3));
    assert_eq!(comparison.pairs[0].difference, Difference::NotSignificant);
    assert_eq!(comparison.pairs[0].p, 1.0);
}

#[test]
fn what_was_not_exercised_is_not_compared() {
    let comparison = compared(&only_of("fencing", 0, 90), &only_of("single-node", 0, 90));
    assert_eq!(comparison.pairs[0].difference, Difference::NotExercised);
}

#[test]
fn the_bound_of_a_cell_gets_stricter_with_their_number() {
    let one = compared(&only_of("redlock", 0, 9), &only_of("redlock", 0, 9));
    let three = compared(&samples::sweep(0, 9), &samples::sweep(0, 9));
    assert_eq!((one.p_max, three.p_max), (LEVEL, LEVEL / 3.0));
}

#[test]
fn settings_and_cells_of_one_side_are_told() {
    let old = samples::sweep(0, 9);
    let mut new = old.clone();
    new.config = serde_json::json!({ "scenario": { "ttl": "40s", "keeps": ["ttl"] } });
    new.cells.truncate(2);
    let comparison = compared(&old, &new);
    assert_eq!(comparison.only_a, ["fencing x pause"]);
    let [setting] = &comparison.settings[..] else { panic!("{:?}", comparison.settings) };
    assert_eq!((setting.key.as_str(), &setting.a), ("ttl", &Value::Null));
}

#[test]
fn nothing_in_common_is_an_error_that_names_both() {
    let mut other = only_of("redlock", 0, 9);
    other.cells[0].fault = "failover".to_owned();
    let error = Comparison::of(("old", &samples::sweep(0, 9)), ("new", &other), samples::tool())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "'old' and 'new' have no combination of lock and fault in common: old has single-node x \
         pause, redlock x pause, fencing x pause, new has redlock x failover"
    );
}
