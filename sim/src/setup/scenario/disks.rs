use clap::ValueEnum;
use fencepost_machine::SyncError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Error of a failing sync.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum SyncErrorName {
    /// The device reports an error.
    #[default]
    Eio,
    /// The file system is full.
    Enospc,
}

impl SyncErrorName {
    pub(crate) fn error(self) -> SyncError {
        match self {
            SyncErrorName::Eio => SyncError::Io,
            SyncErrorName::Enospc => SyncError::Full,
        }
    }
}

/// Fate of data that a server has written but not synced when it loses power.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum UnsyncedWrites {
    /// The data is lost.
    #[default]
    Lost,
    /// A prefix of each file's unsynced bytes survives. The length of the prefix is drawn.
    Torn,
}
