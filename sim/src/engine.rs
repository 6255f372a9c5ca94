//! Engines. An engine executes a run's events in order and carries its bytes.

#[cfg(test)]
mod ahead_tests;
pub(crate) mod deadline;
mod fast;
mod setup;
#[cfg(test)]
mod tests;
mod turmoil;

pub(crate) use setup::{Records, Setup};

use crate::hosts::nemesis::Nemesis;
use crate::setup::roster::Roster;
use crate::world::agenda::NEMESIS;
use crate::world::carrier::Carrier;
use crate::world::kernel::Kernel;
use crate::world::state::{Due, State};
use clap::ValueEnum;
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{Ended, WhyEnded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use strum::IntoStaticStr;

/// Engine that executes a run. For the same run, all engines give the same history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Engine {
    /// Unmodified turmoil, the reference engine. All bytes pass through turmoil's simulated TCP.
    Turmoil,
    /// fencepost's own discrete-event loop, which is faster.
    Fast,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    #[error("{0} makes no progress: its tasks run forever at one instant of virtual time")]
    Livelock(Node),
    #[error("the engines recorded different histories: event {0} is the first that differs")]
    Differ(u64),
    #[error(
        "the program is not reproducible (event {0} differs between two runs): check whether \
         something outside the simulation changes, such as a file that the program reads"
    )]
    ProgramDiffers(u64),
    #[error("the time budget ran out before the run ended")]
    OutOfTime,
    #[error("turmoil stopped: {0}")]
    Turmoil(String),
}

pub(crate) struct EngineRun {
    pub(crate) nemesis: Nemesis,
    pub(crate) roster: Rc<Roster>,
    pub(crate) limit: SimTime,
}

impl EngineRun {
    fn next(&self, kernel: &Kernel) -> Option<Due> {
        self.admit(kernel.with(|state| state.next()))
    }

    fn admit(&self, next: Option<Due>) -> Option<Due> {
        next.filter(|(at, _)| *at <= self.limit && !self.roster.is_finished())
    }

    fn ended(&self, state: &State) -> Ended {
        let why = match (self.roster.is_finished(), state.is_wakeup_possible()) {
            (true, _) => WhyEnded::Finished,
            (false, true) => WhyEnded::TimeLimit,
            (false, false) => WhyEnded::NothingAhead,
        };
        let at_us = match why {
            WhyEnded::Finished => state.now,
            _ => self.limit.max(state.now),
        };
        Ended { at_us: SimTime::ZERO + at_us.since(state.begins_at), why }
    }

    #[inline(always)]
    fn begin(&self, kernel: &Kernel, (at, whose): Due) -> bool {
        kernel.with(|state| {
            state.now = at;
            state.recorder.set_now(state.run_time());
        });
        let is_due = whose == NEMESIS;
        if is_due {
            self.nemesis.turn(kernel);
        }
        is_due
    }
}

impl Engine {
    fn prepare(self, nodes: &[Node]) -> (Box<dyn Carrier>, Runner) {
        match self {
            Engine::Fast => (Box::new(crate::world::carrier::Direct::default()), Runner::Fast),
            Engine::Turmoil => {
                let wires = turmoil::TurmoilNetwork::new(nodes);
                (Box::new(wires.clone()), Runner::Turmoil(wires))
            }
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

enum Runner {
    Fast,
    Turmoil(turmoil::TurmoilNetwork),
}

impl Runner {
    fn run(self, kernel: &Rc<Kernel>, course: &EngineRun) -> Result<(), EngineError> {
        let result = match self {
            Runner::Fast => fast::run(kernel, course),
            Runner::Turmoil(wires) => turmoil::run(kernel, course, &wires),
        };
        kernel.with(|state| {
            let ended = course.ended(state);
            state.recorder.run_ends(ended);
        });
        kernel.shut_down();
        result
    }
}

fn check(kernel: &Kernel) -> Result<(), EngineError> {
    kernel.livelock().map_or(Ok(()), |node| Err(EngineError::Livelock(node)))
}
