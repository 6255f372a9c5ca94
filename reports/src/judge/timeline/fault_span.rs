use super::{Moment, moments};
use crate::record::history::{History, What};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultSpan<'h> {
    pub id: u32,
    pub kind: FaultKind,
    pub nodes: &'h [Node],
    pub from: Moment,
    pub to: Option<Moment>,
}

impl FaultSpan<'_> {
    pub fn names(&self, node: Node) -> bool {
        self.nodes.contains(&node.machine())
    }

    pub fn does(&self, impact: Impact, node: Node) -> bool {
        self.kind.impact() == impact && self.names(node)
    }

    pub fn hits(&self, node: Node, kind: FaultKind) -> bool {
        self.kind == kind && self.names(node)
    }

    /// Returns how long the fault was active between two times. A fault without a recorded end
    /// counts as active until `to`.
    pub fn within(&self, from: SimTime, to: SimTime) -> Micros {
        let end = self.to.map_or(to, |end| end.time.min(to));
        end.since(self.from.time.max(from))
    }

    /// Returns `true` if the fault was active at any time from `from` to `to`, inclusive.
    pub fn touches(&self, from: SimTime, to: SimTime) -> bool {
        self.from.time <= to && self.to.is_none_or(|end| end.time >= from)
    }
}

/// Returns the end of a fault that loses messages: the next completed call or crash of a node that
/// the fault names, or the end of all faults.
fn after_loss(history: &History, span: &FaultSpan<'_>) -> Option<Moment> {
    let is_loss = matches!(span.kind.impact(), Impact::LosesReply | Impact::LosesRequest);
    let later = moments(history).skip(span.from.index + 1).filter(|_| is_loss);
    let mut ends = later.filter(|(_, event)| match event.what {
        What::Ok { .. } | What::Fail { .. } | What::Info { .. } => span.names(event.node),
        What::Crashed => span.names(event.node),
        What::Healed => true,
        _ => false,
    });
    ends.next().map(|(moment, _)| moment)
}

pub(super) fn all(history: &History) -> Vec<FaultSpan<'_>> {
    let mut spans: Vec<FaultSpan<'_>> = Vec::new();
    for (moment, event) in moments(history) {
        match &event.what {
            What::FaultBegan { fault, kind, nodes } => {
                spans.push(FaultSpan { id: *fault, kind: *kind, nodes, from: moment, to: None });
            }
            What::FaultEnded { fault, .. } => {
                if let Some(span) =
                    spans.iter_mut().rev().find(|span| span.id == *fault && span.to.is_none())
                {
                    span.to = Some(moment);
                }
            }
            _ => {}
        }
    }
    for span in spans.iter_mut().filter(|span| span.to.is_none()) {
        span.to = after_loss(history, span);
    }
    spans
}
