//! Emulates signal descriptors (`signalfd`) and file syncs.

use super::streams::Read;
use super::{Call, Outcome, fail_with};
use crate::file::{FileId, Kind};
use crate::group::Group;
use crate::process::Interest;
use crate::ready::IN;
use crate::sys::trace::SignalInfo;

const SIGNAL_INFO_BYTES: usize = 128;

impl Group {
    pub(super) fn signal_descriptor(&mut self, call: &Call, mask_at: u64) -> Outcome {
        let mask = call.memory.u64(mask_at);
        if call.descriptor() < 0 {
            let native = self.inject(call.thread, (call.number, call.arguments));
            return self.adopt_result(call, native, Kind::Signals(mask));
        }
        let Some(file) = self.file_of(call) else { return fail_with(libc::EBADF) };
        let Kind::Signals(known) = &mut self.files.get_mut(file).kind else {
            return fail_with(libc::EINVAL);
        };
        *known = mask;
        self.files.has_changed = true;
        Outcome::Done(call.descriptor().into())
    }

    pub(super) fn readiness_for(&self, call: &Call, file: FileId) -> u32 {
        match self.files.get(file).kind {
            Kind::Signals(mask) if self.pending(call.thread) & mask != 0 => IN,
            _ => self.files.readiness(file, call.now),
        }
    }

    pub(super) fn read_signal(&mut self, call: &Call, mask: u64) -> Read {
        if self.pending(call.thread) & mask == 0 {
            return Read::Nothing;
        }
        let Some(at) = self.scratch(call.thread) else { return Read::Fails(libc::ENOMEM) };
        let (mask_at, span_at, info_at) = (at, at + 16, at + 64);
        call.memory.write(mask_at, &mask.to_le_bytes());
        call.memory.write(span_at, &[0; 16]);
        let arguments = [mask_at, info_at, span_at, 8, 0, 0];
        if self.inject(call.thread, (libc::SYS_rt_sigtimedwait, arguments)) < 0 {
            return Read::Nothing;
        }
        let mut info = SignalInfo::from_bytes(&call.memory.read(info_at, SIGNAL_INFO_BYTES));
        let is_sent = self.set_sender(call.process, &mut info);
        let sender = info.sender().filter(|_| is_sent).unwrap_or(0);
        let mut told = vec![0; SIGNAL_INFO_BYTES];
        for (place, word) in [info.signal(), 0, info.code(), sender].into_iter().enumerate() {
            told[4 * place..4 * place + 4].copy_from_slice(&word.to_le_bytes());
        }
        Read::Bytes(told)
    }

    pub(super) fn sync(&mut self, call: &Call) -> Outcome {
        let Some(span_us) = self.launch.sync_us else { return Outcome::Native };
        if call.waited.is_none() {
            let path = format!("/proc/{}/fd/{}", call.memory.0, call.descriptor());
            self.syncs.extend(crate::synced::Sync::begin(&path).map(|sync| (call.thread, sync)));
            let until = call.deadline(Some(span_us.saturating_mul(1_000)));
            return call.block(Interest::Nothing, until);
        }
        if !call.has_expired {
            return call.block(Interest::Nothing, call.deadline(None));
        }
        let sync = self.syncs.remove(&call.thread);
        if let Some(errno) = self.sync_errno {
            self.has_failed_sync = true;
            return fail_with(errno);
        }
        if let Some(sync) = sync {
            self.synced.finish(sync);
        }
        Outcome::Done(0)
    }
}
