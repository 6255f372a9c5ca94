use super::*;
use crate::studies::explore::certificate::partial::{
    InvalidPartial, Merged, merge, resumed, unfinished,
};
use fencepost_reports::documents::certificate::unfinished::Unfinished;
use fencepost_reports::summary::sweep::Gaps;
use std::sync::atomic::{AtomicU64, Ordering};

fn small() -> Bounds {
    bounds("single-node", "lost-reply", 2)
}

pub(super) fn part(bounds: &Bounds, shard: Shard) -> Unfinished {
    let mut work = Exploration::unplaced(bounds, 2);
    work.place_all(&Stop::new()).expect("it can be placed");
    let none = Ledger::new(work.units());
    match work.explore(shard, none, &Silent, &Stop::new()).expect("it runs") {
        Answer::Quiet(ledger) => unfinished(bounds, &work.conditions(), (shard, &ledger), "a part"),
        other => panic!("{shard:?}: {other:?}"),
    }
}

fn parts(bounds: &Bounds, count: u32) -> Vec<Unfinished> {
    (1..=count).map(|index| part(bounds, Shard { index, count })).collect()
}

fn certified(Merged { bounds, conditions, ledger }: &Merged) -> Certificate {
    assert!(ledger.is_whole());
    certificate(bounds, conditions, ledger)
}

pub(super) fn merged(parts: &[Unfinished]) -> Certificate {
    match merge(parts, Gaps::Refused) {
        Ok(merged) => certified(&merged),
        Err(why) => panic!("{why:?}"),
    }
}

fn whole(bounds: &Bounds) -> Certificate {
    let work = Exploration::unplaced(bounds, 1);
    certificate(bounds, &work.conditions(), &quiet(bounds))
}

#[test]
fn shards_in_any_order_add_up_to_the_certificate_of_the_whole() {
    for (bounds, counts) in [
        (small(), &[1, 2, 5, 64][..]),
        (bounds("single-node", "client-crash", 1), &[3]),
        (bounds("single-node", "none", 0), &[4]),
    ] {
        for count in counts {
            let mut parts = parts(&bounds, *count);
            parts.reverse();
            assert_eq!(merged(&parts), whole(&bounds), "{} shards", count);
        }
    }
}

#[test]
fn sums_of_shards_add_up_again() {
    let bounds = small();
    let [one, two, three] = &parts(&bounds, 3)[..] else { panic!("there are three") };
    let some = merge(&[three.clone(), one.clone()], Gaps::Allowed).unwrap_or_else(|_| panic!());
    assert!(!some.ledger.is_whole());
    let some =
        unfinished(&some.bounds, &some.conditions, (Shard::WHOLE, &some.ledger), "two of three");
    assert_eq!(merged(&[some, two.clone()]), whole(&bounds));
}

#[track_caller]
fn refused(parts: &[Unfinished], place: usize) -> String {
    match merge(parts, Gaps::Refused) {
        Ok(_) => panic!("it was merged"),
        Err((at, why)) => {
            assert_eq!(at, place, "{why}");
            why.to_string()
        }
    }
}

#[test]
fn what_does_not_belong_together_is_not_added_up() {
    let bounds = small();
    let parts = parts(&bounds, 3);
    let with = |change: &dyn Fn(&mut Unfinished)| {
        let mut parts = parts.clone();
        change(&mut parts[1]);
        parts
    };
    assert!(refused(&parts[..2], 1).contains("with no fault are missing"));
    let twice = [parts.clone(), vec![parts[0].clone()]].concat();
    assert!(refused(&twice, 3).contains("is also in an earlier file"));
    for (changed, says) in [
        (with(&|part| part.bounds.faults = 1), "bounds.faults: 1 -> 2"),
        (with(&|part| part.tool.version = "0.0.9".to_owned()), "tool.version: 0.0.9 -> "),
        (with(&|part| part.units[2] += 1), "another exploration: units"),
        (with(&|part| part.runs.violated = 1), "its verdicts do not match"),
        (with(&|part| part.runs.valid += 1), "its verdicts do not match"),
        (with(&|part| part.loose[0].runs += 1), "its number of runs does not match"),
        (with(&|part| part.loose[0].unit = 1_000_000), "it has a unit that does not exist"),
        (with(&|part| part.slices[0].to += 1), "it has a slice of units that do not exist"),
        (with(&|part| part.loose.push(part.loose[0].clone())), "or a unit twice"),
    ] {
        let said = refused(&changed, 1);
        assert!(said.contains(says), "{says}: {said}");
    }
    for change in [
        (|part| part.units[2] = u64::MAX) as fn(&mut Unfinished),
        |part| part.runs.all = u64::MAX,
        |part| part.left_out.gap_places = u64::MAX,
        |part| part.loose[0].runs = u64::MAX,
    ] {
        let mut part = parts[1].clone();
        change(&mut part);
        assert!(refused(&[part], 0).contains(&format!("the count {} is too large", u64::MAX)));
    }
    let mut elsewhere = parts;
    elsewhere.iter_mut().for_each(|part| part.bounds.client = "redlok".to_owned());
    assert!(refused(&elsewhere, 0).contains("unknown lock 'redlok'"));
}

struct Stopping<'s> {
    left: AtomicU64,
    stop: &'s Stop,
}

impl Progress for Stopping<'_> {
    fn run_done(&self, _: bool) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.ask();
        }
    }
}

#[test]
fn what_is_stopped_after_any_run_goes_on_to_the_same_certificate() {
    let bounds = small();
    let whole = whole(&bounds);
    let last = whole.runs.all - 1;
    for (jobs, counts) in [(1, [1, 77, last].as_slice()), (2, &[1, 2, 3, 20, 77, last - 1])] {
        let work = Exploration::new(&bounds, jobs, &Stop::new()).expect("it can be placed");
        for &runs in counts {
            explore_in_parts(&work, &bounds, (runs, jobs as u64 - 1), &whole);
        }
    }
}

fn explore_in_parts(
    work: &Exploration,
    bounds: &Bounds,
    (runs, more): (u64, u64),
    whole: &Certificate,
) {
    let conditions = work.conditions();
    let stop = Stop::new();
    let stopping = Stopping { left: AtomicU64::new(runs), stop: &stop };
    let answer = work.explore(Shard::WHOLE, Ledger::new(work.units()), &stopping, &stop);
    let answer = answer.expect("it runs");
    let Answer::Stopped(ledger) = answer else { panic!("{runs}: {answer:?}") };
    assert!(!ledger.is_whole() && ledger.sum().all_runs() <= runs + more, "{runs}: {ledger:?}");
    let written = unfinished(bounds, &conditions, (Shard::WHOLE, &ledger), "stopped");
    let ledger = resumed(&written, (bounds, &conditions), Shard::WHOLE).expect("it is read");
    let answer = work.explore(Shard::WHOLE, ledger, &Silent, &Stop::new()).expect("it runs");
    let Answer::Quiet(ledger) = answer else { panic!("{runs}: {answer:?}") };
    assert_eq!(&certificate(bounds, &conditions, &ledger), whole, "stopped after {runs}");
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let bounds = small();
    let conditions = Exploration::unplaced(&bounds, 1).conditions();
    let shard = Shard { index: 1, count: 2 };
    let written = part(&bounds, shard);
    assert!(resumed(&written, (&bounds, &conditions), shard).is_ok());
    let other = Bounds { seed: Seed(1), ..bounds.clone() };
    for (why, says) in [
        (resumed(&written, (&other, &conditions), shard), "bounds.seed: 0 -> 1"),
        (resumed(&written, (&bounds, &conditions), Shard::WHOLE), "shard.count: 2 -> 1"),
        (resumed(&written, (&bounds, &conditions[1..]), shard), "only in A: every message"),
    ] {
        match why {
            Err(InvalidPartial::Other(line)) => assert!(line.contains(says), "{says}: {line}"),
            other => panic!("{says}: {other:?}"),
        }
    }
}

#[derive(Default)]
struct Violated(AtomicU64);

impl Progress for Violated {
    fn run_done(&self, is_violated: bool) {
        self.0.fetch_add(is_violated.into(), Ordering::Relaxed);
    }
}

#[test]
fn nothing_is_run_after_the_first_counterexample_and_threads_agree_which_that_is() {
    let bounds = bounds("set-ex-del", "pause", 1);
    let found = |jobs| {
        let violated = Violated::default();
        let work = Exploration::new(&bounds, jobs, &Stop::new()).expect("it can be placed");
        let none = Ledger::new(work.units());
        match work.explore(Shard::WHOLE, none, &violated, &Stop::new()).expect("it runs") {
            Answer::Counterexample(planned) => (planned, violated.0.into_inner()),
            other => panic!("{other:?}"),
        }
    };
    let (first, violated) = found(1);
    assert_eq!(violated, 1);
    assert_eq!([2, 3].map(|jobs| found(jobs).0), [first.clone(), first]);
}

#[test]
fn a_shard_with_a_counterexample_finds_it_and_the_others_are_quiet() {
    let bounds = bounds("set-ex-del", "pause", 1);
    let whole = counterexample(&bounds);
    let found = (1..=4).filter_map(|index| {
        let shard = Shard { index, count: 4 };
        let mut work = Exploration::unplaced(&bounds, 2);
        work.place_all(&Stop::new()).expect("it can be placed");
        let none = Ledger::new(work.units());
        match work.explore(shard, none, &Silent, &Stop::new()).expect("it runs") {
            Answer::Counterexample(planned) => Some(planned),
            _ => None,
        }
    });
    let found: Vec<Planned> = found.collect();
    assert_eq!(found.first(), Some(&whole), "the first shard that finds one finds the same");
}
