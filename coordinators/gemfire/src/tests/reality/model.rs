use super::System;
use crate::tests::world::World;
use fencepost_machine::ConnectionId;
use fencepost_testing::Crash;

#[derive(Default)]
struct Process {
    name: String,
    is_alive: bool,
    serial: u64,
    call: Option<Call>,
    held: Vec<(String, u64, String)>,
}

struct Call {
    lock: String,
    until_ms: u64,
    lease_ms: u64,
    asked: Option<(ConnectionId, u64)>,
}

pub(super) struct Model {
    world: World,
    processes: Vec<Process>,
    lives: u32,
}

impl Model {
    pub(super) fn started() -> Model {
        let processes = (0..3).map(|_| Process::default()).collect();
        let mut model = Model { world: World::of(3), processes, lives: 0 };
        (0..3).for_each(|who| model.start(who));
        model.pass(1_000);
        model
    }

    fn version(&self) -> Option<u64> {
        let at = self.world.grantor()?;
        Some(self.world.numbers(at).1)
    }

    fn ask_again(&mut self) {
        let (now, version) = (self.now_ms(), self.version());
        for process in self.processes.iter_mut().filter(|process| process.is_alive) {
            let Some(call) = &mut process.call else { continue };
            if call.asked.map(|(_, version)| version) == version {
                continue;
            }
            let Some(version) = version else { continue };
            let wait_us = call.until_ms.saturating_sub(now) * 1_000;
            let words = format!("{} {} {wait_us} {}", call.lock, process.serial, call.lease_ms);
            call.asked = Some((self.world.lock(&process.name, &words), version));
        }
    }

    fn report_held(&mut self) {
        for process in &self.processes {
            let words = |(lock, serial, end): &_| format!("{lock} {serial} {end}");
            let held: Vec<String> = process.held.iter().map(words).collect();
            self.world.holds(&process.name, &held.join(" "));
        }
    }
}

impl System for Model {
    fn begin(&mut self, who: usize, lock: &str, wait_ms: u64, lease_ms: u64) {
        let until_ms = self.now_ms() + wait_ms;
        let process = &mut self.processes[who];
        process.serial += 1;
        process.call = Some(Call { lock: lock.to_owned(), until_ms, lease_ms, asked: None });
        self.ask_again();
    }

    fn outcome(&mut self, who: usize) -> Option<bool> {
        let process = &mut self.processes[who];
        let asked = process.call.as_ref()?.asked;
        let heard = self.world.received(asked?.0);
        if heard.is_empty() || heard == "not-grantor" || heard == "busy" {
            return None;
        }
        let call = process.call.take()?;
        let end = heard.strip_prefix("granted ");
        process.held.extend(end.map(|end| (call.lock, process.serial, end.to_owned())));
        let is_granted = end.is_some();
        self.report_held();
        Some(is_granted)
    }

    fn unlock(&mut self, who: usize, lock: &str) -> bool {
        let process = &mut self.processes[who];
        let Some(at) = process.held.iter().position(|(held, ..)| held == lock) else {
            return false;
        };
        let (_, serial, _) = process.held.remove(at);
        let name = process.name.clone();
        self.report_held();
        self.world.unlock(&name, &format!("{lock} {serial}")) == "unlocked"
    }

    fn pass(&mut self, span_ms: u64) {
        for _ in 0..span_ms.div_ceil(20) {
            self.ask_again();
            let alive = self.processes.iter().filter(|process| process.is_alive);
            let names: Vec<&str> = alive.map(|process| process.name.as_str()).collect();
            self.world.send_heartbeats_for(&names, 20);
        }
    }

    fn now_ms(&self) -> u64 {
        self.world.now_us / 1_000
    }

    fn kill(&mut self, who: usize) {
        let process = std::mem::take(&mut self.processes[who]);
        self.world.end(&process.name);
    }

    fn stop(&mut self, who: usize) {
        self.processes[who].is_alive = false;
    }

    fn resume(&mut self, who: usize) {
        self.processes[who].is_alive = true;
    }

    fn start(&mut self, who: usize) {
        self.lives += 1;
        let name = format!("{}{}", ["a", "b", "c"][who], self.lives);
        self.world.join(&name);
        self.processes[who] = Process { name, is_alive: true, ..Process::default() };
    }

    fn kill_grantor(&mut self) {
        let at = self.world.grantor().unwrap();
        self.world.crash(at, Crash::Process);
    }

    fn kill_majority(&mut self) {
        let view = self.world.view(0);
        assert_eq!(view, [1, 2]);
        self.world.crash(0, Crash::Process);
    }

    fn has_given_up(&mut self) -> bool {
        self.world.view(1).is_empty()
    }
}
