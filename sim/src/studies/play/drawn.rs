use crate::hosts::coordinators::entry;
use fencepost_clients::Coordinator;
use fencepost_faults::{
    Families, Fault, FaultPlan, Knobs, Micros, Node, OperatorCommand, Seed, Setting, SimTime,
    Spans, TimedFault, Topology, Victims, Window, generate,
};

#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(crate) seed: Seed,
    pub(crate) families: Families,
    pub(crate) coordinator: Coordinator,
    pub(crate) topology: Topology,
    pub(crate) ttl: Micros,
    pub(crate) length: Micros,
    pub(crate) restart_delay: Spans,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Drawn {
    pub(crate) plan: FaultPlan,
    pub(crate) nodes: Vec<Node>,
    pub(crate) left_out: Vec<(TimedFault, &'static str)>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "seed {seed}, fault {families}: none of the faults affects {coordinator} servers or their \
     links: use another seed, or faults such as restart, partition or latency"
)]
pub(crate) struct Unplayable {
    seed: Seed,
    families: Families,
    coordinator: &'static str,
}

pub(crate) fn draw(drawing: &Drawing) -> Result<Drawn, Unplayable> {
    let begin = Micros::from_secs(2).min(Micros(drawing.length.0 / 10));
    let window = Window { begin_us: SimTime(begin.0), end_us: SimTime(drawing.length.0) };
    let knobs = Knobs {
        restart_delay: drawing.restart_delay,
        victims: Victims::Servers,
        ..Knobs::for_ttl(drawing.ttl)
    };
    let setting = Setting { window, knobs, ..Setting::new(drawing.topology, 1, drawing.ttl) };
    let plan = generate(drawing.seed, &drawing.families, &setting);
    let nodes = [setting.servers(), setting.sentinels()].concat();
    let unsupported_faults = entry(drawing.coordinator).unsupported_faults;
    let (mut played, mut left_out) = (Vec::new(), Vec::new());
    for timed in plan.faults {
        let reason = match unsupported_faults.contains(&timed.fault.kind()) {
            true => Some("these servers do not support this fault"),
            false => obstacle(&timed.fault),
        };
        match reason {
            None => played.push(timed),
            Some(reason) => left_out.push((timed, reason)),
        }
    }
    if played.is_empty() {
        let Drawing { seed, families, coordinator, .. } = drawing.clone();
        return Err(Unplayable { seed, families, coordinator: coordinator.name() });
    }
    Ok(Drawn { plan: FaultPlan::new(played), nodes, left_out })
}

/// Returns the reason why `serve` cannot inject the fault, or `None` if it can.
fn obstacle(fault: &Fault) -> Option<&'static str> {
    const CLIENT: &str = "serve does not control the clients";
    const STORAGE: &str = "serve has no guarded storage";
    let is_of_servers = |node: &Node| node.is_server() || matches!(node, Node::Sentinel(_));
    let is_here = |node: &Node| is_of_servers(node) || node.is_process();
    match fault {
        Fault::Partition { side_a: from, side_b: to, .. } | Fault::Delay { from, to, .. } => {
            let (has_from, has_to) = (from.iter().any(is_here), to.iter().any(is_here));
            (!has_from || !has_to).then_some(STORAGE)
        }
        Fault::Suspend { .. } => Some(CLIENT),
        Fault::Operator { command: OperatorCommand::Failover, .. } => None,
        Fault::LostReply { .. } | Fault::LostRequest { .. } => None,
        Fault::Pause { node, .. }
        | Fault::Crash { node, .. }
        | Fault::PowerLoss { node, .. }
        | Fault::ClockDrift { node, .. }
        | Fault::ClockJump { node, .. }
        | Fault::SlowServer { node, .. }
        | Fault::Evict { node }
        | Fault::FlushAll { node }
        | Fault::Promote { node }
        | Fault::Operator { node, .. } => (!is_of_servers(node)).then_some(CLIENT),
    }
}
