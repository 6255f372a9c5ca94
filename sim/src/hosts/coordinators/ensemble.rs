use super::address;
use crate::setup::scenario::Scenario;
use crate::setup::scenario::program::ProgramDeployment;
use fencepost_clients::{Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Node};

pub(super) fn topology(scenario: &Scenario, client: &Definition, _: &Families) -> Topology {
    let of_program = scenario.program(client).map(|program| program.deployment);
    let servers = match of_program {
        Some(ProgramDeployment::Single) => 1,
        _ => scenario.servers.ensemble,
    };
    Topology::Ensemble { servers }
}

pub(crate) fn count(topology: Topology) -> u16 {
    match topology {
        Topology::Ensemble { servers } => servers,
        Topology::Standalone
        | Topology::Replicated { .. }
        | Topology::Independent { .. }
        | Topology::Standby { .. } => 1,
    }
}

pub(super) fn servers(topology: Topology, port: u16) -> Servers {
    let all = 1..=count(topology);
    Servers::Ensemble(all.map(|number| address(Node::Server(number), port)).collect())
}

pub(super) fn members<M>(
    topology: Topology,
    node: Node,
    member: impl Fn((u8, String)) -> M,
) -> (u8, Vec<M>) {
    let of = |number| (u8::try_from(number).unwrap_or(u8::MAX), Node::Server(number));
    let all: Vec<(u8, Node)> = (1..=count(topology)).map(of).collect();
    let me = all.iter().find(|(_, host)| *host == node).map_or(1, |(id, _)| *id);
    (me, all.into_iter().map(|(id, host)| member((id, host.to_string()))).collect())
}
