//! The server's view of its disk.

mod failures;
mod log_size;
mod progress;

use crate::config::{Fsync, NodeConfig, Persistence};
use crate::protocol::error::CommandError;
use crate::protocol::outgoing::encode_command;
use bytes::{Bytes, BytesMut};
pub(crate) use failures::{BeforeSave, Failures};
use fencepost_machine::{DiskImage, Output, SyncError};
pub(crate) use log_size::LogSize;
use progress::Progress;
use std::collections::VecDeque;

const POSTPONED_SECONDS_MAX: i64 = 2;

#[derive(Debug, Default)]
pub(crate) struct PersistenceState {
    pub(crate) mode: Persistence,
    pub(crate) found: Option<DiskImage>,
    appended: BytesMut,
    append_only_db: Option<usize>,
    pub(crate) rewrite: bool,
    syncs_begun: u64,
    syncs_done: u64,
    synced_in: i64,
    postponed_since: Option<i64>,
    progress: Progress,
    held: VecDeque<(u64, Vec<Output>)>,
    pub(crate) last_save: i64,
    pub(crate) size: LogSize,
    size_before_rewrite: LogSize,
    pub(crate) failures: Failures,
}

impl PersistenceState {
    pub(crate) fn new(config: &NodeConfig) -> Self {
        PersistenceState { mode: config.persistence, ..PersistenceState::default() }
    }

    pub(crate) fn switch(&mut self, mode: Persistence) {
        self.mode = mode;
        if !self.wants_stream() {
            self.appended.clear();
        }
    }

    pub(crate) fn start(&mut self, second: i64) -> Option<DiskImage> {
        self.last_save = second;
        self.synced_in = second;
        let found = self.found.take();
        if let Some(image) = &found {
            let base = image.snapshot.as_ref().map_or(0, Bytes::len);
            self.size = LogSize { base, appended: image.append_only.len() };
        }
        found
    }

    pub(crate) fn save_failed(&mut self, second: i64) -> Option<BeforeSave> {
        let before = self.failures.save_failed(second)?;
        self.last_save = before.last_save;
        Some(before)
    }

    pub(crate) fn take_rewrite(&mut self) -> bool {
        std::mem::take(&mut self.rewrite)
    }

    pub(crate) fn replaced(&mut self, base: usize, offset: u64) {
        self.size_before_rewrite = std::mem::replace(&mut self.size, LogSize { base, appended: 0 });
        self.appended.clear();
        self.append_only_db = None;
        self.progress.replace(offset);
    }

    /// Continues with the old file, and schedules another rewrite a second later.
    pub(crate) fn rewrite_failed(&mut self, offset: u64, second: i64) {
        self.size = self.size_before_rewrite;
        self.progress.append(offset);
        self.failures.rewrite_failed(second);
    }

    pub(crate) fn rest(&mut self, offset: u64) {
        self.progress.rest(offset);
    }

    pub(crate) fn wants_stream(&self) -> bool {
        matches!(self.mode, Persistence::Aof { .. })
    }

    pub(crate) fn has_appended(&self) -> bool {
        !self.appended.is_empty()
    }

    pub(crate) fn take_appended(&mut self, offset: u64) -> Bytes {
        self.postponed_since = None;
        self.progress.append(offset);
        self.size.appended += self.appended.len();
        self.appended.split().freeze()
    }

    /// Returns the second until which a running sync delays writes, if any (at most two seconds).
    pub(crate) fn postponed_until(&mut self, second: i64) -> Option<i64> {
        if self.mode != (Persistence::Aof { fsync: Fsync::EverySec }) || !self.is_syncing() {
            return None;
        }
        let until = *self.postponed_since.get_or_insert(second) + POSTPONED_SECONDS_MAX;
        (second < until).then_some(until)
    }

    pub(crate) fn begin_sync(&mut self) {
        self.syncs_begun += 1;
        self.progress.begin_sync();
    }

    pub(crate) fn take_second(&mut self, second: i64) -> bool {
        let is_new = second > self.synced_in;
        self.synced_in = self.synced_in.max(second);
        is_new && !self.is_syncing()
    }

    pub(crate) fn next_second(&self) -> Option<i64> {
        self.has_unsynced().then_some(self.synced_in + 1)
    }

    pub(crate) fn has_unsynced(&self) -> bool {
        self.progress.unsynced
    }

    pub(crate) fn finish_sync(&mut self) -> Vec<Output> {
        self.failures.of_log = None;
        self.progress.finish_sync();
        self.release_held()
    }

    /// Records a failed sync. As in Redis, the next sync follows the next write to the file.
    pub(crate) fn fail_sync(&mut self, error: SyncError) -> Vec<Output> {
        self.failures.of_log = Some(error);
        self.progress.fail_sync();
        self.release_held()
    }

    fn release_held(&mut self) -> Vec<Output> {
        self.syncs_done += 1;
        let is_done = |(sync, _): &(u64, Vec<Output>)| *sync <= self.syncs_done;
        let done = self.held.iter().take_while(|held| is_done(held)).count();
        self.held.drain(..done).flat_map(|(_, sends)| sends).collect()
    }

    pub(crate) fn hold(&mut self, sends: Vec<Output>) {
        if !sends.is_empty() {
            self.held.push_back((self.syncs_begun, sends));
        }
    }

    pub(crate) fn holds_messages(&self) -> bool {
        !self.held.is_empty()
    }

    pub(crate) fn synced_offset(&self) -> Option<u64> {
        self.wants_stream().then_some(self.progress.synced)
    }

    pub(crate) fn denied_write(&self, config: &NodeConfig) -> Option<CommandError> {
        self.failures.denied_write(config)
    }

    pub(crate) fn awaits_sync(&self) -> bool {
        self.is_syncing() && self.mode == (Persistence::Aof { fsync: Fsync::Always })
    }

    fn is_syncing(&self) -> bool {
        self.syncs_done < self.syncs_begun
    }

    pub(crate) fn feed(&mut self, db: usize, args: &[&[u8]]) {
        if self.append_only_db != Some(db) {
            encode_command(&[b"SELECT", db.to_string().as_bytes()], &mut self.appended);
            self.append_only_db = Some(db);
        }
        encode_command(args, &mut self.appended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_machine::ConnectionId;

    fn state(fsync: Fsync) -> PersistenceState {
        PersistenceState::new(&NodeConfig {
            persistence: Persistence::Aof { fsync },
            ..NodeConfig::default()
        })
    }

    #[test]
    fn a_message_leaves_with_the_sync_that_it_waits_for_and_not_before() {
        let message = |connection| Output::Close { connection: ConnectionId(connection) };
        let mut state = state(Fsync::Always);
        state.begin_sync();
        state.hold(vec![message(1)]);
        state.begin_sync();
        state.hold(vec![message(2), message(3)]);
        state.hold(Vec::new());
        assert_eq!(state.finish_sync().len(), 1);
        assert!(state.holds_messages() && state.awaits_sync());
        assert_eq!(state.finish_sync().len(), 2);
        assert!(!state.holds_messages() && !state.awaits_sync());
    }

    #[test]
    fn each_second_has_one_sync() {
        let mut state = state(Fsync::EverySec);
        assert!(state.start(7).is_none());
        assert!(!state.take_second(7), "it starts in that second");
        assert!(state.take_second(8) && !state.take_second(8));
        state.begin_sync();
        assert!(!state.take_second(9), "one is under way");
        assert_eq!(state.next_second(), None, "nothing waits");
        state.feed(0, &[b"SET", b"a", b"1"]);
        state.take_appended(10);
        assert_eq!(state.next_second(), Some(10));
    }

    #[test]
    fn a_write_waits_for_a_sync_for_two_seconds_at_most() {
        let mut state = state(Fsync::EverySec);
        assert_eq!(state.postponed_until(7), None, "nothing is under way");
        state.begin_sync();
        assert_eq!(state.postponed_until(7), Some(9));
        assert_eq!((state.postponed_until(8), state.postponed_until(9)), (Some(9), None));
        state.take_appended(1);
        assert_eq!(state.postponed_until(9), Some(11), "the next one waits by itself");
        let mut always = self::state(Fsync::Always);
        always.begin_sync();
        assert_eq!(always.postponed_until(7), None);
    }

    #[test]
    fn a_new_file_selects_its_database_again() {
        let mut state = state(Fsync::No);
        state.feed(1, &[b"SET", b"a", b"1"]);
        let first = state.take_appended(1);
        state.feed(1, &[b"SET", b"a", b"1"]);
        let second = state.take_appended(2);
        assert!(first.len() > second.len(), "the second needs no SELECT");
        state.feed(1, &[b"SET", b"b", b"1"]);
        state.replaced(0, 3);
        assert!(!state.has_appended(), "all data are in the file");
        state.feed(1, &[b"SET", b"a", b"1"]);
        assert_eq!(state.take_appended(4), first);
    }

    #[test]
    fn what_was_gathered_for_no_file_is_forgotten() {
        let mut state = state(Fsync::No);
        state.feed(0, &[b"SET", b"a", b"1"]);
        state.switch(Persistence::Aof { fsync: Fsync::Always });
        assert!(state.has_appended());
        state.switch(Persistence::Rdb);
        assert!(!state.has_appended() && state.synced_offset().is_none());
    }
}
