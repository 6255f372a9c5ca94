//! Faults as data: a [`Fault`] names its nodes, its magnitude and its duration.

mod kind;
mod operator;

pub use kind::{FaultKind, Impact};
pub use operator::OperatorCommand;

use crate::node::Node;
use crate::time::Micros;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One fault with its own end, so shrinking removes both its start and its end or neither.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Fault {
    /// The node does not run (stop-the-world garbage collection, SIGSTOP, CPU starvation). Its
    /// clocks continue and its incoming data queues up.
    Pause {
        /// The paused node.
        node: Node,
        /// Duration.
        duration_us: Micros,
    },
    /// Like [`Fault::Pause`], but the monotonic clock stops too (a suspended virtual machine). The
    /// wall clock continues.
    Suspend {
        /// The paused node.
        node: Node,
        /// Duration.
        duration_us: Micros,
    },
    /// The process crashes. The kernel keeps running, so peers see a reset or an end of file, and
    /// new connections are refused. Data that the process had written survives a restart (depending
    /// on persistence).
    Crash {
        /// The crashing node.
        node: Node,
        /// Downtime before the restart; `None` for no restart.
        down_us: Option<Micros>,
    },
    /// The machine loses power: peers receive nothing, new connections hang, and only synced data
    /// survives.
    PowerLoss {
        /// The node that loses power.
        node: Node,
        /// Downtime before the restart; `None` for no restart.
        down_us: Option<Micros>,
    },
    /// No message passes between the two sides. Messages are retransmitted, so a healed link may
    /// stay silent until the next retransmission.
    Partition {
        /// One side.
        side_a: Vec<Node>,
        /// The other side.
        side_b: Vec<Node>,
        /// The blocked direction.
        direction: Direction,
        /// Duration.
        duration_us: Micros,
    },
    /// Every message between these nodes is delayed. Between a primary and its replica this is
    /// replication lag.
    Delay {
        /// Senders.
        from: Vec<Node>,
        /// Receivers.
        to: Vec<Node>,
        /// Minimum delay added to each message.
        extra_us_min: Micros,
        /// Maximum delay added to each message.
        extra_us_max: Micros,
        /// Duration in which sent messages are delayed.
        duration_us: Micros,
    },
    /// The server executes a command of this client, and the connection is reset before the reply
    /// is sent. Affects only the first command that arrives within the window.
    LostReply {
        /// The server that executes the command.
        server: Node,
        /// The client that does not receive the reply.
        client: Node,
        /// Length of the window.
        duration_us: Micros,
    },
    /// The connection is reset before the server reads a command of this client, so the command is
    /// not executed. Affects only the first command that arrives within the window.
    LostRequest {
        /// The server that does not receive the command.
        server: Node,
        /// The client whose command is lost.
        client: Node,
        /// Length of the window.
        duration_us: Micros,
    },
    /// The node's clocks run fast (positive) or slow (negative).
    ClockDrift {
        /// The node.
        node: Node,
        /// Parts per million.
        rate_ppm: i32,
        /// Duration. The accumulated error remains.
        duration_us: Micros,
    },
    /// The node's wall clock is stepped and not stepped back. The monotonic clock is unaffected.
    ClockJump {
        /// The node.
        node: Node,
        /// Forward (positive) or back (negative), in microseconds.
        offset_us: i64,
    },
    /// Every command takes longer on the server.
    SlowServer {
        /// The server.
        node: Node,
        /// Added to the service time of each command.
        extra_us: Micros,
        /// Duration.
        duration_us: Micros,
    },
    /// The server runs out of memory and evicts every key that its volatile-ttl policy may evict.
    Evict {
        /// The server.
        node: Node,
    },
    /// An operator sends FLUSHALL.
    FlushAll {
        /// The server.
        node: Node,
    },
    /// An operator promotes a replica to primary without telling the old primary.
    Promote {
        /// The server.
        node: Node,
    },
    /// An operator runs a command on the server that no lock expects.
    Operator {
        /// The server.
        node: Node,
        /// The command.
        command: OperatorCommand,
    },
}

/// The blocked direction of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// No message passes in either direction.
    Both,
    /// No message passes from side a to side b; messages from b to a pass.
    AToB,
}

impl Fault {
    /// Returns the kind of the fault.
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

    /// Returns the duration; `None` if the fault is instantaneous or never ends.
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

    /// Returns how long the fault's effect may outlast the fault: a delayed message may still be in
    /// transit when the delay ends.
    pub fn linger(&self) -> Micros {
        match self {
            Fault::Delay { extra_us_max, .. } => *extra_us_max,
            _ => Micros::ZERO,
        }
    }

    /// Returns every node that the fault names, in order.
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

    /// Returns the directed links that the fault affects. A fault of a single node counts as a
    /// fault of the node's link to itself.
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
