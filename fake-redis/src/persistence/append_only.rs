//! The append-only file: effects as commands, and when they are synced (aof.c,
//! `feedAppendOnlyFile`, `flushAppendOnlyFile`).

use crate::config::{Fsync, Persistence};
use crate::state::server::Server;
use crate::state::timers::Timer;
use bytes::Bytes;
use fencepost_machine::{DiskImage, Output, WallTime};

impl Server {
    /// Writes what the current input added to the append-only file, before any reply leaves.
    pub(crate) fn flush_append_only(&mut self) {
        if std::mem::take(&mut self.persistence.rewrite) {
            self.write_anew();
        }
        self.schedule_save();
        self.append_gathered();
        self.tell_progress();
    }

    fn append_gathered(&mut self) {
        let persistence = &mut self.persistence;
        if persistence.appended.is_empty() {
            return;
        }
        persistence.progress.append(self.replication.offset());
        let bytes = persistence.appended.split().freeze();
        self.outbox.want(Output::DiskAppend { bytes });
        match persistence.mode {
            Persistence::Aof { fsync: Fsync::Always } => self.begin_sync(),
            Persistence::Aof { fsync: Fsync::EverySec } => self.schedule_sync(),
            Persistence::Aof { fsync: Fsync::No } | Persistence::None | Persistence::Rdb => {}
        }
    }

    /// Writes all data as a snapshot and begins an empty append-only file: what BGREWRITEAOF does,
    /// at once.
    fn write_anew(&mut self) {
        self.persistence.appended.clear();
        self.persistence.append_only_db = None;
        let image = DiskImage { snapshot: Some(self.snapshot()), ..DiskImage::default() };
        self.outbox.want(Output::DiskReplace { image });
        self.persistence.progress.replace(self.replication.offset());
    }

    /// Tells those who wait for the disk if more is safe than before.
    fn tell_progress(&mut self) {
        if self.persistence.wants_stream() {
            self.persistence.progress.rest(self.replication.offset());
            self.serve_waiting_for_disk();
        }
    }

    /// CONFIG SET may have changed when the append-only file is synced, or whether there is one: a
    /// new one begins with all data (`updateAppendonly` and `updateAppendFsync` in config.c).
    pub(crate) fn follow_persistence_config(&mut self) {
        let (before, after) = (self.persistence.mode, self.config.persistence);
        if before == after {
            return;
        }
        let appended_before = self.persistence.wants_stream();
        self.persistence.mode = after;
        match (appended_before, self.persistence.wants_stream()) {
            (false, true) => self.rewrite_append_only(),
            (true, false) => {
                self.persistence.appended.clear();
                self.refuse_waiting_for_disk();
            }
            _ if self.persistence.progress.has_unsynced() => self.schedule_sync(),
            _ => {}
        }
    }

    fn begin_sync(&mut self) {
        self.persistence.syncs_begun += 1;
        self.persistence.progress.begin_sync();
        self.outbox.want(Output::DiskSync);
    }

    /// With `appendfsync everysec` the file is synced when the second of the wall clock is over in
    /// which it was written.
    fn schedule_sync(&mut self) {
        let next_second = (self.clock.seconds() + 1) * 1_000_000;
        self.timers.set_at_latest(Timer::Persistence, WallTime(next_second));
    }

    /// Syncs what was appended since the last sync; the timer only runs if there is something.
    pub(crate) fn sync_in_time(&mut self) {
        match self.persistence.mode {
            Persistence::Aof { fsync: Fsync::EverySec } => self.begin_sync(),
            // What was appended before `appendfsync always` was set.
            Persistence::Aof { fsync: Fsync::Always }
                if self.persistence.progress.has_unsynced() =>
            {
                self.begin_sync()
            }
            Persistence::Aof { .. } | Persistence::None | Persistence::Rdb => {}
        }
    }

    /// A full resynchronisation has replaced all data by what the primary sent: so it does on disk
    /// (`restartAOFAfterSYNC`; the received snapshot becomes the file of snapshots).
    pub(crate) fn resynchronised(&mut self, payload: Bytes) {
        match self.persistence.mode {
            Persistence::None => {}
            Persistence::Rdb => {
                let image = DiskImage { snapshot: Some(payload), ..DiskImage::default() };
                self.outbox.want(Output::DiskReplace { image });
            }
            Persistence::Aof { .. } => self.rewrite_append_only(),
        }
    }

    /// Has the append-only file written anew at the end of this input, when everything that belongs
    /// to it is done.
    pub(crate) fn rewrite_append_only(&mut self) {
        self.persistence.rewrite = true;
    }
}
