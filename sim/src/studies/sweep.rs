//! Many seeds, over threads, added up.
//!
//! Threads take chunks of seeds in order; adding commutes, so the sum does not depend on how many
//! threads there are or which came first.

mod again;
mod blind_spots;
mod checkpoint;
mod confirm;
mod cpu;
mod explain;
mod kept;
mod work;

pub use crate::studies::seed::FailedRun;
pub use checkpoint::{Checkpoint, InvalidCheckpoint};
pub use cpu::ThreadClock;
pub use kept::kept;

use crate::engine::Engine;
use crate::run::RunSpec;
use crate::setup::scenario::Scenario;
use again::Closer;
use confirm::confirm;
use explain::explain;
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::RunFacts;
use fencepost_reports::summary::sweep::{SeedRange, Shard, Sweep};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use work::Work;

/// What a sweep runs.
#[derive(Clone)]
pub struct SweepSpec {
    /// Every lock under every combination of faults.
    pub cells: Vec<(&'static Definition, Families)>,
    /// The deployment, the workload and the habits.
    pub scenario: Scenario,
    /// Which engine runs the seeds.
    pub engine: Engine,
    /// The seeds of the whole sweep, before it is cut into shards.
    pub seeds: SeedRange,
    /// Which slice of them to run.
    pub shard: Shard,
    /// How many threads.
    pub jobs: usize,
    /// Stop at the first violation.
    pub fail_fast: bool,
    /// Whether the smallest run of every anomaly is made minimal and explained.
    pub explains: bool,
    /// How many violations a cell keeps; [`fencepost_reports::summary::sweep::VIOLATIONS_MAX`] by
    /// default.
    pub violations_max: u64,
}

impl SweepSpec {
    /// The run of a seed in the cell at this place. The scenario is that of the sweep.
    fn draw(&self, place: usize, seed: Seed, scenario: &Rc<Scenario>) -> RunSpec {
        let (client, families) = &self.cells[place];
        RunSpec::draw(seed, client, families, scenario.clone())
    }
}

/// Who hears of a sweep as it goes on. Called from any thread.
pub trait Listener: Sync {
    /// A run is done.
    fn run_done(&self, facts: &RunFacts, seed: Seed);

    /// When the time for runs is over: one that is under way then is given up and does not count.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Some seeds were added up; `sum` makes the sum so far, for a checkpoint. Other threads wait
    /// meanwhile.
    fn added(&self, sum: &dyn Fn() -> Sweep) {
        let _ = sum;
    }

    /// All seeds are done; of the smallest runs so many were looked at again.
    fn looked_closer(&self, stage: Stage, done: usize, of: usize) {
        let _ = (stage, done, of);
    }
}

/// Nobody hears of it.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Listener for Silent {
    fn run_done(&self, _: &RunFacts, _: Seed) {}
}

/// What is done with the smallest run of every anomaly once all seeds are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It is run again under turmoil.
    Confirming,
    /// Its plan is made minimal and it is explained.
    Explaining,
}

/// Asks a sweep to stop early: what is done by then is added up.
#[derive(Debug, Default)]
pub struct Stop {
    is_asked: AtomicBool,
    is_urgent: AtomicBool,
}

impl Stop {
    /// A request that nobody has made yet.
    pub const fn new() -> Stop {
        Stop { is_asked: AtomicBool::new(false), is_urgent: AtomicBool::new(false) }
    }

    /// Makes the request: no more seeds are begun.
    pub fn ask(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
    }

    /// Makes the request, or if it was made before, a more urgent one: what has been found is not
    /// looked at again either.
    pub fn insist(&self) {
        if self.is_asked.swap(true, Ordering::Relaxed) {
            self.is_urgent.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was made.
    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// Whether it was made twice.
    pub fn is_urgent(&self) -> bool {
        self.is_urgent.load(Ordering::Relaxed)
    }
}

/// What came of a sweep. What is added up stands although a run failed: that one and what would
/// have come after it are missing.
#[derive(Debug)]
pub struct Swept {
    /// The sum of the runs that were made.
    pub sum: Sweep,
    /// The run that could not be made; the one of the lowest seed, if there were several.
    pub failed: Option<FailedRun>,
}

impl Swept {
    /// The sum of all runs, or why it is not whole.
    fn whole(self) -> Result<Sweep, FailedRun> {
        self.failed.map_or(Ok(self.sum), Err)
    }
}

/// Runs every seed of the shard in every cell. The sum is the same whatever `jobs` is, unless it
/// was stopped early. With a `start` it goes on where a sweep was, see [`Checkpoint::read`]: the
/// sum is the one of a sweep that was never interrupted.
pub fn sweep(
    spec: &SweepSpec,
    start: Option<&Sweep>,
    listener: &dyn Listener,
    stop: &Stop,
) -> Swept {
    let mut swept = add_up(spec, start, listener, stop);
    let sum = &mut swept.sum;
    if swept.failed.is_none() && spec.engine == Engine::Fast {
        let closer = Closer { stage: Stage::Confirming, listener, stop };
        swept.failed = confirm(spec, sum, &closer).err();
    }
    if swept.failed.is_none() && spec.explains {
        let closer = Closer { stage: Stage::Explaining, listener, stop };
        swept.failed = explain(spec, sum, &closer).err();
    }
    swept
}

/// As [`sweep`], but counts only: nothing is seen again under turmoil, and nothing is explained.
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

/// What all runs have in common.
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
