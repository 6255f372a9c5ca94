//! A model of a server's files. Files survive a crash and, if synced, a power loss.

use crate::image::DiskImage;
use crate::input::Input;
use crate::output::Output;
use crate::sync_error::{SyncError, SyncOf};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Disk {
    snapshot: Option<Bytes>,
    append_only: BytesMut,
    config: Option<Bytes>,
    synced: usize,
    syncing: VecDeque<usize>,
    sync_error: Option<SyncError>,
    has_failed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskReply {
    None,
    /// Call [`Disk::finish_sync`] when the sync is over, and send the server the returned input.
    Sync,
    /// Send the server [`Input::DiskFailed`] with this error for [`SyncOf::Replacement`].
    Failed(SyncError),
}

impl Disk {
    pub fn holding(image: DiskImage) -> Self {
        let append_only = BytesMut::from(image.append_only.as_ref());
        let (snapshot, config) = (image.snapshot, image.config);
        Disk { snapshot, synced: append_only.len(), append_only, config, ..Disk::default() }
    }

    /// Makes syncs and replacements fail with `error`. `None` makes them succeed again.
    pub fn fail_syncs(&mut self, error: Option<SyncError>) {
        self.sync_error = error;
    }

    /// Returns `true` if a sync or a replacement has failed since the last crash.
    pub fn has_failed_sync(&self) -> bool {
        self.has_failed
    }

    /// Performs an output for the disk. Ignores all other outputs.
    pub fn apply(&mut self, output: &Output) -> DiskReply {
        match (output, self.sync_error) {
            (Output::DiskReplace { .. }, Some(error)) => {
                self.has_failed = true;
                return DiskReply::Failed(error);
            }
            (Output::DiskConfig { .. }, Some(_)) => self.has_failed = true,
            _ => return self.apply_synced(output),
        }
        DiskReply::None
    }

    fn apply_synced(&mut self, output: &Output) -> DiskReply {
        match output {
            Output::DiskAppend { bytes } => self.append_only.extend_from_slice(bytes),
            Output::DiskSync => {
                self.syncing.push_back(self.append_only.len());
                return DiskReply::Sync;
            }
            Output::DiskReplace { image } => {
                let (syncs, config) = (self.syncing.len(), self.config.take());
                let has_failed = self.has_failed;
                *self = Disk { config, has_failed, ..Disk::holding(image.clone()) };
                // Pending syncs still finish, but sync no byte of the new file.
                self.syncing.extend(std::iter::repeat_n(0, syncs));
            }
            Output::DiskConfig { config } => self.config = Some(config.clone()),
            _ => {}
        }
        DiskReply::None
    }

    pub fn is_syncing(&self) -> bool {
        !self.syncing.is_empty()
    }

    /// Finishes the oldest pending sync. Returns the input that reports the result to the server.
    pub fn finish_sync(&mut self) -> Input<'static> {
        let length = self.syncing.pop_front().unwrap_or(0);
        if let Some(error) = self.sync_error {
            self.has_failed = true;
            return Input::DiskFailed { of: SyncOf::Appended, error };
        }
        self.synced = self.synced.max(length);
        Input::DiskSynced
    }

    /// Crashes the process. All written data survives in the page cache.
    pub fn process_crash(&mut self) {
        self.syncing.clear();
        self.has_failed = false;
    }

    pub fn power_loss(&mut self) {
        self.torn_power_loss(0);
    }

    /// Cuts the power. The first `kept` unsynced bytes of the append-only file survive.
    pub fn torn_power_loss(&mut self, kept: usize) {
        self.process_crash();
        self.synced = self.append_only.len().min(self.synced.saturating_add(kept));
        self.append_only.truncate(self.synced);
    }

    pub fn unsynced(&self) -> usize {
        self.append_only.len() - self.synced
    }

    pub fn image(&self) -> DiskImage {
        let (append_only, config) = (self.append_only.clone().freeze(), self.config.clone());
        DiskImage { snapshot: self.snapshot.clone(), append_only, config }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(disk: &mut Disk, text: &'static str) {
        assert_eq!(
            disk.apply(&Output::DiskAppend { bytes: Bytes::from_static(text.as_bytes()) }),
            DiskReply::None
        );
    }

    #[test]
    fn a_process_crash_keeps_what_was_written_and_a_power_loss_what_was_synced() {
        let mut disk = Disk::default();
        append(&mut disk, "a");
        assert_eq!(disk.apply(&Output::DiskSync), DiskReply::Sync);
        append(&mut disk, "b");
        let mut early = disk.clone();
        disk.finish_sync();
        append(&mut disk, "c");
        let mut crashed = disk.clone();
        crashed.process_crash();
        assert_eq!(crashed.image().append_only, "abc");
        disk.power_loss();
        assert_eq!(disk.image().append_only, "a", "what came after the sync had begun is not safe");
        early.power_loss();
        assert_eq!(early.image().append_only, "", "the sync was not done");
    }

    #[test]
    fn a_replaced_image_is_safe_at_once() {
        let mut disk = Disk::default();
        append(&mut disk, "old");
        disk.apply(&Output::DiskSync);
        let image =
            DiskImage { snapshot: Some(Bytes::from_static(b"new")), ..DiskImage::default() };
        disk.apply(&Output::DiskReplace { image: image.clone() });
        append(&mut disk, "more");
        disk.finish_sync();
        disk.power_loss();
        assert_eq!(disk.image(), image);
    }

    #[test]
    fn a_failed_sync_makes_nothing_durable_and_the_next_one_covers_its_bytes() {
        let mut disk = Disk::default();
        append(&mut disk, "a");
        disk.apply(&Output::DiskSync);
        disk.fail_syncs(Some(SyncError::Full));
        let failed = Input::DiskFailed { of: SyncOf::Appended, error: SyncError::Full };
        assert_eq!((disk.finish_sync(), disk.has_failed_sync()), (failed, true));
        let mut lost = disk.clone();
        lost.power_loss();
        assert_eq!((lost.image().append_only, lost.has_failed_sync()), (Bytes::new(), false));
        disk.fail_syncs(None);
        append(&mut disk, "b");
        disk.apply(&Output::DiskSync);
        assert_eq!(disk.finish_sync(), Input::DiskSynced);
        disk.power_loss();
        assert_eq!(disk.image().append_only, "ab");
    }

    #[test]
    fn while_syncs_fail_no_file_is_replaced() {
        let mut disk = Disk::default();
        append(&mut disk, "old");
        disk.fail_syncs(Some(SyncError::Io));
        let before = disk.image();
        let image = DiskImage { snapshot: Some(Bytes::from("new")), ..DiskImage::default() };
        let replace = Output::DiskReplace { image: image.clone() };
        assert_eq!(disk.apply(&replace), DiskReply::Failed(SyncError::Io));
        assert_eq!(disk.apply(&Output::DiskConfig { config: Bytes::from("new") }), DiskReply::None);
        assert_eq!((disk.image(), disk.has_failed_sync()), (before, true));
        disk.fail_syncs(None);
        assert_eq!((disk.apply(&replace), disk.image()), (DiskReply::None, image));
    }

    #[test]
    fn a_torn_power_loss_keeps_a_prefix_of_the_unsynced_bytes() {
        let mut disk = Disk::default();
        append(&mut disk, "synced");
        disk.apply(&Output::DiskSync);
        disk.finish_sync();
        append(&mut disk, " and");
        append(&mut disk, " not");
        assert_eq!(disk.unsynced(), 8);
        for (kept, left) in [(0, "synced"), (5, "synced and "), (8, "synced and not"), (9, "")] {
            let mut torn = disk.clone();
            torn.torn_power_loss(kept);
            let whole = if left.is_empty() { "synced and not" } else { left };
            assert_eq!((torn.image().append_only, torn.unsynced()), (Bytes::from(whole), 0));
        }
    }

    #[test]
    fn a_rewritten_configuration_outlives_power_losses_and_new_images() {
        let mut disk = Disk::default();
        let config = Bytes::from_static(b"port 7000");
        disk.apply(&Output::DiskConfig { config: config.clone() });
        disk.apply(&Output::DiskReplace { image: DiskImage::default() });
        disk.power_loss();
        assert_eq!(disk.image().config, Some(config));
    }
}
