use super::Stage;
use super::event::{Event, Place};
use super::trap::Trap;
use fencepost_machine::{Disk, Input, OperatorAction};
use std::ops::RangeInclusive;

impl Stage {
    /// Returns `true` if the server process exists, even if it is frozen.
    pub fn is_up(&self, server: usize) -> bool {
        self.servers[server].machine.is_some()
    }

    pub fn is_frozen(&self, server: usize) -> bool {
        self.servers[server].is_frozen
    }

    /// Ends the server process. Peers see their connections end.
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

    /// Switches the server off, which loses unsynced data. Peers are not notified.
    pub fn lose_power(&mut self, server: usize) {
        let host = &mut self.servers[server];
        host.end();
        host.is_dark = true;
        host.disk.power_loss();
        let peers = std::mem::take(&mut host.peers);
        host.unaware.extend(peers.into_values());
        self.settle();
    }

    /// Starts the server again, and ends connections left open after a power loss.
    pub fn restart(&mut self, server: usize) {
        self.servers[server].is_dark = false;
        let unaware = std::mem::take(&mut self.servers[server].unaware);
        unaware.into_iter().for_each(|peer| self.report_end(server, peer));
        self.start(server);
        self.catch_up(server);
        self.settle();
    }

    pub fn wipe(&mut self, server: usize) {
        self.servers[server].disk = Disk::default();
    }

    /// Pauses the server process. The server's clocks continue.
    pub fn freeze(&mut self, server: usize) {
        self.servers[server].is_frozen = true;
    }

    pub fn thaw(&mut self, server: usize) {
        self.servers[server].is_frozen = false;
        self.catch_up(server);
        self.settle();
    }

    /// Holds back messages from `from` to `to` until [`Stage::heal`].
    pub fn cut(&mut self, id: u32, from: &[Place], to: &[Place]) {
        self.network.cut(id, from, to);
    }

    pub fn heal(&mut self, id: u32) {
        for message in self.network.heal(id) {
            self.schedule(0, Event::Message(message));
        }
        self.settle();
    }

    pub fn has_cut(&self, id: u32) -> bool {
        self.network.has_cut(id)
    }

    /// Delays messages until [`Stage::remove_delay`]. They stay in order per connection.
    pub fn delay(&mut self, id: u32, from: &[Place], to: &[Place], extra_us: RangeInclusive<u64>) {
        self.network.delay(id, (from, to), extra_us);
    }

    /// Ends the delay. Delayed messages, and later messages behind them, still arrive late.
    pub fn remove_delay(&mut self, id: u32) {
        self.network.remove_delay(id, self.now_us);
    }

    /// Steps the server's wall clock by `by_us` microseconds. A negative value steps it back.
    pub fn step_clock(&mut self, server: usize, by_us: i64) {
        self.servers[server].clock.step(by_us);
    }

    /// Sets the drift of the server's clocks in parts per million. A positive rate is fast.
    pub fn set_clock_rate(&mut self, server: usize, rate_ppm: i32) {
        let now_us = self.now_us;
        self.servers[server].clock.set_rate(now_us, rate_ppm);
        self.set_timer(server);
    }

    /// Makes each command take `extra_us` microseconds longer, until [`Stage::remove_slowdown`].
    pub fn add_slowdown(&mut self, id: u32, server: usize, extra_us: u64) {
        self.servers[server].slowed.push((id, extra_us));
    }

    pub fn remove_slowdown(&mut self, id: u32, server: usize) {
        self.servers[server].slowed.retain(|(of, _)| *of != id);
    }

    /// Performs an operator's action. Returns `false` if the server is down or frozen, or does not
    /// support the action.
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

    /// Returns `false` if no trap has this id, for example after it has lost a message.
    pub fn remove_trap(&mut self, id: u32) -> bool {
        let before = self.traps.len();
        self.traps.retain(|trap| trap.id != id);
        self.traps.len() < before
    }
}
