use crate::run::RunSpec;
use crate::run::parallel::in_parallel;
use crate::setup::scenario::Scenario;
use fencepost_clients::Definition;
use fencepost_faults::{Families, FaultPlan, Seed};
use std::rc::Rc;

struct Sent {
    seed: Seed,
    client: &'static Definition,
    families: Families,
    scenario: Scenario,
    plan: FaultPlan,
}

impl Sent {
    fn of(spec: &RunSpec) -> Sent {
        let RunSpec { seed, client, families, scenario, plan } = spec.clone();
        Sent { seed, client, families, scenario: (*scenario).clone(), plan }
    }

    fn spec(&self) -> RunSpec {
        RunSpec {
            seed: self.seed,
            client: self.client,
            families: self.families.clone(),
            scenario: Rc::new(self.scenario.clone()),
            plan: self.plan.clone(),
        }
    }
}

pub(super) fn on_threads<T: Send>(
    threads: usize,
    specs: &[RunSpec],
    work: impl Fn(&RunSpec) -> T + Sync,
) -> Vec<T> {
    if threads < 2 {
        return specs.iter().map(work).collect();
    }
    let sent: Vec<Sent> = specs.iter().map(Sent::of).collect();
    in_parallel(threads, &sent, |one| work(&one.spec()))
}
