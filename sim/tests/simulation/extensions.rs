use crate::drawn::{drawn, history, violations};
use fencepost::diagnosis::{Extent, Rates, Safeguard, SafeguardTrials};
use fencepost::setup::span::Span;
use fencepost::studies::boundary::Search;
use fencepost::studies::boundary::quantity::Varied;
use fencepost::studies::sweep::{Silent, Stop};
use fencepost::{RunSpec, Scenario};
use fencepost_clients::find;
use fencepost_faults::{Micros, Seed};
use fencepost_reports::documents::boundary::{Unit, Worse};
use fencepost_reports::judge::checker::{CHECKERS, Checker};
use fencepost_reports::judge::finding::Finding;
use fencepost_reports::judge::timeline::Timeline;
use fencepost_reports::summary::sweep::SeedRange;
use fencepost_reports::{Cause, Kind, Verdict, judge, judge_by};
use std::rc::Rc;

const SHORT_SECTIONS: Checker = Checker { name: "short-sections", check };

const SECOND: Micros = Micros::from_secs(1);

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let sections = timeline.sections.iter().filter_map(|one| Some((one, one.to?)));
    let long = sections.filter(|(one, to)| to.time.since(one.from.time) > SECOND);
    long.map(|(section, to)| Finding {
        kind: Kind::HeldForever,
        at: section.from.time,
        duration: to.time.since(section.from.time),
        processes: vec![section.process],
        what: format!("{} was in its section for more than a second.", section.process),
        witness: vec![section.from.index, to.index],
        clash: None,
    })
    .collect()
}

static SHORT_HOLDS: &[Safeguard] = &[Safeguard {
    name: "short-holds",
    fits: |_| true,
    with: |spec| {
        let hold = "10ms..500ms".parse().unwrap();
        let hold = fencepost::setup::scenario::Hold::Drawn(hold);
        let scenario = Scenario { hold, ..(*spec.scenario).clone() };
        RunSpec { scenario: Rc::new(scenario), ..spec.clone() }
    },
    setting: |_| "500ms".to_owned(),
}];

static LEASE: Varied = Varied {
    name: "lease-against-pauses",
    about: "how long the lease is that a pause of twelve seconds meets",
    unit: Unit::Us,
    worse: Worse::Less,
    families: &[],
    only_on: None,
    range: |_| (10_000_000, 40_000_000),
    set: |scenario, value| {
        scenario.ttl = Span(Micros(value));
        scenario.faults.pause = Some("12s..12s".parse().unwrap());
    },
    bounds: |_| Vec::new(),
};

fn spec(fault: &str, seed: u64) -> RunSpec {
    drawn("single-node", fault, seed, Scenario::default())
}

#[test]
fn a_checker_from_outside_judges_beside_the_others() {
    let history = history(&spec("none", 1));
    assert_eq!(judge(&history).verdict, Verdict::Valid);
    let checkers = [CHECKERS, &[SHORT_SECTIONS]].concat();
    let judgement = judge_by(&checkers, &history);
    assert_eq!(judgement.verdict, Verdict::Violated);
    let [found] = &judgement.violations[..] else { panic!("{judgement:?}") };
    assert_eq!((found.kind, found.cause), (Kind::HeldForever, Cause::Unexplained));
    assert!(found.occurrences > 1 && found.total_duration_us > SECOND, "{found:?}");
    assert_eq!(judge_by(CHECKERS, &history), judge(&history));
}

#[test]
fn a_remedy_from_outside_is_tried_like_the_others() {
    let spec = spec("pause", 1);
    let violations = violations(&spec);
    let extent = Extent { nearby: 2, seeds: 3 };
    let trials = SafeguardTrials::of(SHORT_HOLDS, &spec, &Rates::default(), extent);
    let [remedy] = &trials.remedies(&violations[0])[..] else { panic!("one remedy") };
    assert_eq!((remedy.name.as_str(), remedy.setting.as_str()), ("short-holds", "500ms"));
    assert_eq!((remedy.nearby.plans, remedy.seeds), (2, 3));
}

#[test]
fn a_quantity_from_outside_is_searched_like_the_others() {
    let search = Search {
        client: find("single-node").unwrap(),
        families: "pause".parse().unwrap(),
        scenario: Scenario::default(),
        quantity: &LEASE,
        kind: Some(Kind::Overlap),
        seeds: SeedRange { from: Seed(0), to: Seed(12) },
        range: (10_000_000, 40_000_000),
        step: 30_000_000,
        parts: 1,
        jobs: 1,
    };
    let report = search.search(&Silent, &Stop::new()).unwrap();
    let found = report.found.unwrap();
    assert_eq!((found.violated, found.quiet), (10_000_000, 40_000_000));
    assert_eq!(report.quantity.name, "lease-against-pauses");
}
