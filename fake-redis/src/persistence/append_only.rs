//! Writes and syncs the append-only file (`feedAppendOnlyFile` and `flushAppendOnlyFile` in aof.c).

use crate::config::{Fsync, Persistence};
use crate::state::server::Server;
use crate::state::timers::Timer;
use bytes::Bytes;
use fencepost_machine::{DiskImage, Output, WallTime};

impl Server {
    pub(crate) fn flush_append_only(&mut self) {
        if self.persistence.take_rewrite() {
            self.rewrite_files();
        }
        self.schedule_save();
        self.append_gathered();
        self.schedule_rewrite();
        self.report_progress();
    }

    fn append_gathered(&mut self) {
        if !self.persistence.has_appended() || self.postpones_write() {
            return;
        }
        let bytes = self.persistence.take_appended(self.replication.offset());
        self.outbox.push_output(Output::DiskAppend { bytes });
        match self.persistence.mode {
            Persistence::Aof { fsync: Fsync::Always } => self.begin_sync(),
            Persistence::Aof { fsync: Fsync::EverySec } => self.sync_of_this_second(),
            Persistence::Aof { fsync: Fsync::No } | Persistence::None | Persistence::Rdb => {}
        }
    }

    fn postpones_write(&mut self) -> bool {
        if self.life.is_over {
            return false;
        }
        let until = self.persistence.postponed_until(self.clock.seconds());
        if let Some(second) = until {
            self.timers.set_at_latest(Timer::Persistence, WallTime(second * 1_000_000));
        }
        until.is_some()
    }

    /// Rewrites the files immediately. Redis forks a child process for this.
    fn rewrite_files(&mut self) {
        // Append pending commands first: if the rewrite fails, the old file must be complete.
        if self.persistence.has_appended() {
            let bytes = self.persistence.take_appended(self.replication.offset());
            self.outbox.push_output(Output::DiskAppend { bytes });
        }
        let snapshot = self.snapshot();
        self.persistence.replaced(snapshot.len(), self.replication.offset());
        let image = DiskImage { snapshot: Some(snapshot), ..DiskImage::default() };
        self.outbox.push_output(Output::DiskReplace { image });
    }

    pub(super) fn rewrite_failed(&mut self) {
        let second = self.clock.seconds();
        self.persistence.rewrite_failed(self.replication.offset(), second);
        let look = self.clock.next_cron((second + 1) * 1_000_000);
        self.timers.set_at_latest(Timer::Persistence, look);
    }

    fn schedule_rewrite(&mut self) {
        if self.is_log_too_large() {
            let look = self.clock.next_cron(self.clock.now.0 + 1);
            self.timers.set_at_latest(Timer::Persistence, look);
        }
    }

    pub(crate) fn rewrite_in_time(&mut self) {
        let again = self.persistence.failures.take_rewrite(self.clock.seconds());
        if again || self.is_log_too_large() {
            self.rewrite_append_only();
        }
    }

    fn is_log_too_large(&self) -> bool {
        self.persistence.wants_stream() && self.persistence.size.is_to_be_rewritten(&self.config)
    }

    fn report_progress(&mut self) {
        if self.persistence.wants_stream() {
            self.persistence.rest(self.replication.offset());
            self.serve_waiting_for_disk();
        }
    }

    pub(crate) fn follow_persistence_config(&mut self) {
        let (before, after) = (self.persistence.mode, self.config.persistence);
        if before == after {
            return;
        }
        let appended_before = self.persistence.wants_stream();
        self.persistence.switch(after);
        match (appended_before, self.persistence.wants_stream()) {
            (false, true) => self.rewrite_append_only(),
            (true, false) => self.refuse_waiting_for_disk(),
            _ => self.sync_in_time(),
        }
    }

    fn begin_sync(&mut self) {
        self.persistence.begin_sync();
        self.outbox.push_output(Output::DiskSync);
    }

    /// Syncs at most once per second of the wall clock (`appendfsync everysec`).
    fn sync_of_this_second(&mut self) {
        if self.persistence.take_second(self.clock.seconds()) {
            self.begin_sync();
        }
        if let Some(second) = self.persistence.next_second() {
            let look = self.clock.next_cron(second * 1_000_000);
            self.timers.set_at_latest(Timer::Persistence, look);
        }
    }

    pub(crate) fn sync_in_time(&mut self) {
        match self.persistence.mode {
            Persistence::Aof { fsync: Fsync::EverySec } if self.persistence.has_unsynced() => {
                self.sync_of_this_second()
            }
            // Data written before `appendfsync` was set to `always` may still be unsynced.
            Persistence::Aof { fsync: Fsync::Always } if self.persistence.has_unsynced() => {
                self.begin_sync()
            }
            Persistence::Aof { .. } | Persistence::None | Persistence::Rdb => {}
        }
    }

    /// Stores the primary's snapshot, which a later restart loads even without persistence
    /// (`rdb-del-sync-files no`). If there is an append-only file, rewrites that file instead
    /// (`restartAOFAfterSYNC`).
    pub(crate) fn resynchronised(&mut self, payload: Bytes) {
        match self.persistence.mode {
            Persistence::None | Persistence::Rdb => {
                self.persistence.failures.saving = None;
                let image = DiskImage { snapshot: Some(payload), ..DiskImage::default() };
                self.outbox.push_output(Output::DiskReplace { image });
            }
            Persistence::Aof { .. } => self.rewrite_append_only(),
        }
    }

    pub(crate) fn rewrite_append_only(&mut self) {
        self.persistence.rewrite = true;
    }
}
