//! Which mutants are found: every operator on every lock that it may mean something to.
//!
//! A *mutant* is a lock and an operator that changed something in a run of it. It is **killed** by
//! a run that breaks a rule which the lock without the mistake breaks in no run of that cell, in
//! more seeds than the mutant gets ([`Budget`]). If no run differs from that of the lock without
//! the mistake, it is **equivalent** within the budget. What is left **survives**.

use crate::fate::{Fate, Kill, Outcome};
use fencepost::RunSpec;
use fencepost::engine::Engine;
use fencepost::hosts::mutants::{Operator, operators_for};
use fencepost::setup::scenario::{Mutant, Scenario, Strategy};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::studies::sweep::ThreadClock;
use fencepost_clients::{Coordinator, Definition, Deployment};
use fencepost_faults::{Families, Seed};
use fencepost_reports::{History, Kind, judge};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many seeds there are for a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Budget {
    /// Of a mutant.
    pub(crate) mutant: u64,
    /// Of the lock itself: what it breaks in any of them is not held against its mutants.
    pub(crate) lock: u64,
}

/// What each mutant gets first.
pub(crate) const FIRST: Budget = Budget { mutant: 2, lock: 6 };
/// What those get that it does not kill.
pub(crate) const SECOND: Budget = Budget { mutant: 4, lock: 12 };

/// Faults and a scenario, under which runs are comparable.
#[derive(Clone, Copy)]
pub(crate) struct Condition {
    /// The families.
    pub(crate) fault: &'static str,
    /// What differs from the built-in scenario, as TOML.
    pub(crate) scenario: &'static str,
    /// Which locks it means something to.
    fits: fn(&Definition) -> bool,
}

const fn under(fault: &'static str, scenario: &'static str) -> Condition {
    Condition { fault, scenario, fits: |_| true }
}

const fn on_redis(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| lock.deployment.coordinator() == Coordinator::Redis;
    Condition { fault, scenario, fits }
}

const fn on_masters(fault: &'static str, scenario: &'static str) -> Condition {
    Condition { fault, scenario, fits: |lock| lock.deployment == Deployment::Independent }
}

const fn on_primary(fault: &'static str, scenario: &'static str) -> Condition {
    let fits = |lock: &Definition| {
        let deployment = lock.deployment;
        deployment.coordinator() == Coordinator::Redis && deployment != Deployment::Independent
    };
    Condition { fault, scenario, fits }
}

/// All of them, in the order in which they are tried.
pub(crate) const CONDITIONS: &[Condition] = &[
    under("none", ""),
    under("none", "hold = \"until-validity\""),
    under("none", "hold = \"9s..9800ms\""),
    under("none", "availability = \"2s\""),
    on_masters("none", "masters = 3"),
    under("lost-reply", ""),
    under("client-crash", ""),
    under("pause", ""),
    under("partition", ""),
    under("restart", ""),
    on_redis("restart", "persistence = \"aof-always\""),
    under("failover", ""),
    on_primary("failover", "wait-replicas = 1"),
    on_primary("failover+replication-lag", "wait-replicas = 1"),
    under("clock-jump", ""),
    under("latency", "extra-latency = \"1s..15s\""),
    // Holds longer than a lease, for locks that renew it; waits longer than what a waiter that
    // nobody wakes may be silent for; pauses that a lease outlives, and half of one does not; and
    // runs that last.
    under("none", "hold = \"12s..20s\""),
    under("none", "acquire-timeout = \"120s\""),
    under("pause", "pause = \"4s..6s\""),
    under("none", "cycles = 30"),
    // A lock that is taken once more in the middle of its hold renews its lease by that.
    under("none", "hold = \"22s..28s\""),
];

/// Which faults are tried aimed, too: those for which it matters most where they strike.
const AIMED: &[&str] = &["lost-reply", "client-crash", "pause", "partition"];

/// How many cycles a run has where its scenario does not say more than the built-in one.
const CYCLES: u32 = 6;
/// When faults begin: while such a run lasts.
const WINDOW: [Span; 2] = [Span::secs(1), Span::secs(20)];

/// Where a mistake is looked for first: one that is made in none of these is not made at all.
const SCOUTED: &[&str] = &["none", "lost-reply", "failover", "restart", "partition"];

/// A cell: a condition, and where faults strike.
pub(crate) type Cell = (usize, Strategy);

/// A lock, and what it does without a mistake, as far as it was asked.
pub(crate) struct Bench {
    lock: &'static Definition,
    budget: Budget,
    cells: BTreeMap<(usize, bool), Known>,
}

/// What a lock does in a cell.
struct Known {
    kinds: BTreeSet<Kind>,
    /// As many runs as a mutant gets.
    histories: Vec<History>,
}

struct Ran {
    kinds: BTreeSet<Kind>,
    history: History,
    altered: u64,
}

impl Bench {
    /// Of a lock.
    pub(crate) fn new(lock: &'static Definition, budget: Budget) -> Bench {
        Bench { lock, budget, cells: BTreeMap::new() }
    }

    /// One mutant; `None` if the mistake is never made in this lock. Panics if a run cannot be
    /// made, which is a mistake of the simulator's.
    pub(crate) fn one(&mut self, operator: &'static Operator) -> Option<Outcome> {
        if !self.is_made(operator) {
            return None;
        }
        let (mut runs, mut cpu_us, mut made, mut differed) = (0, 0, 0, 0);
        let mut fate = None;
        'cells: for cell in self.cells() {
            for seed in 0..self.budget.mutant {
                let clock = ThreadClock::start();
                let ran = self.run(cell, seed, Some(Mutant(operator.name)));
                runs += 1;
                cpu_us += clock.micros().unwrap_or(0);
                made += ran.altered;
                let known = self.known(cell);
                differed += u64::from(known.histories[seed as usize] != ran.history);
                let new = ran.kinds.difference(&known.kinds).next();
                if let Some(kind) = new.filter(|_| ran.altered > 0) {
                    fate = Some(Fate::Killed(kill(cell, seed, *kind)));
                    break 'cells;
                }
            }
        }
        let fate = match (fate, made, differed) {
            (Some(fate), _, _) => fate,
            (None, 0, _) => return None,
            (None, _, 0) => Fate::Equivalent,
            (None, _, differed) => Fate::Survived(differed),
        };
        let (lock, operator) = (self.lock.name.to_owned(), operator.name.to_owned());
        Some(Outcome { lock, operator, fate, runs, cpu_us })
    }

    /// Whether the mistake is made at all.
    fn is_made(&self, operator: &'static Operator) -> bool {
        let is_scouted = |(place, strategy): &Cell| {
            *strategy == Strategy::Uniform && SCOUTED.contains(&CONDITIONS[*place].fault)
        };
        let mutant = Some(Mutant(operator.name));
        let mut cells = self.cells().into_iter().filter(is_scouted);
        cells.any(|cell| self.run(cell, 0, mutant).altered > 0)
    }

    /// The cells that mean something to the lock.
    fn cells(&self) -> Vec<Cell> {
        let fits = |condition: &Condition| (condition.fits)(self.lock);
        let places = CONDITIONS.iter().enumerate().filter(|(_, condition)| fits(condition));
        places
            .flat_map(|(place, condition)| {
                let aimed = AIMED.contains(&condition.fault).then_some((place, Strategy::Aimed));
                [Some((place, Strategy::Uniform)), aimed].into_iter().flatten()
            })
            .collect()
    }

    fn known(&mut self, cell: Cell) -> &Known {
        let key = (cell.0, cell.1 == Strategy::Aimed);
        if !self.cells.contains_key(&key) {
            let mut known = Known { kinds: BTreeSet::new(), histories: Vec::new() };
            for seed in 0..self.budget.lock {
                let ran = self.run(cell, seed, None);
                known.kinds.extend(ran.kinds);
                if seed < self.budget.mutant {
                    known.histories.push(ran.history);
                }
            }
            self.cells.insert(key, known);
        }
        &self.cells[&key]
    }

    fn run(&self, cell: Cell, seed: u64, mutant: Option<Mutant>) -> Ran {
        let condition = &CONDITIONS[cell.0];
        let stated: Scenario = toml::from_str(condition.scenario).expect("a scenario");
        let is_unsaid = stated.cycles == Scenario::default().cycles;
        let scenario = Rc::new(Scenario {
            cycles: if is_unsaid { CYCLES } else { stated.cycles },
            fault_window: SpanRange::new(WINDOW[0], WINDOW[1]),
            strategy: cell.1,
            mutant,
            ..stated
        });
        let families: Families = condition.fault.parse().expect("families");
        let spec = RunSpec::draw(Seed(seed), self.lock, &families, scenario);
        let outcome = spec.run(Engine::Fast).expect("a run");
        let judged = judge(&outcome.history);
        Ran {
            kinds: judged.violations.iter().map(|violation| violation.kind).collect(),
            altered: outcome.altered,
            history: outcome.history,
        }
    }
}

/// Every mutant of a lock.
pub(crate) fn mutants_of(lock: &'static Definition) -> Vec<Outcome> {
    outcomes(lock, operators_for(lock))
}

/// Those that some operators make of it.
pub(crate) fn outcomes(
    lock: &'static Definition,
    operators: impl Iterator<Item = &'static Operator>,
) -> Vec<Outcome> {
    let (mut first, mut second) = (Bench::new(lock, FIRST), Bench::new(lock, SECOND));
    let outcome = |operator| {
        let outcome: Outcome = first.one(operator)?;
        match outcome.fate {
            Fate::Killed(_) => Some(outcome),
            Fate::Equivalent | Fate::Survived(_) => second.one(operator),
        }
    };
    operators.filter_map(outcome).collect()
}

fn kill((place, strategy): Cell, seed: u64, kind: Kind) -> Kill {
    let Condition { fault, scenario, .. } = CONDITIONS[place];
    Kill {
        fault: fault.to_owned(),
        scenario: scenario.to_owned(),
        strategy: strategy.name().to_owned(),
        seed,
        rule: kind.to_string(),
    }
}
