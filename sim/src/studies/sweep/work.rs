use super::cpu::ThreadClock;
use super::untested::untested_settings;
use super::{FailedRun, Listener, Stop, SweepSpec, Swept, config};
use crate::engine::{EngineError, deadline};
use crate::run::verdicts::tool;
use crate::setup::scenario::Scenario;
use crate::studies::seed::Ran;
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::judge::phases::phases;
use fencepost_reports::summary::sweep::{
    Cell, FORMAT, Measured, Ranges, RunSummary, SeedRange, Sweep, VERSION, runs_of,
};
use fencepost_reports::{RunFacts, Verdict};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of seeds that a thread takes, so that all threads finish at about the same time.
const CHUNK: u64 = 16;

fn chunk(seeds: u64, jobs: usize) -> u64 {
    let share = seeds / u64::try_from(jobs.max(1)).unwrap_or(u64::MAX);
    std::iter::successors(Some(CHUNK), |chunk| Some(chunk / 2))
        .find(|chunk| *chunk <= share.max(1))
        .unwrap_or(1)
}

pub(super) struct Work<'s> {
    pub(super) spec: &'s SweepSpec,
    pub(super) listener: &'s dyn Listener,
    pub(super) stop: &'s Stop,
    left: Mutex<Vec<SeedRange>>,
    chunk: u64,
    done: Mutex<Done>,
}

struct Done {
    cells: Vec<Cell>,
    ranges: Ranges,
    failed: Option<FailedRun>,
}

impl<'s> Work<'s> {
    pub(super) fn new(
        spec: &'s SweepSpec,
        start: Option<&Sweep>,
        listener: &'s dyn Listener,
        stop: &'s Stop,
    ) -> Self {
        let done = match start {
            None => Done { cells: empty_cells(spec), ranges: Ranges::default(), failed: None },
            Some(sum) => Done {
                cells: sum.cells.clone(),
                ranges: runs_of(sum).into_iter().collect(),
                failed: None,
            },
        };
        let mut left = done.ranges.missing(spec.shard.slice(spec.seeds));
        left.reverse();
        let chunk = chunk(left.iter().map(|range| range.len()).sum(), spec.jobs);
        Work { spec, listener, stop, left: Mutex::new(left), chunk, done: Mutex::new(done) }
    }

    pub(super) fn work(&self) {
        let scenario = Rc::new(self.spec.scenario.clone());
        deadline::set(self.listener.deadline());
        while let Some(chunk) = self.take() {
            let mut cells = empty_cells(self.spec);
            let mut ran = SeedRange { from: chunk.from, to: chunk.from };
            for seed in (chunk.from.0..chunk.to.0).map(Seed) {
                if self.stop.is_asked() {
                    break;
                }
                match self.seed(seed, &scenario) {
                    Ok(told) => self.count(seed, &told, &mut cells),
                    Err(failed) if failed.error == EngineError::OutOfTime => {
                        self.stop.ask();
                        break;
                    }
                    Err(failed) => {
                        self.fail(failed);
                        deadline::set(None);
                        return;
                    }
                }
                ran.to = Seed(seed.0 + 1);
            }
            self.add(&cells, ran);
        }
        deadline::set(None);
    }

    pub(super) fn finish(self) -> Swept {
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failed = done.failed.take();
        Swept { sum: done.sum(self.spec), failed }
    }

    fn take(&self) -> Option<SeedRange> {
        if self.stop.is_asked() {
            return None;
        }
        let mut left = lock(&self.left);
        let range = left.last_mut()?;
        let from = range.from;
        let to = Seed((from.0 / self.chunk + 1).saturating_mul(self.chunk)).min(range.to);
        range.from = to;
        if range.is_empty() {
            left.pop();
        }
        Some(SeedRange { from, to })
    }

    fn seed(&self, seed: Seed, scenario: &Rc<Scenario>) -> Result<Vec<SeedRun>, FailedRun> {
        let mut all = Vec::with_capacity(self.spec.cells.len());
        for place in 0..self.spec.cells.len() {
            let clock = ThreadClock::start();
            let ran = Ran::of(self.spec.draw(place, seed, scenario), self.spec.engine)?;
            let facts = ran.facts();
            let phases = phases(&ran.outcome.history);
            if self.spec.fail_fast && facts.verdict == Verdict::Violated {
                self.stop.ask();
            }
            self.listener.run_done(&facts, seed);
            all.push(SeedRun { facts, phases, cpu_us: clock.micros() });
        }
        Ok(all)
    }

    fn count(&self, seed: Seed, told: &[SeedRun], cells: &mut [Cell]) {
        for (cell, told) in cells.iter_mut().zip(told) {
            cell.add(&RunSummary { seed, run: &told.facts, phases: &told.phases });
            if let Some(cpu_us) = told.cpu_us {
                cell.add_cpu_time(cpu_us);
            }
        }
    }

    fn add(&self, cells: &[Cell], range: SeedRange) {
        let mut done = lock(&self.done);
        for (sum, cell) in done.cells.iter_mut().zip(cells) {
            sum.absorb(cell);
        }
        done.ranges.insert(range);
        self.listener.added(&|| done.sum(self.spec));
    }

    fn fail(&self, failed: FailedRun) {
        self.stop.ask();
        let mut done = lock(&self.done);
        if done.failed.as_ref().is_none_or(|known| failed.seed < known.seed) {
            done.failed = Some(failed);
        }
    }
}

struct SeedRun {
    facts: RunFacts,
    phases: Vec<(String, String)>,
    cpu_us: Option<u64>,
}

impl Done {
    fn sum(&self, spec: &SweepSpec) -> Sweep {
        let range = spec.shard.slice(spec.seeds);
        let end = self.ranges.end().unwrap_or(range.from);
        let gaps = self.ranges.missing(SeedRange { from: range.from, to: end });
        Sweep {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: tool(),
            config: config(spec),
            checksum: None,
            seeds: SeedRange { from: range.from, to: end },
            complete: end == range.to && gaps.is_empty(),
            gaps,
            shard: spec.shard,
            whole: Some(spec.seeds),
            cells: self.cells.clone(),
            baseline: None,
            measured: Measured::default(),
        }
    }
}

fn empty_cells(spec: &SweepSpec) -> Vec<Cell> {
    let cell = |(client, families): &(&Definition, Families)| Cell {
        violations_max: spec.violations_max,
        blind_spots: untested_settings(&spec.scenario, client, families),
        ..Cell::new(client.name, &families.to_string())
    };
    spec.cells.iter().map(cell).collect()
}

/// Ignores poisoning, because the state stays consistent even if a thread panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, chunk};

    #[test]
    fn few_seeds_are_shared_by_all_threads() {
        assert_eq!(chunk(2, 2), 1);
        assert_eq!(chunk(20, 2), 8);
        assert_eq!([chunk(0, 4), chunk(3, 4), chunk(u64::MAX, 0)], [1, 1, CHUNK]);
        assert_eq!(chunk(32, 2), CHUNK);
    }
}
