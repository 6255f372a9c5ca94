//! Injects a seed's faults into served machines in real time.

mod drawn;
mod effect;
mod schedule;

pub(crate) use drawn::{Drawing, draw};

use bytes::Bytes;
use drawn::Drawn;
use effect::FaultInjector;
use fencepost_faults::{Micros, Node, SimTime, TimedFault};
use fencepost_machine::WallTime;
use fencepost_serve::{Sent, ServedMachines, Stage, StagedServer};
use schedule::{Schedule, Step};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rounds {
    pub(crate) length: Micros,
    pub(crate) count: u32,
    pub(crate) ends: bool,
}

pub(crate) struct Playing {
    injector: FaultInjector,
    sockets: BTreeMap<u64, usize>,
    schedule: Schedule,
    log: Box<dyn FnMut(String)>,
    is_over: bool,
}

impl Playing {
    /// `servers` must be in the order of `drawn.nodes`.
    pub(crate) fn new(
        beginning: WallTime,
        servers: Vec<StagedServer>,
        drawn: &Drawn,
        rounds: Rounds,
        log: Box<dyn FnMut(String)>,
    ) -> Playing {
        let mut playing = Playing {
            injector: FaultInjector::new(Stage::new(beginning, servers), drawn.nodes.clone()),
            sockets: BTreeMap::new(),
            schedule: Schedule::new(drawn.plan.clone(), rounds),
            log,
            is_over: false,
        };
        playing.introduce(drawn);
        playing
    }

    fn introduce(&mut self, drawn: &Drawn) {
        for (number, node) in drawn.nodes.iter().enumerate() {
            let port = self.injector.stage().port(number);
            (self.log)(format!("{node} is the server at port {port}"));
        }
        (self.log)(format!("in the plan, {} represents all clients", Node::Client(1)));
        for timed in &drawn.plan.faults {
            (self.log)(format!("plan: {timed}"));
        }
        for (timed, reason) in &drawn.left_out {
            (self.log)(format!("not played: {timed}: {reason}"));
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Round(round) if self.schedule.rounds().count > 1 => {
                let count = self.schedule.rounds().count;
                self.report(&format!("round {round} of {count}"));
            }
            Step::Round(_) => {}
            Step::Begin(timed) => match self.injector.begin(&timed.fault, timed.id) {
                Ok(()) => self.report_fault("begins", &timed),
                Err(reason) => self.report_fault(&format!("has no effect ({reason})"), &timed),
            },
            Step::End(timed) => {
                if self.injector.end(&timed.fault, timed.id) {
                    self.report_fault("ends", &timed);
                }
            }
            Step::Over => self.is_over = true,
        }
    }

    fn report_triggered_traps(&mut self) {
        for id in self.injector.take_triggered() {
            if let Some(timed) = self.schedule.fault(id) {
                self.report_fault("strikes", &timed);
            }
        }
    }

    fn report_fault(&mut self, what: &str, timed: &TimedFault) {
        self.report(&format!("{what}: #{} {}", timed.id, timed.fault));
    }

    fn report(&mut self, what: &str) {
        let stage = self.injector.stage();
        let wall = chrono::DateTime::from_timestamp_micros(stage.wall().0).unwrap_or_default();
        let wall = wall.format("%Y-%m-%dT%H:%M:%S%.3fZ");
        let at = SimTime(stage.now_us() / 1_000 * 1_000);
        (self.log)(format!("{wall} +{at} {what}"));
    }
}

impl ServedMachines for Playing {
    fn opened(&mut self, listener: usize, socket: u64, peer: &str) {
        self.sockets.insert(socket, listener);
        self.injector.stage_mut().open(listener, socket, peer);
    }

    fn received(&mut self, socket: u64, bytes: &[u8]) {
        if let Some(server) = self.sockets.get(&socket) {
            self.injector.stage_mut().receive(*server, socket, bytes);
            self.report_triggered_traps();
        }
    }

    fn closed(&mut self, socket: u64) {
        if let Some(server) = self.sockets.remove(&socket) {
            self.injector.stage_mut().close(server, socket);
        }
    }

    fn take_sent(&mut self) -> Vec<(u64, Sent)> {
        self.injector.stage_mut().take_sent()
    }

    fn pass(&mut self, now: Duration) {
        let now_us = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        while let Some((at, step)) = self.schedule.take_due(SimTime(now_us)) {
            self.injector.stage_mut().advance_to(at.0);
            self.report_triggered_traps();
            self.step(step);
        }
        self.injector.stage_mut().advance_to(now_us);
        self.report_triggered_traps();
    }

    fn next(&self) -> Option<Duration> {
        let step = self.schedule.next().map(|at| at.0);
        let times = [step, self.injector.stage().next_us()];
        times.into_iter().flatten().min().map(Duration::from_micros)
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

fn command(words: &[&str]) -> Bytes {
    let bulk = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    let all: String = words.iter().map(bulk).collect();
    format!("*{}\r\n{all}", words.len()).into()
}

#[cfg(test)]
mod tests;
