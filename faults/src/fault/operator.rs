use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// An operator's administrative command that can affect locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Display, IntoStaticStr, VariantArray, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum OperatorCommand {
    /// `SCRIPT FLUSH` removes all cached scripts, so a client that calls a script by its digest
    /// must send the script again.
    ScriptFlush,
    /// `CLIENT KILL TYPE normal` and `CLIENT KILL TYPE pubsub` close every client connection.
    ClientKill,
    /// `FAILOVER` makes the primary wait for a replica to catch up and swap roles with the replica.
    Failover,
    /// `REPLICAOF` makes the server a replica of another server of the deployment. The server loses
    /// all data that the other server does not have.
    ReplicaOf,
    /// `CONFIG SET appendonly no` turns the append-only file off.
    AppendOnlyOff,
    /// `CONFIG SET min-replicas-to-write 0` lets a primary with too few replicas accept writes.
    MinReplicasOff,
    /// `CONFIG SET timeout 1` makes the server close idle client connections.
    IdleTimeout,
}

impl OperatorCommand {
    pub const ALL: &[OperatorCommand] = OperatorCommand::VARIANTS;

    /// Returns the command as reports print it.
    pub fn typed(self) -> &'static str {
        match self {
            OperatorCommand::ScriptFlush => "SCRIPT FLUSH",
            OperatorCommand::ClientKill => "CLIENT KILL",
            OperatorCommand::Failover => "FAILOVER",
            OperatorCommand::ReplicaOf => "REPLICAOF another server",
            OperatorCommand::AppendOnlyOff => "CONFIG SET appendonly no",
            OperatorCommand::MinReplicasOff => "CONFIG SET min-replicas-to-write 0",
            OperatorCommand::IdleTimeout => "CONFIG SET timeout 1",
        }
    }
}
