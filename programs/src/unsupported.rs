//! The interface on platforms without tracing: every start fails.

use crate::interface::{
    CallMade, Clocks, FilesUsed, Launch, News, Output, SocketId, StartError, Step,
};
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// Always [`StartError::Unsupported`].
pub fn check(_: &Launch) -> Result<(), StartError> {
    Err(StartError::Unsupported)
}

/// Always [`StartError::Unsupported`].
pub fn find_program(_: &str, _: &Path, _: &str) -> Result<PathBuf, StartError> {
    Err(StartError::Unsupported)
}

/// Never needed: no call is traced.
pub fn name_of_call(_: u16) -> &'static str {
    "unknown"
}

/// A machine's processes. None can be started here.
pub struct Group(std::convert::Infallible);

impl Group {
    /// Always [`StartError::Unsupported`].
    pub fn start(_: &Launch) -> Result<Group, StartError> {
        Err(StartError::Unsupported)
    }

    /// Never called.
    pub fn step(&mut self, _: Clocks) -> Step {
        match self.0 {}
    }

    /// Never called.
    pub fn deliver(&mut self, _: News) {
        match self.0 {}
    }

    /// Never called.
    pub fn take_output(&mut self) -> Vec<Output> {
        match self.0 {}
    }

    /// Never called.
    pub fn incoming(&mut self, _: (Ipv4Addr, u16), _: u16) -> Option<SocketId> {
        match self.0 {}
    }

    /// Never called.
    pub fn take_synced(&mut self) -> SyncedFiles {
        match self.0 {}
    }

    /// Never called.
    pub fn output_dropped(&self) -> usize {
        match self.0 {}
    }

    /// Never called.
    pub fn calls(&self) -> &[CallMade] {
        match self.0 {}
    }

    /// Never called.
    pub fn preempted(&self) -> u32 {
        match self.0 {}
    }

    /// Never called.
    pub fn files_used(&self) -> &FilesUsed {
        match self.0 {}
    }
}

/// Always empty: no program writes a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SyncedFiles;

impl SyncedFiles {
    /// Does nothing.
    pub fn extend(&mut self, _: SyncedFiles) {}

    /// Always [`io::ErrorKind::Unsupported`].
    pub fn restore(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Always [`io::ErrorKind::Unsupported`].
    pub fn sync_one(&mut self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Always true.
    pub fn is_empty(&self) -> bool {
        true
    }

    /// Always [`io::ErrorKind::Unsupported`].
    pub fn copy_all(&mut self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
