//! What the disk is told and what it gave back at the start. Must never know replication or commands.

use crate::config::{NodeConfig, Persistence};
use crate::error::CommandError;
use crate::machine::DiskImage;
use crate::server::Server;

/// What is known of the disk. These are the points at which the rest of the server meets persistence.
#[derive(Debug, Clone)]
pub(crate) struct PersistenceState {
    mode: Persistence,
}

impl PersistenceState {
    /// The state before anything was loaded.
    pub(crate) fn new(config: &NodeConfig) -> Self {
        PersistenceState { mode: config.persistence }
    }

    /// Whether effects are to be given to [`Server::feed_append_only`].
    pub(crate) fn wants_stream(&self) -> bool {
        matches!(self.mode, Persistence::Aof { .. })
    }

    /// Whether replies may leave now: with `appendfsync always` not before the disk has synced what they promise. When that changes,
    /// [`Server::finish_input`] lets them go.
    pub(crate) fn replies_may_leave(&self) -> bool {
        true
    }

    /// The error for writes if the disk failed (`-MISCONF`).
    pub(crate) fn denied_write(&self) -> Option<CommandError> {
        None
    }
}

impl Server {
    /// Loads what the disk held when the server started.
    pub(crate) fn load_disk(&mut self, _image: DiskImage) {}

    /// Takes an effect for the append-only file.
    pub(crate) fn feed_append_only(&mut self, _db: usize, _args: &[&[u8]]) {}

    /// Writes what the current input added to the append-only file, before any reply leaves.
    pub(crate) fn flush_append_only(&mut self) {}

    /// The disk has synced what was appended.
    pub(crate) fn disk_synced(&mut self) {}

    /// Runs when [`crate::timers::Timer::Persistence`] is due.
    pub(crate) fn persistence_cron(&mut self) {}

    /// The section `# Persistence` of INFO, without its title.
    pub(crate) fn persistence_info(&self) -> String {
        format!("loading:{}\r\nrdb_changes_since_last_save:{}\r\n", u8::from(self.loading), self.dirty)
    }
}
