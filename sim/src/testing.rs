//! Tests of your own lock in your own `#[test]` functions. A test states the lock, the faults, the
//! seeds and the expected result.
//!
//! ```
//! use fencepost::testing::{Expect, LockTest};
//!
//! // Your own lock is a `Definition` like this one of `fencepost::clients`.
//! let lock = fencepost::clients::find("single-node").ok_or("no such lock")?;
//! LockTest::new(lock).faults("none,client-crash").seeds(0..8).expect(Expect::Safe).run();
//! # Ok::<(), &str>(())
//! ```
//!
//! A test that finds a forbidden violation reports the lowest seed with such a violation, writes
//! reports as JSON and HTML, and prints the command that runs this seed again.
//!
//! ```should_panic
//! use fencepost::testing::{Expect, LockTest};
//!
//! let lock = fencepost::clients::find("single-node").unwrap();
//! let reports = std::env::temp_dir().join("fencepost-doc");
//! LockTest::new(lock).faults("pause").seeds(0..8).reports(reports).expect(Expect::Safe).run();
//! ```
//!
//! Three environment variables determine which runs a [`LockTest`] makes.
//!
//! | variable | what it does |
//! | --- | --- |
//! | `FENCEPOST_SEED=17` | runs that seed alone, under both engines, and prints the result |
//! | `FENCEPOST_FAULT=pause` | leaves out every other fault of the test |
//! | `FENCEPOST_SEEDS=0..100000` | runs these seeds instead of those of the test |

mod again;
mod every_plan;
mod failure;
mod outcome;

pub use crate::studies::explore::Level;
pub use every_plan::{EveryPlan, EveryPlanFailure};
pub use failure::{Deviation, TestFailure, What};
pub use fencepost_faults::FaultPlan;
pub use fencepost_reports::{Cause, Kind};

use crate::Engine;
use crate::setup::scenario::Scenario;
use crate::studies::sweep::{Silent, Stop, SweepSpec, count};
use again::Repetition;
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::summary::sweep::{SeedRange, Shard, Sweep};
use std::ops::Range;
use std::path::PathBuf;

/// Expected result of a test under each of its faults.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expect {
    Safe,
    /// No seed breaks any of these rules. Other rules may be broken.
    Never(Vec<Kind>),
    /// For each of these rules, at least one seed breaks the rule. Other rules may be broken too.
    Violates(Vec<Kind>),
    /// For each pair, at least one seed breaks the rule for the cause. Other violations are
    /// allowed.
    ViolatesBy(Vec<(Kind, Cause)>),
}

#[derive(Clone)]
#[must_use = "a test that is not run tests nothing"]
pub struct LockTest {
    lock: &'static Definition,
    faults: String,
    seeds: Range<u64>,
    scenario: Scenario,
    expect: Expect,
    reports: Option<PathBuf>,
    plan: Option<FaultPlan>,
    jobs: usize,
}

impl LockTest {
    /// Defaults to the built-in scenario, no faults, the seeds 0 to 99 and [`Expect::Safe`].
    pub fn new(lock: &'static Definition) -> LockTest {
        LockTest {
            lock,
            faults: "none".to_owned(),
            seeds: 0..100,
            scenario: Scenario::default(),
            expect: Expect::Safe,
            reports: None,
            plan: None,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Sets the faults as in `--fault`: `a,b` runs each separately, `a+b` combines them in one run.
    pub fn faults(self, faults: &str) -> LockTest {
        LockTest { faults: faults.to_owned(), ..self }
    }

    pub fn seeds(self, seeds: Range<u64>) -> LockTest {
        LockTest { seeds, ..self }
    }

    /// Changes the deployment, the workload or another setting of the [`Scenario`].
    pub fn scenario(mut self, change: impl FnOnce(&mut Scenario)) -> LockTest {
        change(&mut self.scenario);
        self
    }

    pub fn expect(self, expect: Expect) -> LockTest {
        LockTest { expect, ..self }
    }

    /// Sets the fault plan for every seed. [`LockTest::faults`] still determines the servers (for
    /// example, `failover` adds replicas and Sentinels) and the names of the runs.
    ///
    /// ```
    /// use fencepost::testing::{Expect, FaultPlan, LockTest};
    ///
    /// let plan: FaultPlan = serde_json::from_str(
    ///     r#"{"faults": [{"id": 1, "at_us": 5000000,
    ///        "fault": {"kind": "pause", "node": "client-1", "duration_us": 20000000}}]}"#,
    /// )?;
    /// let lock = fencepost::clients::find("single-node").ok_or("no such lock")?;
    /// let never = Expect::Never(vec![]);
    /// LockTest::new(lock).faults("pause").plan(plan).seeds(0..8).expect(never).run();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan(self, plan: FaultPlan) -> LockTest {
        LockTest { plan: Some(plan), ..self }
    }

    /// Sets the number of threads. The default is one thread per processor.
    pub fn jobs(self, jobs: usize) -> LockTest {
        LockTest { jobs: jobs.max(1), ..self }
    }

    /// Sets the folder for reports of failures. The default is in cargo's target folder.
    pub fn reports(self, folder: impl Into<PathBuf>) -> LockTest {
        LockTest { reports: Some(folder.into()), ..self }
    }

    /// Panics if [`LockTest::check`] fails. For a forbidden violation, the message contains the
    /// command that reproduces it.
    #[track_caller]
    pub fn run(self) -> Sweep {
        match self.check() {
            Ok(sum) => {
                let cells = sum.cells.iter().filter(|cell| cell.violated == 0);
                cells.filter_map(outcome::unmet).for_each(|line| println!("{line}"));
                sum
            }
            Err(failure) => panic!("{failure}"),
        }
    }

    pub fn check(&self) -> Result<Sweep, TestFailure> {
        self.check_with(&|name| std::env::var(name).ok())
    }

    /// Like [`LockTest::check`], but with the given environment variables.
    pub fn check_with(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Sweep, TestFailure> {
        let cells = self.cells(variable)?;
        self.scenario.validate().map_err(|error| TestFailure::Wrong(error.to_string()))?;
        let again = Repetition {
            lock: self.lock,
            scenario: &self.scenario,
            folder: self.reports.clone(),
            plan: self.plan.as_ref(),
        };
        for (_, families) in &cells {
            let run = again.spec(Seed(self.seeds.start), families).validate();
            run.map_err(|error| TestFailure::Wrong(error.to_string()))?;
        }
        if let Some(seed) = number(variable, "FENCEPOST_SEED")? {
            return again.show_seed(Seed(seed), &cells, &self.expect);
        }
        let sweep = self.sweep(cells.clone(), variable)?;
        let sum = match &self.plan {
            Some(_) => again.sum_of(&sweep)?,
            None => count(&sweep, &Silent, &Stop::new()).map_err(TestFailure::Run)?,
        };
        let failed: Vec<_> = sum
            .cells
            .iter()
            .zip(&cells)
            .filter_map(|(cell, (_, families))| {
                Some((outcome::unexpected(cell, &self.expect)?, families))
            })
            .map(|(unexpected, families)| again.show(unexpected, families))
            .collect::<Result<_, _>>()?;
        if failed.is_empty() { Ok(sum) } else { Err(TestFailure::Unexpected(failed)) }
    }

    fn cells(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<(&'static Definition, Families)>, TestFailure> {
        let read = |name: &str| {
            name.parse::<Families>().map_err(|error| TestFailure::Wrong(error.to_string()))
        };
        let mut all = self.faults.split(',').map(read).collect::<Result<Vec<_>, _>>()?;
        if let Some(asked) = variable("FENCEPOST_FAULT") {
            let asked = read(&asked)?;
            all.retain(|families| *families == asked);
        }
        Ok(all.into_iter().map(|families| (self.lock, families)).collect())
    }

    fn sweep(
        &self,
        cells: Vec<(&'static Definition, Families)>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<SweepSpec, TestFailure> {
        let seeds = match variable("FENCEPOST_SEEDS") {
            Some(text) => range(&text).ok_or_else(|| {
                TestFailure::Wrong(format!(
                    "FENCEPOST_SEEDS '{text}': expected A..B with A below B, like 0..100000"
                ))
            })?,
            None => self.seeds.clone(),
        };
        Ok(SweepSpec {
            cells,
            scenario: self.scenario.clone(),
            engine: Engine::Fast,
            seeds: SeedRange { from: Seed(seeds.start), to: Seed(seeds.end) },
            shard: Shard::WHOLE,
            jobs: self.jobs,
            fail_fast: false,
            explains: false,
            violations_max: 0,
        })
    }
}

fn range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    let range = from.parse().ok()?..to.parse().ok()?;
    (range.start < range.end).then_some(range)
}

fn number(
    variable: &dyn Fn(&str) -> Option<String>,
    name: &str,
) -> Result<Option<u64>, TestFailure> {
    let Some(text) = variable(name) else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| TestFailure::Wrong(format!("{name} '{text}': expected a seed, like 17")))
}
