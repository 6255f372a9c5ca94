//! Computes when a fault must start to hit a [`Place`], and moves the incident there.

use super::place::{Place, Stretch};
use crate::draw::{chance, uniform};
use crate::family::Incident;
use crate::fault::{Direction, Fault};
use crate::generate::DrawnIncident;
use crate::node::Node;
use crate::setting::Window;
use crate::time::{Micros, SimTime};
use rand_core::Rng;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Unsent,
    Asking,
    Unserved,
    Unanswered,
    Answering,
    Unheard,
}

const STAGES: [Stage; 6] = [
    Stage::Unsent,
    Stage::Asking,
    Stage::Unserved,
    Stage::Unanswered,
    Stage::Answering,
    Stage::Unheard,
];

/// Returns the possible start times inside `window`: for a command, one for each stage in which the
/// fault can occur; for a quiet stretch, the first and the last possible time.
pub(super) fn instants(
    fault: &Fault,
    place: &Place,
    window: Window,
    quantum: Micros,
) -> Vec<SimTime> {
    if !concerns(fault, place) {
        return Vec::new();
    }
    let mut all: Vec<SimTime> = match place.stretch {
        Stretch::Command { .. } => {
            let stages = STAGES.iter().filter(|stage| occurs_in(fault, **stage));
            stages.filter_map(|stage| instant(&place.stretch, *stage, quantum)).collect()
        }
        Stretch::Quiet { from, to } => {
            let (first, last) = (window.nearest(from + quantum), window.nearest(to));
            if first < last && first < to { vec![first, last] } else { Vec::new() }
        }
    };
    all.retain(|at| (window.begin_us..=window.end_us).contains(at));
    all.dedup();
    all
}

pub(super) fn instant_between(rng: &mut impl Rng, ends: &[SimTime]) -> Option<SimTime> {
    let (first, last) = (ends.first()?.0, ends.last()?.0);
    if chance(rng, 500) {
        return Some(SimTime(first));
    }
    let drawn = uniform(rng, first..=last);
    Some(SimTime((drawn / 1_000 * 1_000).max(first)))
}

fn concerns(fault: &Fault, place: &Place) -> bool {
    let (one, other) = match fault {
        Fault::LostReply { .. } | Fault::LostRequest { .. } => {
            return place.asks().is_some_and(Node::is_server);
        }
        Fault::Delay { from, to, .. } => (from, to),
        Fault::Partition { side_a, side_b, .. } => (side_a, side_b),
        _ => return true,
    };
    let has = |side: &[Node], is: fn(&Node) -> bool| side.iter().any(is);
    let between = |a: fn(&Node) -> bool, b: fn(&Node) -> bool| {
        has(one, a) && has(other, b) || has(one, b) && has(other, a)
    };
    let is_storage = |node: &Node| *node == Node::Storage;
    if between(is_client, is_storage) {
        return place.asks() == Some(Node::Storage);
    }
    // Any place fits a fault on links that no command uses.
    !between(is_client, |node| node.is_server()) || place.asks().is_some_and(Node::is_server)
}

fn occurs_in(fault: &Fault, stage: Stage) -> bool {
    let is_before = |last: Stage| stage as u8 <= last as u8;
    match fault {
        Fault::LostReply { .. } | Fault::LostRequest { .. } => stage == Stage::Unserved,
        Fault::Delay { from, .. } if from.iter().any(is_client) => stage == Stage::Unsent,
        Fault::Delay { to, .. } if to.iter().any(is_client) => stage == Stage::Unanswered,
        Fault::Partition { side_a, side_b, direction: Direction::AToB, .. } => {
            match (side_a.iter().any(is_client), side_b.iter().any(is_client)) {
                (true, false) => is_before(Stage::Unserved),
                (false, true) => !is_before(Stage::Unserved),
                _ => true,
            }
        }
        _ => true,
    }
}

fn instant(stretch: &Stretch, stage: Stage, quantum: Micros) -> Option<SimTime> {
    let Stretch::Command { sent, arrived, answered, heard, .. } = stretch else { return None };
    match stage {
        Stage::Unsent => Some(*sent),
        Stage::Asking => halfway(*sent, (*arrived)?, quantum),
        Stage::Unserved => *arrived,
        Stage::Unanswered => *answered,
        Stage::Answering => halfway((*answered)?, (*heard)?, quantum),
        Stage::Unheard => *heard,
    }
}

fn halfway(from: SimTime, to: SimTime, quantum: Micros) -> Option<SimTime> {
    let middle = SimTime(from.0.midpoint(to.0) / quantum.0.max(1) * quantum.0.max(1));
    (middle > from && middle < to).then_some(middle)
}

fn is_client(node: &Node) -> bool {
    matches!(node, Node::Client(_))
}

impl Place {
    pub(super) fn asks(&self) -> Option<Node> {
        match self.stretch {
            Stretch::Command { server, .. } => Some(server),
            Stretch::Quiet { .. } => None,
        }
    }
}

pub(super) fn moved_to(
    drawn: &DrawnIncident,
    main: &Fault,
    place: &Place,
    at: SimTime,
) -> Option<DrawnIncident> {
    let was = drawn.incident.at?;
    let server = place.asks().filter(|node| node.is_server());
    let swaps = [
        swap(main, place.client, is_client),
        server.and_then(|server| swap(main, server, |node| node.is_server())),
    ];
    let moved = |(begin, fault): &(SimTime, Fault)| {
        let mut fault = fault.clone();
        for (a, b) in swaps.into_iter().flatten() {
            let exchanged = |node: Node| match node {
                node if node == a => b,
                node if node == b => a,
                node => node,
            };
            fault.nodes_mut().into_iter().for_each(|node| *node = exchanged(*node));
        }
        let begin = if *begin < was {
            SimTime(at.0.saturating_sub(was.since(*begin).0))
        } else {
            at + begin.since(was)
        };
        (begin, fault)
    };
    let faults = drawn.incident.faults.iter().map(moved).collect();
    Some(DrawnIncident { family: drawn.family, incident: Incident { at: Some(at), faults } })
}

fn swap(fault: &Fault, wanted: Node, is_kind: fn(&Node) -> bool) -> Option<(Node, Node)> {
    let side = match fault {
        Fault::Partition { side_a, side_b, .. } => {
            [side_a, side_b].into_iter().find(|side| side.iter().any(is_kind))?.clone()
        }
        Fault::Delay { from, to, .. } => {
            [from, to].into_iter().find(|side| side.iter().any(is_kind))?.clone()
        }
        _ => fault.nodes(),
    };
    let named = side.iter().copied().find(is_kind)?;
    (!side.contains(&wanted)).then_some((named, wanted))
}
