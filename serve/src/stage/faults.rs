//! Faults of a stage: those of its servers, of their clocks, and of the links.

use super::Stage;
use super::event::{Event, Place};
use fencepost_machine::{Disk, Input, OperatorAction};
use std::ops::RangeInclusive;

/// Recognizes a command by the bytes that a client sends.
pub type Matcher = Box<dyn Fn(&[u8]) -> bool>;

/// Loses the next matching command of a client, or its reply, and the connection with it.
pub struct Trap {
    /// Names it in the record, and to remove it.
    pub id: u32,
    /// The server; `None` for any.
    pub server: Option<usize>,
    /// Tests whether bytes of a client are the command.
    pub matches: Matcher,
    /// The lost message.
    pub loses: Loses,
}

/// The message that a trap loses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loses {
    /// The command, which the server does not execute.
    Request,
    /// The reply to the command, which the server executes.
    Reply,
}

impl Trap {
    pub(super) fn springs(&self, server: usize, bytes: &[u8]) -> bool {
        self.server.is_none_or(|of| of == server) && (self.matches)(bytes)
    }
}

impl Stage {
    /// Returns whether the process of a server runs, or is frozen.
    pub fn is_up(&self, server: usize) -> bool {
        self.servers[server].machine.is_some()
    }

    /// Returns whether a server is frozen.
    pub fn is_frozen(&self, server: usize) -> bool {
        self.servers[server].is_frozen
    }

    /// Ends the process of a server; its peers see the ends of their connections.
    pub fn crash(&mut self, server: usize) {
        self.end_process(server);
        self.settle();
    }

    pub(super) fn end_process(&mut self, server: usize) {
        let host = &mut self.servers[server];
        host.end();
        host.disk.process_crash();
        let peers = std::mem::take(&mut host.peers);
        peers.into_values().for_each(|peer| self.report_end(server, peer));
        // Connections in the queue fail.
        self.catch_up(server);
    }

    /// Cuts the power of a server: its peers see nothing, and unsynced data is lost.
    pub fn lose_power(&mut self, server: usize) {
        let host = &mut self.servers[server];
        host.end();
        host.is_dark = true;
        host.disk.power_loss();
        let peers = std::mem::take(&mut host.peers);
        host.unaware.extend(peers.into_values());
        self.settle();
    }

    /// Starts a server that is down. Peers learn now that a power loss ended their connections.
    pub fn restart(&mut self, server: usize) {
        self.servers[server].is_dark = false;
        let unaware = std::mem::take(&mut self.servers[server].unaware);
        unaware.into_iter().for_each(|peer| self.report_end(server, peer));
        self.start(server);
        self.catch_up(server);
        self.settle();
    }

    /// Deletes the files of a server.
    pub fn wipe(&mut self, server: usize) {
        self.servers[server].disk = Disk::default();
    }

    /// Stops a server like a process; its clocks continue.
    pub fn freeze(&mut self, server: usize) {
        self.servers[server].is_frozen = true;
    }

    /// Ends a freeze: events that were held back happen now.
    pub fn thaw(&mut self, server: usize) {
        self.servers[server].is_frozen = false;
        self.catch_up(server);
        self.settle();
    }

    /// Holds back all messages from one side to the other, until [`Stage::heal`].
    pub fn cut(&mut self, id: u32, from: &[Place], to: &[Place]) {
        self.network.cut(id, from, to);
    }

    /// Ends the cuts with this id, and delivers the messages that are no longer cut off.
    pub fn heal(&mut self, id: u32) {
        for message in self.network.heal(id) {
            self.schedule(0, Event::Message(message));
        }
        self.settle();
    }

    /// Returns whether there are cuts with this id.
    pub fn has_cut(&self, id: u32) -> bool {
        self.network.has_cut(id)
    }

    /// Delays messages from one side to the other, until [`Stage::undelay`]. Those of a connection
    /// stay in order.
    pub fn delay(&mut self, id: u32, from: &[Place], to: &[Place], extra_us: RangeInclusive<u64>) {
        self.network.delay(id, (from, to), extra_us);
    }

    /// Ends the delays with this id. Messages on their way still arrive late.
    pub fn undelay(&mut self, id: u32) {
        self.network.undelay(id, self.now_us);
    }

    /// Steps the wall clock of a server.
    pub fn step_clock(&mut self, server: usize, by_us: i64) {
        self.servers[server].clock.step(by_us);
    }

    /// Lets the clocks of a server run fast (positive) or slow, in parts per million.
    pub fn set_clock_rate(&mut self, server: usize, rate_ppm: i32) {
        let now_us = self.now_us;
        self.servers[server].clock.set_rate(now_us, rate_ppm);
        self.set_timer(server);
    }

    /// Lets every command of a server take longer, until [`Stage::unslow`].
    pub fn slow(&mut self, id: u32, server: usize, extra_us: u64) {
        self.servers[server].slowed.push((id, extra_us));
    }

    /// Ends the slowness with this id.
    pub fn unslow(&mut self, id: u32, server: usize) {
        self.servers[server].slowed.retain(|(of, _)| *of != id);
    }

    /// Returns `false` if the server is down or frozen, or does not support the action.
    pub fn operate(&mut self, server: usize, action: OperatorAction) -> bool {
        let host = &self.servers[server];
        let machine = host.machine.as_ref().filter(|_| !host.is_frozen);
        let does = machine.is_some_and(|machine| machine.supports(action));
        if does {
            self.input(server, Input::Operator { action });
            self.settle();
        }
        does
    }

    /// Sets a trap.
    pub fn set_trap(&mut self, trap: Trap) {
        self.traps.push(trap);
    }

    /// Removes a trap. Returns `false` if it has sprung.
    pub fn remove_trap(&mut self, id: u32) -> bool {
        let before = self.traps.len();
        self.traps.retain(|trap| trap.id != id);
        self.traps.len() < before
    }
}
