//! Faults of a stage, which affect its servers, clocks and links.

use super::Stage;
use super::event::{Event, Place};
use fencepost_machine::{Disk, Input, OperatorAction};
use std::ops::RangeInclusive;

/// Recognizes a command by the bytes that a client sends.
pub type Matcher = Box<dyn Fn(&[u8]) -> bool>;

/// A trap, which loses a client's next matching command or its reply, and closes the connection.
pub struct Trap {
    pub id: u32,
    /// Index of the server, or `None` for any.
    pub server: Option<usize>,
    pub matches: Matcher,
    pub lost_message: LostMessage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostMessage {
    /// The command, which the server does not execute.
    Request,
    /// The reply to the command, which the server executes.
    Reply,
}

impl Trap {
    pub(super) fn triggers(&self, server: usize, bytes: &[u8]) -> bool {
        self.server.is_none_or(|of| of == server) && (self.matches)(bytes)
    }
}

impl Stage {
    /// Returns whether a server's process exists, even if it is frozen.
    pub fn is_up(&self, server: usize) -> bool {
        self.servers[server].machine.is_some()
    }

    pub fn is_frozen(&self, server: usize) -> bool {
        self.servers[server].is_frozen
    }

    /// The server's peers see their connections end.
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
        self.catch_up(server);
    }

    /// Cuts the power of a server. Unsynced data is lost, and peers are not notified.
    pub fn lose_power(&mut self, server: usize) {
        let host = &mut self.servers[server];
        host.end();
        host.is_dark = true;
        host.disk.power_loss();
        let peers = std::mem::take(&mut host.peers);
        host.unaware.extend(peers.into_values());
        self.settle();
    }

    /// Starts a server that is down. Peers then learn that a power loss ended their connections.
    pub fn restart(&mut self, server: usize) {
        self.servers[server].is_dark = false;
        let unaware = std::mem::take(&mut self.servers[server].unaware);
        unaware.into_iter().for_each(|peer| self.report_end(server, peer));
        self.start(server);
        self.catch_up(server);
        self.settle();
    }

    /// Deletes a server's files, whether or not the server is running.
    pub fn wipe(&mut self, server: usize) {
        self.servers[server].disk = Disk::default();
    }

    /// The server's clocks continue.
    pub fn freeze(&mut self, server: usize) {
        self.servers[server].is_frozen = true;
    }

    /// Resumes a frozen server, which then handles the events that waited.
    pub fn thaw(&mut self, server: usize) {
        self.servers[server].is_frozen = false;
        self.catch_up(server);
        self.settle();
    }

    /// Holds back all messages in one direction until [`Stage::heal`].
    pub fn cut(&mut self, id: u32, from: &[Place], to: &[Place]) {
        self.network.cut(id, from, to);
    }

    /// Ends the cuts with this id and delivers the messages that they held back.
    pub fn heal(&mut self, id: u32) {
        for message in self.network.heal(id) {
            self.schedule(0, Event::Message(message));
        }
        self.settle();
    }

    pub fn has_cut(&self, id: u32) -> bool {
        self.network.has_cut(id)
    }

    /// Delays messages in one direction until [`Stage::remove_delay`], in order per connection.
    pub fn delay(&mut self, id: u32, from: &[Place], to: &[Place], extra_us: RangeInclusive<u64>) {
        self.network.delay(id, (from, to), extra_us);
    }

    /// Ends the delays with this id. Delayed messages in transit still arrive late.
    pub fn remove_delay(&mut self, id: u32) {
        self.network.remove_delay(id, self.now_us);
    }

    /// Steps a server's wall clock by `by_us` microseconds, backward if negative.
    pub fn step_clock(&mut self, server: usize, by_us: i64) {
        self.servers[server].clock.step(by_us);
    }

    /// Sets the rate error of a server's clocks in parts per million. Positive rates run fast.
    pub fn set_clock_rate(&mut self, server: usize, rate_ppm: i32) {
        let now_us = self.now_us;
        self.servers[server].clock.set_rate(now_us, rate_ppm);
        self.set_timer(server);
    }

    /// Slows every command of a server by `extra_us` until [`Stage::remove_slowdown`].
    pub fn add_slowdown(&mut self, id: u32, server: usize, extra_us: u64) {
        self.servers[server].slowed.push((id, extra_us));
    }

    pub fn remove_slowdown(&mut self, id: u32, server: usize) {
        self.servers[server].slowed.retain(|(of, _)| *of != id);
    }

    /// Performs an operator's action. Returns `false` if the server cannot perform it.
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

    pub fn set_trap(&mut self, trap: Trap) {
        self.traps.push(trap);
    }

    /// Removes a trap. Returns `false` if the trap has already caught a message.
    pub fn remove_trap(&mut self, id: u32) -> bool {
        let before = self.traps.len();
        self.traps.retain(|trap| trap.id != id);
        self.traps.len() < before
    }
}
