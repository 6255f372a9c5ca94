use super::address;
use crate::setup::scenario::Scenario;
use crate::setup::scenario::program::ProgramDeployment;
use fencepost_clients::{Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Node};
use fencepost_machine::peers::Member;

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

pub(super) fn members(topology: Topology, node: Node, port: u16) -> (u8, Vec<Member>) {
    let id = |number| u8::try_from(number).unwrap_or(u8::MAX);
    let all = 1..=count(topology);
    let me = all.clone().find(|number| Node::Server(*number) == node).map_or(1, id);
    let member = |number| Member { id: id(number), host: Node::Server(number).to_string(), port };
    (me, all.map(member).collect())
}
