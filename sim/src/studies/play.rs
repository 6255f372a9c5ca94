//! Plays the fault plan of a seed on served machines in real time.

mod drawn;
mod effect;
mod schedule;

pub(crate) use drawn::{Drawing, draw};

use bytes::Bytes;
use drawn::Drawn;
use effect::Stagehand;
use fencepost_faults::{Micros, Node, SimTime, TimedFault};
use fencepost_machine::WallTime;
use fencepost_serve::{Sent, Stage, Staged, StagedServer};
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
    stagehand: Stagehand,
    sockets: BTreeMap<u64, usize>,
    schedule: Schedule,
    log: Box<dyn FnMut(String)>,
    is_over: bool,
}

impl Playing {
    /// The servers must be in the order of the plan's nodes.
    pub(crate) fn new(
        (beginning, servers): (WallTime, Vec<StagedServer>),
        drawn: &Drawn,
        rounds: Rounds,
        log: Box<dyn FnMut(String)>,
    ) -> Playing {
        let mut playing = Playing {
            stagehand: Stagehand::new(Stage::new(beginning, servers), drawn.nodes.clone()),
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
            let port = self.stagehand.stage().port(number);
            (self.log)(format!("{node} is the server at port {port}"));
        }
        (self.log)(format!("{} is all clients", Node::Client(1)));
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
                self.tell(&format!("round {round} of {count}"));
            }
            Step::Round(_) => {}
            Step::Begin(timed) => match self.stagehand.begin(&timed.fault, timed.id) {
                Ok(()) => self.tell_of("begins", &timed),
                Err(reason) => self.tell_of(&format!("has no effect ({reason})"), &timed),
            },
            Step::End(timed) => {
                if self.stagehand.end(&timed.fault, timed.id) {
                    self.tell_of("ends", &timed);
                }
            }
            Step::Over => self.is_over = true,
        }
    }

    fn tell_of_sprung(&mut self) {
        for id in self.stagehand.take_sprung() {
            if let Some(timed) = self.schedule.fault(id) {
                self.tell_of("strikes", &timed);
            }
        }
    }

    fn tell_of(&mut self, what: &str, timed: &TimedFault) {
        self.tell(&format!("{what}: #{} {}", timed.id, timed.fault));
    }

    fn tell(&mut self, what: &str) {
        let stage = self.stagehand.stage();
        let wall = chrono::DateTime::from_timestamp_micros(stage.wall().0).unwrap_or_default();
        let wall = wall.format("%Y-%m-%dT%H:%M:%S%.3fZ");
        let at = SimTime(stage.now_us() / 1_000 * 1_000);
        (self.log)(format!("{wall} +{at} {what}"));
    }
}

impl Staged for Playing {
    fn opened(&mut self, listener: usize, socket: u64, peer: &str) {
        self.sockets.insert(socket, listener);
        self.stagehand.stage_mut().open(listener, socket, peer);
    }

    fn received(&mut self, socket: u64, bytes: &[u8]) {
        if let Some(server) = self.sockets.get(&socket) {
            self.stagehand.stage_mut().receive(*server, socket, bytes);
            self.tell_of_sprung();
        }
    }

    fn closed(&mut self, socket: u64) {
        if let Some(server) = self.sockets.remove(&socket) {
            self.stagehand.stage_mut().close(server, socket);
        }
    }

    fn take_sent(&mut self) -> Vec<(u64, Sent)> {
        self.stagehand.stage_mut().take_sent()
    }

    fn pass(&mut self, now: Duration) {
        let now_us = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        while let Some((at, step)) = self.schedule.take_due(SimTime(now_us)) {
            self.stagehand.stage_mut().advance_to(at.0);
            self.tell_of_sprung();
            self.step(step);
        }
        self.stagehand.stage_mut().advance_to(now_us);
        self.tell_of_sprung();
    }

    fn next(&self) -> Option<Duration> {
        let step = self.schedule.next().map(|at| at.0);
        let times = [step, self.stagehand.stage().next_us()];
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
