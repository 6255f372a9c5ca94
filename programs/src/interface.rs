use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SocketId(pub u32);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Program and arguments. The group finds the program as a shell does.
    pub command: Vec<String>,
    /// Complete environment. The program inherits no other variables.
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
    pub host_name: String,
    /// Addresses of all machines by host name, including the program's own.
    pub hosts: BTreeMap<String, Ipv4Addr>,
    /// Additional names of these machines.
    pub aliases: BTreeMap<String, Ipv4Addr>,
    pub seed: u64,
    /// Determines the machine id and the boot id. Unlike `seed`, it is the same for all starts.
    pub machine_seed: u64,
    /// Id of the first process. Later processes and threads get higher ids.
    pub first_process: u32,
    /// User id to run as, if the caller is root. The user needs access to the folder.
    pub user: Option<u32>,
    /// Duration of a file sync in microseconds; `None` leaves syncs to the kernel.
    pub sync_us: Option<u64>,
    /// Canonical paths of folders for temporary files. When a group is dropped, it removes folders
    /// that its programs created there, and files that they created there with `O_EXCL`.
    pub temporary: Vec<PathBuf>,
}

impl Launch {
    pub fn address(&self, name: &str) -> Option<Ipv4Addr> {
        self.hosts.get(name).or_else(|| self.aliases.get(name)).copied()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the command is empty: expected a program and its arguments")]
    Empty,
    #[error("program '{0}' not found: expected a path, or a name in one of the folders of PATH")]
    NotFound(String),
    #[error("'{0}' is not executable: expected an executable file")]
    NotExecutable(String),
    #[error("'{0}' is a 32-bit program: expected a 64-bit program")]
    ThirtyTwoBit(String),
    #[error("'{0}' is a program for another processor: expected an x86-64 program")]
    OtherProcessor(String),
    #[error(
        "this system does not allow a process to trace another process ({0}): in a container, \
         allow the `ptrace` system call (docker run --security-opt seccomp=unconfined)"
    )]
    NotAllowed(String),
    #[error(
        "this system does not allow fencepost to turn off address-space randomization (ASLR), so \
         two runs of the same seed would differ: in a container, allow the `personality` system \
         call (docker run --security-opt seccomp=unconfined)"
    )]
    RandomAddresses,
    #[error("cannot enter the folder '{0}'")]
    Folder(String),
    #[error("cannot switch to user id {0}")]
    User(u32),
    #[error(
        "programs can be traced only on Linux x86-64: on other systems, start the simulated \
         servers with 'fencepost serve' and run the program against them in real time"
    )]
    Unsupported,
    #[error("{0}")]
    Other(#[from] std::io::Error),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Microseconds since the Unix epoch.
    pub wall_us: i64,
    pub monotonic_us: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    Connect {
        socket: SocketId,
        host: String,
        port: u16,
    },
    Send {
        socket: SocketId,
        /// Bytes that the group sent with one system call.
        bytes: Vec<u8>,
    },
    Shutdown {
        /// Connection whose sending side the group has ended. The group can still read from it.
        socket: SocketId,
    },
    Close {
        /// Connection to close. Its id is not reused.
        socket: SocketId,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    Connected(SocketId),
    Refused(SocketId),
    Received(SocketId, Vec<u8>),
    /// The peer has stopped sending on this connection.
    Ended(SocketId),
    Reset(SocketId),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub requests: Vec<Request>,
    /// Microseconds until the next step; `None` if the group waits only for the network.
    pub wake_after_us: Option<u64>,
    /// `false` if some threads are still ready to run after this step.
    pub is_idle: bool,
    pub ending: Option<Ending>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Exit status of the first process.
    Exited(i32),
    /// Signal that killed the first process.
    Killed(i32),
    NotEmulated(String),
    /// The group cannot continue, for example because of a deadlock or an endless loop.
    Stuck(String),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Channel {
    Stdout,
    Stderr,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub channel: Channel,
    /// Monotonic time of the output in microseconds.
    pub monotonic_us: u64,
    pub bytes: Vec<u8>,
}

/// Files that a group executed, and paths that it tried to open for reading. `opened` has a limited
/// size, and some of its paths may not exist.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilesUsed {
    pub executed: BTreeSet<PathBuf>,
    pub opened: BTreeSet<PathBuf>,
}

/// A recorded system call. Callers compare the calls of two runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallMade {
    /// Thread id that the program sees.
    pub thread: u32,
    pub number: u16,
    /// Result of the call; 0 if the group leaves the call to the kernel.
    pub result: i64,
    /// Hash of the bytes that an emulated call was to write or send; 0 if there were none.
    pub bytes: u32,
    /// Number of clock reads from the shared page since the thread's previous call.
    pub clock_reads: u32,
    /// Time of the group's monotonic clock, in microseconds.
    pub monotonic_us: u64,
}
