//! The disks of servers: syncs that fail, servers that then stop, and power losses.

use super::agenda::{Class, HostIndex, Occurrence};
use super::failing_syncs::FailingSyncs;
use super::host::Software;
use super::network::align_up;
use super::server::Server;
use super::state::State;
use fencepost_faults::Micros;
use fencepost_machine::SyncError;
use fencepost_reports::{Turn, What};
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

/// Minimum time until a supervisor restarts a stopped server (systemd's `RestartSec`).
const RESTART: Micros = Micros::from_millis(100);

impl State {
    pub(crate) fn syncs_fail(&mut self, failing: FailingSyncs) {
        self.failing_syncs = Some(failing);
        self.pass_on_to_disks();
    }

    pub(crate) fn syncs_succeed(&mut self) {
        self.pass_on_to_disks();
    }

    fn pass_on_to_disks(&mut self) {
        let error = self.sync_error();
        for host in &mut self.hosts {
            if let Software::Machine(server) = &mut host.software {
                server.fail_syncs(error);
            }
        }
    }

    pub(super) fn sync_error(&self) -> Option<SyncError> {
        let is_now = |failing: &FailingSyncs| self.now < failing.until;
        self.failing_syncs.filter(is_now).map(|failing| failing.error)
    }

    /// Stops the server's process, which starts again once syncs succeed, at least `RESTART` later.
    pub(super) fn stop_server(&mut self, host: HostIndex) {
        let (now, quantum) = (self.now, self.quantum);
        let node = self.node(host);
        self.recorder.record(node, What::Turn { turn: Turn::DiskFailed, about: None });
        let until = self.failing_syncs.map_or(now, |failing| failing.until);
        let stopped = self.host(host);
        (stopped.is_up, stopped.has_stopped, stopped.dies_silently) = (false, true, false);
        self.agenda.enter(now, host, Class::Fault, host, Occurrence::Crash);
        let again = align_up(until.max(now + RESTART), quantum);
        self.agenda.enter(again, host, Class::Fault, host, Occurrence::Boot);
    }
}

impl Server {
    pub(super) fn fail_syncs(&mut self, error: Option<SyncError>) {
        self.disk.fail_syncs(error);
        if let Some(machine) = &mut self.machine {
            machine.fail_syncs(error);
        }
    }

    pub(super) fn has_failed_sync(&self) -> bool {
        let machine = self.machine.as_ref();
        self.disk.has_failed_sync() || machine.is_some_and(|machine| machine.has_failed_sync())
    }

    pub(super) fn lose_power(&mut self) {
        match &mut self.torn {
            None => self.disk.power_loss(),
            Some(random) => {
                let kept = prefix(random, self.disk.unsynced() as u64);
                self.disk.torn_power_loss(kept as usize);
            }
        }
    }
}

/// Draws the number of unsynced bytes that survive, uniformly from 0 to `length`.
pub(crate) fn prefix(random: &mut ChaCha8Rng, length: u64) -> u64 {
    ((u128::from(random.next_u64()) * (u128::from(length) + 1)) >> 64) as u64
}
