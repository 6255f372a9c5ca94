//! Streams without consumer groups, stored in nodes as in Redis (t_stream.c).

pub(crate) mod packed;

use std::collections::VecDeque;

/// Redis's defaults of `stream-node-max-entries` and `stream-node-max-bytes`.
pub(crate) const NODE_ENTRIES_MAX: usize = 100;
const NODE_BYTES_MAX: usize = 4_096;

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

/// A stream. It may be empty, because it keeps its last identifier.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stream {
    nodes: VecDeque<Node>,
    length: usize,
    last: StreamId,
    bytes: usize,
}

/// A node. Removed entries are only marked until all entries of the node are removed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Node {
    entries: VecDeque<Entry>,
    removed: usize,
    bytes: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) id: StreamId,
    pub(crate) pairs: Pairs,
    pub(crate) is_removed: bool,
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

impl Node {
    fn new(entries: VecDeque<Entry>) -> Node {
        let removed = entries.iter().filter(|entry| entry.is_removed).count();
        let bytes = packed::size(&entries);
        Node { entries, removed, bytes }
    }

    fn count(&self) -> usize {
        self.entries.len() - self.removed
    }
}

impl Stream {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn last(&self) -> StreamId {
        self.last
    }

    pub(crate) fn memory(&self) -> usize {
        64 + self.bytes
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.nodes.iter().flat_map(|node| &node.entries).filter(|entry| !entry.is_removed)
    }

    pub(crate) fn first(&self) -> Option<StreamId> {
        self.iter().next().map(|entry| entry.id)
    }

    pub(crate) fn nodes(&self) -> impl ExactSizeIterator<Item = &VecDeque<Entry>> {
        self.nodes.iter().map(|node| &node.entries)
    }

    /// Restores a stream; `None` if its entries are not in order.
    pub(crate) fn restored(nodes: Vec<VecDeque<Entry>>, last: StreamId) -> Option<Stream> {
        let ids: Vec<StreamId> = nodes.iter().flatten().map(|entry| entry.id).collect();
        let is_ordered = ids.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_ordered || ids.last().is_some_and(|newest| last < *newest) {
            return None;
        }
        let nodes: VecDeque<Node> = nodes.into_iter().map(Node::new).collect();
        let length = nodes.iter().map(Node::count).sum();
        let bytes = nodes.iter().map(|node| node.bytes).sum();
        Some(Stream { nodes, length, last, bytes })
    }

    /// Appends an entry, whose `id` must be greater than the last one (`streamAppendItem`).
    pub(crate) fn append(&mut self, id: StreamId, pairs: Pairs) {
        let content: usize = pairs.iter().map(|(field, value)| field.len() + value.len()).sum();
        let is_full = self.nodes.back().is_none_or(|node| {
            node.bytes + content >= NODE_BYTES_MAX || node.entries.len() >= NODE_ENTRIES_MAX
        });
        let entry = Entry { id, pairs, is_removed: false };
        match self.nodes.back_mut().filter(|_| !is_full) {
            Some(node) => {
                let added = packed::added(&node.entries, &entry);
                (node.bytes, self.bytes) = (node.bytes + added, self.bytes + added);
                node.entries.push_back(entry);
            }
            None => {
                let node = Node::new([entry].into());
                self.bytes += node.bytes;
                self.nodes.push_back(node);
            }
        }
        self.length += 1;
        self.last = id;
    }

    /// Trims the stream and returns the number of removed entries, like `streamTrim`.
    pub(crate) fn trim(&mut self, trim: Trim) -> usize {
        let mut removed = 0;
        while let Some(node) = self.nodes.front() {
            let (count, newest) = (node.count(), node.entries.back().map(|entry| entry.id));
            let is_enough = matches!(trim.keep, Keep::Newest(keep) if self.length <= keep);
            if is_enough || trim.limit.is_some_and(|limit| removed + count > limit) {
                break;
            }
            let goes_whole = match trim.keep {
                Keep::Newest(keep) => self.length - count >= keep,
                Keep::From(id) => newest.is_none_or(|newest| newest < id),
            };
            if !goes_whole {
                return removed + if trim.is_approximate { 0 } else { self.trim_node(trim.keep) };
            }
            self.remove_node(0);
            removed += count;
        }
        removed
    }

    fn trim_node(&mut self, keep: Keep) -> usize {
        let (Some(node), length) = (self.nodes.front_mut(), self.length) else { return 0 };
        let mut marked = 0;
        for entry in node.entries.iter_mut().filter(|entry| !entry.is_removed) {
            let stays = match keep {
                Keep::Newest(keep) => length - marked <= keep,
                Keep::From(id) => id <= entry.id,
            };
            if stays {
                break;
            }
            entry.is_removed = true;
            marked += 1;
        }
        node.removed += marked;
        self.length -= marked;
        marked
    }

    fn remove_node(&mut self, place: usize) {
        if let Some(node) = self.nodes.remove(place) {
            self.length -= node.count();
            self.bytes -= node.bytes;
        }
    }

    pub(crate) fn remove(&mut self, id: StreamId) -> bool {
        let is_before = |node: &Node| node.entries.back().is_some_and(|newest| newest.id < id);
        let place = self.nodes.partition_point(is_before);
        let Some(node) = self.nodes.get_mut(place) else { return false };
        let found = node.entries.iter_mut().find(|entry| entry.id == id && !entry.is_removed);
        let Some(entry) = found else { return false };
        entry.is_removed = true;
        node.removed += 1;
        self.length -= 1;
        if node.count() == 0 {
            self.remove_node(place);
        }
        true
    }
}
