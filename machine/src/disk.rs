//! A model of a server's files, which survive a crash and, if synced, a power loss.

use crate::image::DiskImage;
use crate::output::Output;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// The files of one server, which survive a restart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Disk {
    snapshot: Option<Bytes>,
    append_only: BytesMut,
    config: Option<Bytes>,
    synced: usize,
    syncing: VecDeque<usize>,
}

/// The driver's next step after a disk output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskReply {
    /// The driver has nothing to do.
    None,
    /// The driver must call [`Disk::finish_sync`] later and then send [`crate::Input::DiskSynced`].
    Sync,
}

impl Disk {
    /// Creates a disk with these files, all synced.
    pub fn holding(image: DiskImage) -> Self {
        let append_only = BytesMut::from(image.append_only.as_ref());
        let (snapshot, config) = (image.snapshot, image.config);
        Disk { snapshot, synced: append_only.len(), append_only, config, syncing: VecDeque::new() }
    }

    /// Applies an output; ignores outputs that are not for the disk.
    pub fn apply(&mut self, output: &Output) -> DiskReply {
        match output {
            Output::DiskAppend { bytes } => self.append_only.extend_from_slice(bytes),
            Output::DiskSync => {
                self.syncing.push_back(self.append_only.len());
                return DiskReply::Sync;
            }
            Output::DiskReplace { image } => {
                let (syncs, config) = (self.syncing.len(), self.config.take());
                *self = Disk { config, ..Disk::holding(image.clone()) };
                // Syncs of the replaced file still finish, but they sync no byte of the new file.
                self.syncing.extend(std::iter::repeat_n(0, syncs));
            }
            Output::DiskConfig { config } => self.config = Some(config.clone()),
            _ => {}
        }
        DiskReply::None
    }

    /// Returns whether a sync is pending.
    pub fn is_syncing(&self) -> bool {
        !self.syncing.is_empty()
    }

    /// Finishes the oldest pending sync.
    pub fn finish_sync(&mut self) {
        let length = self.syncing.pop_front().unwrap_or(0);
        self.synced = self.synced.max(length);
    }

    /// Crashes the process. Written data survives in the page cache.
    pub fn process_crash(&mut self) {
        self.syncing.clear();
    }

    /// Cuts the power, which loses unsynced data.
    pub fn power_loss(&mut self) {
        self.syncing.clear();
        self.append_only.truncate(self.synced);
    }

    /// Returns the files that a restarted server finds.
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
    fn a_rewritten_configuration_outlives_power_losses_and_new_images() {
        let mut disk = Disk::default();
        let config = Bytes::from_static(b"port 7000");
        disk.apply(&Output::DiskConfig { config: config.clone() });
        disk.apply(&Output::DiskReplace { image: DiskImage::default() });
        disk.power_loss();
        assert_eq!(disk.image().config, Some(config));
    }
}
