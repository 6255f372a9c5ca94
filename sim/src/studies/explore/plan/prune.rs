//! Detects faults without effect, and counts pruned plans.

use super::scout::Scout;
use fencepost_faults::{Fault, Micros, Node, SimTime, TimedFault};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pruned {
    /// Number of places skipped because the fault's node or link has no event there.
    pub places_in_gaps: u64,
    /// Number of plans whose last fault has no effect.
    pub idle: u64,
    /// Number of impossible plans, in which two faults collide.
    pub colliding: u64,
    /// Number of plans that are not extended, because they give no new order of messages.
    pub same_order: u64,
}

const SERVICE_MAX: Micros = Micros::from_millis(100);

pub(crate) fn is_idle(timed: &TimedFault, scout: &Scout) -> bool {
    let (from, to) = (timed.at_us, timed.at_us + timed.fault.duration().unwrap_or_default());
    match &timed.fault {
        Fault::Pause { node, .. } => {
            !scout.turns.iter().any(|(at, who)| *who == *node && *at >= from && *at < to)
        }
        Fault::Partition { .. } => !meets(scout, &timed.fault.links(), from, to),
        Fault::Delay { .. } => {
            let links = timed.fault.links();
            !scout.messages.iter().any(|message| {
                links.contains(&message.link()) && message.sent >= from && message.sent < to
            })
        }
        Fault::LostReply { server, client, .. } | Fault::LostRequest { server, client, .. } => {
            !meets(scout, &[(*client, *server)], before(from, SERVICE_MAX), to)
        }
        Fault::Suspend { .. }
        | Fault::Crash { .. }
        | Fault::PowerLoss { .. }
        | Fault::ClockDrift { .. }
        | Fault::ClockJump { .. }
        | Fault::SlowServer { .. }
        | Fault::Evict { .. }
        | Fault::FlushAll { .. }
        | Fault::Promote { .. }
        | Fault::Operator { .. } => false,
    }
}

fn meets(scout: &Scout, links: &[(Node, Node)], from: SimTime, to: SimTime) -> bool {
    scout.messages.iter().any(|message| {
        let arrived = message.arrived.unwrap_or(SimTime::NEVER);
        links.contains(&message.link()) && message.sent <= to && arrived >= from
    })
}

fn before(at: SimTime, span: Micros) -> SimTime {
    SimTime(at.0.saturating_sub(span.0))
}
