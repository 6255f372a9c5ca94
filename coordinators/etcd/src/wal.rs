//! The log on disk: entries and what raft must remember, in the order in which they were written.
//! An entry with the index of an earlier one takes the place of that and of all behind it.

use crate::raft::{Entry, Hard, Raft};
use bytes::{BufMut, Bytes, BytesMut};
use fencepost_machine::{DiskImage, Output};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Record {
    Entry { index: u64, entry: Entry },
    Hard { term: u64, vote: u8, commit: u64 },
}

/// What has been written, and how much of it is safe.
#[derive(Clone, Debug)]
pub(crate) struct Wal {
    hard: Hard,
    /// Counts what was written that must be safe before others hear of it.
    written: u64,
    synced: u64,
    /// The sync under way: what it makes safe, and up to which entry.
    syncing: Option<(u64, u64)>,
}

/// What an earlier life has left.
pub(crate) fn load(disk: &DiskImage) -> (Hard, Vec<Entry>) {
    let (mut hard, mut log) = (Hard::default(), Vec::new());
    let mut rest: &[u8] = &disk.append_only;
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let Some((record, tail)) = tail.split_at_checked(length) else { break };
        rest = tail;
        match serde_json::from_slice(record) {
            Ok(Record::Entry { index, entry }) => {
                let before = usize::try_from(index.saturating_sub(1)).unwrap_or(usize::MAX);
                log.truncate(before);
                if log.len() < before {
                    break;
                }
                log.push(entry);
            }
            Ok(Record::Hard { term, vote, commit }) => hard = Hard { term, vote, commit },
            Err(_) => break,
        }
    }
    (hard, log)
}

fn frame(record: &Record) -> Bytes {
    let json = serde_json::to_vec(record).unwrap_or_default();
    let mut bytes = BytesMut::with_capacity(json.len() + 4);
    bytes.put_u32(u32::try_from(json.len()).unwrap_or(u32::MAX));
    bytes.put_slice(&json);
    bytes.freeze()
}

impl Wal {
    pub(crate) fn new(hard: Hard) -> Wal {
        Wal { hard, written: 0, synced: 0, syncing: None }
    }

    /// Writes what raft has changed.
    pub(crate) fn write(&mut self, raft: &mut Raft, out: &mut Vec<Output>) {
        let (from, last) = (raft.unwritten, raft.last_index());
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
            raft.unwritten = last + 1;
        }
        if raft.hard != self.hard {
            self.hard = raft.hard;
            let Hard { term, vote, commit } = raft.hard;
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

    /// A sync is done: returns up to which entry. What was written meanwhile is synced next.
    pub(crate) fn disk_synced(&mut self, last: u64, out: &mut Vec<Output>) -> u64 {
        let Some((written, index)) = self.syncing.take() else { return 0 };
        self.synced = written;
        self.sync(last, out);
        index
    }

    /// Until when a message waits that tells of what was written last; none if it need not.
    pub(crate) fn ticket(&self) -> Option<u64> {
        (self.synced < self.written).then_some(self.written)
    }

    pub(crate) fn is_synced(&self, ticket: u64) -> bool {
        ticket <= self.synced
    }
}
