//! From a seed to a plan.

use super::aimed;
use super::fit;
use super::spec::RunSpec;
use crate::setup::lengths;
use crate::setup::scenario::{Scenario, Strategy};
use fencepost_clients::Definition;
use fencepost_faults::{Families, FaultPlan, Seed, Setting, generate, incidents};
use std::rc::Rc;

impl RunSpec {
    /// The run that a seed draws.
    pub fn draw(
        seed: Seed,
        client: &'static Definition,
        families: &Families,
        scenario: Rc<Scenario>,
    ) -> RunSpec {
        let drawn = RunSpec::under(FaultPlan::default(), seed, client, families, scenario);
        let setting = drawn.scenario.setting(drawn.topology());
        match drawn.scenario.strategy {
            Strategy::Uniform | Strategy::Pct => drawn.uniform(&setting),
            Strategy::Aimed => drawn.aimed(&setting),
        }
    }

    /// The run of a seed under a plan that it does not draw.
    pub fn under(
        plan: FaultPlan,
        seed: Seed,
        client: &'static Definition,
        families: &Families,
        scenario: Rc<Scenario>,
    ) -> RunSpec {
        let usage = fit::usage(&scenario, client);
        let scenario = match lengths::drawn_for(usage, families).is_empty() {
            true => scenario,
            false => Rc::new(lengths::drawn(seed, usage, families, &scenario)),
        };
        RunSpec { seed, client, families: families.clone(), scenario, plan }
    }

    /// The run with every incident where its family draws it.
    fn uniform(self, setting: &Setting) -> RunSpec {
        let mut plan = generate(self.seed, &self.families, setting);
        let unanswered = self.coordinator().unanswered;
        plan.faults.retain(|timed| !unanswered.contains(&timed.fault.kind()));
        RunSpec { plan, ..self }
    }

    /// The run with half of its incidents moved to where they hurt.
    fn aimed(self, setting: &Setting) -> RunSpec {
        let mut drawn = incidents(self.seed, &self.families, setting);
        let unanswered = self.coordinator().unanswered;
        for one in &mut drawn {
            one.incident.faults.retain(|(_, fault)| !unanswered.contains(&fault.kind()));
        }
        drawn.retain(|one| !one.incident.faults.is_empty());
        RunSpec { plan: aimed::plan(&self, drawn, setting), ..self }
    }
}
