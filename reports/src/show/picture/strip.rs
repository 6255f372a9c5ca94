use super::Span;
use fencepost_faults::Node;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HolderSpan {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) who: Vec<Node>,
}

pub(super) fn held(sections: &[Span]) -> Vec<HolderSpan> {
    let cuts: BTreeSet<u64> =
        sections.iter().flat_map(|section| [section.from, section.to]).collect();
    let mut by_start: BTreeMap<u64, Vec<&Span>> = BTreeMap::new();
    for section in sections {
        by_start.entry(section.from).or_default().push(section);
    }
    let mut open: Vec<&Span> = Vec::new();
    let mut strip = Vec::new();
    for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
        open.retain(|section| section.to > *from);
        open.extend(by_start.get(from).into_iter().flatten().filter(|section| section.to > *from));
        let mut who: Vec<Node> = Vec::new();
        for section in &open {
            if !who.contains(&section.node) {
                who.push(section.node);
            }
        }
        if !who.is_empty() {
            strip.push(HolderSpan { from: *from, to: *to, who });
        }
    }
    strip
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(client: u16, from: u64, to: u64) -> Span {
        let node = Node::Client(client);
        Span { node, owner: Some(node), from, to, ending: String::new(), is_copy: false }
    }

    #[test]
    fn an_overlap_names_the_earlier_holder_first() {
        let strip = held(&[section(2, 10, 30), section(1, 20, 40)]);
        let told: Vec<_> =
            strip.iter().map(|held| (held.from, held.to, held.who.clone())).collect();
        let (one, two) = (Node::Client(1), Node::Client(2));
        assert_eq!(told, [(10, 20, vec![two]), (20, 30, vec![two, one]), (30, 40, vec![one])]);
    }

    #[test]
    fn sections_that_meet_do_not_overlap() {
        let strip = held(&[section(1, 0, 10), section(2, 10, 20), section(1, 30, 40)]);
        assert!(strip.iter().all(|held| held.who.len() == 1));
        assert_eq!(strip.len(), 3, "nobody holds between 20 and 30");
    }
}
