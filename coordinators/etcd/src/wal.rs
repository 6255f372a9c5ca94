//! The log on disk. An entry replaces all earlier entries with the same or a higher index.

use crate::raft::{Entry, HardState, Raft};
use bytes::Bytes;
use fencepost_machine::{Output, journal};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Record {
    Entry { index: u64, entry: Entry },
    Hard { term: u64, vote: u8, commit: u64 },
}

#[derive(Clone, Debug)]
pub(crate) struct Wal {
    hard: HardState,
    /// Number of the last write that the server must sync.
    written: u64,
    synced: u64,
    syncing: Option<(u64, u64)>,
}

/// Reads the log. Panics on a malformed record, which the checksums rule out.
pub(crate) fn load(records: &[Bytes]) -> (HardState, Vec<Entry>) {
    let (mut hard, mut log) = (HardState::default(), Vec::new());
    for record in records {
        match serde_json::from_slice(record).expect("a record as it was written") {
            Record::Entry { index, entry } => {
                let before = usize::try_from(index.saturating_sub(1)).unwrap_or(usize::MAX);
                log.truncate(before);
                assert_eq!(log.len(), before, "the entries before {index}");
                log.push(entry);
            }
            Record::Hard { term, vote, commit } => hard = HardState { term, vote, commit },
        }
    }
    (hard, log)
}

fn frame(record: &Record) -> Bytes {
    journal::record(&serde_json::to_vec(record).expect("a record has a form in JSON"))
}

impl Wal {
    pub(crate) fn new(hard: HardState) -> Wal {
        Wal { hard, written: 0, synced: 0, syncing: None }
    }

    pub(crate) fn write(&mut self, raft: &mut Raft, out: &mut Vec<Output>) {
        let (from, last) = (raft.first_unwritten, raft.last_index());
        let must_sync =
            from <= last || (raft.hard.term, raft.hard.vote) != (self.hard.term, self.hard.vote);
        if from <= last {
            if let Some((_, index)) = &mut self.syncing {
                *index = (*index).min(from - 1);
            }
            for index in from..=last {
                let entry = raft.log[usize::try_from(index - 1).unwrap_or(0)].clone();
                out.push(Output::DiskAppend { bytes: frame(&Record::Entry { index, entry }) });
            }
            raft.first_unwritten = last + 1;
        }
        if raft.hard != self.hard {
            self.hard = raft.hard;
            let HardState { term, vote, commit } = raft.hard;
            out.push(Output::DiskAppend { bytes: frame(&Record::Hard { term, vote, commit }) });
        }
        if must_sync {
            self.written += 1;
            self.sync(last, out);
        }
    }

    fn sync(&mut self, last: u64, out: &mut Vec<Output>) {
        if self.syncing.is_none() && self.synced < self.written {
            self.syncing = Some((self.written, last));
            out.push(Output::DiskSync);
        }
    }

    pub(crate) fn disk_synced(&mut self, last: u64, out: &mut Vec<Output>) -> u64 {
        let Some((written, index)) = self.syncing.take() else { return 0 };
        self.synced = written;
        self.sync(last, out);
        index
    }

    pub(crate) fn ticket(&self) -> Option<u64> {
        (self.synced < self.written).then_some(self.written)
    }

    pub(crate) fn is_synced(&self, ticket: u64) -> bool {
        ticket <= self.synced
    }
}
