//! Failed disk writes, which may make the server refuse writes (`writeCommandsDeniedByDiskError`).

use crate::config::{NodeConfig, Persistence};
use crate::protocol::error::{self, CommandError};
use fencepost_machine::SyncError;

/// Seconds without an automatic snapshot after a failure (`CONFIG_BGSAVE_RETRY_DELAY`).
const SAVE_RETRY_SECONDS: i64 = 5;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BeforeSave {
    pub(crate) last_save: i64,
    pub(crate) unsaved: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Failures {
    pub(crate) of_log: Option<SyncError>,
    pub(crate) saving: Option<BeforeSave>,
    save_failed_at: Option<i64>,
    rewrite_again_at: Option<i64>,
    /// `true` during the input that begins a snapshot; only a later input can report a failure.
    is_undecided: bool,
    reported: bool,
}

impl Failures {
    pub(crate) fn is_log_failing(&self) -> bool {
        self.of_log.is_some()
    }

    /// Records the snapshot as successful, unless [`Failures::save_failed`] follows.
    pub(crate) fn begin_save(&mut self, before: BeforeSave) {
        (self.saving, self.save_failed_at) = (Some(before), None);
        self.is_undecided = true;
    }

    pub(crate) fn save_failed(&mut self, second: i64) -> Option<BeforeSave> {
        let before = self.saving.take()?;
        self.is_undecided = false;
        self.save_failed_at = Some(second);
        Some(before)
    }

    pub(crate) fn is_save_failing(&self) -> bool {
        self.save_failed_at.is_some()
    }

    pub(crate) fn next_save(&self) -> i64 {
        self.save_failed_at.map_or(i64::MIN, |failed| failed + SAVE_RETRY_SECONDS + 1)
    }

    pub(crate) fn rewrite_failed(&mut self, second: i64) {
        self.rewrite_again_at = Some(second + 1);
    }

    pub(crate) fn take_rewrite(&mut self, second: i64) -> bool {
        self.rewrite_again_at.take_if(|again| *again <= second).is_some()
    }

    pub(crate) fn denied_write(&self, config: &NodeConfig) -> Option<CommandError> {
        if !self.refuses_writes(config) {
            return None;
        }
        match config.persistence {
            Persistence::Rdb => Some(error::SAVE_FAILED),
            Persistence::Aof { .. } => {
                let why = self.of_log?.text();
                let text = format!("MISCONF Errors writing to the AOF file: {why}");
                Some(CommandError::text(text))
            }
            Persistence::None => None,
        }
    }

    fn refuses_writes(&self, config: &NodeConfig) -> bool {
        match config.persistence {
            Persistence::Rdb => {
                let stops = config.stop_writes_on_bgsave_error && !config.save_points.is_empty();
                stops && self.is_save_failing()
            }
            Persistence::Aof { .. } => self.is_log_failing(),
            Persistence::None => false,
        }
    }

    /// Returns the result of `refuses_writes` if it has changed. Call this after each input.
    pub(crate) fn take_change(&mut self, config: &NodeConfig) -> Option<bool> {
        if std::mem::take(&mut self.is_undecided) {
            return None;
        }
        let refuses = self.refuses_writes(config);
        (std::mem::replace(&mut self.reported, refuses) != refuses).then_some(refuses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_snapshot_is_tried_again_after_five_seconds() {
        let mut failures = Failures::default();
        assert_eq!(failures.save_failed(7), None, "no snapshot was taken");
        let before = BeforeSave { last_save: 3, unsaved: 2 };
        failures.begin_save(before);
        assert_eq!(failures.save_failed(7), Some(before));
        assert_eq!((failures.is_save_failing(), failures.next_save()), (true, 13));
        failures.begin_save(before);
        assert!(!failures.is_save_failing());
    }
}
