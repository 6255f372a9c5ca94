//! Compares checkers with an independent linearizability checker on random histories. A lock is an
//! object with the operations *enter* and *leave*. A process held the lock at least from the return
//! of *enter* to the call of *leave*, so the calls have a valid order if and only if no such
//! periods of different processes overlap. `overlap` checks this without a search. Linearizability
//! is local, so fencing tokens are a separate object.

mod histories;
mod models;
mod objects;

use super::Checker;
use crate::judge::timeline::Timeline;
use crate::record::history::History;
use histories::{Style, random};
use models::{Mutex, OwnerAware, Reentrant, Tokens};

const HISTORIES: u64 = 4_000;

fn accepts(checker: &Checker, history: &History) -> bool {
    (checker.check)(&Timeline::new(history)).is_empty()
}

fn agreed(style: Style, first: &Checker, second: fn(&History) -> bool) -> (u64, u64) {
    let (mut good, mut bad) = (0, 0);
    for number in 0..HISTORIES {
        let history = random(style, number);
        let verdict = second(&history);
        assert_eq!(accepts(first, &history), verdict, "{style:?} {number}: {}", first.name);
        if verdict { good += 1 } else { bad += 1 }
    }
    (good, bad)
}

fn assert_plenty((good, bad): (u64, u64)) {
    assert!(good > HISTORIES / 5 && bad > HISTORIES / 5, "{good} good and {bad} bad histories");
}

#[test]
fn overlap_agrees_with_a_plain_mutex() {
    assert_plenty(agreed(Style::Plain, &super::overlap::CHECKER, objects::lock::<Mutex>));
}

#[test]
fn overlap_agrees_with_an_owner_aware_mutex() {
    assert_plenty(agreed(Style::Plain, &super::overlap::CHECKER, objects::lock::<OwnerAware>));
}

#[test]
fn overlap_agrees_with_a_reentrant_mutex() {
    assert_plenty(agreed(Style::Nested, &super::overlap::CHECKER, objects::lock::<Reentrant>));
}

#[test]
fn token_regression_agrees_with_a_fenced_lock_whose_tokens_grow() {
    assert_plenty(agreed(
        Style::Fenced,
        &super::token_regression::CHECKER,
        objects::tokens_at_grants::<Tokens>,
    ));
}

#[test]
fn tokens_that_no_order_of_the_acquires_explains_are_a_regression() {
    let seen = |number| random(Style::Fenced, number);
    let refuted: Vec<History> = (0..HISTORIES)
        .map(seen)
        .filter(|history| !objects::tokens_of_acquires::<Tokens>(history))
        .collect();
    assert!(refuted.len() as u64 > HISTORIES / 20, "{} histories", refuted.len());
    assert!(refuted.iter().all(|history| !accepts(&super::token_regression::CHECKER, history)));
}

#[test]
fn foreign_release_agrees_with_an_owner_aware_mutex_at_the_server() {
    assert_plenty(agreed(Style::Careless, &super::foreign_release::CHECKER, objects::server_key));
}

mod broken {
    use super::*;
    use crate::judge::finding::Finding;
    use crate::judge::timeline::{Section, SectionEnd};
    use fencepost_faults::SimTime;

    type Check = fn(&Timeline<'_>) -> Vec<Finding>;

    const BROKEN: [(&str, Check); 4] = [
        ("looks only at neighbours", |timeline| {
            clashes(timeline, 1, &|section, end| section.ends(end))
        }),
        ("forgets that a crash ends a section", |timeline| {
            clashes(timeline, usize::MAX, &|section, end| {
                ends_unless(section, SectionEnd::Crash, end)
            })
        }),
        ("forgets that noticing a loss ends a section", |timeline| {
            clashes(timeline, usize::MAX, &|section, end| {
                ends_unless(section, SectionEnd::Lost, end)
            })
        }),
        ("takes the end of a section for a part of it", |timeline| {
            clashes(timeline, usize::MAX, &|section, end| SimTime(section.ends(end).0 + 1))
        }),
    ];

    fn ends_unless(section: &Section, ended_by: SectionEnd, end: SimTime) -> SimTime {
        if section.ended_by == ended_by { end } else { section.ends(end) }
    }

    fn clashes(
        timeline: &Timeline<'_>,
        back: usize,
        ends: &dyn Fn(&Section, SimTime) -> SimTime,
    ) -> Vec<Finding> {
        let sound = (super::super::overlap::CHECKER.check)(timeline);
        let sections = &timeline.sections;
        let clash = |(place, later): (usize, &Section)| {
            sections[..place].iter().rev().take(back).any(|earlier| {
                let lasts = later.from.time < ends(later, timeline.end)
                    && earlier.from.time < ends(earlier, timeline.end);
                lasts
                    && earlier.process != later.process
                    && later.from.time < ends(earlier, timeline.end)
            })
        };
        let any = sections.iter().enumerate().any(clash);
        if any { vec![sound.first().cloned().unwrap_or_else(some_finding)] } else { Vec::new() }
    }

    fn some_finding() -> Finding {
        use crate::judge::finding::Kind;
        use fencepost_faults::Micros;
        let (processes, what, witness) = (Vec::new(), String::new(), Vec::new());
        Finding {
            kind: Kind::Overlap,
            at: SimTime::ZERO,
            duration: Micros::ZERO,
            processes,
            what,
            witness,
            clash: None,
        }
    }

    #[test]
    fn a_checker_with_a_mistake_disagrees() {
        for (mistake, check) in BROKEN {
            let checker = Checker { name: "overlap", check };
            let disagrees = |number: &u64| {
                let history = random(Style::Plain, *number);
                accepts(&checker, &history) != objects::lock::<OwnerAware>(&history)
            };
            assert!(
                (0..HISTORIES).any(|number| disagrees(&number)),
                "a checker that {mistake} is not caught"
            );
        }
    }

    #[test]
    fn the_frame_of_the_twins_is_sound_without_a_mistake() {
        for number in 0..HISTORIES {
            let history = random(Style::Plain, number);
            let timeline = Timeline::new(&history);
            let found = clashes(&timeline, usize::MAX, &|section, end| section.ends(end));
            assert_eq!(found.is_empty(), objects::lock::<OwnerAware>(&history), "{number}");
        }
    }
}
