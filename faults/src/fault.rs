//! A fault as data: its kind, nodes, magnitude and duration.

mod kind;
mod operator;

pub use kind::{FaultKind, Impact};
pub use operator::OperatorCommand;

use crate::node::Node;
use crate::time::Micros;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fault: its kind, the nodes or links that it affects, and its size. Times are virtual.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Fault {
    /// The node does not run, as in a stop-the-world garbage collection, after SIGSTOP or under CPU
    /// starvation. The node's clocks continue, and its incoming data queues up.
    Pause {
        /// Process, server or Sentinel to pause. A process pauses with all its threads.
        node: Node,
        /// Length of the pause in microseconds.
        duration_us: Micros,
    },
    /// The node and its monotonic clock stop, as in a suspended VM. The wall clock continues.
    Suspend {
        /// Host whose VM is suspended, such as `client-1`.
        node: Node,
        /// Length of the suspension in microseconds.
        duration_us: Micros,
    },
    /// The process crashes. The kernel keeps running, so peers see a reset or an end of file, and
    /// new connections are refused. Whether data that the process had written survives the restart
    /// depends on the server's persistence.
    Crash {
        /// Process, server or Sentinel to crash.
        node: Node,
        /// Downtime before the restart, in microseconds; `null` if the process never restarts.
        down_us: Option<Micros>,
    },
    /// The machine loses power. Peers receive nothing, new connections hang, and unsynced data, or
    /// with torn writes a part of it, is lost.
    PowerLoss {
        /// Host to switch off, such as `redis-1`.
        node: Node,
        /// Downtime before the restart, in microseconds; `null` if the node never restarts.
        down_us: Option<Micros>,
    },
    /// A partition blocks messages between two groups of nodes in one or both directions. Messages
    /// are retransmitted, so a healed link may stay silent until the next retransmission.
    Partition {
        /// Nodes on side a. Links among them keep working.
        side_a: Vec<Node>,
        /// Nodes on side b. Links among them keep working.
        side_b: Vec<Node>,
        /// Blocked direction: both, or only from side a to side b.
        direction: Direction,
        /// Time until the link heals, in microseconds.
        duration_us: Micros,
    },
    /// Every message from the senders to the receivers is delayed. Between a primary and its
    /// replica, the delay is replication lag.
    Delay {
        /// Senders. Only their messages to the nodes in `to` are delayed.
        from: Vec<Node>,
        /// Receivers of the delayed messages.
        to: Vec<Node>,
        /// Minimum delay added to each message, in microseconds.
        extra_us_min: Micros,
        /// Maximum delay added to each message, in microseconds.
        extra_us_max: Micros,
        /// Duration in microseconds. Messages that are sent during this time are delayed.
        duration_us: Micros,
    },
    /// The server executes a command of the client, and the connection is reset before the reply is
    /// sent. Only the first command that arrives during the fault is affected.
    LostReply {
        /// Server that executes the command without answering it.
        server: Node,
        /// Client whose connection to the server is reset.
        client: Node,
        /// Maximum time in microseconds for which the fault waits for a command.
        duration_us: Micros,
    },
    /// The connection is reset before the server reads the client's command, so the command is not
    /// executed. Only the first command that arrives during the fault is affected.
    LostRequest {
        /// Server that resets the connection before it reads the command.
        server: Node,
        /// Client that sends the lost command.
        client: Node,
        /// Maximum time in microseconds for which the fault waits for a command.
        duration_us: Micros,
    },
    /// The node's clocks run fast or slow.
    ClockDrift {
        /// Process or server whose clocks drift. All its clocks drift equally.
        node: Node,
        /// Rate of the drift in parts per million: positive if fast, negative if slow.
        rate_ppm: i32,
        /// Duration of the drift in microseconds. The clocks keep the accumulated error.
        duration_us: Micros,
    },
    /// The node's wall clock is stepped once. The monotonic clock is unaffected.
    ClockJump {
        /// Process, server or Sentinel with the stepped clock.
        node: Node,
        /// Size of the step in microseconds: positive for a step forward, negative for a step back.
        offset_us: i64,
    },
    /// The server needs more time for every command.
    SlowServer {
        /// Server to slow down, such as `redis-1`.
        node: Node,
        /// Time added to the service time of each command, in microseconds.
        extra_us: Micros,
        /// Time in microseconds until the server is back at its normal speed.
        duration_us: Micros,
    },
    /// The server runs out of memory and evicts all keys that may be evicted. In Redis, these are
    /// the keys with a time to live.
    Evict {
        /// Server to evict from, such as `redis-1`.
        node: Node,
    },
    /// An operator deletes all keys of the server, in Redis with FLUSHALL.
    FlushAll {
        /// Server whose keys are deleted.
        node: Node,
    },
    /// An operator promotes a replica to primary without telling the old primary.
    Promote {
        /// Replica or standby to promote.
        node: Node,
    },
    /// An operator runs an administrative command on the server.
    Operator {
        /// Server that receives the command.
        node: Node,
        /// Administrative command to run once.
        command: OperatorCommand,
    },
}

/// Direction in which a partition blocks messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// No message passes in either direction.
    Both,
    /// No message passes from side a to side b. Messages from side b to side a pass.
    AToB,
}

impl Fault {
    pub fn kind(&self) -> FaultKind {
        match self {
            Fault::Pause { .. } => FaultKind::Pause,
            Fault::Suspend { .. } => FaultKind::Suspend,
            Fault::Crash { .. } => FaultKind::Crash,
            Fault::PowerLoss { .. } => FaultKind::PowerLoss,
            Fault::Partition { .. } => FaultKind::Partition,
            Fault::Delay { .. } => FaultKind::Delay,
            Fault::LostReply { .. } => FaultKind::LostReply,
            Fault::LostRequest { .. } => FaultKind::LostRequest,
            Fault::ClockDrift { .. } => FaultKind::ClockDrift,
            Fault::ClockJump { .. } => FaultKind::ClockJump,
            Fault::SlowServer { .. } => FaultKind::SlowServer,
            Fault::Evict { .. } => FaultKind::Evict,
            Fault::FlushAll { .. } => FaultKind::FlushAll,
            Fault::Promote { .. } => FaultKind::Promote,
            Fault::Operator { .. } => FaultKind::Operator,
        }
    }

    /// Returns the length of the fault; `None` if the fault is instantaneous or never ends.
    pub fn duration(&self) -> Option<Micros> {
        match self {
            Fault::Pause { duration_us, .. }
            | Fault::Suspend { duration_us, .. }
            | Fault::Partition { duration_us, .. }
            | Fault::Delay { duration_us, .. }
            | Fault::LostReply { duration_us, .. }
            | Fault::LostRequest { duration_us, .. }
            | Fault::ClockDrift { duration_us, .. }
            | Fault::SlowServer { duration_us, .. } => Some(*duration_us),
            Fault::Crash { down_us, .. } | Fault::PowerLoss { down_us, .. } => *down_us,
            Fault::ClockJump { .. }
            | Fault::Evict { .. }
            | Fault::FlushAll { .. }
            | Fault::Promote { .. }
            | Fault::Operator { .. } => None,
        }
    }

    pub fn linger(&self) -> Micros {
        match self {
            Fault::Delay { extra_us_max, .. } => *extra_us_max,
            _ => Micros::ZERO,
        }
    }

    pub fn nodes(&self) -> Vec<Node> {
        match self {
            Fault::Pause { node, .. }
            | Fault::Suspend { node, .. }
            | Fault::Crash { node, .. }
            | Fault::PowerLoss { node, .. }
            | Fault::ClockDrift { node, .. }
            | Fault::ClockJump { node, .. }
            | Fault::SlowServer { node, .. }
            | Fault::Evict { node }
            | Fault::FlushAll { node }
            | Fault::Promote { node }
            | Fault::Operator { node, .. } => vec![*node],
            Fault::Partition { side_a, side_b, .. } => [side_a.as_slice(), side_b].concat(),
            Fault::Delay { from, to, .. } => [from.as_slice(), to].concat(),
            Fault::LostReply { server, client, .. } => vec![*server, *client],
            Fault::LostRequest { server, client, .. } => vec![*client, *server],
        }
    }

    pub(crate) fn nodes_mut(&mut self) -> Vec<&mut Node> {
        match self {
            Fault::Pause { node, .. }
            | Fault::Suspend { node, .. }
            | Fault::Crash { node, .. }
            | Fault::PowerLoss { node, .. }
            | Fault::ClockDrift { node, .. }
            | Fault::ClockJump { node, .. }
            | Fault::SlowServer { node, .. }
            | Fault::Evict { node }
            | Fault::FlushAll { node }
            | Fault::Promote { node }
            | Fault::Operator { node, .. } => vec![node],
            Fault::Partition { side_a, side_b, .. } => side_a.iter_mut().chain(side_b).collect(),
            Fault::Delay { from, to, .. } => from.iter_mut().chain(to).collect(),
            Fault::LostReply { server, client, .. } => vec![server, client],
            Fault::LostRequest { server, client, .. } => vec![client, server],
        }
    }

    /// Returns the affected directed links; for a single node, the link from the node to itself.
    pub fn links(&self) -> Vec<(Node, Node)> {
        let every = |from: &[Node], to: &[Node]| -> Vec<(Node, Node)> {
            from.iter().flat_map(|from| to.iter().map(|to| (*from, *to))).collect()
        };
        match self {
            Fault::Partition { side_a, side_b, direction: Direction::AToB, .. } => {
                every(side_a, side_b)
            }
            Fault::Partition { side_a, side_b, direction: Direction::Both, .. } => {
                [every(side_a, side_b), every(side_b, side_a)].concat()
            }
            Fault::Delay { from, to, .. } => every(from, to),
            Fault::LostReply { server, client, .. } => vec![(*server, *client)],
            Fault::LostRequest { server, client, .. } => vec![(*client, *server)],
            _ => self.nodes().into_iter().map(|node| (node, node)).collect(),
        }
    }
}
