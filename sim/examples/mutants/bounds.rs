//! Explores the mutants that survived the sweeps or were masked there.

use crate::fate::{Fate, Kill, Outcome};
use crate::operators::{Operator, mutant, operators};
use crate::study::Bench;
use fencepost::RunSpec;
use fencepost::clients::Definition;
use fencepost::engine::Engine;
use fencepost::setup::scenario::{Hold, Scenario};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::studies::explore::{
    Answer, Bounds, Exploration, Grain, Ledger, Progress, Rule, small_scenario,
};
use fencepost::studies::sweep::Stop;
use fencepost_faults::{Families, Micros, Seed};
use fencepost_reports::summary::sweep::Shard;
use fencepost_reports::{Kind, judge};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(crate) struct Bound {
    pub(crate) name: &'static str,
    pub(crate) fault: &'static str,
    pub(crate) about: &'static str,
    pub(crate) delays: u8,
    change: fn(&mut Scenario),
}

const fn under(fault: &'static str) -> Bound {
    Bound { name: fault, fault, about: "one fault", delays: 0, change: |_| {} }
}

pub(crate) const BOUNDS: &[Bound] = &[
    Bound {
        name: "orders",
        fault: "none",
        about: "latencies of 200 us to 2 ms, one message late, a retry of 300 ms",
        delays: 1,
        change: |scenario| {
            scenario.timing.latency = SpanRange::new(Span(Micros(200)), Span::millis(2));
            scenario.calls.retry = fixed(Span::millis(300));
        },
    },
    Bound {
        name: "long-holds",
        fault: "none",
        about: "critical sections of 12 s, longer than a lease",
        delays: 0,
        change: |scenario| scenario.hold = Hold::Drawn(fixed(Span::secs(12))),
    },
    Bound {
        name: "cycles",
        fault: "none",
        about: "three processes with three cycles each",
        delays: 0,
        change: |scenario| {
            scenario.processes = 3;
            scenario.cycles = 3;
        },
    },
    under("lost-reply"),
    under("client-crash"),
    under("restart"),
    under("latency"),
];

pub(crate) const RUNS_MAX: u128 = 50_000;

const SHOWN_RUNS: u64 = 4;

const fn fixed(span: Span) -> SpanRange {
    SpanRange { min: span, max: span }
}

pub(crate) struct Explorer {
    lock: &'static Definition,
    bench: Bench,
    keeps: BTreeMap<usize, bool>,
}

impl Explorer {
    pub(crate) fn new(lock: &'static Definition) -> Explorer {
        Explorer { lock, bench: Bench::new(lock), keeps: BTreeMap::new() }
    }

    pub(crate) fn explored(&mut self, outcome: Outcome) -> Outcome {
        let differed = match outcome.fate {
            Fate::Survived(differed) | Fate::Masked(differed) => differed,
            _ => return outcome,
        };
        let named = |operator: &&Operator| operator.name == outcome.operator;
        let Some(operator) = operators().find(named) else { return outcome };
        if let Some(kill) = self.bench.falls_silent(operator) {
            return Outcome { fate: Fate::Killed(kill), ..outcome };
        }
        let (mut plans, mut within) = (0, Vec::new());
        let mut found = None;
        for (place, bound) in BOUNDS.iter().enumerate() {
            if !self.is_made(bound, operator) || !self.keeps(place) {
                continue;
            }
            match self.every_plan(bound, Some(operator)) {
                Explored::Quiet(runs) => {
                    plans += runs;
                    within.push(bound.name);
                }
                Explored::Broken(rule) => {
                    found = Some(kill(bound, rule));
                    break;
                }
                Explored::Idle => {}
            }
        }
        let fate = match found {
            Some(kill) => Fate::Found(kill),
            None if within.is_empty() => outcome.fate,
            None => Fate::Quiet { differed, within: within.join("+") },
        };
        Outcome { fate, runs: outcome.runs + plans, ..outcome }
    }

    fn keeps(&mut self, place: usize) -> bool {
        if let Some(keeps) = self.keeps.get(&place) {
            return *keeps;
        }
        let keeps = matches!(self.every_plan(&BOUNDS[place], None), Explored::Quiet(_));
        self.keeps.insert(place, keeps);
        keeps
    }

    fn is_made(&self, bound: &Bound, operator: &Operator) -> bool {
        let mut scenario = small(bound, Some(operator));
        scenario.fault_window = SpanRange::new(Span::millis(1), Span::secs(5));
        let scenario = Rc::new(scenario);
        let families: Families = bound.fault.parse().expect("families");
        (0..SHOWN_RUNS).any(|seed| {
            let spec = RunSpec::draw(Seed(seed), self.lock, &families, scenario.clone());
            spec.run(Engine::Fast).is_ok_and(|outcome| outcome.altered > 0)
        })
    }

    fn every_plan(&self, bound: &Bound, operator: Option<&Operator>) -> Explored {
        let bounds = Bounds {
            client: self.lock,
            families: bound.fault.parse().expect("families"),
            faults: u8::from(bound.fault != "none"),
            delays: bound.delays,
            scenario: small(bound, operator),
            longest: Span::secs(15),
            grain: Grain::Coarse,
            rules: Rule::ALL.into(),
            seed: Seed(0),
        };
        if bounds.validate().is_err() {
            return Explored::Idle;
        }
        let never = Stop::new();
        let survey = Exploration::unplaced(&bounds, 1).survey(&never);
        if !survey.is_ok_and(|survey| survey.all_runs() <= RUNS_MAX) {
            return Explored::Idle;
        }
        let Ok(work) = Exploration::new(&bounds, 1, &never) else { return Explored::Idle };
        match work.explore(Shard::WHOLE, Ledger::new(work.units()), &Silent, &never) {
            Ok(Answer::Counterexample(planned)) => {
                let outcome = work.spec(&planned).run(Engine::Fast).expect("it ran before");
                let violations = judge(&outcome.history).violations;
                let kinds: BTreeSet<Kind> = violations.iter().map(|one| one.kind).collect();
                Explored::Broken(kinds.iter().map(|kind| kind.name()).collect())
            }
            Ok(Answer::Quiet(ledger)) if ledger.sum().valid > 0 => {
                let sum = ledger.sum();
                Explored::Quiet(sum.valid + sum.unknown)
            }
            _ => Explored::Idle,
        }
    }
}

struct Silent;

impl Progress for Silent {
    fn run_done(&self, _: bool) {}
}

enum Explored {
    Quiet(u64),
    Broken(Vec<&'static str>),
    Idle,
}

fn small(bound: &Bound, operator: Option<&Operator>) -> Scenario {
    let mut scenario = small_scenario();
    scenario.timing.latency = fixed(Span::millis(1));
    (bound.change)(&mut scenario);
    scenario.mutant = operator.map(mutant);
    scenario
}

fn kill(bound: &Bound, rules: Vec<&'static str>) -> Kill {
    Kill {
        fault: bound.fault.to_owned(),
        scenario: bound.name.to_owned(),
        strategy: "explored".to_owned(),
        seed: 0,
        rule: rules.join("+"),
    }
}
