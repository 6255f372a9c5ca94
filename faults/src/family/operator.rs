use super::Incident;
use super::strike::victims;
use super::timing::starts;
use crate::draw::any;
use crate::fault::{Fault, OperatorCommand};
use crate::setting::{Setting, Topology};
use rand_chacha::ChaCha8Rng;

pub(super) fn draw(rng: &mut ChaCha8Rng, setting: &Setting) -> Vec<Incident> {
    let servers = setting.servers();
    let known = commands(setting.topology);
    let mut drawn = Vec::new();
    for at in starts(rng, setting) {
        let chosen = victims(rng, setting, &servers);
        let Some(command) = any(rng, &known) else { continue };
        let count = if changes_roles(command) { 1 } else { chosen.len() };
        let typed = |node| (at, Fault::Operator { node, command });
        let faults = chosen.into_iter().take(count).map(typed).collect();
        drawn.push(Incident { at: Some(at), faults });
    }
    drawn
}

fn commands(topology: Topology) -> Vec<OperatorCommand> {
    let has_others = matches!(topology, Topology::Replicated { .. });
    let may = |command: &OperatorCommand| match command {
        OperatorCommand::Failover
        | OperatorCommand::ReplicaOf
        | OperatorCommand::MinReplicasOff => has_others,
        OperatorCommand::ScriptFlush
        | OperatorCommand::ClientKill
        | OperatorCommand::AppendOnlyOff
        | OperatorCommand::IdleTimeout => true,
    };
    OperatorCommand::ALL.iter().copied().filter(may).collect()
}

fn changes_roles(command: OperatorCommand) -> bool {
    matches!(command, OperatorCommand::Failover | OperatorCommand::ReplicaOf)
}
