//! What the disk is told and what it gave back at the start.
//!
//! `append_only` is the file of effects and when it is synced, `progress` how far that has come,
//! `load` the start, `save` snapshots.

mod append_only;
mod load;
mod progress;
mod save;
#[cfg(test)]
mod tests;

use crate::config::{Fsync, NodeConfig, Persistence};
use crate::error::CommandError;
use crate::server::Server;
use bytes::BytesMut;
use fencepost_machine::{DiskImage, Output};
use progress::Progress;
use std::collections::VecDeque;
use std::fmt::Write;

/// What is known of the disk.
#[derive(Debug)]
pub(crate) struct PersistenceState {
    mode: Persistence,
    /// What the disk held at the start, until it is loaded.
    found: Option<DiskImage>,
    /// What the current input adds to the append-only file.
    appended: BytesMut,
    /// The database that the append-only file has selected.
    append_only_db: Option<usize>,
    /// Whether the files are to be written anew at the end of this input.
    rewrite: bool,
    /// How many syncs were begun and how many are done.
    syncs_begun: u64,
    syncs_done: u64,
    /// What of the replication stream is safe.
    progress: Progress,
    /// Messages that leave once the sync of this number is done.
    held: VecDeque<(u64, Vec<Output>)>,
    /// When the last snapshot was taken, in seconds of the wall clock.
    last_save: i64,
}

impl PersistenceState {
    /// The state before anything was loaded.
    pub(crate) fn new(config: &NodeConfig) -> Self {
        PersistenceState {
            mode: config.persistence,
            found: None,
            appended: BytesMut::new(),
            append_only_db: None,
            rewrite: false,
            syncs_begun: 0,
            syncs_done: 0,
            progress: Progress::default(),
            held: VecDeque::new(),
            last_save: 0,
        }
    }

    /// Whether effects are to be given to [`Server::feed_append_only`].
    pub(crate) fn wants_stream(&self) -> bool {
        matches!(self.mode, Persistence::Aof { .. })
    }

    /// Up to which offset of the replication stream everything is safe from power loss; `None`
    /// without an append-only file.
    pub(crate) fn synced_offset(&self) -> Option<u64> {
        self.wants_stream().then(|| self.progress.synced())
    }

    /// The error for writes if the disk failed (`-MISCONF`). Disks do not fail here.
    pub(crate) fn denied_write(&self) -> Option<CommandError> {
        None
    }

    /// Whether a sync must be done before a reply may leave, and is not.
    fn awaits_sync(&self) -> bool {
        self.mode == (Persistence::Aof { fsync: Fsync::Always })
            && self.syncs_done < self.syncs_begun
    }
}

impl Server {
    /// Takes what the disk held. It is loaded when the server boots.
    pub(crate) fn load_disk(&mut self, image: DiskImage) {
        self.persistence.found = Some(image);
    }

    /// Lets the messages of this input go: with `appendfsync always` not before the disk has synced
    /// what they promise.
    pub(crate) fn release_sends(&mut self) {
        let persistence = &mut self.persistence;
        if persistence.awaits_sync() {
            let sends = std::mem::take(&mut self.sends);
            if !sends.is_empty() {
                persistence.held.push_back((persistence.syncs_begun, sends));
            }
        } else {
            self.outputs.list.append(&mut self.sends);
        }
    }

    /// Whether an answer waits until the disk has synced.
    pub(crate) fn answers_after_sync(&self) -> bool {
        !self.persistence.held.is_empty()
    }

    /// The disk has synced what was appended.
    pub(crate) fn disk_synced(&mut self) {
        let persistence = &mut self.persistence;
        persistence.syncs_done += 1;
        persistence.progress.finish_sync();
        while persistence.held.front().is_some_and(|(sync, _)| *sync <= persistence.syncs_done) {
            self.outputs
                .list
                .extend(persistence.held.pop_front().into_iter().flat_map(|(_, sends)| sends));
        }
    }

    /// Runs when [`crate::timers::Timer::Persistence`] is due.
    pub(crate) fn persistence_cron(&mut self) {
        self.sync_in_time();
        self.save_in_time();
    }

    /// The section `# Persistence` of INFO, without its title.
    pub(crate) fn write_persistence_info(&self, text: &mut String) {
        let appends = u8::from(self.persistence.wants_stream());
        let _ = write!(
            text,
            "loading:{}\r\nasync_loading:0\r\nrdb_changes_since_last_save:{}\r\nrdb_bgsave_in_progress:0\r\n\
             rdb_last_save_time:{}\r\nrdb_last_bgsave_status:ok\r\naof_enabled:{appends}\r\naof_rewrite_in_progress:0\r\n\
             aof_last_write_status:ok\r\n",
            u8::from(self.loading),
            self.dirty,
            self.persistence.last_save,
        );
    }
}
