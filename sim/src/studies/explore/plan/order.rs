//! The possible delays of each message, and a digest of the order of messages. A message is all
//! data that one machine sends to another at one instant. A delayed message arrives with or just
//! after another event: a message or timer at its receiver, or the end of a lease. Delays stay
//! within the range of latencies, so the network can produce every order without a fault.

use super::base::Base;
use super::bounds::{Bounds, Grain};
use super::scout::{Message, Scout};
use crate::setup::scenario::SlowLink;
use fencepost_faults::setting::Setting;
use fencepost_faults::{FaultPlan, Micros, Node, SimTime};
use fencepost_reports::sha256;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn links(setting: &Setting) -> Vec<(Node, Node)> {
    let clients = setting.clients();
    let servers = [setting.servers(), setting.sentinels()].concat();
    let (mut links, mut among) = (Vec::new(), Vec::new());
    for client in clients {
        for other in servers.iter().chain(&[Node::Storage]) {
            links.extend([(client, *other), (*other, client)]);
        }
    }
    for one in &servers {
        among.extend(servers.iter().filter(|other| *other != one).map(|other| (*one, *other)));
    }
    [links, among].concat()
}

pub(crate) fn reach(bounds: &Bounds, base: &Base, (from, to): (Node, Node)) -> Micros {
    let is_slow = base.scenario.timing.slow_link.map(SlowLink::nodes);
    let is_slow = is_slow.is_some_and(|ends| ends == [from, to] || ends == [to, from]);
    let takes =
        if is_slow { base.scenario.timing.latency.max } else { base.scenario.timing.latency.min };
    Micros(bounds.scenario.timing.latency.max.0.0.saturating_sub(takes.0.0))
}

pub(crate) fn delays(
    bounds: &Bounds,
    base: &Base,
    (link, sent): ((Node, Node), SimTime),
    scout: &Scout,
) -> BTreeSet<Micros> {
    let quantum = bounds.scenario.timing.quantum.0;
    let is_own = |message: &&Message| message.link() == link && message.sent == sent;
    let arrives = scout.messages.iter().find(is_own).and_then(|message| message.arrived);
    let Some(arrives) = arrives else { return BTreeSet::new() };
    let last = arrives + reach(bounds, base, link);
    let others = scout.messages.iter().filter(|message| message.to == link.1 && !is_own(message));
    let neighbours = others
        .filter_map(|message| message.arrived)
        .chain(scout.timers_of(link.1))
        .chain(scout.leases.iter().copied())
        .filter(|at| *at >= arrives && *at <= last);
    let places = neighbours.flat_map(|at| match bounds.grain {
        Grain::Fine => vec![aligned(at, quantum), aligned(at + quantum, quantum)],
        Grain::Coarse => vec![aligned(at + quantum, quantum)],
    });
    let possible = places.filter(|at| *at > arrives && *at <= last);
    possible.map(|at| at.since(arrives)).collect()
}

fn aligned(at: SimTime, quantum: Micros) -> SimTime {
    SimTime(at.0.div_ceil(quantum.0) * quantum.0)
}

/// Returns a digest of each node's order of messages, timers, ends of leases and `prefix`'s faults.
pub(crate) fn order(prefix: &FaultPlan, scout: &Scout) -> String {
    let mut told: BTreeMap<Node, BTreeSet<(SimTime, String)>> = BTreeMap::new();
    let mut sent: BTreeMap<(Node, Node), usize> = BTreeMap::new();
    for message in &scout.messages {
        let place = sent.entry(message.link()).or_default();
        *place += 1;
        if let Some(at) = message.arrived {
            let name = format!("{} {place}", message.from);
            told.entry(message.to).or_default().insert((at, name));
        }
    }
    for (at, node) in &scout.timers {
        told.entry(*node).or_default().insert((*at, "timer".to_owned()));
    }
    let leases = scout.leases.iter().enumerate();
    let mut marks: Vec<(SimTime, String)> =
        leases.map(|(number, at)| (*at, format!("lease {number}"))).collect();
    for timed in &prefix.faults {
        marks.push((timed.at_us, format!("fault {}", timed.id)));
        marks.extend(timed.ends_at().map(|end| (end, format!("end of {}", timed.id))));
    }
    for events in told.values_mut() {
        events.extend(marks.iter().cloned());
    }
    let mut text = String::new();
    for (node, events) in told {
        text.push_str(&format!("{node}:"));
        let mut before = None;
        for (at, what) in events {
            let separator = if before == Some(at) { '+' } else { ',' };
            text.push_str(&format!("{separator}{what}"));
            before = Some(at);
        }
        text.push('\n');
    }
    sha256(text.as_bytes())
}
