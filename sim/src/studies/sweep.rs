//! Runs many seeds in parallel, and adds up the results.

mod checkpoint;
mod confirm;
mod cpu;
mod explain;
mod kept;
mod repeat;
mod untested;
mod work;

pub use crate::studies::seed::FailedRun;
pub use checkpoint::{Checkpoint, InvalidCheckpoint};
pub use cpu::ThreadClock;
pub use kept::kept;

use crate::engine::Engine;
use crate::run::RunSpec;
use crate::setup::scenario::Scenario;
use confirm::confirm;
use explain::explain;
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::RunFacts;
use fencepost_reports::summary::sweep::{SeedRange, Shard, Sweep};
use repeat::Inspection;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use work::Work;

#[derive(Clone)]
pub struct SweepSpec {
    pub cells: Vec<(&'static Definition, Families)>,
    pub scenario: Scenario,
    pub engine: Engine,
    /// Seeds of all shards.
    pub seeds: SeedRange,
    pub shard: Shard,
    pub jobs: usize,
    pub fail_fast: bool,
    pub explains: bool,
    /// Maximum number of violations to keep for each pair of lock and fault.
    pub violations_max: u64,
}

impl SweepSpec {
    fn draw(&self, place: usize, seed: Seed, scenario: &Rc<Scenario>) -> RunSpec {
        let (client, families) = &self.cells[place];
        RunSpec::draw(seed, client, families, scenario.clone())
    }
}

pub trait Listener: Sync {
    fn run_done(&self, facts: &RunFacts, seed: Seed);

    /// Returns the time after which unfinished runs no longer count, or `None` for no limit.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Called after each chunk of seeds. `sum` computes the total so far. Other threads cannot add
    /// their results during the call.
    fn added(&self, sum: &dyn Fn() -> Sweep) {
        let _ = sum;
    }

    fn report_stage(&self, stage: Stage, done: usize, of: usize) {
        let _ = (stage, done, of);
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Listener for Silent {
    fn run_done(&self, _: &RunFacts, _: Seed) {}
}

/// Stages of a sweep after its seeds. Each stage repeats the smallest run of every anomaly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Confirming,
    Explaining,
}

#[derive(Debug, Default)]
pub struct Stop {
    is_asked: AtomicBool,
    is_urgent: AtomicBool,
}

impl Stop {
    pub const fn new() -> Stop {
        Stop { is_asked: AtomicBool::new(false), is_urgent: AtomicBool::new(false) }
    }

    pub fn ask(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
    }

    /// Stops the sweep without confirming or diagnosing anomalies.
    pub fn request_urgent(&self) {
        self.ask();
        self.is_urgent.store(true, Ordering::Relaxed);
    }

    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    pub fn is_urgent(&self) -> bool {
        self.is_urgent.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub struct Swept {
    pub sum: Sweep,
    pub failed: Option<FailedRun>,
}

impl Swept {
    fn whole(self) -> Result<Sweep, FailedRun> {
        self.failed.map_or(Ok(self.sum), Err)
    }
}

/// Runs a sweep, or continues the sweep `start`.
pub fn sweep(
    spec: &SweepSpec,
    start: Option<&Sweep>,
    listener: &dyn Listener,
    stop: &Stop,
) -> Swept {
    let mut swept = add_up(spec, start, listener, stop);
    let sum = &mut swept.sum;
    if swept.failed.is_none() && spec.engine == Engine::Fast {
        let inspection = Inspection { stage: Stage::Confirming, listener, stop };
        swept.failed = confirm(spec, sum, &inspection).err();
    }
    if swept.failed.is_none() && spec.explains {
        let inspection = Inspection { stage: Stage::Explaining, listener, stop };
        swept.failed = explain(spec, sum, &inspection).err();
    }
    swept
}

/// Like [`sweep`], but does not repeat runs under turmoil or explain anomalies.
pub fn count(spec: &SweepSpec, listener: &dyn Listener, stop: &Stop) -> Result<Sweep, FailedRun> {
    add_up(spec, None, listener, stop).whole()
}

fn add_up(spec: &SweepSpec, start: Option<&Sweep>, listener: &dyn Listener, stop: &Stop) -> Swept {
    let work = Work::new(spec, start, listener, stop);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..spec.jobs.max(1)).map(|_| scope.spawn(|| work.work())).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    work.finish()
}

fn config(spec: &SweepSpec) -> serde_json::Value {
    let options = spec.scenario.flags();
    serde_json::json!({
        "engine": spec.engine.name(),
        "options": options.trim_start(),
        "max_violations": spec.violations_max,
        "explains": spec.explains,
        "scenario": spec.scenario,
    })
}
