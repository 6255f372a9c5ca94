//! Counters that INFO shows. Must never know who reads them.

use crate::error::CommandError;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// What a test sees of the propagation stream: database and arguments.
#[cfg(test)]
pub(crate) type Propagated = Vec<(usize, Vec<Vec<u8>>)>;

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
    pub(crate) errors: IndexMap<Vec<u8>, u64, FxBuildHasher>,
    /// Everything that was propagated.
    #[cfg(test)]
    pub(crate) propagated: Propagated,
}

impl Statistics {
    /// Counts an error reply by its code: the first word.
    pub(crate) fn count_error(&mut self, error: &CommandError) {
        const CODES_MAX: usize = 128;
        let code = error.0.split(|byte| *byte == b' ').next().unwrap_or_default();
        if let Some(count) = self.errors.get_mut(code) {
            *count += 1;
        } else if self.errors.len() < CODES_MAX {
            self.errors.insert(code.to_vec(), 1);
        }
    }
}
