//! One run: from a plan to a history.

mod aimed;
pub mod fit;
mod places;
pub mod verdicts;

use crate::engine::{Engine, EngineError, Records, Setup};
use crate::hosts::coordinators::{Entry, entry};
use crate::hosts::deployment::{Deployment, members};
use crate::hosts::programs::record::Life;
use crate::run::fit::{Unfit, fits};
use crate::setup::lengths;
use crate::setup::places::RESOURCE;
use crate::setup::roster::Roster;
use crate::setup::scenario::{Scenario, Standby, Strategy};
use crate::world::network::Pace;
use crate::world::recorder::Recorder;
use crate::world::wire_log::Detail;
use crate::world::{network, node_clock};
use fencepost_clients::{Definition, Keeps};
use fencepost_faults::setting::Topology;
use fencepost_faults::{
    Families, FaultPlan, Micros, Node, Seed, Setting, SimTime, generate, incidents,
};
use fencepost_reports::record::history::{FORMAT, VERSION};
use fencepost_reports::{Availability, Header, History, Keeping, Trace};
use std::cell::Cell;
use std::rc::Rc;

/// Everything that one run follows from.
#[derive(Clone)]
pub struct RunSpec {
    /// The seed of every draw.
    pub seed: Seed,
    /// The lock.
    pub client: &'static Definition,
    /// The families that the plan was drawn from.
    pub families: Families,
    /// The deployment, the workload and the habits, with the lengths that the seed drew if the
    /// families are a swarm.
    pub scenario: Rc<Scenario>,
    /// What goes wrong.
    pub plan: FaultPlan,
}

/// What a run leaves behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunOutcome {
    /// What happened.
    pub history: History,
    /// How long it took in virtual time.
    pub virtual_time: SimTime,
    /// How many messages were sent.
    pub messages: u64,
    /// How many events the world handled.
    pub events: u64,
    /// The messages on the wire, if they were recorded.
    pub trace: Option<Trace>,
    /// When which node had a turn, in order, if that was recorded.
    pub turns: Vec<(SimTime, Node)>,
    /// When a message was held up, or one that had been was tried again, and from whom to whom, in
    /// order, if turns were recorded.
    pub held_up: Vec<(SimTime, (Node, Node))>,
    /// The lives of the user's own programs, if the lock is in such.
    pub programs: Vec<Life>,
    /// How often a planted mistake was made, if one is planted.
    pub altered: u64,
}

/// What a run writes down. The history is the same either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recording {
    /// The history.
    History,
    /// The history, and when messages with content were under way between whom.
    Commands,
    /// The history, and every message on the wire.
    Wire,
    /// The history, when every message was under way between whom, and when it was held up. The fast
    /// engine also tells when which node had a turn.
    Turns,
}

impl Recording {
    fn detail(self) -> Option<Detail> {
        match self {
            Recording::History => None,
            Recording::Commands => Some(Detail::Times),
            Recording::Turns => Some(Detail::Ways),
            Recording::Wire => Some(Detail::Words),
        }
    }
}

/// A run that cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidRun {
    /// The scenario, the lock and the faults do not go together.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The plan names a node that is not in the deployment.
    #[error(
        "fault {fault} of the plan names {node}, which is not in the deployment: expected one of \
         {valid}"
    )]
    UnknownNode {
        /// The id of the fault.
        fault: u32,
        /// The node.
        node: Node,
        /// The nodes that there are.
        valid: String,
    },
    /// A fault of the plan comes too late, or lasts too long.
    #[error("fault {fault} of the plan is not over after 100 days: expected less")]
    Beyond {
        /// The id of the fault.
        fault: u32,
    },
    /// Two faults of the plan hold the same thing at once.
    #[error(
        "faults {earlier} and {later} of the plan do the same to the same node at once: expected \
         one after the other"
    )]
    Collision {
        /// The id of the one that begins first.
        earlier: u32,
        /// The id of the other.
        later: u32,
    },
}

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

    /// Checks that the lock fits the scenario, and the plan the deployment. Errors name the value,
    /// or the fault and the node.
    pub fn validate(&self) -> Result<(), InvalidRun> {
        fits(&self.scenario, self.client, &self.families)?;
        if let Some(fault) = self.plan.beyond() {
            return Err(InvalidRun::Beyond { fault });
        }
        let targets = self.scenario.setting(self.topology()).targets();
        if let Some((fault, node)) = self.plan.unknown_node(&targets) {
            let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
            return Err(InvalidRun::UnknownNode { fault, node, valid: names.join(", ") });
        }
        match self.plan.collision() {
            Some((earlier, later)) => {
                Err(InvalidRun::Collision { earlier: earlier.id, later: later.id })
            }
            None => Ok(()),
        }
    }

    /// The servers that the run needs.
    pub fn topology(&self) -> Topology {
        self.scenario.topology(self.client, &self.families)
    }

    /// Runs it. The same spec gives the same outcome, byte for byte, in both engines. Panics if it
    /// asks for threads of a lock that knows none; [`RunSpec::validate`] says so.
    pub fn run(&self, engine: Engine) -> Result<RunOutcome, EngineError> {
        self.run_recording(engine, Recording::History)
    }

    /// Runs it and writes down what is asked for.
    pub fn run_recording(
        &self,
        engine: Engine,
        recording: Recording,
    ) -> Result<RunOutcome, EngineError> {
        let recorder = Rc::new(Recorder::default());
        let always = self.scenario.availability.map(|bound| bound.0);
        recorder.tell_silences_beyond(self.silence_bound(), always);
        let roster =
            Rc::new(Roster::new(self.seed, &members(&self.scenario), self.scenario.cycles));
        let healed_at = network::align_up(self.plan.heals_at(), self.scenario.quantum.0);
        let altered = Rc::new(Cell::new(0));
        let mutant = self.scenario.mutant;
        let deployment = Deployment {
            seed: self.seed,
            client: self.client,
            scenario: self.scenario.clone(),
            topology: self.topology(),
            healed_at,
            progress_bound: self.progress_bound(),
            recorder: recorder.clone(),
            roster: roster.clone(),
            desk: Rc::default(),
            lives: Rc::default(),
            mutate: mutant.map(|mutant| (mutant.plant)(mutant.name, altered.clone())),
        };
        let lives = deployment.lives.clone();
        let latency = self.scenario.latency;
        let setup = Setup {
            seed: self.seed,
            quantum: self.scenario.quantum.0,
            latency: (latency.min.0, latency.max.0),
            hosts: deployment.hosts(),
            recorder: recorder.clone(),
            roster,
            plan: self.plan.clone(),
            healed_at,
            limit: SimTime(self.scenario.max_time.0.0),
            pace: self.pace(),
            records: Records { wire: recording.detail(), turns: recording == Recording::Turns },
        };
        let kernel = setup.run(engine)?;
        let (virtual_time, messages, events) =
            kernel.with(|state| (state.now, state.messages_sent, state.events));
        let history = History {
            format: FORMAT.to_owned(),
            version: VERSION,
            header: self.header(),
            events: recorder.take(),
        };
        let trace = kernel.with(|state| state.wire.take()).map(|wire| wire.into_trace());
        let (turns, held_up) = kernel.with(|state| (state.take_turns(), state.take_held_up()));
        let programs = lives.take();
        let altered = altered.get();
        Ok(RunOutcome {
            history,
            virtual_time,
            messages,
            events,
            trace,
            turns,
            held_up,
            programs,
            altered,
        })
    }

    /// What decides how long a message takes. Where one link is slow, no other counts.
    fn pace(&self) -> Pace {
        match (self.scenario.slow_link, self.scenario.strategy) {
            (Some(link), _) => Pace::SlowOnly(link.nodes()),
            (None, Strategy::Pct) => Pace::Priorities,
            (None, Strategy::Uniform | Strategy::Aimed) => Pace::Drawn,
        }
    }

    /// After healing, an acquire must succeed within this span: ttl + the greatest backward step of
    /// any clock + what the coordinator needs to recover + the longest silence of a healed link + a
    /// command timeout + a retry.
    pub fn progress_bound(&self) -> Micros {
        let scenario = &self.scenario;
        let step_back = self.plan.server_clock_back_max();
        let recovery = (self.coordinator().recovery)(scenario, self.topology());
        let silence = network::RETRY_CAP.max(network::CONNECT_RETRY_CAP);
        self.lease()
            + step_back
            + recovery
            + silence
            + scenario.command_timeout.0
            + scenario.retry.max.0
    }

    /// Whoever asks for a fair lock has its place within this span: a command timeout and a retry.
    /// After faults a server has to be found again first, and until the lock can be had nobody has
    /// a place. An ensemble that keeps sessions elects a leader first, even without a fault.
    fn order_bound(&self) -> Micros {
        let starts_at_once = !self.client.deployment.lives_with_session();
        match self.plan.faults.is_empty() && starts_at_once {
            true => self.scenario.command_timeout.0 + self.scenario.retry.max.0,
            false => self.progress_bound(),
        }
    }

    /// A process that waits for a free lock sends something within this span: what it waits for is
    /// over after a lease, a command timeout and a retry. A session may outlive its timeout by a
    /// tick, and begins it anew with each leader, so that there it is as long as for progress; and
    /// so it is where a process waits in the queue of a database.
    fn silence_bound(&self) -> Micros {
        let scenario = &self.scenario;
        let deployment = self.client.deployment;
        if deployment.lives_with_session() || deployment.keeps() == Some(Keeps::Connection) {
            return self.progress_bound();
        }
        self.lease() + scenario.command_timeout.0 + scenario.retry.max.0
    }

    /// That a free lock is had within a span while enough servers run: one of those that follow one
    /// another (both where a commit waits for the other), a majority of those that decide together.
    fn availability(&self, bound_us: Micros) -> Availability {
        let (servers, needed) = match self.topology() {
            Topology::Standalone => (1, 1),
            Topology::Replicated { replicas, .. } => (1 + replicas, 1),
            Topology::Independent { masters, quorum } => (masters, quorum),
            Topology::Ensemble { servers } => (servers, servers / 2 + 1),
            Topology::Standby { .. } if self.scenario.standby == Some(Standby::Synchronous) => {
                (2, 2)
            }
            Topology::Standby { .. } => (2, 1),
        };
        Availability { bound_us, servers, needed }
    }

    fn coordinator(&self) -> &'static Entry {
        entry(self.client.deployment.coordinator())
    }

    /// How long a server keeps a lock of which it hears nothing.
    fn lease(&self) -> Micros {
        (self.coordinator().lease)(self.scenario.ttl.0)
    }

    /// The key of the lock at the servers.
    fn lock_key(&self) -> String {
        let program = self.scenario.program(self.client);
        program.map_or_else(|| RESOURCE.to_owned(), |program| program.lock_key.clone())
    }

    fn header(&self) -> Header {
        let quorum = match self.topology() {
            Topology::Independent { quorum, .. } => quorum,
            _ => 1,
        };
        Header {
            client: self.client.name.to_owned(),
            fault: self.families.clone(),
            seed: self.seed,
            resource: self.lock_key(),
            ttl_us: self.lease(),
            quorum,
            has_tokens: self.client.has_tokens,
            workload: self.scenario.workload,
            storage: self.scenario.storage,
            progress_bound_us: self.progress_bound(),
            faults_planned: self.plan.faults.len() as u32,
            held_bound_us: self.scenario.held_bound.map(|bound| bound.0),
            lives_with_session: self.client.deployment.lives_with_session(),
            kept_as: self.client.deployment.keeps().map(keeping),
            order_bound_us: self.client.is_fair.then(|| self.order_bound()),
            availability: self.scenario.availability.map(|bound| self.availability(bound.0)),
        }
    }
}

/// What a history says of what a database keeps.
fn keeping(keeps: Keeps) -> Keeping {
    match keeps {
        Keeps::RowByClients => Keeping::RowByClients,
        Keeps::RowByServer => Keeping::RowByServer,
        Keeps::Connection => Keeping::Connection,
        Keeps::Lease => Keeping::Lease,
    }
}

/// The wall clock at the start of every run, in microseconds since the Unix epoch.
pub const WALL_EPOCH_US: i64 = node_clock::WALL_EPOCH_US;
