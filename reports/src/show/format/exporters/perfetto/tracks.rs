//! Assigns spans to tracks. Perfetto drops a span that partly overlaps another span of its track.

use fencepost_faults::Node;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use strum::VariantArray;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, VariantArray)]
pub(super) enum Topic {
    Believed,
    Lock,
    Overlap,
    Fault,
    Message,
}

pub(super) struct Slice {
    pub(super) node: Node,
    pub(super) topic: Topic,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) name: String,
    pub(super) arrow: Option<Arrow>,
}

pub(super) struct Arrow {
    pub(super) number: u64,
    pub(super) end: End,
}

pub(super) enum End {
    Tail,
    Head,
}

/// Number of track ids reserved for each pair of a node and a [`Topic::place`].
const ROWS: usize = 1 << 12;

impl Topic {
    pub(super) fn category(self) -> &'static str {
        match self {
            Topic::Believed => "believed",
            Topic::Lock => "server",
            Topic::Overlap => "overlap",
            Topic::Fault => "fault",
            Topic::Message => "message",
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Topic::Believed | Topic::Lock => "",
            Topic::Overlap => " overlaps",
            Topic::Fault => " faults",
            Topic::Message => " messages",
        }
    }

    fn place(self) -> usize {
        match self {
            Topic::Believed | Topic::Lock => 0,
            Topic::Overlap => 1,
            Topic::Fault => 2,
            Topic::Message => 3,
        }
    }
}

pub(super) struct Tracks {
    nodes: Vec<Node>,
    names: BTreeMap<usize, String>,
    of_slices: Vec<usize>,
}

impl Tracks {
    pub(super) fn of(nodes: &[Node], slices: &mut [Slice]) -> Tracks {
        slices.sort_by_key(|slice| (slice.from, Reverse(slice.to)));
        let mut tracks =
            Tracks { nodes: nodes.to_vec(), names: BTreeMap::new(), of_slices: Vec::new() };
        for node in nodes {
            tracks.names.insert(tracks.main(*node), node.to_string());
        }
        let mut open: BTreeMap<(Node, usize), Vec<Vec<u64>>> = BTreeMap::new();
        for slice in slices.iter() {
            let rows = open.entry((slice.node, slice.topic.place())).or_default();
            let row = take_row(rows, slice.from, slice.to);
            let track = tracks.first(slice.node, slice.topic.place()) + row;
            tracks.of_slices.push(track);
            let (node, suffix) = (slice.node, slice.topic.suffix());
            tracks.names.entry(track).or_insert_with(|| match row {
                0 => format!("{node}{suffix}"),
                more => format!("{node}{suffix} ({})", more + 1),
            });
        }
        tracks
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.names.iter().map(|(track, name)| (*track, name.as_str()))
    }

    pub(super) fn of_slices(&self) -> impl Iterator<Item = usize> {
        self.of_slices.iter().copied()
    }

    pub(super) fn main(&self, node: Node) -> usize {
        self.first(node, 0)
    }

    fn first(&self, node: Node, place: usize) -> usize {
        let lane = self.nodes.iter().position(|one| *one == node).map_or(0, |index| index + 1);
        (lane * Topic::VARIANTS.len() + place) * ROWS + 1
    }
}

fn take_row(rows: &mut Vec<Vec<u64>>, from: u64, to: u64) -> usize {
    for (index, row) in rows.iter_mut().enumerate() {
        while row.last().is_some_and(|end| *end <= from) {
            row.pop();
        }
        if row.last().is_none_or(|end| *end >= to) {
            row.push(to);
            return index;
        }
    }
    rows.push(vec![to]);
    rows.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_shares_a_row_and_what_crosses_does_not() {
        let mut rows = Vec::new();
        let spans = [(0, 10), (2, 5), (4, 8), (5, 10), (10, 12), (11, 20)];
        let taken = spans.map(|(from, to)| take_row(&mut rows, from, to));
        assert_eq!(taken, [0, 0, 1, 0, 0, 1]);
    }
}
