//! Servers on one thread, with a manual clock, injected faults and disks in memory.

mod clock;
mod event;
mod faults;
mod network;
mod server;
mod traffic;
mod trap;

pub use event::Place;
pub use server::{MachineRebuilder, StagedServer, Start};
pub use trap::{LostMessage, Matcher, Trap};

use crate::staged::Sent;
use event::{Content, End, Event, Message};
use fencepost_machine::{DiskReply, Input, Now, Output, Outputs, TapEvent, WallTime};
use network::Network;
use server::Server;
use std::collections::BTreeMap;

const EVENTS_MAX: u64 = 1_000_000;

pub struct Stage {
    now_us: u64,
    beginning: WallTime,
    servers: Vec<Server>,
    network: Network,
    queue: BTreeMap<(u64, u64), Event>,
    scheduled: u64,
    outside: BTreeMap<u64, End>,
    sent: Vec<(u64, Sent)>,
    traps: Vec<Trap>,
    records: Vec<Record>,
    outputs: Outputs,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    pub at_us: u64,
    /// Index of the server in the list passed to [`Stage::new`].
    pub server: usize,
    pub what: StageRecord,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StageRecord {
    Tap(TapEvent),
    /// Id of the trap that lost a command or its reply.
    Triggered(u32),
}

impl Stage {
    /// Starts all servers. Wall clocks start at `beginning` and monotonic clocks at 0.
    pub fn new(beginning: WallTime, servers: impl IntoIterator<Item = StagedServer>) -> Stage {
        let mut stage = Stage {
            now_us: 0,
            beginning,
            servers: servers.into_iter().map(Server::new).collect(),
            network: Network::default(),
            queue: BTreeMap::new(),
            scheduled: 0,
            outside: BTreeMap::new(),
            sent: Vec::new(),
            traps: Vec::new(),
            records: Vec::new(),
            outputs: Outputs::default(),
        };
        (0..stage.servers.len()).for_each(|server| stage.start(server));
        stage.settle();
        stage
    }

    /// Restarts all servers at time 0, with empty disks and without faults or connections.
    pub fn reset(&mut self) {
        let outside: Vec<u64> = self.outside.keys().copied().collect();
        let mut sent = std::mem::take(&mut self.sent);
        sent.extend(outside.into_iter().map(|outside| (outside, Sent::Close)));
        let servers = std::mem::take(&mut self.servers);
        let again = |old: Server| StagedServer { role: "", port: old.port, boot: old.boot };
        *self = Stage::new(self.beginning, servers.into_iter().map(again));
        sent.append(&mut self.sent);
        self.sent = sent;
    }

    pub fn now_us(&self) -> u64 {
        self.now_us
    }

    /// Returns the wall-clock time of a server without clock faults.
    pub fn wall(&self) -> WallTime {
        WallTime(self.beginning.0.saturating_add_unsigned(self.now_us))
    }

    pub fn count(&self) -> usize {
        self.servers.len()
    }

    pub fn port(&self, server: usize) -> u16 {
        self.servers[server].port
    }

    pub fn take_sent(&mut self) -> Vec<(u64, Sent)> {
        std::mem::take(&mut self.sent)
    }

    pub fn take_records(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// Returns the time of the next event, in microseconds since the stage began.
    pub fn next_us(&self) -> Option<u64> {
        self.queue.first_key_value().map(|((at_us, _), _)| *at_us)
    }

    /// Runs the servers until `end_us`. Returns `false` if too many events happen at one instant.
    pub fn advance_to(&mut self, end_us: u64) -> bool {
        let end_us = end_us.max(self.now_us);
        let comes_to_rest = self.run_until(end_us);
        self.now_us = end_us;
        comes_to_rest
    }

    fn settle(&mut self) -> bool {
        self.run_until(self.now_us)
    }

    fn run_until(&mut self, end_us: u64) -> bool {
        let mut in_this_instant = 0;
        while let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= end_us) {
            let ((at_us, _), event) = entry.remove_entry();
            in_this_instant = if at_us > self.now_us { 0 } else { in_this_instant + 1 };
            if in_this_instant > EVENTS_MAX {
                return false;
            }
            self.now_us = self.now_us.max(at_us);
            self.arrive(event);
        }
        true
    }

    fn arrive(&mut self, event: Event) {
        let event = match event {
            Event::Message(message) => match self.network.pass(message) {
                Some(message) => Event::Message(message),
                None => return,
            },
            event => event,
        };
        let Some(server) = event.server() else { return self.happen(event) };
        let host = &mut self.servers[server];
        match event {
            Event::Free { .. } if host.must_wait(&event) => host.arriving.push_front(event),
            Event::Free { .. } => {
                self.happen(event);
                self.catch_up(server);
            }
            event if host.must_wait(&event) || !host.arriving.is_empty() => {
                host.arriving.push_back(event);
            }
            event => self.happen(event),
        }
    }

    fn catch_up(&mut self, server: usize) {
        while let Some(event) = self.servers[server].arriving.pop_front() {
            if self.servers[server].must_wait(&event) {
                self.servers[server].arriving.push_front(event);
                return;
            }
            self.happen(event);
        }
    }

    fn schedule(&mut self, after_us: u64, event: Event) {
        self.schedule_at(self.now_us.saturating_add(after_us), event);
    }

    fn schedule_at(&mut self, at_us: u64, event: Event) {
        self.scheduled += 1;
        self.queue.insert((at_us, self.scheduled), event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Timer { server, timer } if self.servers[server].timer == timer => {
                self.servers[server].wake_at_us = None;
                self.input(server, Input::Timer);
            }
            Event::Continue { server, life } if self.is_life(server, life) => {
                self.input(server, Input::Continue);
            }
            Event::Synced { server, life } if self.is_life(server, life) => {
                let synced = self.servers[server].disk.finish_sync();
                self.input(server, synced);
            }
            Event::Free { server, life } if self.is_life(server, life) => {
                self.servers[server].is_busy = false;
                let leaving = std::mem::take(&mut self.servers[server].leaving);
                leaving.into_iter().for_each(|output| self.carry_out(server, output));
            }
            Event::Timer { .. }
            | Event::Continue { .. }
            | Event::Synced { .. }
            | Event::Free { .. } => {}
            Event::Message(message) => self.deliver(message),
        }
    }

    fn is_life(&self, server: usize, life: u64) -> bool {
        self.servers[server].life == life
    }

    fn clocks(&self, server: usize) -> Now {
        self.servers[server].clock.both(self.beginning, self.now_us)
    }

    fn input(&mut self, server: usize, input: Input<'_>) {
        self.input_through(server, input, |_| {});
    }

    fn input_through(
        &mut self,
        server: usize,
        input: Input<'_>,
        through: impl FnOnce(&mut Outputs),
    ) {
        let now = self.clocks(server);
        let Some(machine) = &mut self.servers[server].machine else { return };
        let mut out = std::mem::take(&mut self.outputs);
        out.clear();
        machine.handle(input, now, &mut out);
        through(&mut out);
        let (has_ended, cost_us) = (out.stopped, self.cost_us(server, out.commands));
        if cost_us > 0 {
            let host = &mut self.servers[server];
            host.is_busy = true;
            host.leaving.append(&mut out.list);
            let free = Event::Free { server, life: host.life };
            self.schedule(cost_us, free);
        }
        out.list.drain(..).for_each(|output| self.carry_out(server, output));
        if out.more {
            let life = self.servers[server].life;
            self.schedule(0, Event::Continue { server, life });
        }
        self.outputs = out;
        if has_ended {
            self.end_process(server);
        }
    }

    fn cost_us(&self, server: usize, commands: u32) -> u64 {
        let each: u64 = self.servers[server].slowed.iter().map(|(_, extra_us)| extra_us).sum();
        each.saturating_mul(u64::from(commands))
    }

    fn carry_out(&mut self, server: usize, output: Output) {
        match output {
            Output::Send { connection, bytes } => self.send(server, connection, bytes),
            Output::Close { connection } | Output::Abort { connection } => {
                self.hang_up(server, connection);
            }
            Output::Connect { connection, port, .. } => self.connect((server, connection), port),
            Output::WakeAfter { micros } => {
                let shown_us = self.servers[server].clock.monotonic_us(self.now_us);
                self.servers[server].wake_at_us = Some(shown_us.saturating_add(micros.max(1)));
                self.set_timer(server);
            }
            Output::Tap(tap) => self.record(server, StageRecord::Tap(tap)),
            Output::Damaged(_) | Output::Notice(_) => {}
            output => {
                let host = &mut self.servers[server];
                if host.disk.apply(&output) == DiskReply::Sync {
                    let synced = Event::Synced { server, life: host.life };
                    self.schedule(0, synced);
                }
            }
        }
    }

    fn set_timer(&mut self, server: usize) {
        let host = &mut self.servers[server];
        host.timer += 1;
        let Some(wake_at_us) = host.wake_at_us else { return };
        let (timer, at_us) = (host.timer, host.clock.reaches_us(wake_at_us));
        self.schedule_at(at_us.max(self.now_us), Event::Timer { server, timer });
    }

    fn record(&mut self, server: usize, what: StageRecord) {
        self.records.push(Record { at_us: self.now_us, server, what });
    }

    fn start(&mut self, server: usize) {
        let now = self.clocks(server);
        let host = &mut self.servers[server];
        let is_first = host.life == 0;
        host.life += 1;
        host.timer += 1;
        let seed = host.life << 8 | server as u64;
        host.machine = Some((host.boot)(Start { disk: host.disk.image(), seed, is_first, now }));
        self.input(server, Input::Timer);
    }

    fn post(&mut self, from: Place, to: Place, content: Content) {
        let message = Message { from, to, content };
        let at_us = self.network.arrival_us(&message, self.now_us);
        self.schedule_at(at_us, Event::Message(message));
    }
}
