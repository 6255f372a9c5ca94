//! Reads text as a fault plan. Both engines must record the same history for a valid plan.

use crate::targets::typed;
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_clients::find;
use fencepost_faults::{FaultPlan, Seed};
use fencepost_reports::digest;
use std::rc::Rc;

fn check(client: &str, families: &str, plan: &FaultPlan) {
    let scenario = Rc::new(Scenario { processes: 2, cycles: 1, ..Scenario::default() });
    let spec = RunSpec {
        seed: Seed(3),
        client: find(client).expect("a lock of that name"),
        families: families.parse().expect("families of that name"),
        scenario,
        plan: plan.clone(),
    };
    if spec.validate().is_err() {
        return;
    }
    let digests = [Engine::Fast, Engine::Turmoil]
        .map(|engine| spec.run(engine).map(|outcome| digest(&outcome.history)));
    match digests {
        [Ok(fast), Ok(turmoil)] => assert_eq!(fast, turmoil),
        [fast, turmoil] => panic!("{fast:?} and {turmoil:?}"),
    }
}

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(text: &str) {
    let Ok(plan) = serde_json::from_str::<FaultPlan>(text) else { return };
    check("single-node", "pause", &plan);
    check("redlock", "partition", &plan);
}
