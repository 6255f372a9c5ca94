//! What a driver and a group of processes say to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// A connection of the group, numbered by the group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId(pub u32);

/// What is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The program and its arguments, as a shell would find them.
    pub command: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub environment: BTreeMap<String, String>,
    /// The folder in which it starts.
    pub folder: PathBuf,
    /// The name of the machine.
    pub host_name: String,
    /// The addresses of all machines, this one included.
    pub hosts: BTreeMap<String, Ipv4Addr>,
    /// What random bytes are drawn from.
    pub seed: u64,
    /// The number of the first process; the others follow.
    pub first_process: u32,
    /// How long a sync of a file takes, in microseconds; what was synced is then kept in
    /// [`SyncedFiles`]. Without it syncs are left to the kernel, and nothing is kept.
    pub sync_us: Option<u64>,
}

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command is empty.
    #[error("the command is empty: expected a program and its arguments")]
    Empty,
    /// There is no such program.
    #[error("no program '{0}': expected a path, or a name that is found in PATH")]
    NotFound(String),
    /// The file cannot be run.
    #[error("'{0}' is not executable")]
    NotExecutable(String),
    /// The file is a program of the 32-bit interface.
    #[error("'{0}' is a 32-bit program: only 64-bit programs can be traced")]
    ThirtyTwoBit(String),
    /// The system does not allow to trace.
    #[error(
        "this system does not let one process trace another ({0}): in a container, allow ptrace \
         and seccomp (docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined)"
    )]
    NotAllowed(String),
    /// Only Linux on x86-64 is supported.
    #[error(
        "programs are traced on Linux x86-64 only: elsewhere, serve the same servers in real time \
         with 'fencepost serve'"
    )]
    Unsupported,
    /// Something else.
    #[error("{0}")]
    Other(#[from] std::io::Error),
}

/// What the clocks of the machine show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Microseconds since the Unix epoch.
    pub wall_us: i64,
    /// Microseconds of the monotonic clock.
    pub monotonic_us: u64,
}

/// What a group asks of the network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Connect to a machine that [`Launch::hosts`] names.
    Connect {
        /// The number of the new connection.
        socket: SocketId,
        /// The machine.
        host: String,
        /// The port.
        port: u16,
    },
    /// Send bytes, by one call.
    Send {
        /// The connection.
        socket: SocketId,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Send no more, so that the peer sees an end of the stream behind all that was sent; the group
    /// goes on reading.
    Shutdown {
        /// The connection.
        socket: SocketId,
    },
    /// Close the connection; the number is spent.
    Close {
        /// The connection.
        socket: SocketId,
    },
}

/// What the network tells a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// The connection is open.
    Connected(SocketId),
    /// It was refused.
    Refused(SocketId),
    /// Bytes arrived.
    Received(SocketId, Vec<u8>),
    /// The peer sends no more.
    Ended(SocketId),
    /// The peer reset it.
    Reset(SocketId),
}

/// What happened until every thread waited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What was asked, in order.
    pub requests: Vec<Request>,
    /// After how many microseconds of the monotonic clock the group wants to be stepped again,
    /// even if there is no news.
    pub wake_after_us: Option<u64>,
    /// How the group ended, if it has.
    pub ending: Option<Ending>,
}

/// How a group ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The first process exited with this status.
    Exited(i32),
    /// A signal killed it.
    Killed(i32),
    /// A thread made a call that is not emulated.
    NotEmulated(String),
    /// A thread goes on without end, or every thread waits for something that cannot come.
    Stuck(String),
}

/// Where a program prints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What was printed by one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// Where.
    pub channel: Channel,
    /// When, by the monotonic clock.
    pub monotonic_us: u64,
    /// What.
    pub bytes: Vec<u8>,
}

/// The files that a group ran, and those that it opened only to read, as far as they are kept: by
/// the paths that lead to them on this machine. Some may not be there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilesUsed {
    /// What became a process.
    pub executed: BTreeSet<PathBuf>,
    /// What was opened to be read.
    pub opened: BTreeSet<PathBuf>,
}

/// One call at which a thread was stopped, to compare two runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallMade {
    /// The thread, as the program sees it.
    pub thread: u32,
    /// The number of the call.
    pub number: u16,
    /// What it returned; 0 while that is not known.
    pub result: i64,
    /// What it handed over to be written or sent, as a number that other bytes rarely have; 0 if
    /// nothing.
    pub bytes: u32,
    /// How often it looked at a clock without a stop since its last call.
    pub looks: u32,
}
