//! A model of a server's files for whoever drives it: what was written survives the process, what
//! was synced survives the power. What the files hold is the server's business.

use crate::image::DiskImage;
use crate::output::Output;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// The files of one server. It outlives the server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Disk {
    snapshot: Option<Bytes>,
    append_only: BytesMut,
    config: Option<Bytes>,
    /// How much of the append-only file is safe from power loss.
    synced: usize,
    /// How much will be once each sync that has begun is done.
    syncing: VecDeque<usize>,
}

/// What the driver owes the server after an output for the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskReply {
    /// Nothing.
    None,
    /// A sync has begun: once it is done, [`Disk::finish_sync`] and then
    /// [`crate::Input::DiskSynced`].
    Sync,
}

impl Disk {
    /// A disk that holds these files, safely.
    pub fn holding(image: DiskImage) -> Self {
        let append_only = BytesMut::from(image.append_only.as_ref());
        let (snapshot, config) = (image.snapshot, image.config);
        Disk { snapshot, synced: append_only.len(), append_only, config, syncing: VecDeque::new() }
    }

    /// Carries out an output of a server. Outputs that are not for the disk are passed over.
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
                // Syncs of the file that is gone will still be answered; they make nothing of the
                // new one safe that is not.
                self.syncing.extend(std::iter::repeat_n(0, syncs));
            }
            Output::DiskConfig { config } => self.config = Some(config.clone()),
            _ => {}
        }
        DiskReply::None
    }

    /// Whether a sync has begun that is not done.
    pub fn is_syncing(&self) -> bool {
        !self.syncing.is_empty()
    }

    /// The oldest sync that has begun is done.
    pub fn finish_sync(&mut self) {
        let length = self.syncing.pop_front().unwrap_or(0);
        self.synced = self.synced.max(length);
    }

    /// The server's process ends: what it had written stays, synced or not, for the operating
    /// system has it.
    pub fn process_crash(&mut self) {
        self.syncing.clear();
    }

    /// The power fails: what was not synced is gone.
    pub fn power_loss(&mut self) {
        self.syncing.clear();
        self.append_only.truncate(self.synced);
    }

    /// What the next server finds: to be handed to it when it is made.
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
