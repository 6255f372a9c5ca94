//! Detects faults that affect the same aspect of the same node or link at the same time.

use crate::fault::{Fault, OperatorCommand};
use crate::plan::{FaultPlan, TimedFault};
use crate::time::SimTime;

impl FaultPlan {
    /// Returns the first colliding pair in plan order, the earlier fault first.
    pub fn collision(&self) -> Option<(&TimedFault, &TimedFault)> {
        self.faults.iter().enumerate().find_map(|(index, later)| {
            let earlier = self.faults[..index].iter().find(|earlier| collide(earlier, later))?;
            Some((earlier, later))
        })
    }
}

/// A fault includes the instants at which it begins and ends, so adjacent faults collide.
pub(crate) fn collide(a: &TimedFault, b: &TimedFault) -> bool {
    let end = |timed: &TimedFault| timed.ends_at().unwrap_or(SimTime::NEVER);
    let together = a.at_us <= end(b) && b.at_us <= end(a);
    together && hold(&a.fault) == hold(&b.fault) && share_target(&a.fault, &b.fault)
}

#[derive(PartialEq, Eq)]
enum Hold {
    Power,
    Progress,
    Rate,
    WallClock,
    Service,
    Memory,
    Role,
    Console(OperatorCommand),
    Reply,
    Request,
    Delivery,
    Latency,
}

fn hold(fault: &Fault) -> Hold {
    match fault {
        Fault::Crash { .. } | Fault::PowerLoss { .. } => Hold::Power,
        Fault::Pause { .. } | Fault::Suspend { .. } => Hold::Progress,
        Fault::ClockDrift { .. } => Hold::Rate,
        Fault::ClockJump { .. } => Hold::WallClock,
        Fault::SlowServer { .. } => Hold::Service,
        Fault::Evict { .. } | Fault::FlushAll { .. } => Hold::Memory,
        Fault::Promote { .. } => Hold::Role,
        Fault::Operator { command, .. } => Hold::Console(*command),
        Fault::LostReply { .. } => Hold::Reply,
        Fault::LostRequest { .. } => Hold::Request,
        Fault::Partition { .. } => Hold::Delivery,
        Fault::Delay { .. } => Hold::Latency,
    }
}

fn share_target(a: &Fault, b: &Fault) -> bool {
    let (a, b) = (a.links(), b.links());
    a.iter().any(|link| b.contains(link))
}
