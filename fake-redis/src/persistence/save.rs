//! Takes snapshots, on request and automatically (`serverCron`, `saveCommand`).

use crate::config::{Persistence, SavePoint};
use crate::state::persistence::BeforeSave;
use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::{DiskImage, Output, WallTime};

impl Server {
    /// Takes a snapshot immediately, even for BGSAVE, for which Redis forks a process. Writes no
    /// file if the server uses an append-only file.
    pub(crate) fn save(&mut self) {
        let before = BeforeSave { last_save: self.last_save(), unsaved: self.changes.unsaved };
        self.persistence.failures.begin_save(before);
        self.persistence.last_save = self.clock.seconds();
        self.changes.unsaved = 0;
        if !self.persistence.wants_stream() {
            let image = DiskImage { snapshot: Some(self.snapshot()), ..DiskImage::default() };
            self.outbox.push_output(Output::DiskReplace { image });
        }
    }

    pub(super) fn save_failed(&mut self) {
        if let Some(before) = self.persistence.save_failed(self.clock.seconds()) {
            self.changes.unsaved += before.unsaved;
        }
    }

    pub(crate) fn last_save(&self) -> i64 {
        self.persistence.last_save
    }

    pub(crate) fn schedule_save(&mut self) {
        if self.persistence.mode != Persistence::Rdb || self.changes.unsaved == 0 {
            return;
        }
        let reached =
            self.config.save_points.iter().filter(|point| self.changes.unsaved >= point.changes);
        if let Some(seconds) = reached.map(|point| point.seconds).min() {
            let due = (self.last_save() + seconds + 1).max(self.persistence.failures.next_save());
            let due = due * 1_000_000;
            self.timers.set_at_latest(Timer::Persistence, WallTime(due.max(self.clock.now.0 + 1)));
        }
    }

    pub(crate) fn save_in_time(&mut self) {
        if self.clock.seconds() < self.persistence.failures.next_save() {
            return;
        }
        let waited = self.clock.seconds() - self.last_save();
        let is_reached =
            |point: &SavePoint| self.changes.unsaved >= point.changes && waited > point.seconds;
        if self.persistence.mode == Persistence::Rdb
            && self.config.save_points.iter().any(is_reached)
        {
            self.save();
        }
    }
}
