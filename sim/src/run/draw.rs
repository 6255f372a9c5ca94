use super::aimed;
use super::fit;
use super::spec::RunSpec;
use super::window;
use crate::setup::lengths;
use crate::setup::scenario::{Scenario, Strategy};
use fencepost_clients::Definition;
use fencepost_faults::{Families, FaultPlan, Seed, Setting, generate, incidents};
use std::rc::Rc;

impl RunSpec {
    pub fn draw(
        seed: Seed,
        client: &'static Definition,
        families: &Families,
        scenario: Rc<Scenario>,
    ) -> RunSpec {
        let drawn = RunSpec::under(FaultPlan::default(), seed, client, families, scenario);
        let mut setting = drawn.scenario.setting(drawn.topology());
        if drawn.scenario.faults.extra_latency.is_none() && drawn.scenario.program(client).is_some()
        {
            // A program has its own timeouts, so delays may be as long as a partition.
            setting.knobs.latency.max_us = setting.knobs.partition.max_us;
        }
        let run = drawn.clone().planned(&setting);
        match window::shortened_for_program(&run, setting.window) {
            Some(window) => drawn.planned(&Setting { window, ..setting }),
            None => run,
        }
    }

    fn planned(self, setting: &Setting) -> RunSpec {
        match self.scenario.strategy {
            Strategy::Uniform | Strategy::Pct => self.uniform(setting),
            Strategy::Aimed => self.aimed(setting),
        }
    }

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

    fn uniform(self, setting: &Setting) -> RunSpec {
        let mut plan = generate(self.seed, &self.families, setting);
        let unsupported_faults = self.coordinator().unsupported_faults;
        plan.faults.retain(|timed| !unsupported_faults.contains(&timed.fault.kind()));
        RunSpec { plan, ..self }
    }

    fn aimed(self, setting: &Setting) -> RunSpec {
        let mut drawn = incidents(self.seed, &self.families, setting);
        let unsupported_faults = self.coordinator().unsupported_faults;
        for one in &mut drawn {
            one.incident.faults.retain(|(_, fault)| !unsupported_faults.contains(&fault.kind()));
        }
        drawn.retain(|one| !one.incident.faults.is_empty());
        RunSpec { plan: aimed::plan(&self, drawn, setting), ..self }
    }
}
