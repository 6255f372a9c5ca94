use crate::protocol::error::CommandError;
use crate::state::command_info::CommandInfo;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

#[cfg(test)]
pub(crate) type Propagated = Vec<(usize, Vec<Vec<u8>>)>;

const RECENT_MAX: usize = 32;

#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    pub(crate) connections_received: u64,
    pub(crate) connections_rejected: u64,
    pub(crate) commands: u64,
    pub(crate) keyspace_hits: u64,
    pub(crate) keyspace_misses: u64,
    pub(crate) expired_keys: u64,
    pub(crate) evicted_keys: u64,
    errors: IndexMap<Vec<u8>, u64, FxBuildHasher>,
    pub(crate) errors_total: u64,
    errors_accounted: u64,
    /// `true` if the error is already counted for a command that this command called.
    pub(crate) repeats_error: bool,
    calls: IndexMap<usize, (&'static CommandInfo, Calls), FxBuildHasher>,
    recent: [u16; RECENT_MAX],
    #[cfg(test)]
    pub(crate) propagated: Propagated,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) executed: u64,
    pub(crate) rejected: u64,
    pub(crate) failed: u64,
}

impl Statistics {
    pub(crate) fn reset(&mut self) {
        *self = Statistics::default();
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = (&'static CommandInfo, Calls)> {
        self.calls.values().copied()
    }

    #[inline(always)]
    fn calls_of(&mut self, command: &'static CommandInfo) -> &mut Calls {
        let address = std::ptr::from_ref(command).addr();
        let recent = &mut self.recent[address / size_of::<CommandInfo>() % RECENT_MAX];
        let is_recent =
            self.calls.get_index(usize::from(*recent)).is_some_and(|(known, _)| *known == address);
        if !is_recent {
            let entry = self.calls.entry(address);
            *recent = entry.index() as u16;
            entry.or_insert((command, Calls::default()));
        }
        &mut self.calls[usize::from(*recent)].1
    }

    pub(crate) fn errors(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.errors.iter().map(|(code, count)| (code.as_slice(), *count))
    }

    pub(crate) fn begin_call(&mut self) {
        self.errors_accounted = self.errors_total;
    }

    /// Counts the call, and counts it as failed if the command added or repeats an error
    /// (`incrCommandStatsOnError`).
    pub(crate) fn end_call(&mut self, command: &'static CommandInfo) {
        let has_failed =
            std::mem::take(&mut self.repeats_error) || self.errors_total > self.errors_accounted;
        self.errors_accounted = self.errors_total;
        let calls = self.calls_of(command);
        calls.executed += 1;
        calls.failed += u64::from(has_failed);
    }

    pub(crate) fn reject_call(&mut self, command: &'static CommandInfo) {
        self.errors_accounted = self.errors_total;
        self.calls_of(command).rejected += 1;
    }

    pub(crate) fn count_error(&mut self, error: &CommandError) {
        const CODES_MAX: usize = 128;
        self.errors_total += 1;
        let code = error.0.split(|byte| *byte == b' ').next().unwrap_or_default();
        if let Some(count) = self.errors.get_mut(code) {
            *count += 1;
        } else if self.errors.len() < CODES_MAX {
            self.errors.insert(code.to_vec(), 1);
        }
    }
}
