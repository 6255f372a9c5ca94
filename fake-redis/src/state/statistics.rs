//! Counters that INFO shows.

use crate::protocol::error::CommandError;
use crate::state::command_info::CommandInfo;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// What a test sees of the propagation stream: database and arguments.
#[cfg(test)]
pub(crate) type Propagated = Vec<(usize, Vec<Vec<u8>>)>;

/// How many commands are found without a search.
const RECENT_MAX: usize = 32;

/// Counters since the start, or since CONFIG RESETSTAT.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    /// Connections that were asked for.
    pub(crate) connections_received: u64,
    /// Connections that were refused.
    pub(crate) connections_rejected: u64,
    /// Commands that clients sent.
    pub(crate) commands: u64,
    /// Keys that were found.
    pub(crate) keyspace_hits: u64,
    /// Keys that were not found.
    pub(crate) keyspace_misses: u64,
    /// Keys that expired.
    pub(crate) expired_keys: u64,
    /// Keys that were evicted.
    pub(crate) evicted_keys: u64,
    /// Error replies by their code.
    errors: IndexMap<Vec<u8>, u64, FxBuildHasher>,
    /// How many error replies there were.
    errors_total: u64,
    /// Of those, how many were made before the current command, or by commands that it called.
    errors_accounted: u64,
    /// Whether the current command answers with an error that was counted with a command that it
    /// called.
    repeats_error: bool,
    /// The commands by the addresses of their rows, in the order in which they were first sent.
    calls: IndexMap<usize, (&'static CommandInfo, Calls), FxBuildHasher>,
    /// Where commands are in `calls` that were sent lately, each at a place that its address gives.
    recent: [u16; RECENT_MAX],
    /// Everything that was propagated.
    #[cfg(test)]
    pub(crate) propagated: Propagated,
}

/// How often a command was called.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Calls {
    /// It was executed.
    pub(crate) executed: u64,
    /// It was refused.
    pub(crate) rejected: u64,
    /// It was executed and answered with an error.
    pub(crate) failed: u64,
}

impl Statistics {
    /// CONFIG RESETSTAT.
    pub(crate) fn reset(&mut self) {
        *self = Statistics::default();
    }

    /// How often each command was called, in the order in which they were first sent.
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

    /// Error replies by their code.
    pub(crate) fn errors(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.errors.iter().map(|(code, count)| (code.as_slice(), *count))
    }

    /// How many error replies there were.
    pub(crate) fn errors_total(&self) -> u64 {
        self.errors_total
    }

    /// The current command answers with an error, or does not, that was counted with a command that
    /// it called.
    pub(crate) fn answers_with(&mut self, is_error: bool) {
        self.repeats_error = is_error;
    }

    /// A command begins: errors from now on are its own.
    pub(crate) fn begin_call(&mut self) {
        self.errors_accounted = self.errors_total;
    }

    /// A command ends; it failed if there was an error that no command it called was to blame for.
    /// This is `incrCommandStatsOnError` in server.c.
    pub(crate) fn end_call(&mut self, command: &'static CommandInfo) {
        let has_failed =
            std::mem::take(&mut self.repeats_error) || self.errors_total > self.errors_accounted;
        self.errors_accounted = self.errors_total;
        let calls = self.calls_of(command);
        calls.executed += 1;
        calls.failed += u64::from(has_failed);
    }

    /// A command was refused, which was counted as an error.
    pub(crate) fn reject_call(&mut self, command: &'static CommandInfo) {
        self.errors_accounted = self.errors_total;
        self.calls_of(command).rejected += 1;
    }

    /// Counts an error reply by its code: the first word.
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
