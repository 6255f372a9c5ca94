//! Measures the effects of suggested safeguards on the violations of a run.
//!
//! A safeguard can also change the timing of a run, so a precisely timed fault may miss its moment.
//! The trials therefore test each safeguard in three ways:
//!
//! 1. On the plan itself. The result *gone* requires that the run exercised the lock, and that the
//!    same faults met the violation's processes in the same state.
//! 2. On nearby plans: all faults move together by up to a second, or magnitudes other than
//!    downtimes grow by a tenth, or both.
//! 3. On other seeds of the same lock, faults and scenario.

use super::minimal::with_plan;
use super::safeguard::{SAFEGUARDS, Safeguard};
use super::target::history as run;
use super::threads::on_threads;
use super::variation::near;
use crate::run::RunSpec;
use crate::run::fit::usage;
use crate::run::parallel::in_parallel;
use crate::setup::lengths::Length;
use crate::setup::scenario::Scenario;
use fencepost_faults::{FaultPlan, Impact, Node, Seed, SimTime};
use fencepost_reports::summary::report::{Nearby, OnThisPlan, Remedy};
use fencepost_reports::{Action, Cause, History, Kind, Severity, Verdict, Violation, What, judge};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub nearby: usize,
    pub seeds: usize,
}

impl Extent {
    pub const REPORTS: Extent = Extent { nearby: 20, seeds: 50 };
    /// Trials for a plan from an exploration.
    pub const ENUMERATED: Extent = Extent { nearby: 20, seeds: 0 };
}

/// Smallest of the other seeds, far from the seeds that users usually choose.
pub const OTHER_SEEDS_FROM: u64 = 900_000_000;

/// Cache of the trials on other seeds. Violations of the same lock, families and scenario share it.
#[derive(Default)]
pub struct Rates {
    made: Shared<Vec<Option<TrialEnding>>>,
    plans: Shared<Vec<(Seed, FaultPlan)>>,
    threads: usize,
}

type Shared<T> = Mutex<BTreeMap<String, Arc<OnceLock<T>>>>;

type TrialEndings = Arc<OnceLock<Vec<Option<TrialEnding>>>>;

fn place<T>(shared: &Shared<T>, key: String) -> Arc<OnceLock<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct TrialEnding {
    broken: BTreeSet<Kind>,
    causes: BTreeSet<(Kind, Cause)>,
    is_known: bool,
}

pub struct SafeguardTrials {
    without: TrialEnding,
    history: Option<History>,
    nearby: Vec<Option<TrialEnding>>,
    seeds: Arc<OnceLock<Vec<Option<TrialEnding>>>>,
    guarded: Vec<SafeguardRuns>,
}

struct SafeguardRuns {
    safeguard: &'static Safeguard,
    spec: RunSpec,
    /// `true` if the safeguard removes the lease extensions. A critical section may then exceed the
    /// lease, so hazards are not comparable.
    loses_extensions: bool,
    /// `true` if a built-in lock replaces a Lua lock. It lacks the Lua lock's mistakes even without
    /// tokens, so only violations that the storage can prevent are comparable.
    replaces_script: bool,
    /// `true` if the safeguard lengthens the ttl. The bounds on waits include the ttl, so the
    /// safeguard could hide a long wait without preventing it.
    lengthens_bounds: bool,
    on_plan: Option<(TrialEnding, History)>,
    nearby: Vec<Option<TrialEnding>>,
    seeds: Arc<OnceLock<Vec<Option<TrialEnding>>>>,
}

impl SafeguardTrials {
    pub fn new(spec: &RunSpec, rates: &Rates, extent: Extent) -> SafeguardTrials {
        SafeguardTrials::of(SAFEGUARDS, spec, rates, extent)
    }

    /// No two safeguards may have both the same name and the same setting.
    pub fn of(
        safeguards: &'static [Safeguard],
        spec: &RunSpec,
        rates: &Rates,
        extent: Extent,
    ) -> SafeguardTrials {
        if spec.is_traced() {
            return SafeguardTrials::none();
        }
        let found = run(spec).map(|history| (TrialEnding::of(&history), history));
        let (without, history) = match found {
            Some((ending, history)) => (ending, Some(history)),
            None => (TrialEnding::unknown(), None),
        };
        let guarded = safeguards.iter().filter(|safeguard| (safeguard.fits)(spec));
        SafeguardTrials {
            without,
            history,
            nearby: nearby(spec, rates, extent),
            seeds: rates.of(spec, None, extent),
            guarded: guarded
                .map(|safeguard| SafeguardRuns::new(spec, safeguard, rates, extent))
                .filter(|guarded| guarded.spec.validate().is_ok())
                .collect(),
        }
    }

    fn none() -> SafeguardTrials {
        SafeguardTrials {
            without: TrialEnding::unknown(),
            history: None,
            nearby: Vec::new(),
            seeds: TrialEndings::default(),
            guarded: Vec::new(),
        }
    }

    pub fn remedies(&self, violation: &Violation) -> Vec<Remedy> {
        let is_harm = violation.kind.severity() == Severity::Harm;
        let is_of_storage = violation.kind.is_about_write();
        let is_wait = violation.kind.is_lack_of_progress() || violation.kind == Kind::HeldForever;
        let fitting = self.guarded.iter().filter(|guarded| {
            (is_harm || !guarded.loses_extensions)
                && (is_of_storage || !guarded.replaces_script)
                && !(is_wait && guarded.lengthens_bounds)
        });
        fitting.map(|guarded| self.remedy(guarded, violation)).collect()
    }

    fn remedy(&self, guarded: &SafeguardRuns, violation: &Violation) -> Remedy {
        let kind = violation.kind;
        let tried = |endings: &[Option<TrialEnding>], others: &[Option<TrialEnding>]| {
            let both = endings.iter().zip(others);
            TrialCounts::of(
                both.filter_map(|(with, without)| with.as_ref().zip(without.as_ref())),
                kind,
            )
        };
        let nearby = tried(&guarded.nearby, &self.nearby);
        let none = Vec::new();
        let seeds = tried(guarded.seeds.get().unwrap_or(&none), self.seeds.get().unwrap_or(&none));
        Remedy {
            name: guarded.safeguard.name.to_owned(),
            setting: (guarded.safeguard.setting)(&guarded.spec),
            on_this_plan: self.on_this_plan(guarded, violation),
            nearby: Nearby {
                plans: nearby.runs,
                broken: nearby.with,
                broken_without: nearby.without,
            },
            broken_with: seeds.with,
            broken_without: seeds.without,
            unknown_with: seeds.unknown_with,
            unknown_without: seeds.unknown_without,
            seeds: seeds.runs,
            seeds_from: Seed(OTHER_SEEDS_FROM),
        }
    }

    fn on_this_plan(&self, guarded: &SafeguardRuns, violation: &Violation) -> OnThisPlan {
        let Some((ending, with)) = &guarded.on_plan else { return OnThisPlan::NotComparable };
        if ending.causes.contains(&(violation.kind, violation.cause)) {
            return OnThisPlan::StillThere;
        }
        let alike = self.history.as_ref().is_some_and(|without| {
            fired(without) == fired(with)
                && scene(without, &violation.processes) == scene(with, &violation.processes)
                && hits_alike(violation, without, with)
        });
        // A process that never gets the lock cannot break the rule, so a new outage is no success.
        let shut_out = ending.broken.difference(&self.without.broken).any(|kind| is_outage(*kind));
        let mut new = ending.causes.difference(&self.without.causes);
        let is_replaced = new.any(|(kind, _)| *kind == violation.kind);
        match alike && ending.is_known && !shut_out && !is_replaced {
            true => OnThisPlan::Gone,
            false => OnThisPlan::NotComparable,
        }
    }
}

impl SafeguardRuns {
    fn new(
        spec: &RunSpec,
        safeguard: &'static Safeguard,
        rates: &Rates,
        extent: Extent,
    ) -> SafeguardRuns {
        let with = (safeguard.with)(spec);
        let on_plan = run(&with).map(|history| (TrialEnding::of(&history), history));
        SafeguardRuns {
            safeguard,
            loses_extensions: is_extended(spec) && !is_extended(&with),
            replaces_script: is_script(spec) && with.client.name != spec.client.name,
            lengthens_bounds: spec.scenario.ttl < with.scenario.ttl,
            on_plan,
            nearby: nearby(&with, rates, extent),
            seeds: rates.of(spec, Some(safeguard), extent),
            spec: with,
        }
    }
}

fn is_script(spec: &RunSpec) -> bool {
    spec.scenario.scripts.iter().any(|script| script.name == spec.client.name)
}

fn is_extended(spec: &RunSpec) -> bool {
    let usage = usage(&spec.scenario, spec.client);
    usage.extends || usage.renews
}

impl Rates {
    /// The trials may deadlock if the caller runs in a rayon pool.
    pub fn on_threads(threads: usize) -> Rates {
        Rates { threads, ..Rates::default() }
    }

    fn of(
        &self,
        spec: &RunSpec,
        safeguard: Option<&'static Safeguard>,
        extent: Extent,
    ) -> TrialEndings {
        let made = place(&self.made, key(spec, safeguard, extent));
        made.get_or_init(|| {
            let plans = self.plans(spec, extent);
            let others = plans.get().into_iter().flatten();
            let specs: Vec<RunSpec> =
                others.map(|(seed, plan)| other(spec, *seed, plan, safeguard)).collect();
            on_threads(self.threads, &specs, TrialEnding::of_spec)
        });
        made
    }

    fn plans(&self, spec: &RunSpec, extent: Extent) -> Arc<OnceLock<Vec<(Seed, FaultPlan)>>> {
        let made = place(&self.plans, key(spec, None, extent));
        made.get_or_init(|| {
            let others: Vec<Seed> = other_seeds(spec.seed).take(extent.seeds).collect();
            let kept = keeping(spec);
            let (client, families, scenario): (_, _, &Scenario) =
                (spec.client, &spec.families, &kept);
            in_parallel(self.threads, &others, |seed| {
                let scenario = Rc::new(scenario.clone());
                (*seed, RunSpec::draw(*seed, client, families, scenario).plan)
            })
        });
        made
    }
}

fn key(spec: &RunSpec, safeguard: Option<&Safeguard>, extent: Extent) -> String {
    let asked = safeguard.map(|safeguard| (safeguard.name, (safeguard.setting)(spec)));
    let is_one_of_them =
        (OTHER_SEEDS_FROM..=OTHER_SEEDS_FROM + extent.seeds as u64).contains(&spec.seed.0);
    let own = is_one_of_them.then_some(spec.seed);
    let scenario = serde_json::json!(&*spec.scenario);
    format!("{} {} {asked:?} {own:?} {extent:?} {scenario}", spec.client.name, spec.families)
}

fn other_seeds(own: Seed) -> impl Iterator<Item = Seed> {
    (OTHER_SEEDS_FROM..).map(Seed).filter(move |seed| *seed != own)
}

fn other(spec: &RunSpec, seed: Seed, plan: &FaultPlan, safeguard: Option<&Safeguard>) -> RunSpec {
    let drawn = RunSpec::under(plan.clone(), seed, spec.client, &spec.families, keeping(spec));
    safeguard.map_or(drawn.clone(), |safeguard| (safeguard.with)(&drawn))
}

fn keeping(spec: &RunSpec) -> Rc<Scenario> {
    let keeps = Length::ALL.into_iter().collect();
    Rc::new(Scenario { keeps, ..(*spec.scenario).clone() })
}

fn nearby(spec: &RunSpec, rates: &Rates, extent: Extent) -> Vec<Option<TrialEnding>> {
    if spec.plan.faults.is_empty() {
        return Vec::new();
    }
    let plans = near(&spec.plan).take(extent.nearby);
    let specs: Vec<RunSpec> = plans.map(|plan| with_plan(spec, &plan)).collect();
    on_threads(rates.threads, &specs, TrialEnding::of_spec)
}

impl TrialEnding {
    fn unknown() -> TrialEnding {
        TrialEnding { broken: BTreeSet::new(), causes: BTreeSet::new(), is_known: false }
    }

    fn of_spec(spec: &RunSpec) -> Option<TrialEnding> {
        run(spec).map(|history| TrialEnding::of(&history))
    }

    fn of(history: &History) -> TrialEnding {
        let judgement = judge(history);
        TrialEnding {
            broken: judgement.violations.iter().map(|one| one.kind).collect(),
            causes: judgement.violations.iter().map(|one| (one.kind, one.cause)).collect(),
            is_known: !matches!(judgement.verdict, Verdict::Unknown { .. }),
        }
    }
}

#[derive(Default)]
struct TrialCounts {
    runs: u64,
    with: u64,
    without: u64,
    unknown_with: u64,
    unknown_without: u64,
}

impl TrialCounts {
    fn of<'e>(
        pairs: impl Iterator<Item = (&'e TrialEnding, &'e TrialEnding)>,
        kind: Kind,
    ) -> TrialCounts {
        let mut tried = TrialCounts::default();
        for (with, without) in pairs {
            tried.runs += 1;
            tried.with += u64::from(with.broken.contains(&kind));
            tried.without += u64::from(without.broken.contains(&kind));
            tried.unknown_with += u64::from(!with.is_known);
            tried.unknown_without += u64::from(!without.is_known);
        }
        tried
    }
}

fn is_outage(kind: Kind) -> bool {
    kind.is_lack_of_progress() && kind != Kind::Unavailable
}

fn fired(history: &History) -> BTreeSet<u32> {
    let began = history.events.iter().filter_map(|event| match event.what {
        What::FaultBegan { fault, .. } => Some(fault),
        _ => None,
    });
    began.collect()
}

fn scene(history: &History, processes: &[Node]) -> Vec<(Node, usize, usize)> {
    let before =
        || history.events.iter().take_while(|event| !matches!(event.what, What::FaultBegan { .. }));
    let count = |node: Node, wanted: fn(&What) -> bool| {
        before().filter(|event| event.node == node && wanted(&event.what)).count()
    };
    let place = |node: &Node| {
        let taken = count(*node, |what| matches!(what, What::Ok { owner: Some(_), .. }));
        let given_back =
            count(*node, |what| matches!(what, What::Invoke { action: Action::Release, .. }));
        (*node, taken, given_back)
    };
    match fired(history).is_empty() {
        true => Vec::new(),
        false => processes.iter().map(place).collect(),
    }
}

/// Returns `true` if the same processes of the violation are in their critical sections in both
/// runs whenever a relevant fault begins. A fault is relevant if it begins no later than the
/// violation, and hits one of these processes, kills a node or deletes keys.
fn hits_alike(violation: &Violation, without: &History, with: &History) -> bool {
    let processes = &violation.processes;
    let with = states_at_faults(with, processes);
    let before = states_at_faults(without, processes);
    let mut before = before.iter().filter(|(_, (began, _))| *began <= violation.at_us);
    before.all(|(fault, (_, states))| with.get(fault).is_some_and(|(_, other)| states == other))
}

fn states_at_faults(history: &History, processes: &[Node]) -> BTreeMap<u32, (SimTime, Vec<bool>)> {
    let mut states = BTreeMap::new();
    let mut inside: BTreeSet<Node> = BTreeSet::new();
    for event in &history.events {
        match &event.what {
            What::Ok { owner: Some(_), .. } => {
                inside.insert(event.node);
            }
            What::Invoke { action: Action::Release, .. } => {
                inside.remove(&event.node);
            }
            What::FaultBegan { fault, kind, nodes }
                if matches!(kind.impact(), Impact::LosesKeys | Impact::Kills)
                    || processes.iter().any(|one| nodes.contains(&one.machine())) =>
            {
                let now = processes.iter().map(|one| inside.contains(one)).collect();
                states.insert(*fault, (event.time_us, now));
            }
            _ => {}
        }
    }
    states
}
