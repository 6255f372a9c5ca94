//! What the server knows of the disk.

mod log_size;
mod progress;

use crate::config::{Fsync, NodeConfig, Persistence};
use crate::protocol::error::CommandError;
use crate::protocol::outgoing::encode_command;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{DiskImage, Output};
pub(crate) use log_size::LogSize;
use progress::Progress;
use std::collections::VecDeque;

/// For how many seconds a write waits for a sync that is under way.
const POSTPONED_SECONDS_MAX: i64 = 2;

/// What is known of the disk.
#[derive(Debug)]
pub(crate) struct PersistenceState {
    mode: Persistence,
    /// What the disk held at the start, until it is loaded.
    found: Option<DiskImage>,
    /// What the current input adds to the append-only file.
    appended: BytesMut,
    /// The database that the append-only file has selected.
    append_only_db: Option<usize>,
    /// Whether the files are to be written anew at the end of this input.
    rewrite: bool,
    /// How many syncs were begun and how many are done.
    syncs_begun: u64,
    syncs_done: u64,
    /// With `appendfsync everysec`: the second in which the file was last synced.
    synced_in: i64,
    /// Since which second what was gathered waits for a sync that is under way.
    postponed_since: Option<i64>,
    /// What of the replication stream is safe.
    progress: Progress,
    /// Messages that leave once the sync of this number is done.
    held: VecDeque<(u64, Vec<Output>)>,
    /// When the last snapshot was taken, in seconds of the wall clock.
    last_save: i64,
    /// How much the files hold.
    size: LogSize,
}

impl PersistenceState {
    /// The state before anything was loaded.
    pub(crate) fn new(config: &NodeConfig) -> Self {
        PersistenceState {
            mode: config.persistence,
            found: None,
            appended: BytesMut::new(),
            append_only_db: None,
            rewrite: false,
            syncs_begun: 0,
            syncs_done: 0,
            synced_in: 0,
            postponed_since: None,
            progress: Progress::default(),
            held: VecDeque::new(),
            last_save: 0,
            size: LogSize::default(),
        }
    }

    /// What is kept, and when it is synced.
    pub(crate) fn mode(&self) -> Persistence {
        self.mode
    }

    /// Another one from now on: what was gathered for an append-only file that is no more is
    /// forgotten.
    pub(crate) fn switch(&mut self, mode: Persistence) {
        self.mode = mode;
        if !self.wants_stream() {
            self.appended.clear();
        }
    }

    /// The disk held this.
    pub(crate) fn find(&mut self, image: DiskImage) {
        self.found = Some(image);
    }

    /// The server starts in this second: what the disk held, to be loaded once.
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

    /// A snapshot is taken in this second.
    pub(crate) fn saved(&mut self, second: i64) {
        self.last_save = second;
    }

    /// When the last snapshot was taken, in seconds of the wall clock.
    pub(crate) fn last_save(&self) -> i64 {
        self.last_save
    }

    /// The files are to be written anew at the end of this input.
    pub(crate) fn ask_rewrite(&mut self) {
        self.rewrite = true;
    }

    /// Whether that was asked since the last time.
    pub(crate) fn take_rewrite(&mut self) -> bool {
        std::mem::take(&mut self.rewrite)
    }

    /// The files were replaced by a snapshot of `base` bytes, with the stream at `offset`: the
    /// append-only file is empty and has no database selected.
    pub(crate) fn replaced(&mut self, base: usize, offset: u64) {
        self.size = LogSize { base, appended: 0 };
        self.appended.clear();
        self.append_only_db = None;
        self.progress.replace(offset);
    }

    /// How much the snapshot and the append-only file hold.
    pub(crate) fn size(&self) -> LogSize {
        self.size
    }

    /// An input ends with the stream at `offset`.
    pub(crate) fn rest(&mut self, offset: u64) {
        self.progress.rest(offset);
    }

    /// Whether effects are to be given to [`Server::feed_append_only`].
    pub(crate) fn wants_stream(&self) -> bool {
        matches!(self.mode, Persistence::Aof { .. })
    }

    /// Whether anything was gathered for the append-only file.
    pub(crate) fn has_appended(&self) -> bool {
        !self.appended.is_empty()
    }

    /// What was gathered, to be written now; the stream is at `offset`.
    pub(crate) fn take_appended(&mut self, offset: u64) -> Bytes {
        self.postponed_since = None;
        self.progress.append(offset);
        self.size.appended += self.appended.len();
        self.appended.split().freeze()
    }

    /// With `appendfsync everysec`, until which second what was gathered stays in memory for now:
    /// the file is being synced, and writing to it could take as long as that. A process that dies
    /// meanwhile takes along what it has answered. After two seconds, counted in whole ones, it is
    /// written all the same.
    pub(crate) fn postponed_until(&mut self, second: i64) -> Option<i64> {
        if self.mode != (Persistence::Aof { fsync: Fsync::EverySec }) || !self.is_syncing() {
            return None;
        }
        let until = *self.postponed_since.get_or_insert(second) + POSTPONED_SECONDS_MAX;
        (second < until).then_some(until)
    }

    /// A sync begins.
    pub(crate) fn begin_sync(&mut self) {
        self.syncs_begun += 1;
        self.progress.begin_sync();
    }

    /// With `appendfsync everysec`, takes the sync of this second: false if it was taken, or one is
    /// under way, which counts for the second, too.
    pub(crate) fn take_second(&mut self, second: i64) -> bool {
        let is_new = second > self.synced_in;
        self.synced_in = self.synced_in.max(second);
        is_new && !self.is_syncing()
    }

    /// The next second that has a sync of its own, if anything waits for one.
    pub(crate) fn next_second(&self) -> Option<i64> {
        self.has_unsynced().then_some(self.synced_in + 1)
    }

    /// Whether anything was given to the file that no sync covers.
    pub(crate) fn has_unsynced(&self) -> bool {
        self.progress.has_unsynced()
    }

    /// The oldest sync is done: the messages that waited for it.
    pub(crate) fn finish_sync(&mut self) -> Vec<Output> {
        self.syncs_done += 1;
        self.progress.finish_sync();
        let is_done = |(sync, _): &(u64, Vec<Output>)| *sync <= self.syncs_done;
        let done = self.held.iter().take_while(|held| is_done(held)).count();
        self.held.drain(..done).flat_map(|(_, sends)| sends).collect()
    }

    /// Messages that leave once the last sync that was begun is done.
    pub(crate) fn hold(&mut self, sends: Vec<Output>) {
        if !sends.is_empty() {
            self.held.push_back((self.syncs_begun, sends));
        }
    }

    /// Whether any message waits for a sync.
    pub(crate) fn holds_messages(&self) -> bool {
        !self.held.is_empty()
    }

    /// Up to which offset of the replication stream everything is safe from power loss; `None`
    /// without an append-only file.
    pub(crate) fn synced_offset(&self) -> Option<u64> {
        self.wants_stream().then(|| self.progress.synced())
    }

    /// The error for writes if the disk failed (`-MISCONF`). Disks do not fail here.
    pub(crate) fn denied_write(&self) -> Option<CommandError> {
        None
    }

    /// Whether a sync must be done before a reply may leave, and is not.
    pub(crate) fn awaits_sync(&self) -> bool {
        self.is_syncing() && self.mode == (Persistence::Aof { fsync: Fsync::Always })
    }

    fn is_syncing(&self) -> bool {
        self.syncs_done < self.syncs_begun
    }

    /// Takes an effect for the append-only file, with a SELECT before it if its database is another
    /// one.
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
