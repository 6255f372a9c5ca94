use crate::fate::{Fate, HEAD, Kill, Outcome, read};
use crate::operators::operators;
use crate::page::{Score, page};
use crate::study::{Bench, FIRST, chance, unlike};
use fencepost::clients::find;

fn outcome(lock: &str, operator: &str) -> Option<Outcome> {
    let operator = operators().find(|one| one.name == operator).expect("an operator");
    Bench::new(find(lock).expect("a lock")).one(operator, FIRST)
}

#[test]
fn mistakes_that_one_run_shows_are_found() {
    for (lock, operator) in [
        ("single-node", "nx-dropped"),
        ("single-node", "grant-read-as-refusal"),
        ("single-node", "script-get-sees-nothing"),
        ("single-node", "release-unsent"),
        ("single-node", "forgets"),
        ("fencing", "ttl-tenth"),
        ("fencing", "token-constant"),
        ("fencing", "release-of-wrong-owner"),
        ("redlock", "refusal-read-as-grant"),
        ("redlock", "take-unsent"),
        ("curator-mutex", "sequence-dropped"),
        ("curator-mutex", "own-node-first"),
        ("curator-mutex", "delete-of-wrong-node"),
        ("memcached-cas", "add-is-set"),
    ] {
        let fate = outcome(lock, operator).map(|one| one.fate);
        assert!(matches!(fate, Some(Fate::Killed(_))), "{lock} {operator}: {fate:?}");
    }
}

#[test]
fn an_operator_that_changes_nothing_makes_no_mutant_and_a_harmless_one_is_not_killed() {
    assert_eq!(outcome("single-node", "queue-jumped"), None);
    let fate = outcome("single-node", "switch-unheard").map(|one| one.fate);
    assert!(matches!(fate, Some(Fate::Masked(_) | Fate::Survived(_))), "{fate:?}");
}

#[test]
fn a_line_is_read_as_it_was_written_and_another_is_refused() {
    let kill = Kill {
        fault: "pause".to_owned(),
        scenario: String::new(),
        strategy: "aimed".to_owned(),
        seed: 1,
        rule: "overlap".to_owned(),
    };
    let fates = [
        Fate::Killed(kill.clone()),
        Fate::Equivalent,
        Fate::Survived(7),
        Fate::Masked(3),
        Fate::Found(kill),
        Fate::Quiet { differed: 2, within: "orders+restart".to_owned() },
    ];
    let outcomes: Vec<Outcome> = fates
        .into_iter()
        .map(|fate| Outcome {
            lock: "redlock".to_owned(),
            operator: "nx-dropped".to_owned(),
            fate,
            runs: 3,
            cpu_us: 9,
        })
        .collect();
    let lines: String = outcomes.iter().map(Outcome::line).collect();
    assert_eq!(read(&format!("{HEAD}{lines}")), Ok(outcomes.clone()));
    assert!(read(&format!("{HEAD}redlock\tnx-dropped\tlost\n")).is_err());
    let score = Score::of(&outcomes);
    assert_eq!((score.mutants, score.killed, score.equivalent, score.open), (6, 1, 1, 1));
    assert_eq!((score.masked, score.found, score.quiet), (1, 1, 1));
    assert_eq!(score.per_mille(), 250);
}

#[test]
fn more_conditions_add_to_what_was_tried_and_only_a_kill_takes_the_place_of_what_was_explored() {
    let of = |fate: &Fate| Outcome {
        lock: "redlock".to_owned(),
        operator: "nx-dropped".to_owned(),
        fate: fate.clone(),
        runs: 3,
        cpu_us: 9,
    };
    let killed = Fate::Killed(Kill {
        fault: "pause".to_owned(),
        scenario: String::new(),
        strategy: "aimed".to_owned(),
        seed: 1,
        rule: "overlap".to_owned(),
    });
    let quiet = Fate::Quiet { differed: 2, within: "orders".to_owned() };
    let (survived, masked) = (Fate::Survived(7), Fate::Masked(4));
    for (old, new, also, again) in [
        (&survived, &killed, &killed, &killed),
        (&quiet, &killed, &killed, &killed),
        (&quiet, &survived, &quiet, &quiet),
        (&Fate::Equivalent, &survived, &survived, &survived),
        (&survived, &survived, &Fate::Survived(14), &survived),
        (&survived, &masked, &Fate::Masked(11), &masked),
        (&masked, &survived, &Fate::Masked(11), &survived),
        (&masked, &Fate::Equivalent, &masked, &Fate::Equivalent),
    ] {
        let more = of(old).and_also(&of(new));
        assert_eq!((&more.fate, more.runs, more.cpu_us), (also, 6, 18), "{old:?} {new:?}");
        assert_eq!(&of(old).again(&of(new)).fate, again, "{old:?} {new:?}");
    }
}

#[test]
fn what_is_more_often_by_chance_is_told_from_what_is_not() {
    // Of the 70 ways to choose 4 of 8, one has all 4 on one side, and 17 have at least 3 there.
    assert!((chance([4, 4], [0, 4]) - 1.0 / 70.0).abs() < 1e-12);
    assert!((chance([3, 4], [1, 4]) - 17.0 / 70.0).abs() < 1e-12);
    assert!((chance([0, 16], [0, 48]) - 1.0).abs() < 1e-12);
    assert!(chance([16, 16], [12, 48]) < 1e-6);
    assert!(chance([8, 16], [12, 48]) > 1e-2);
}

const PUBLISHED: &str = include_str!("../../../docs/data/mutants.tsv");

#[test]
fn the_published_score_is_that_of_the_published_mutants_and_no_lower_than_stated() {
    let outcomes = read(PUBLISHED).expect("docs/data/mutants.tsv");
    assert_eq!(page(&outcomes), include_str!("../../../docs/mutants.md"));
    let score = Score::of(&outcomes);
    assert!(score.mutants >= 1_000, "{score:?}");
    assert!(score.per_mille() >= 999, "{score:?}");
}

#[test]
fn a_sample_of_the_published_kills_kills_again() {
    let outcomes = read(PUBLISHED).expect("docs/data/mutants.tsv");
    let killed = outcomes.iter().filter(|outcome| matches!(outcome.fate, Fate::Killed(_)));
    let sample: Vec<Outcome> = killed.skip(7).step_by(23).cloned().collect();
    assert!(sample.len() > 50);
    assert_eq!(unlike(&sample), Vec::<String>::new());
}

#[test]
fn a_kill_that_is_none_is_noticed() {
    let kill = Kill {
        fault: "none".to_owned(),
        scenario: String::new(),
        strategy: "uniform".to_owned(),
        seed: 0,
        rule: "overlap".to_owned(),
    };
    let of = |operator: &str, kill: &Kill| Outcome {
        lock: "single-node".to_owned(),
        operator: operator.to_owned(),
        fate: Fate::Killed(kill.clone()),
        runs: 1,
        cpu_us: 1,
    };
    assert_eq!(unlike(&[of("nx-dropped", &kill)]), Vec::<String>::new());
    let often = Kill { rule: "overlap more often".to_owned(), ..kill.clone() };
    assert_eq!(unlike(&[of("nx-dropped", &often)]), Vec::<String>::new());
    assert_eq!(unlike(&[of("switch-unheard", &often)]).len(), 1);
    let elsewhere = Kill { rule: "starved".to_owned(), ..kill.clone() };
    assert_eq!(unlike(&[of("switch-unheard", &kill), of("nx-dropped", &elsewhere)]).len(), 2);
}
