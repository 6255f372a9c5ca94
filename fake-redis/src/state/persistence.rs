//! What the server knows of the disk.

mod progress;

use crate::config::{Fsync, NodeConfig, Persistence};
use crate::protocol::error::CommandError;
use crate::protocol::outgoing::encode_command;
use bytes::BytesMut;
use fencepost_machine::{DiskImage, Output};
use progress::Progress;
use std::collections::VecDeque;

/// What is known of the disk.
#[derive(Debug)]
pub(crate) struct PersistenceState {
    pub(crate) mode: Persistence,
    /// What the disk held at the start, until it is loaded.
    pub(crate) found: Option<DiskImage>,
    /// What the current input adds to the append-only file.
    pub(crate) appended: BytesMut,
    /// The database that the append-only file has selected.
    pub(crate) append_only_db: Option<usize>,
    /// Whether the files are to be written anew at the end of this input.
    pub(crate) rewrite: bool,
    /// How many syncs were begun and how many are done.
    pub(crate) syncs_begun: u64,
    pub(crate) syncs_done: u64,
    /// With `appendfsync everysec`: the second in which the file was last synced.
    pub(crate) synced_in: i64,
    /// Since which second what was gathered waits for a sync that is under way.
    pub(crate) postponed_since: Option<i64>,
    /// What of the replication stream is safe.
    pub(crate) progress: Progress,
    /// Messages that leave once the sync of this number is done.
    pub(crate) held: VecDeque<(u64, Vec<Output>)>,
    /// When the last snapshot was taken, in seconds of the wall clock.
    pub(crate) last_save: i64,
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
            synced_in: 0,
            postponed_since: None,
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
    pub(crate) fn awaits_sync(&self) -> bool {
        self.is_syncing() && self.mode == (Persistence::Aof { fsync: Fsync::Always })
    }

    /// Whether a sync has begun that is not done.
    pub(crate) fn is_syncing(&self) -> bool {
        self.syncs_done < self.syncs_begun
    }

    /// Takes an effect for the append-only file, with a SELECT before it if its database is another
    /// one.
    pub(crate) fn feed(&mut self, db: usize, args: &[&[u8]]) {
        if self.append_only_db != Some(db) {
            encode_command(&[b"SELECT", db.to_string().as_bytes()], &mut self.appended);
            self.append_only_db = Some(db);
        }
        encode_command(args, &mut self.appended);
    }
}
