//! The synced part of the append-only file (`fsynced_reploff` in aof.c of 7.2).

use std::collections::VecDeque;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Progress {
    written: u64,
    pub(crate) unsynced: bool,
    under_way: VecDeque<u64>,
    pub(crate) synced: u64,
}

impl Progress {
    pub(crate) fn append(&mut self, offset: u64) {
        self.written = offset;
        self.unsynced = true;
    }

    pub(crate) fn begin_sync(&mut self) {
        self.under_way.push_back(self.written);
        self.unsynced = false;
    }

    pub(crate) fn finish_sync(&mut self) {
        if let Some(offset) = self.under_way.pop_front() {
            self.synced = self.synced.max(offset);
        }
    }

    pub(crate) fn fail_sync(&mut self) {
        self.under_way.pop_front();
    }

    pub(crate) fn replace(&mut self, offset: u64) {
        self.written = offset;
        self.unsynced = false;
        self.synced = offset;
        self.under_way.iter_mut().for_each(|reach| *reach = offset);
    }

    pub(crate) fn rest(&mut self, offset: u64) {
        if !self.unsynced && self.under_way.is_empty() {
            self.written = offset;
            self.synced = offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_covers_what_was_written_before_it_began_and_nothing_else() {
        let mut progress = Progress::default();
        progress.append(10);
        progress.begin_sync();
        progress.append(20);
        progress.rest(20);
        assert_eq!(progress.synced, 0, "the first sync is not done");
        progress.finish_sync();
        assert_eq!((progress.synced, progress.unsynced), (10, true));
        progress.rest(25);
        assert_eq!(progress.synced, 10, "what came later is not covered");
    }

    #[test]
    fn what_is_not_for_the_disk_holds_nobody_up() {
        let mut progress = Progress::default();
        progress.rest(37);
        assert_eq!(progress.synced, 37);
    }

    #[test]
    fn a_new_history_begins_with_its_snapshot() {
        let mut progress = Progress::default();
        progress.append(500);
        progress.begin_sync();
        progress.replace(40);
        progress.finish_sync();
        assert_eq!(progress.synced, 40, "a sync of the old file says nothing of the new history");
    }
}
