//! The messages between a driver and a group of processes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Connection of a group. The group assigns the number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId(pub u32);

/// The program to start.
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
    /// The seed of random bytes.
    pub seed: u64,
    /// The number of the first process; the others follow.
    pub first_process: u32,
    /// User to run as, if the caller is root: some servers refuse root. Must own the folder.
    pub user: Option<u32>,
    /// Duration of a file sync, in microseconds; enables [`SyncedFiles`]. `None`: the kernel syncs.
    pub sync_us: Option<u64>,
}

/// Reasons why nothing was started.
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
    /// The file is a program of another processor.
    #[error("'{0}' is a program for another processor: only x86-64 programs can be traced")]
    OtherProcessor(String),
    /// The system does not allow tracing.
    #[error(
        "this system does not allow one process to trace another ({0}): in a container, allow \
         ptrace and seccomp (docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined)"
    )]
    NotAllowed(String),
    /// Only Linux on x86-64 is supported.
    #[error(
        "programs can be traced on Linux x86-64 only: on other systems, run the same servers in \
         real time with 'fencepost serve'"
    )]
    Unsupported,
    /// Any other error.
    #[error("{0}")]
    Other(#[from] std::io::Error),
}

/// The clocks of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Microseconds since the Unix epoch.
    pub wall_us: i64,
    /// Microseconds of the monotonic clock.
    pub monotonic_us: u64,
}

/// A group's request to the network.
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
    /// Send no more: the peer sees the end after all sent bytes; the group still reads.
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

/// News from the network for a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// The connection is open.
    Connected(SocketId),
    /// The connection was refused.
    Refused(SocketId),
    /// Bytes arrived.
    Received(SocketId, Vec<u8>),
    /// The peer sends no more.
    Ended(SocketId),
    /// The peer reset it.
    Reset(SocketId),
}

/// The result of running until every thread waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The requests, in order.
    pub requests: Vec<Request>,
    /// Microseconds of the monotonic clock until the group needs the next step, even without news.
    pub wake_after_us: Option<u64>,
    /// `true` if every thread waits; otherwise some continue with the clocks.
    pub is_idle: bool,
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
    /// A thread runs endlessly, or every thread waits for something that cannot happen.
    Stuck(String),
}

/// The channel of a program's output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The output of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The channel.
    pub channel: Channel,
    /// The time, by the monotonic clock.
    pub monotonic_us: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Files that a group ran, and files that it only read (up to a limit). Some may not exist.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilesUsed {
    /// The executables.
    pub executed: BTreeSet<PathBuf>,
    /// The files opened for reading.
    pub opened: BTreeSet<PathBuf>,
}

/// One call at which a thread was stopped, to compare two runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallMade {
    /// The thread, as the program sees it.
    pub thread: u32,
    /// The number of the call.
    pub number: u16,
    /// The call's result; 0 while unknown.
    pub result: i64,
    /// A hash of the bytes that it wrote or sent; 0 without any.
    pub bytes: u32,
    /// Clock reads without a stop since its last call.
    pub looks: u32,
}
