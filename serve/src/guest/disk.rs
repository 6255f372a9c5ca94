//! A guest's disk, which survives the guest's crash.

use crate::ServeError;
use fencepost_machine::{Disk, DiskImage, DiskReply, Output};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SYNC: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Crash {
    /// The crash loses unsynced data.
    #[default]
    PowerLoss,
    /// The crash keeps written data, because the operating system still has it.
    Process,
}

/// A server's disk in memory, empty by default. Clones share the disk.
#[derive(Clone, Debug, Default)]
pub struct SharedDisk(Arc<Mutex<DiskState>>);

#[derive(Debug, Default)]
struct DiskState {
    disk: Disk,
    crash: Crash,
    starts: u64,
    is_in_use: bool,
}

impl SharedDisk {
    pub fn new(crash: Crash) -> SharedDisk {
        SharedDisk(Arc::new(Mutex::new(DiskState { crash, ..DiskState::default() })))
    }

    pub fn holding(image: DiskImage, crash: Crash) -> SharedDisk {
        let kept = DiskState { disk: Disk::holding(image), crash, ..DiskState::default() };
        SharedDisk(Arc::new(Mutex::new(kept)))
    }

    /// Returns the files with all written data, synced or not.
    pub fn image(&self) -> DiskImage {
        self.kept().disk.image()
    }

    pub(super) fn begin(&self) -> Result<Life, ServeError> {
        let mut kept = self.kept();
        if std::mem::replace(&mut kept.is_in_use, true) {
            let used = "the disk is in use: expected one disk for each server";
            return Err(ServeError::Options(used.to_owned()));
        }
        kept.starts += 1;
        Ok(Life { disk: self.clone() })
    }

    fn kept(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct Life {
    disk: SharedDisk,
}

impl Life {
    pub(super) fn image(&self) -> DiskImage {
        self.disk.image()
    }

    pub(super) fn starts(&self) -> u64 {
        self.disk.kept().starts - 1
    }

    pub(super) fn write(&self, output: &Output) -> Option<()> {
        (self.disk.kept().disk.apply(output) == DiskReply::Sync).then_some(())
    }

    #[expect(clippy::disallowed_methods, reason = "the time of the surroundings passes here")]
    pub(super) async fn sync(&self) {
        tokio::time::sleep(SYNC).await;
        self.disk.kept().disk.finish_sync();
    }

    pub(super) fn ends_orderly(&self) {
        let mut kept = self.disk.kept();
        kept.disk = Disk::holding(kept.disk.image());
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let mut kept = self.disk.kept();
        kept.is_in_use = false;
        match kept.crash {
            Crash::PowerLoss => kept.disk.power_loss(),
            Crash::Process => kept.disk.process_crash(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn append(life: &Life, text: &'static str) {
        assert_eq!(life.write(&Output::DiskAppend { bytes: Bytes::from(text) }), None);
    }

    fn left_after(crash: Crash, end: impl FnOnce(&Life)) -> Bytes {
        let disk = SharedDisk::new(crash);
        let life = disk.begin().unwrap();
        append(&life, "lost");
        end(&life);
        drop(life);
        disk.image().append_only
    }

    #[test]
    fn a_crash_loses_what_it_says_and_an_orderly_end_nothing() {
        assert_eq!(left_after(Crash::PowerLoss, |_| {}), "");
        assert_eq!(left_after(Crash::Process, |_| {}), "lost");
        assert_eq!(left_after(Crash::PowerLoss, Life::ends_orderly), "lost");
    }

    #[test]
    fn a_disk_serves_one_life_after_the_other_and_counts_them() {
        let image = DiskImage { append_only: Bytes::from("held"), ..DiskImage::default() };
        let disk = SharedDisk::holding(image.clone(), Crash::PowerLoss);
        let life = disk.begin().unwrap();
        assert_eq!((life.starts(), life.image()), (0, image.clone()));
        assert!(disk.clone().begin().is_err(), "it is in use");
        append(&life, "lost");
        drop(life);
        let life = disk.begin().unwrap();
        assert_eq!((life.starts(), life.image()), (1, image));
    }
}
