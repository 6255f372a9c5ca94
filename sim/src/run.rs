//! Runs a plan and records its history.

mod aimed;
mod bounds;
mod draw;
pub mod fit;
mod header;
pub(crate) mod parallel;
mod places;
mod recording;
mod spec;
mod validate;
pub mod verdicts;
mod window;

pub use recording::{Recording, RunOutcome};
pub use spec::RunSpec;
pub use validate::InvalidRun;

use crate::engine::{Engine, EngineError, Records, Setup};
use crate::hosts::deployment::{Deployment, members};
use crate::hosts::programs::record::{Life, end_dead};
use crate::hosts::programs::watched::{Watched, watch};
use crate::setup::places::RESOURCE;
use crate::setup::roster::Roster;
use crate::setup::scenario::Strategy;
use crate::setup::span::Span;
use crate::world::failing_syncs::FailingSyncs;
use crate::world::network::Pace;
use crate::world::recorder::{EarlySilences, Recorder};
use crate::world::{network, node_clock};
use fencepost_faults::{Micros, SimTime};
use fencepost_reports::record::history::{FORMAT, VERSION};
use fencepost_reports::{Event, History, Keeping, What};
use std::cell::Cell;
use std::rc::Rc;

impl RunSpec {
    /// Panics if the lock does not support the scenario's threads (see [`RunSpec::validate`]).
    pub fn run(&self, engine: Engine) -> Result<RunOutcome, EngineError> {
        self.run_recording(engine, Recording::History)
    }

    pub fn run_recording(
        &self,
        engine: Engine,
        recording: Recording,
    ) -> Result<RunOutcome, EngineError> {
        self.run_with_silences(engine, recording, Some(self.early_silences()))
    }

    /// Except for programs, records no silences for the default availability bound, because this
    /// bound must not move aimed faults.
    fn run_as_scout(&self, recording: Recording) -> Result<RunOutcome, EngineError> {
        let early = match self.early_silences() {
            EarlySilences::WhileUnused(_) => None,
            early => Some(early),
        };
        self.run_with_silences(Engine::Fast, recording, early)
    }

    fn early_silences(&self) -> EarlySilences {
        let bound = self.availability().bound_us;
        let is_stated = self.scenario.availability.is_some();
        match is_stated || self.scenario.program(self.client).is_some() {
            true => EarlySilences::All(bound),
            false => EarlySilences::WhileUnused(bound),
        }
    }

    fn run_with_silences(
        &self,
        engine: Engine,
        recording: Recording,
        early: Option<EarlySilences>,
    ) -> Result<RunOutcome, EngineError> {
        let recorder = Rc::new(Recorder::default());
        recorder.report_silences_beyond(self.silence_bound(), early);
        if self.scenario.program(self.client).is_some() {
            recorder.attribute_to_machines();
        }
        let roster =
            Rc::new(Roster::new(self.seed, &members(&self.scenario), self.scenario.cycles));
        let healed_at = network::align_up(self.heals_at(), self.scenario.timing.quantum.0);
        let altered = Rc::new(Cell::new(0));
        let deployment = Deployment {
            seed: self.seed,
            client: self.client,
            scenario: self.scenario.clone(),
            topology: self.topology(),
            healed_at,
            warm_up: self.warm_up(),
            progress_bound: self.progress_bound(),
            recorder: recorder.clone(),
            roster: roster.clone(),
            desk: Rc::default(),
            lives: Rc::default(),
            server_lives: Rc::default(),
            mutate: self.scenario.mutant.map(|mutant| (mutant.plant)(mutant.name, altered.clone())),
        };
        let (lives, server_lives) = (deployment.lives.clone(), deployment.server_lives.clone());
        let setup = Setup {
            seed: self.seed,
            warm_up: self.warm_up(),
            quantum: self.scenario.timing.quantum.0,
            latency: self.latency(),
            hosts: deployment.hosts(),
            recorder: recorder.clone(),
            roster,
            plan: self.plan.clone(),
            healed_at,
            failing_syncs: self.failing_syncs(),
            limit: SimTime(self.scenario.timing.max_time.0.0),
            pace: self.pace(),
            records: Records { wire: recording.detail(), turns: recording == Recording::Turns },
        };
        let kernel = setup.run(engine)?;
        let (virtual_time, messages, events) =
            kernel.with(|state| (state.run_time(), state.messages_sent, state.events));
        let mut programs = lives.take();
        let (history, watched) = self.history(&recorder, &mut programs);
        let wire = kernel.with(|state| state.wire.take()).map(|wire| wire.into_trace());
        let (trace, carried) = wire.unzip();
        let (turns, held_up) = kernel.with(|state| (state.take_turns(), state.take_held_up()));
        drop(kernel);
        Ok(RunOutcome {
            history,
            virtual_time,
            messages,
            events,
            trace,
            carried: carried.unwrap_or_default(),
            turns,
            held_up,
            programs,
            servers: server_lives.take(),
            watched,
            altered: altered.get(),
        })
    }

    fn latency(&self) -> (Micros, Micros) {
        let latency = self.scenario.timing.latency;
        (latency.min.0, latency.max.0)
    }

    /// Builds the history after the run, when the key of a program's lock is known.
    fn history(&self, recorder: &Recorder, programs: &mut [Life]) -> (History, Option<Watched>) {
        let mut events = recorder.take();
        let watched = self.scenario.program(self.client).map(|program| {
            end_dead(programs, &mut events);
            let (kept, watched) = {
                let coordinator = program.coordinator;
                watch(std::mem::take(&mut events), &program.lock_key, coordinator)
            };
            events = kept;
            watched
        });
        let resource = watched.as_ref().map_or(RESOURCE, Watched::resource);
        let (mut header, ended) = (self.header(resource), recorder.ended());
        if watched.is_some() && header.kept_as == Some(Keeping::Connection) && has_lease(&events) {
            header.kept_as = Some(Keeping::RowByClients);
        }
        let history =
            History { format: FORMAT.to_owned(), version: VERSION, header, events, ended };
        (history, watched)
    }

    fn heals_at(&self) -> SimTime {
        let syncs = self.failing_syncs().map_or(SimTime::ZERO, |failing| failing.until);
        self.plan.heals_at().max(syncs)
    }

    fn failing_syncs(&self) -> Option<FailingSyncs> {
        let window = self.scenario.timing.sync_fails?;
        let at = |span: Span| SimTime::ZERO + span.0;
        let error = self.scenario.servers.sync_error.error();
        Some(FailingSyncs { from: at(window.min), until: at(window.max), error })
    }

    fn pace(&self) -> Pace {
        match (self.scenario.timing.slow_link, self.scenario.strategy) {
            (Some(link), _) => Pace::SlowOnly(link.nodes()),
            (None, Strategy::Pct) => Pace::Priorities,
            (None, Strategy::Uniform | Strategy::Aimed) => Pace::Drawn,
        }
    }
}

fn has_lease(events: &[Event]) -> bool {
    let is_leased = |event: &Event| matches!(event.what, What::Server { lease_us: Some(_), .. });
    events.iter().any(is_leased)
}

/// Wall clock at the start of every run, in microseconds since the Unix epoch.
pub const WALL_EPOCH_US: i64 = node_clock::WALL_EPOCH_US;
