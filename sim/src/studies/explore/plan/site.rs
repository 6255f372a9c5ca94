//! The sites of faults. A site is a kind of fault with its target, but without a time or magnitude.

use super::scout::Scout;
use crate::setup::scenario::Scenario;
use fencepost_faults::family::away_at_least;
use fencepost_faults::setting::{CutOff, FailoverBy, Setting, Topology};
use fencepost_faults::{Direction, Family, Fault, Micros, Node, SimTime};
use std::collections::BTreeSet;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Site {
    Pause(Node),
    Suspend(Node),
    ClientCrash(Node),
    Restart {
        node: Node,
        power: bool,
    },
    LostReply {
        server: Node,
        client: Node,
    },
    LostRequest {
        server: Node,
        client: Node,
    },
    Late {
        from: Node,
        to: Node,
    },
    Cut {
        side_a: Vec<Node>,
        side_b: Vec<Node>,
        direction: Direction,
    },
    Jump(Node),
    /// A server fails for `least` or for the longest allowed time.
    Fails {
        how: Fault,
        least: Micros,
    },
    Evict(Node),
    Flush(Node),
    Overtaken {
        from: Node,
        to: Node,
    },
}

/// Length of the shortest trap in quanta, meant to hit a single command.
const TRAP_QUANTA: u64 = 2;

pub(crate) fn sites(family: Family, setting: &Setting) -> Vec<Site> {
    let (clients, servers) = (setting.clients(), setting.servers());
    let links = |from: &[Node], to: &[Node]| -> Vec<(Node, Node)> {
        from.iter().flat_map(|a| to.iter().map(|b| (*a, *b))).collect()
    };
    let of =
        |nodes: &[Node], site: fn(Node) -> Site| nodes.iter().map(|node| site(*node)).collect();
    match family {
        Family::Pause => of(&[clients, servers].concat(), Site::Pause),
        Family::Suspend => of(&clients, Site::Suspend),
        Family::ClientCrash => of(&clients, Site::ClientCrash),
        Family::Restart => servers
            .iter()
            .flat_map(|node| [false, true].map(|power| Site::Restart { node: *node, power }))
            .collect(),
        Family::LostReply => links(&servers, &clients)
            .into_iter()
            .map(|(server, client)| Site::LostReply { server, client })
            .collect(),
        Family::LostRequest => links(&servers, &clients)
            .into_iter()
            .map(|(server, client)| Site::LostRequest { server, client })
            .collect(),
        Family::Latency => [links(&clients, &servers), links(&servers, &clients)]
            .concat()
            .into_iter()
            .map(|(from, to)| Site::Late { from, to })
            .collect(),
        Family::StorageDelay => links(&clients, &[Node::Storage])
            .into_iter()
            .map(|(from, to)| Site::Late { from, to })
            .collect(),
        Family::Partition => match setting.knobs.cut_off {
            CutOff::Servers => cuts(&clients, &servers),
            CutOff::Storage => cuts(&clients, &[Node::Storage]),
        },
        Family::ClockJump => of(&[servers, clients].concat(), Site::Jump),
        Family::Failover => failures(setting),
        Family::Eviction => {
            [of(&servers, Site::Evict), servers.iter().map(|node| Site::Flush(*node)).collect()]
                .concat()
        }
        _ => Vec::new(),
    }
}

/// With Sentinels, the primary crashes, loses power, pauses, or is cut off alone or with one
/// client, as far as `failover_by` allows. Without Sentinels, each of several servers crashes,
/// loses power or is cut off.
fn failures(setting: &Setting) -> Vec<Site> {
    let least = away_at_least(setting);
    let all = [setting.servers(), setting.sentinels(), setting.clients()].concat();
    let cut_off = |minority: Vec<Node>| {
        let side_b = all.iter().copied().filter(|node| !minority.contains(node)).collect();
        let (direction, duration_us) = (Direction::Both, least);
        Fault::Partition { side_a: minority, side_b, direction, duration_us }
    };
    let dies = |node| {
        let down_us = Some(least);
        [Fault::Crash { node, down_us }, Fault::PowerLoss { node, down_us }]
    };
    let faults: Vec<Fault> = match setting.topology {
        Topology::Replicated { .. } => {
            let primary = Node::Redis(1);
            let with_one = setting.clients().into_iter().map(|client| vec![primary, client]);
            let cuts = [vec![primary]].into_iter().chain(with_one).map(cut_off);
            let still = Fault::Pause { node: primary, duration_us: least };
            let dies = dies(primary).to_vec();
            match setting.knobs.failover_by {
                FailoverBy::Drawn => dies.into_iter().chain([still]).chain(cuts).collect(),
                FailoverBy::Crash => dies,
                FailoverBy::Isolation => cuts.collect(),
                FailoverBy::Pause => vec![still],
            }
        }
        _ if setting.servers().len() < 2 => Vec::new(),
        _ => {
            let of = |node: Node| dies(node).into_iter().chain([cut_off(vec![node])]);
            setting.servers().into_iter().flat_map(of).collect()
        }
    };
    faults.into_iter().map(|how| Site::Fails { how, least }).collect()
}

fn cuts(clients: &[Node], servers: &[Node]) -> Vec<Site> {
    let cut = |side_a: &[Node], side_b: &[Node], direction| Site::Cut {
        side_a: side_a.to_vec(),
        side_b: side_b.to_vec(),
        direction,
    };
    let mut all = Vec::new();
    for client in clients.chunks(1) {
        for server in servers.chunks(1) {
            all.push(cut(client, server, Direction::Both));
            all.push(cut(client, server, Direction::AToB));
            all.push(cut(server, client, Direction::AToB));
        }
    }
    if servers.len() > 1 {
        all.extend(clients.chunks(1).map(|client| cut(client, servers, Direction::Both)));
    }
    if clients.len() > 1 {
        all.extend(servers.chunks(1).map(|server| cut(clients, server, Direction::Both)));
    }
    all
}

pub(crate) enum Measure {
    Fixed(Vec<Fault>),
    Ends,
    Steps,
    Orders,
}

pub(crate) fn shortest_trap(scenario: &Scenario) -> Micros {
    Micros(TRAP_QUANTA * scenario.timing.quantum.0.0)
}

impl Site {
    pub(crate) fn measure(&self, scenario: &Scenario, longest: Micros) -> Measure {
        match self {
            Site::Restart { node, power } => {
                let delays = scenario.faults.restart_delay;
                let mut spans = vec![delays.min.0, delays.max.0];
                spans.dedup();
                let died = |span| match power {
                    false => Fault::Crash { node: *node, down_us: Some(span) },
                    true => Fault::PowerLoss { node: *node, down_us: Some(span) },
                };
                Measure::Fixed(spans.into_iter().map(died).collect())
            }
            Site::LostReply { server, client } => {
                let spans = [shortest_trap(scenario), longest];
                let (server, client) = (*server, *client);
                let lost = |duration_us| Fault::LostReply { server, client, duration_us };
                Measure::Fixed(spans.map(lost).to_vec())
            }
            Site::LostRequest { server, client } => {
                let spans = [shortest_trap(scenario), longest];
                let (server, client) = (*server, *client);
                let lost = |duration_us| Fault::LostRequest { server, client, duration_us };
                Measure::Fixed(spans.map(lost).to_vec())
            }
            Site::Fails { how, least } => {
                let mut spans = vec![*least, longest];
                spans.dedup();
                Measure::Fixed(spans.into_iter().map(|span| lasts(how.clone(), span)).collect())
            }
            Site::Evict(node) => Measure::Fixed(vec![Fault::Evict { node: *node }]),
            Site::Flush(node) => Measure::Fixed(vec![Fault::FlushAll { node: *node }]),
            Site::Jump(_) => Measure::Steps,
            Site::Overtaken { .. } => Measure::Orders,
            Site::Pause(_)
            | Site::Suspend(_)
            | Site::ClientCrash(_)
            | Site::Late { .. }
            | Site::Cut { .. } => Measure::Ends,
        }
    }

    pub(crate) fn fault_of_length(&self, span: Micros, quantum: Micros) -> Option<Fault> {
        Some(match self {
            Site::Pause(node) => Fault::Pause { node: *node, duration_us: span },
            Site::Suspend(node) => Fault::Suspend { node: *node, duration_us: span },
            Site::ClientCrash(node) => Fault::Crash { node: *node, down_us: Some(span) },
            Site::Late { from, to } | Site::Overtaken { from, to } => Fault::Delay {
                from: vec![*from],
                to: vec![*to],
                extra_us_min: span,
                extra_us_max: span,
                duration_us: quantum,
            },
            Site::Cut { side_a, side_b, direction } => Fault::Partition {
                side_a: side_a.clone(),
                side_b: side_b.clone(),
                direction: *direction,
                duration_us: span,
            },
            Site::Restart { .. }
            | Site::Fails { .. }
            | Site::LostReply { .. }
            | Site::LostRequest { .. }
            | Site::Jump(_)
            | Site::Evict(_)
            | Site::Flush(_) => return None,
        })
    }

    pub(crate) fn fault_steps(&self, span: Micros) -> Vec<Fault> {
        let Site::Jump(node) = *self else { return Vec::new() };
        let offset = i64::try_from(span.0).unwrap_or(i64::MAX);
        [offset, -offset].map(|offset_us| Fault::ClockJump { node, offset_us }).to_vec()
    }

    pub(crate) fn permanent_fault(&self) -> Option<Fault> {
        match self {
            Site::ClientCrash(node) => Some(Fault::Crash { node: *node, down_us: None }),
            _ => None,
        }
    }

    pub(crate) fn event_times(&self, scout: &Scout) -> Option<Vec<SimTime>> {
        let turns = |node: Node| {
            let own = scout.turns.iter().filter(move |(_, who)| *who == node);
            own.map(|(at, _)| *at).collect()
        };
        let sent = |link: (Node, Node)| {
            let own = scout.messages.iter().filter(move |message| message.link() == link);
            own.map(|message| message.sent).collect()
        };
        let arrived = |link: (Node, Node)| {
            let own = scout.messages.iter().filter(move |message| message.link() == link);
            let arrivals: BTreeSet<SimTime> = own.filter_map(|message| message.arrived).collect();
            arrivals.into_iter().collect()
        };
        match self {
            Site::Pause(node) | Site::Jump(node) => Some(turns(*node)),
            Site::LostReply { server, client } | Site::LostRequest { server, client } => {
                Some(arrived((*client, *server)))
            }
            Site::Late { from, to } | Site::Overtaken { from, to } => Some(sent((*from, *to))),
            Site::Cut { .. } => {
                let links = self.fault_of_length(Micros::ZERO, Micros::ZERO).map(|cut| cut.links());
                Some(scout.event_times_on(&links.unwrap_or_default()).into_iter().collect())
            }
            Site::Suspend(_)
            | Site::ClientCrash(_)
            | Site::Restart { .. }
            | Site::Fails { .. }
            | Site::Evict(_)
            | Site::Flush(_) => None,
        }
    }
}

fn lasts(mut fault: Fault, span: Micros) -> Fault {
    match &mut fault {
        Fault::Crash { down_us, .. } | Fault::PowerLoss { down_us, .. } => *down_us = Some(span),
        Fault::Pause { duration_us, .. } | Fault::Partition { duration_us, .. } => {
            *duration_us = span;
        }
        _ => {}
    }
    fault
}
