use super::{Engine, EngineError, EngineRun};
use crate::hosts::nemesis::Nemesis;
use crate::setup::roster::Roster;
use crate::world::failing_syncs::FailingSyncs;
use crate::world::host::Software;
use crate::world::kernel::Kernel;
use crate::world::network::Pace;
use crate::world::recorder::Recorder;
use crate::world::state::Parts;
use crate::world::wire_log::{Detail, WireLog};
use fencepost_faults::{FaultPlan, Micros, Node, Seed, SimTime};
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Records {
    pub(crate) wire: Option<Detail>,
    pub(crate) turns: bool,
}

pub(crate) struct Setup {
    pub(crate) seed: Seed,
    /// Time for which servers run before the run starts. Other times count from the run's start.
    pub(crate) warm_up: Micros,
    pub(crate) quantum: Micros,
    pub(crate) latency: (Micros, Micros),
    pub(crate) hosts: Vec<(Node, Software)>,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) roster: Rc<Roster>,
    pub(crate) plan: FaultPlan,
    pub(crate) healed_at: SimTime,
    pub(crate) failing_syncs: Option<FailingSyncs>,
    pub(crate) limit: SimTime,
    pub(crate) pace: Pace,
    pub(crate) records: Records,
}

impl Setup {
    pub(crate) fn calm(seed: Seed, hosts: Vec<(Node, Software)>, roster: Rc<Roster>) -> Setup {
        Setup {
            seed,
            warm_up: Micros::ZERO,
            quantum: Micros(100),
            latency: (Micros(200), Micros::from_millis(2)),
            hosts,
            recorder: Rc::new(Recorder::default()),
            roster,
            plan: FaultPlan::default(),
            healed_at: SimTime::ZERO,
            failing_syncs: None,
            limit: SimTime::ZERO,
            pace: Pace::Drawn,
            records: Records::default(),
        }
    }

    pub(crate) fn run(self, engine: Engine) -> Result<Rc<Kernel>, EngineError> {
        let nodes: Vec<Node> = self.hosts.iter().map(|(node, _)| *node).collect();
        let (carrier, runner) = engine.prepare(&nodes);
        let kernel = Kernel::new(Parts {
            seed: self.seed,
            begins_at: SimTime::ZERO + self.warm_up,
            quantum: self.quantum,
            latency: self.latency,
            pace: self.pace,
            hosts: self.hosts,
            carrier,
            recorder: self.recorder,
        });
        kernel.with(|state| {
            state.wire = self.records.wire.map(|detail| Box::new(WireLog::new(detail)));
            state.turns = self.records.turns.then(Vec::new);
            state.held_up = self.records.turns.then(Vec::new);
        });
        let roster = self.roster.clone();
        let plan = self.plan.later(self.warm_up);
        let healed_at = self.healed_at + self.warm_up;
        let failing_syncs = self.failing_syncs.map(|failing| failing.later(self.warm_up));
        let nemesis = Nemesis::new(plan, healed_at, failing_syncs, roster, &kernel);
        let limit = self.limit + self.warm_up;
        let course = EngineRun { nemesis, roster: self.roster, limit };
        runner.run(&kernel, &course)?;
        Ok(kernel)
    }
}
