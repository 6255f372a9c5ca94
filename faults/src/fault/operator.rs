//! Commands that an operator types at a server's console.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// A command of an operator that changes what locks rely on and that no lock sends itself.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Display,
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum OperatorCommand {
    /// `SCRIPT FLUSH`: whoever calls a script by its digest has to send it again.
    ScriptFlush,
    /// `CLIENT KILL TYPE normal` and `TYPE pubsub`: every connection of a client is closed.
    ClientKill,
    /// `FAILOVER`: the primary waits for a replica to catch up and changes places with it.
    Failover,
    /// `REPLICAOF` another server of the deployment, which is not told: what the server held that
    /// the other did not is gone.
    ReplicaOf,
    /// `CONFIG SET appendonly no`: what is written from now on does not outlive a restart.
    AppendOnlyOff,
    /// `CONFIG SET min-replicas-to-write 0`: a primary that nobody follows takes writes again.
    MinReplicasOff,
    /// `CONFIG SET timeout 1`: connections that say nothing for a second are closed.
    IdleTimeout,
}

impl OperatorCommand {
    /// Every command.
    pub const ALL: &[OperatorCommand] = OperatorCommand::VARIANTS;

    /// The command line, for people.
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
