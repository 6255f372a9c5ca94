//! The commands that an operator types at a server's console, as [`OperatorCommand`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// An operator's command that changes what locks rely on and that no lock sends itself.
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
    /// `SCRIPT FLUSH`: clients that call a script by its digest must send it again.
    ScriptFlush,
    /// `CLIENT KILL TYPE normal` and `TYPE pubsub`: closes every client connection.
    ClientKill,
    /// `FAILOVER`: the primary waits for a replica to catch up and swaps roles with it.
    Failover,
    /// `REPLICAOF` another server of the deployment, which is not informed. The server loses all
    /// data that the other does not have.
    ReplicaOf,
    /// `CONFIG SET appendonly no`: later writes do not survive a restart.
    AppendOnlyOff,
    /// `CONFIG SET min-replicas-to-write 0`: a primary without replicas accepts writes again.
    MinReplicasOff,
    /// `CONFIG SET timeout 1`: closes connections that are idle for a second.
    IdleTimeout,
}

impl OperatorCommand {
    /// All commands, in order of declaration.
    pub const ALL: &[OperatorCommand] = OperatorCommand::VARIANTS;

    /// Returns the command as text for people.
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
