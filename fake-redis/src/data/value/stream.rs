//! Streams without consumer groups (t_stream.c).

pub(crate) mod packed;

use std::collections::VecDeque;

/// Redis's default for `stream-node-max-entries`; approximate trims remove whole nodes.
pub(crate) const NODE_ENTRIES_MAX: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct StreamId {
    pub(crate) ms: u64,
    pub(crate) sequence: u64,
}

impl StreamId {
    pub(crate) const MIN: StreamId = StreamId { ms: 0, sequence: 0 };
    pub(crate) const MAX: StreamId = StreamId { ms: u64::MAX, sequence: u64::MAX };

    pub(crate) fn next(self) -> Option<StreamId> {
        match self.sequence.checked_add(1) {
            Some(sequence) => Some(StreamId { sequence, ..self }),
            None => Some(StreamId { ms: self.ms.checked_add(1)?, sequence: 0 }),
        }
    }

    pub(crate) fn previous(self) -> Option<StreamId> {
        match self.sequence.checked_sub(1) {
            Some(sequence) => Some(StreamId { sequence, ..self }),
            None => Some(StreamId { ms: self.ms.checked_sub(1)?, sequence: u64::MAX }),
        }
    }

    pub(crate) fn text(self) -> String {
        format!("{}-{}", self.ms, self.sequence)
    }
}

pub(crate) type Pairs = Vec<(Box<[u8]>, Box<[u8]>)>;

/// A stream, possibly empty, because Redis keeps the last identifier of an emptied stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stream {
    entries: VecDeque<Entry>,
    last: StreamId,
    bytes: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) id: StreamId,
    pub(crate) pairs: Pairs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keep {
    Newest(usize),
    From(StreamId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Trim {
    pub(crate) keep: Keep,
    pub(crate) is_approximate: bool,
    pub(crate) limit: Option<usize>,
}

impl Entry {
    fn bytes(&self) -> usize {
        32 + self.pairs.iter().map(|(field, value)| field.len() + value.len()).sum::<usize>()
    }
}

impl Stream {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn last(&self) -> StreamId {
        self.last
    }

    pub(crate) fn memory(&self) -> usize {
        64 + self.bytes
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(crate) fn first(&self) -> Option<StreamId> {
        self.entries.front().map(|entry| entry.id)
    }

    /// Returns `None` if the entries are not in order, or if `last` precedes the last entry.
    pub(crate) fn restored(entries: Vec<Entry>, last: StreamId) -> Option<Stream> {
        let is_ordered = entries.windows(2).all(|pair| pair[0].id < pair[1].id);
        if !is_ordered || entries.last().is_some_and(|newest| last < newest.id) {
            return None;
        }
        let bytes = entries.iter().map(Entry::bytes).sum();
        Some(Stream { entries: entries.into(), last, bytes })
    }

    /// `id` must be greater than `last`.
    pub(crate) fn append(&mut self, id: StreamId, pairs: Pairs) {
        let entry = Entry { id, pairs };
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
        self.last = id;
    }

    pub(crate) fn trim(&mut self, trim: Trim) -> usize {
        let mut removed = match trim.keep {
            Keep::Newest(keep) => self.len().saturating_sub(keep),
            Keep::From(id) => self.entries.partition_point(|entry| entry.id < id),
        };
        let limit = trim.limit.unwrap_or(usize::MAX);
        if trim.is_approximate && (removed < self.len() || removed > limit) {
            removed = removed.min(limit) / NODE_ENTRIES_MAX * NODE_ENTRIES_MAX;
        }
        self.bytes -= self.entries.drain(..removed).map(|entry| entry.bytes()).sum::<usize>();
        removed
    }

    pub(crate) fn remove(&mut self, id: StreamId) -> bool {
        let place = self.entries.binary_search_by_key(&id, |entry| entry.id);
        let Some(entry) = place.ok().and_then(|place| self.entries.remove(place)) else {
            return false;
        };
        self.bytes -= entry.bytes();
        true
    }
}
