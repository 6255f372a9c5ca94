use crate::record::history::{History, What};
use crate::record::trace::WireMessage;
use fencepost_faults::Node;
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lane {
    pub(crate) node: Node,
}

pub(super) fn all(history: &History, messages: &[WireMessage]) -> Vec<Lane> {
    let mut nodes: BTreeSet<Node> = BTreeSet::new();
    for event in &history.events {
        match &event.what {
            What::Healed | What::FaultEnded { .. } => {}
            What::FaultBegan { nodes: named, .. } => nodes.extend(named),
            _ => {
                nodes.insert(event.node);
            }
        }
    }
    nodes.extend(messages.iter().flat_map(|message| [message.from, message.to]));
    let mut lanes: Vec<Lane> = nodes.into_iter().map(|node| Lane { node }).collect();
    lanes.sort_by_key(|lane| (rank(lane.node), lane.node));
    lanes
}

fn rank(node: Node) -> u8 {
    match node {
        Node::Storage => 0,
        Node::Client(_) | Node::Thread { .. } => 1,
        Node::Redis(_) | Node::Server(_) => 2,
        Node::Sentinel(_) => 3,
        Node::Probe => 4,
    }
}
