//! Plans that are left out because another one, or a shorter one, tells the same.

use super::scout::Scout;
use clap::ValueEnum;
use fencepost_faults::{Fault, Micros, Node, SimTime, TimedFault};
use serde::{Deserialize, Serialize};

/// Why a plan is left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A pause, a cut, a step of a clock, a lost reply or a late message is the same wherever it
    /// begins between two events of what it hits: it is placed just before the later one only. A
    /// cut is also the same wherever it ends between two looks of the network at it, but for when
    /// the probe begins.
    Gap,
    /// A fault that meets nothing changes nothing but when the probe begins: no turn of the paused
    /// node, no message on the link that is cut or slow, no command of the client whose reply is to
    /// be lost.
    Idle,
    /// Nothing is added to a plan whose last delay makes the order of messages that the plan
    /// without it has, or one with another delay in its place: what would be added is added there.
    Order,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 3] = [Rule::Gap, Rule::Idle, Rule::Order];

    /// As `--no-prune` names it.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Gap => "gap",
            Rule::Idle => "idle",
            Rule::Order => "order",
        }
    }
}

/// Answers of a busy server may be late by this much before their command counts as over.
const SERVICE_MAX: Micros = Micros::from_millis(100);

/// Whether a fault that is added to the run of the scout meets nothing there.
pub(super) fn is_idle(timed: &TimedFault, scout: &Scout) -> bool {
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

/// Whether a message is under way on one of these links in that time, both ends included.
fn meets(scout: &Scout, links: &[(Node, Node)], from: SimTime, to: SimTime) -> bool {
    scout.messages.iter().any(|message| {
        let arrived = message.arrived.unwrap_or(SimTime::NEVER);
        links.contains(&message.link()) && message.sent <= to && arrived >= from
    })
}

fn before(at: SimTime, span: Micros) -> SimTime {
    SimTime(at.0.saturating_sub(span.0))
}
