//! The crate's interface on systems where programs cannot be traced. Every start fails.

use crate::interface::{
    CallMade, Clocks, FilesUsed, Launch, News, Output, SocketId, StartError, Step,
};
use std::io;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

pub fn check(_: &Launch) -> Result<(), StartError> {
    Err(StartError::Unsupported)
}

pub fn find_program(_: &str, _: &Path, _: &str) -> Result<PathBuf, StartError> {
    Err(StartError::Unsupported)
}

pub fn name_of_call(_: u16) -> &'static str {
    "unknown"
}

pub struct Group(std::convert::Infallible);

impl Group {
    pub fn start(_: &Launch) -> Result<Group, StartError> {
        Err(StartError::Unsupported)
    }

    pub fn step(&mut self, _: Clocks) -> Step {
        match self.0 {}
    }

    pub fn deliver(&mut self, _: News) {
        match self.0 {}
    }

    pub fn take_output(&mut self) -> Vec<Output> {
        match self.0 {}
    }

    pub fn incoming(&mut self, _: SocketAddrV4, _: u16) -> Option<SocketId> {
        match self.0 {}
    }

    pub fn listening(&self) -> Vec<u16> {
        match self.0 {}
    }

    pub fn take_synced(&mut self) -> SyncedFiles {
        match self.0 {}
    }

    pub fn output_dropped(&self) -> usize {
        match self.0 {}
    }

    pub fn calls(&self) -> &[CallMade] {
        match self.0 {}
    }

    pub fn fail_syncs(&mut self, _: Option<i32>) {
        match self.0 {}
    }

    pub fn has_failed_sync(&self) -> bool {
        match self.0 {}
    }

    pub fn preempted(&self) -> u32 {
        match self.0 {}
    }

    pub fn files_used(&self) -> &FilesUsed {
        match self.0 {}
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SyncedFiles;

impl SyncedFiles {
    pub fn extend(&mut self, _: SyncedFiles) {}

    pub fn restore(&self, _: &Path, _: &mut dyn FnMut(u64) -> u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn sync_all(&mut self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn sync_one(&mut self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn is_empty(&self) -> bool {
        true
    }

    pub fn copy_all(&mut self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
