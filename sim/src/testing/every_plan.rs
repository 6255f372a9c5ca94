use super::failure::TestFailure;
use crate::engine::Engine;
use crate::setup::scenario::Scenario;
use crate::studies::explore::certificate::certificate;
use crate::studies::explore::{
    Answer, Bounds, Exploration, FailedPlan, Grain, Ledger, Level, Planned, Progress, Rule,
    small_scenario,
};
use crate::studies::sweep::Stop;
use fencepost_clients::Definition;
use fencepost_faults::{Families, Family, Seed};
use fencepost_reports::documents::certificate::Certificate;
use fencepost_reports::summary::sweep::Shard;
use fencepost_reports::{Kind, judge};

/// A test that runs every plan within bounds, as `fencepost explore` does.
///
/// ```
/// use fencepost::testing::EveryPlan;
///
/// let lock = fencepost::clients::find("single-node").ok_or("no such lock")?;
/// let certificate = EveryPlan::new(lock).faults("lost-reply").run();
/// assert!(certificate.runs.valid > 0);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone)]
#[must_use = "a test that is not run tests nothing"]
pub struct EveryPlan {
    lock: &'static Definition,
    families: String,
    most: Option<Level>,
    scenario: Scenario,
    jobs: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum EveryPlanFailure {
    /// The smallest counterexample: within the bounds, no plan with fewer faults breaks a rule.
    #[error("{lock}: a plan with {level} breaks a rule: {kinds:?}; {conditions}; as JSON: {plan}")]
    Counterexample {
        lock: String,
        level: Level,
        kinds: Vec<Kind>,
        /// Describes the run's latencies and start times.
        conditions: String,
        /// JSON for [`super::LockTest::plan`].
        plan: String,
    },
    /// The test is inconclusive, because no run exercised the lock.
    #[error("{0}: no run exercised the lock")]
    Unexercised(String),
    #[error(transparent)]
    Test(#[from] TestFailure),
}

struct Silent;

impl Progress for Silent {
    fn run_done(&self, _: bool) {}
}

impl EveryPlan {
    pub fn new(lock: &'static Definition) -> EveryPlan {
        EveryPlan {
            lock,
            families: Family::None.name().to_owned(),
            most: None,
            scenario: small_scenario(),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Sets the fault families, joined by `+`. docs/explore.md lists the valid ones.
    pub fn faults(self, families: &str) -> EveryPlan {
        EveryPlan { families: families.to_owned(), ..self }
    }

    /// Sets the maximum numbers of faults and delays. The default is one fault, or no fault without
    /// a family.
    pub fn at_most(self, most: Level) -> EveryPlan {
        EveryPlan { most: Some(most), ..self }
    }

    pub fn scenario(mut self, change: impl FnOnce(&mut Scenario)) -> EveryPlan {
        change(&mut self.scenario);
        self
    }

    /// Sets the number of threads. The default is one thread per processor.
    pub fn jobs(self, jobs: usize) -> EveryPlan {
        EveryPlan { jobs: jobs.max(1), ..self }
    }

    #[track_caller]
    pub fn run(self) -> Certificate {
        self.check().unwrap_or_else(|failure| panic!("{failure}"))
    }

    pub fn check(&self) -> Result<Certificate, EveryPlanFailure> {
        let bounds = self.bounds()?;
        let never = Stop::new();
        let work = Exploration::new(&bounds, self.jobs, &never).map_err(failed)?;
        let ledger = Ledger::new(work.units());
        let answer = work.explore(Shard::WHOLE, ledger, &Silent, &never).map_err(failed)?;
        match answer {
            Answer::Counterexample(planned) => Err(self.counterexample(&work, &planned)?),
            Answer::Quiet(ledger) | Answer::Stopped(ledger) if ledger.sum().valid > 0 => {
                let written = certificate(&bounds, &work.conditions(), &ledger).sealed();
                Ok(written.map_err(|error| TestFailure::Wrong(error.to_string()))?)
            }
            _ => Err(EveryPlanFailure::Unexercised(self.lock.name.to_owned())),
        }
    }

    fn bounds(&self) -> Result<Bounds, TestFailure> {
        let wrong = |error: &dyn std::fmt::Display| TestFailure::Wrong(error.to_string());
        let families: Families = self.families.parse().map_err(|error| wrong(&error))?;
        self.scenario.validate().map_err(|error| wrong(&error))?;
        let faults = u8::from(!families.is_none());
        let most = self.most.unwrap_or(Level { faults, delays: 0 });
        let longest = Bounds::usual_longest(self.lock, &families, &self.scenario);
        let bounds = Bounds {
            client: self.lock,
            families,
            faults: most.faults,
            delays: most.delays,
            longest,
            grain: if most.depth() > 1 { Grain::Coarse } else { Grain::Fine },
            rules: Rule::ALL.into(),
            seed: Seed(0),
            scenario: self.scenario.clone(),
        };
        bounds.validate().map_err(|error| wrong(&error))?;
        Ok(bounds)
    }

    fn counterexample(
        &self,
        work: &Exploration<'_>,
        planned: &Planned,
    ) -> Result<EveryPlanFailure, TestFailure> {
        let spec = work.spec(planned);
        let outcome = spec.run(Engine::Fast);
        let outcome =
            outcome.map_err(|error| failed(FailedPlan { planned: planned.clone(), error }))?;
        let plan = serde_json::to_string(&planned.plan);
        Ok(EveryPlanFailure::Counterexample {
            lock: self.lock.name.to_owned(),
            level: planned.level,
            kinds: judge(&outcome.history).violations.iter().map(|one| one.kind).collect(),
            conditions: work.conditions().swap_remove(planned.base),
            plan: plan.map_err(|error| TestFailure::Wrong(error.to_string()))?,
        })
    }
}

fn failed(FailedPlan { planned, error }: FailedPlan) -> TestFailure {
    TestFailure::Wrong(format!("base run {}: {error}", planned.base))
}
