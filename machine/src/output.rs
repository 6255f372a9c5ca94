//! Outputs of a server.

use crate::connection::ConnectionId;
use crate::damage::Damage;
use crate::image::DiskImage;
use crate::notice::Notice;
use crate::tap::TapEvent;
use bytes::Bytes;

/// A request of a server to its driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send one message.
    Send {
        /// The connection.
        connection: ConnectionId,
        /// The bytes.
        bytes: Bytes,
    },
    /// Close the connection after everything already sent. Its id is not reused.
    Close {
        /// The connection.
        connection: ConnectionId,
    },
    /// Reset the connection immediately and discard unsent bytes. Its id is not reused.
    Abort {
        /// The connection.
        connection: ConnectionId,
    },
    /// Open a connection; answered by `Connected` or `ConnectFailed`. The server assigns ids down
    /// from `u32::MAX`, the driver up from 0.
    Connect {
        /// The new connection.
        connection: ConnectionId,
        /// Host name or IP address.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// Send `Timer` after this time on the host's monotonic clock. Replaces any earlier request.
    WakeAfter {
        /// Delay in microseconds.
        micros: u64,
    },
    /// Append to the append-only file. Survives a process crash, not a power loss.
    DiskAppend {
        /// The bytes to append.
        bytes: Bytes,
    },
    /// Sync the append-only file; answered by `DiskSynced`.
    DiskSync,
    /// Atomically replace and sync snapshot and append-only file.
    DiskReplace {
        /// The new contents. Its configuration file is ignored.
        image: DiskImage,
    },
    /// Atomically replace and sync the configuration file.
    DiskConfig {
        /// The new configuration, in the server's own format.
        config: Bytes,
    },
    /// Tell the operator about a damaged file. A server that refuses it sets [`Outputs::stopped`].
    Damaged(Damage),
    /// Report a key change to the judge, invisible to the simulated processes.
    Tap(TapEvent),
    /// Report a role change to the judge.
    Notice(Notice),
}

/// All outputs for one input. The driver clears and reuses it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outputs {
    /// Outputs in the order to perform them.
    pub list: Vec<Output>,
    /// Number of executed commands, each of which costs the host its service time.
    pub commands: u32,
    /// A complete command is still buffered: send `Continue` after the service time.
    pub more: bool,
    /// The server has stopped (SHUTDOWN, or damaged files) and handles no more inputs.
    pub stopped: bool,
}

impl Outputs {
    /// Clears the outputs but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.commands = 0;
        self.more = false;
        self.stopped = false;
    }
}
