//! Applies every operator to every lock that it fits, and classifies the mutants.
//!
//! A run **kills** a mutant if the mistake takes effect and the run breaks a rule that the correct
//! lock does not break under the same condition. Significantly more unknown runs or violations than
//! with the correct lock also kill a mutant. A mistake that takes effect without changing any
//! compared history makes an **equivalent** mutant. A mutant is **masked** if it breaks only rules
//! that the correct lock also breaks. Any other mutant **survives**.

use crate::conditions::{CONDITIONS, Condition};
use crate::fate::{Fate, Kill, Outcome};
use crate::operators::{Operator, mutant, operators, operators_for};
use fencepost::RunSpec;
use fencepost::clients::find;
use fencepost::engine::Engine;
use fencepost::setup::scenario::{Mutant, Scenario, Strategy};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::studies::sweep::ThreadClock;
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::{History, Kind, Verdict, judge};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// Number of runs of the correct lock in each cell, to learn which rules it breaks and how often.
pub(crate) const LOCK_SEEDS: u64 = 48;
pub(crate) const FIRST: u64 = 2;
pub(crate) const SECOND: u64 = 8;
pub(crate) const MORE_OFTEN: u64 = 16;
pub(crate) const WIDE: Range<u64> = 1_000..1_256;
pub(crate) const SUSPECTS: usize = 3;
const CHANCE: f64 = 1e-6;
const UNKNOWN: &str = "unknown";
const MORE_OFTEN_SUFFIX: &str = " more often";

const CYCLES: u32 = 6;
const WINDOW: [Span; 2] = [Span::secs(1), Span::secs(20)];

/// Families to try first. A mistake that has no effect under them is not tried under others.
const SCOUTED: &[&str] = &["none", "lost-reply", "failover", "restart", "partition"];

pub(crate) type Cell = (usize, Strategy);

pub(crate) struct Bench {
    lock: &'static Definition,
    first: usize,
    cells: BTreeMap<(usize, bool), Known>,
    wide: BTreeMap<(usize, bool), BTreeMap<Kind, u64>>,
}

struct Known {
    kinds: BTreeMap<Kind, u64>,
    unknown: u64,
    histories: Vec<History>,
}

struct StudyRun {
    kinds: BTreeSet<Kind>,
    is_unknown: bool,
    history: History,
    altered: u64,
}

impl Bench {
    pub(crate) fn new(lock: &'static Definition) -> Bench {
        Bench::from(lock, 0)
    }

    fn from(lock: &'static Definition, first: usize) -> Bench {
        Bench { lock, first, cells: BTreeMap::new(), wide: BTreeMap::new() }
    }

    pub(crate) fn one(&mut self, operator: &'static Operator, seeds: u64) -> Option<Outcome> {
        if !self.is_made(operator) {
            return None;
        }
        let (mut runs, mut cpu_us, mut made, mut differed) = (0, 0, 0, 0);
        let mut is_masked = false;
        let mut fate = None;
        'cells: for cell in self.cells() {
            for seed in 0..seeds * CONDITIONS[cell.0].times {
                let clock = ThreadClock::start();
                let ran = self.run(cell, seed, Some(mutant(operator)));
                runs += 1;
                cpu_us += clock.micros().unwrap_or(0);
                made += ran.altered;
                let known = self.known(cell);
                let own = known.histories.get(seed as usize);
                differed += u64::from(own.is_some_and(|history| *history != ran.history));
                let new = ran.kinds.iter().find(|kind| !known.kinds.contains_key(kind));
                is_masked |= ran.altered > 0 && !ran.kinds.is_empty();
                if let Some(kind) = new.filter(|_| ran.altered > 0) {
                    fate = Some(Fate::Killed(kill(cell, seed, kind.to_string())));
                    break 'cells;
                }
            }
        }
        let fate = match (fate, made, differed) {
            (Some(fate), _, _) => fate,
            (None, 0, _) => return None,
            (None, _, 0) => Fate::Equivalent,
            (None, _, differed) if is_masked => Fate::Masked(differed),
            (None, _, differed) => Fate::Survived(differed),
        };
        let (lock, operator) = (self.lock.name.to_owned(), operator.name.to_owned());
        Some(Outcome { lock, operator, fate, runs, cpu_us })
    }

    fn more_often(&mut self, operator: &'static Operator) -> (Option<Kill>, u64) {
        let mutant = Some(mutant(operator));
        let of = |kinds: &BTreeMap<Kind, u64>, kind| kinds.get(&kind).copied().unwrap_or(0);
        let kill = |cell, seed, kind: Kind| kill(cell, seed, format!("{kind}{MORE_OFTEN_SUFFIX}"));
        let mut runs = 0;
        let mut suspects = Vec::new();
        for cell in self.cells() {
            let kinds = self.broken(cell, 0..MORE_OFTEN, mutant);
            runs += MORE_OFTEN;
            let known = self.known(cell);
            for (kind, broken) in kinds {
                let chance = chance([broken, MORE_OFTEN], [of(&known.kinds, kind), LOCK_SEEDS]);
                if chance < CHANCE {
                    return (Some(kill(cell, 0, kind)), runs);
                }
                suspects.push((chance, cell, kind));
            }
        }
        suspects.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let all = WIDE.end - WIDE.start;
        for (_, cell, kind) in suspects.into_iter().take(SUSPECTS) {
            let broken = of(&self.broken(cell, WIDE, mutant), kind);
            runs += all;
            if chance([broken, all], [of(self.known_wide(cell), kind), all]) < CHANCE {
                return (Some(kill(cell, WIDE.start, kind)), runs);
            }
        }
        (None, runs)
    }

    fn broken(&self, cell: Cell, seeds: Range<u64>, mutant: Option<Mutant>) -> BTreeMap<Kind, u64> {
        let mut kinds = BTreeMap::new();
        for seed in seeds {
            let ran = self.run(cell, seed, mutant);
            if ran.altered > 0 || mutant.is_none() {
                ran.kinds.iter().for_each(|kind| *kinds.entry(*kind).or_default() += 1);
            }
        }
        kinds
    }

    fn known_wide(&mut self, cell: Cell) -> &BTreeMap<Kind, u64> {
        let key = (cell.0, cell.1 == Strategy::Aimed);
        if !self.wide.contains_key(&key) {
            let kinds = self.broken(cell, WIDE, None);
            self.wide.insert(key, kinds);
        }
        &self.wide[&key]
    }

    pub(crate) fn falls_silent(&mut self, operator: &'static Operator) -> Option<Kill> {
        for cell in self.cells() {
            let is_silent = |seed: &u64| {
                let ran = self.run(cell, *seed, Some(mutant(operator)));
                ran.is_unknown && ran.altered > 0
            };
            if !is_silent(&0) {
                continue;
            }
            let silent = (0..SECOND).filter(is_silent).count() as u64;
            if chance([silent, SECOND], [self.known(cell).unknown, LOCK_SEEDS]) < CHANCE {
                return Some(kill(cell, 0, UNKNOWN.to_owned()));
            }
        }
        None
    }

    pub(crate) fn kills_again(&self, operator: &'static Operator, kill: &Kill) -> bool {
        let is_its = |(place, strategy): &Cell| {
            let Condition { fault, scenario, .. } = CONDITIONS[*place];
            (fault, scenario, strategy.name()) == (&kill.fault, &kill.scenario, &kill.strategy)
        };
        let Some(cell) = self.cells().into_iter().find(is_its) else { return false };
        let name = kill.rule.strip_suffix(MORE_OFTEN_SUFFIX).unwrap_or(&kill.rule);
        let breaks = |seed: u64, mutant: Option<Mutant>| {
            let ran = self.run(cell, seed, mutant);
            let is_it = ran.kinds.iter().any(|kind| kind.name() == name);
            (ran.altered > 0 || mutant.is_none()) && (is_it || ran.is_unknown && name == UNKNOWN)
        };
        let mutant = Some(mutant(operator));
        let (of, of_lock) = match name {
            UNKNOWN => (0..SECOND, 0..LOCK_SEEDS),
            _ if !kill.rule.ends_with(MORE_OFTEN_SUFFIX) => {
                return breaks(kill.seed, mutant) && !breaks(kill.seed, None);
            }
            _ if kill.seed == WIDE.start => (WIDE, WIDE),
            _ => (0..MORE_OFTEN, 0..LOCK_SEEDS),
        };
        let counted = |seeds: Range<u64>, mutant| {
            let all = seeds.end - seeds.start;
            [seeds.filter(|seed| breaks(*seed, mutant)).count() as u64, all]
        };
        chance(counted(of, mutant), counted(of_lock, None)) < CHANCE
    }

    fn is_made(&self, operator: &'static Operator) -> bool {
        let is_scouted = |(place, strategy): &Cell| {
            *strategy == Strategy::Uniform && SCOUTED.contains(&CONDITIONS[*place].fault)
        };
        let mutant = Some(mutant(operator));
        let mut cells = Bench::new(self.lock).cells().into_iter().filter(is_scouted);
        cells.any(|cell| self.run(cell, 0, mutant).altered > 0)
    }

    fn cells(&self) -> Vec<Cell> {
        let fits = |condition: &Condition| (condition.fits)(self.lock);
        let tried = CONDITIONS.iter().enumerate().skip(self.first);
        let places = tried.filter(|(_, condition)| fits(condition));
        places
            .flat_map(|(place, condition)| {
                let aimed = condition.is_aimed.then_some((place, Strategy::Aimed));
                [Some((place, Strategy::Uniform)), aimed].into_iter().flatten()
            })
            .collect()
    }

    fn known(&mut self, cell: Cell) -> &Known {
        let key = (cell.0, cell.1 == Strategy::Aimed);
        if !self.cells.contains_key(&key) {
            let mut known = Known { kinds: BTreeMap::new(), unknown: 0, histories: Vec::new() };
            for seed in 0..LOCK_SEEDS {
                let ran = self.run(cell, seed, None);
                ran.kinds.iter().for_each(|kind| *known.kinds.entry(*kind).or_default() += 1);
                known.unknown += u64::from(ran.is_unknown);
                if seed < SECOND {
                    known.histories.push(ran.history);
                }
            }
            self.cells.insert(key, known);
        }
        &self.cells[&key]
    }

    fn run(&self, cell: Cell, seed: u64, mutant: Option<Mutant>) -> StudyRun {
        let condition = &CONDITIONS[cell.0];
        let stated = condition.scenario.replace("; ", "\n");
        let stated: Scenario = toml::from_str(&stated).expect("a scenario");
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
        StudyRun {
            kinds: judged.violations.iter().map(|violation| violation.kind).collect(),
            is_unknown: matches!(judged.verdict, Verdict::Unknown { .. }),
            altered: outcome.altered,
            history: outcome.history,
        }
    }
}

pub(crate) fn mutants_of(lock: &'static Definition) -> Vec<Outcome> {
    outcomes(lock, 0, operators_for(lock))
}

pub(crate) fn outcomes(
    lock: &'static Definition,
    first: usize,
    operators: impl Iterator<Item = &'static Operator>,
) -> Vec<Outcome> {
    let mut bench = Bench::from(lock, first);
    let outcome = |operator| {
        let first = bench.one(operator, FIRST);
        let is_killed = first.as_ref().is_some_and(|one| matches!(one.fate, Fate::Killed(_)));
        if is_killed || first.is_none() && bench.first == 0 {
            return first;
        }
        let second = bench.one(operator, SECOND)?;
        let Fate::Masked(_) = second.fate else { return Some(second) };
        let clock = ThreadClock::start();
        let (kill, runs) = bench.more_often(operator);
        let (runs, cpu_us) = (second.runs + runs, second.cpu_us + clock.micros().unwrap_or(0));
        let fate = kill.map_or(second.fate, Fate::Killed);
        Some(Outcome { fate, runs, cpu_us, ..second })
    };
    operators.filter_map(outcome).collect()
}

pub(crate) fn unlike(outcomes: &[Outcome]) -> Vec<String> {
    let mut unlike = Vec::new();
    for Outcome { lock, operator, fate, .. } in outcomes {
        let Fate::Killed(kill) = fate else { continue };
        let known = find(lock).zip(operators().find(|one| one.name == *operator));
        if !known.is_some_and(|(lock, operator)| Bench::new(lock).kills_again(operator, kill)) {
            unlike.push(format!("{lock} {operator}: {kill:?}"));
        }
    }
    unlike
}

pub(crate) fn chance([broken, of]: [u64; 2], [broken_of_lock, of_lock]: [u64; 2]) -> f64 {
    let all = broken + broken_of_lock;
    let ways = |broken: u64| choose(of, broken) * choose(of_lock, all - broken);
    let as_many_or_more = (broken..=of.min(all)).map(ways).sum::<f64>();
    as_many_or_more / choose(of + of_lock, all)
}

fn choose(of: u64, some: u64) -> f64 {
    if some > of {
        return 0.0;
    }
    (0..some).map(|taken| (of - taken) as f64 / (taken + 1) as f64).product()
}

fn kill((place, strategy): Cell, seed: u64, rule: String) -> Kill {
    let Condition { fault, scenario, .. } = CONDITIONS[place];
    Kill {
        fault: fault.to_owned(),
        scenario: scenario.to_owned(),
        strategy: strategy.name().to_owned(),
        seed,
        rule,
    }
}
