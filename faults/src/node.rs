use crate::as_text;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A machine or a thread, such as `redis-1`, `client-3` or `client-3.2`. Nodes sort by variant, and
/// threads directly after their process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Redis(u16),
    /// A server of a coordinator other than Redis.
    Server(u16),
    Sentinel(u16),
    /// The data that the lock protects.
    Storage,
    /// A process that uses the lock, and also its first thread.
    Client(u16),
    Thread {
        /// Number of the process; 0 for the probe.
        client: u16,
        /// Number of the thread, from 2.
        thread: u16,
    },
    /// The process that requests the lock once after all faults have ended. Faults never hit it.
    Probe,
}

impl Node {
    /// Returns the machine of a thread. Any other node is its own machine.
    pub const fn machine(self) -> Node {
        match self {
            Node::Thread { client: 0, .. } => Node::Probe,
            Node::Thread { client, .. } => Node::Client(client),
            machine => machine,
        }
    }

    /// Returns the thread with this number; the first thread is 1. Returns nodes without threads
    /// unchanged.
    pub const fn for_thread(self, thread: u16) -> Node {
        match self.machine() {
            Node::Client(client) if thread > 1 => Node::Thread { client, thread },
            Node::Probe if thread > 1 => Node::Thread { client: 0, thread },
            machine => machine,
        }
    }

    pub const fn is_process(self) -> bool {
        matches!(self, Node::Client(_) | Node::Thread { .. } | Node::Probe)
    }

    pub const fn is_server(self) -> bool {
        matches!(self, Node::Redis(_) | Node::Server(_))
    }

    const fn place(self) -> (u8, u16, u16) {
        match self {
            Node::Redis(n) => (0, n, 0),
            Node::Server(n) => (1, n, 0),
            Node::Sentinel(n) => (2, n, 0),
            Node::Storage => (3, 0, 0),
            Node::Client(n) => (4, n, 1),
            Node::Thread { client: 0, thread } => (5, 0, thread),
            Node::Thread { client, thread } => (4, client, thread),
            Node::Probe => (5, 0, 0),
        }
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Node) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Node) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "unknown node '{0}': expected redis-N, server-N, sentinel-N, client-N, storage, probe, or a \
     thread (client-N.T or probe.T), with N from 1 and T from 2 to 65535"
)]
pub struct UnknownNode(pub String);

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Redis(n) => f.pad(&format!("redis-{n}")),
            Node::Server(n) => f.pad(&format!("server-{n}")),
            Node::Sentinel(n) => f.pad(&format!("sentinel-{n}")),
            Node::Storage => f.pad("storage"),
            Node::Client(n) => f.pad(&format!("client-{n}")),
            Node::Thread { client: 0, thread } => f.pad(&format!("probe.{thread}")),
            Node::Thread { client, thread } => f.pad(&format!("client-{client}.{thread}")),
            Node::Probe => f.pad("probe"),
        }
    }
}

impl FromStr for Node {
    type Err = UnknownNode;

    fn from_str(text: &str) -> Result<Node, UnknownNode> {
        let unknown = || UnknownNode(text.to_owned());
        match text {
            "storage" => return Ok(Node::Storage),
            "probe" => return Ok(Node::Probe),
            _ => {}
        }
        if let Some((process, thread)) = text.split_once('.') {
            let thread: u16 = thread.parse().map_err(|_| unknown())?;
            return match process.parse() {
                Ok(process @ (Node::Client(_) | Node::Probe)) if thread >= 2 => {
                    Ok(process.for_thread(thread))
                }
                _ => Err(unknown()),
            };
        }
        let (kind, number) = text.split_once('-').ok_or_else(unknown)?;
        let number: u16 = number.parse().map_err(|_| unknown())?;
        match (kind, number) {
            (_, 0) => Err(unknown()),
            ("redis", n) => Ok(Node::Redis(n)),
            ("server", n) => Ok(Node::Server(n)),
            ("sentinel", n) => Ok(Node::Sentinel(n)),
            ("client", n) => Ok(Node::Client(n)),
            _ => Err(unknown()),
        }
    }
}

as_text!(
    Node,
    "A machine of the simulated deployment, or a thread of a process. For example, client-1.2 is \
     the second thread of client-1.",
    pattern "^(redis-[1-9][0-9]*|server-[1-9][0-9]*|sentinel-[1-9][0-9]*|storage|(client-[1-9][0-9]*|probe)(\\.([2-9]|[1-9][0-9]+))?)$"
);
