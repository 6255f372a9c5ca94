//! The types that a driver and a group of processes exchange.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Identifier of a network connection, assigned by the group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId(pub u32);

/// The program to start, with its environment and its machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The program and its arguments. The program is found as a shell would find it.
    pub command: Vec<String>,
    /// The complete environment. The program inherits no other variables.
    pub environment: BTreeMap<String, String>,
    /// The program's initial working directory.
    pub folder: PathBuf,
    /// The host name of the program's machine.
    pub host_name: String,
    /// The addresses of all machines by host name, including the program's own.
    pub hosts: BTreeMap<String, Ipv4Addr>,
    /// Additional names of these machines, each with the machine's address.
    pub aliases: BTreeMap<String, Ipv4Addr>,
    /// Seed of the random bytes that the program reads.
    pub seed: u64,
    /// Process id of the first process. Later processes get consecutive ids.
    pub first_process: u32,
    /// User id to run as, if the caller is root. The user must own the folder.
    pub user: Option<u32>,
    /// Duration of a file sync in microseconds. If it is `None`, the kernel executes file syncs.
    pub sync_us: Option<u64>,
}

impl Launch {
    /// Returns the address of a machine by any of its names.
    pub fn address(&self, name: &str) -> Option<Ipv4Addr> {
        self.hosts.get(name).or_else(|| self.aliases.get(name)).copied()
    }
}

/// A reason why no program was started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command is empty.
    #[error("the command is empty: expected a program and its arguments")]
    Empty,
    /// The program file does not exist.
    #[error("program '{0}' not found: expected a path, or a name in one of the folders of PATH")]
    NotFound(String),
    /// The program file cannot be executed.
    #[error("'{0}' is not executable")]
    NotExecutable(String),
    /// The program file uses the 32-bit interface of Linux.
    #[error("'{0}' is a 32-bit program: only 64-bit programs can be traced")]
    ThirtyTwoBit(String),
    /// The program file was built for another processor.
    #[error("'{0}' is a program for another processor: only x86-64 programs can be traced")]
    OtherProcessor(String),
    /// The operating system does not allow tracing.
    #[error(
        "this system does not allow one process to trace another ({0}): in a container, allow \
         ptrace and seccomp (docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined)"
    )]
    NotAllowed(String),
    /// The operating system is not Linux on x86-64.
    #[error(
        "programs can be traced on Linux x86-64 only: on other systems, run the same servers in \
         real time with 'fencepost serve'"
    )]
    Unsupported,
    /// The operating system reported another error.
    #[error("{0}")]
    Other(#[from] std::io::Error),
}

/// Readings of the machine's two clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Wall clock, in microseconds since the Unix epoch.
    pub wall_us: i64,
    /// Monotonic clock, in microseconds.
    pub monotonic_us: u64,
}

/// A group's request to the network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Connect to a machine listed in [`Launch::hosts`].
    Connect {
        /// Id of the new connection.
        socket: SocketId,
        /// Host name of the machine.
        host: String,
        /// TCP port on the machine.
        port: u16,
    },
    /// Send the bytes of one system call.
    Send {
        /// The connection to send on.
        socket: SocketId,
        /// The bytes to send.
        bytes: Vec<u8>,
    },
    /// Stop sending. The peer sees the end of the stream, and the group can still read.
    Shutdown {
        /// The connection to shut down.
        socket: SocketId,
    },
    /// Close the connection. Its id is not reused.
    Close {
        /// The connection to close.
        socket: SocketId,
    },
}

/// A network event that is reported to a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// The connection is open.
    Connected(SocketId),
    /// The connection was refused.
    Refused(SocketId),
    /// Bytes arrived on the connection.
    Received(SocketId, Vec<u8>),
    /// The peer has stopped sending.
    Ended(SocketId),
    /// The peer reset the connection.
    Reset(SocketId),
}

/// The result of running a group until every thread waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The requests to the network, in order.
    pub requests: Vec<Request>,
    /// Monotonic time until the next step, in microseconds; `None` if the group awaits only news.
    pub wake_after_us: Option<u64>,
    /// `true` if every thread waits. `false` if some threads will continue when the clocks advance.
    pub is_idle: bool,
    /// The end of the group; `None` while it runs.
    pub ending: Option<Ending>,
}

/// The end of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The first process exited with this status.
    Exited(i32),
    /// This signal killed the first process.
    Killed(i32),
    /// A thread made a system call that is not emulated.
    NotEmulated(String),
    /// A thread runs endlessly, or every thread waits for an event that cannot happen.
    Stuck(String),
}

/// The stream to which a program writes its output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The output of one system call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The stream that the program wrote to.
    pub channel: Channel,
    /// Time of the call in microseconds of the monotonic clock.
    pub monotonic_us: u64,
    /// The written bytes.
    pub bytes: Vec<u8>,
}

/// Files that a group executed or opened for reading, up to a limit. Some may not exist.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilesUsed {
    /// Paths of the executed files.
    pub executed: BTreeSet<PathBuf>,
    /// Paths of the files opened for reading.
    pub opened: BTreeSet<PathBuf>,
}

/// A system call that stopped a thread, recorded to compare two runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallMade {
    /// The thread id that the program sees.
    pub thread: u32,
    /// The number of the system call.
    pub number: u16,
    /// The call's result, or 0 if it is not known yet.
    pub result: i64,
    /// A hash of the bytes that the call wrote or sent, or 0 if there were none.
    pub bytes: u32,
    /// Number of clock reads since the previous call of the thread.
    pub clock_reads: u32,
}
