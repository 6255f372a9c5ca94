//! Faults as data.

mod kind;
mod operator;

pub use kind::{FaultKind, Impact};
pub use operator::OperatorCommand;

use crate::node::Node;
use crate::time::Micros;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One fault with its own end, so that a begin and its heal are never apart: shrinking removes both
/// or neither.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Fault {
    /// Nothing of the node runs (a stop-the-world collection, SIGSTOP, a starved core); its clocks
    /// go on, bytes pile up.
    Pause {
        /// Who stands still.
        node: Node,
        /// For how long.
        duration_us: Micros,
    },
    /// As [`Fault::Pause`], and the monotonic clock stands still too (a virtual machine frozen and
    /// thawed). The wall clock goes on.
    Suspend {
        /// Who stands still.
        node: Node,
        /// For how long.
        duration_us: Micros,
    },
    /// The process dies; the kernel lives on, so peers see a reset or an end of file and new
    /// connections are refused. What a restart finds is what the process had written (persistence
    /// decides).
    Crash {
        /// Who dies.
        node: Node,
        /// How long until it is started again; `None` for never.
        down_us: Option<Micros>,
    },
    /// The machine loses power: peers see silence, new connections hang, and only fsynced data is
    /// found again.
    PowerLoss {
        /// Who goes dark.
        node: Node,
        /// How long until it is started again; `None` for never.
        down_us: Option<Micros>,
    },
    /// Nothing passes between the two sides. Messages are retransmitted, so a healed link may stay
    /// silent for up to the cap.
    Partition {
        /// One side.
        side_a: Vec<Node>,
        /// The other side.
        side_b: Vec<Node>,
        /// Which way nothing passes.
        direction: Direction,
        /// For how long.
        duration_us: Micros,
    },
    /// Every message from one node to another takes this much longer. Between a primary and its
    /// replica this is replication lag.
    Delay {
        /// Senders.
        from: Vec<Node>,
        /// Receivers.
        to: Vec<Node>,
        /// The least that is added to each message.
        extra_us_min: Micros,
        /// The most that is added to each message.
        extra_us_max: Micros,
        /// For how long messages that are sent are delayed.
        duration_us: Micros,
    },
    /// The server applies a command of this client, and the connection is reset before the reply
    /// leaves. Hits the first command that arrives within the window, once.
    LostReply {
        /// Whose command is applied.
        server: Node,
        /// Who never hears of it.
        client: Node,
        /// How long the trap stays open.
        duration_us: Micros,
    },
    /// The connection is reset before the server reads a command of this client, which is never
    /// applied. Hits the first command that arrives within the window, once.
    LostRequest {
        /// Who never hears of the command.
        server: Node,
        /// Whose command is lost.
        client: Node,
        /// How long the trap stays open.
        duration_us: Micros,
    },
    /// The clocks of the node run fast (positive) or slow (negative).
    ClockDrift {
        /// Whose clocks.
        node: Node,
        /// Parts per million.
        rate_ppm: i32,
        /// For how long. The error that has built up stays.
        duration_us: Micros,
    },
    /// The wall clock of the node is stepped at once; it is not stepped back. The monotonic clock
    /// does not notice.
    ClockJump {
        /// Whose wall clock.
        node: Node,
        /// Forward (positive) or back (negative), in microseconds.
        offset_us: i64,
    },
    /// Every command at the server takes this much longer.
    SlowServer {
        /// Which server.
        node: Node,
        /// Added to the service time of each command.
        extra_us: Micros,
        /// For how long.
        duration_us: Micros,
    },
    /// The server runs out of memory and evicts every key that its volatile-ttl policy may evict.
    Evict {
        /// Which server.
        node: Node,
    },
    /// An operator sends FLUSHALL.
    FlushAll {
        /// Which server.
        node: Node,
    },
    /// An operator makes a server that follows another the primary. Nobody tells the other.
    Promote {
        /// Which server.
        node: Node,
    },
    /// An operator types a command at the server's console that no lock expects.
    Operator {
        /// Which server.
        node: Node,
        /// What is typed.
        command: OperatorCommand,
    },
}

/// Which way a partition cuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Nothing passes either way.
    Both,
    /// Nothing passes from side a to side b; answers from b to a would pass.
    AToB,
}

impl Fault {
    /// The kind, without place, time and magnitude.
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

    /// The duration; `None` if it is instantaneous or never ends.
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

    /// How long its effect may outlast it: a message sent under a delay arrives late.
    pub fn linger(&self) -> Micros {
        match self {
            Fault::Delay { extra_us_max, .. } => *extra_us_max,
            _ => Micros::ZERO,
        }
    }

    /// Every node that the fault names, in order.
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

    /// Every directed link that the fault acts on. A fault of a node acts on the node's link with
    /// itself, a lost reply on the link from server to client, a lost request on that from client
    /// to server.
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
