//! Outputs of a server ([`Output`]).

use crate::connection::ConnectionId;
use crate::damage::Damage;
use crate::image::DiskImage;
use crate::notice::Notice;
use crate::tap::TapEvent;
use bytes::Bytes;

/// A server's request to its driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Sends one message.
    Send {
        /// Id of the connection.
        connection: ConnectionId,
        /// Bytes of the message.
        bytes: Bytes,
    },
    /// Closes the connection after all bytes sent so far have left. Its id is not reused.
    Close {
        /// Id of the connection.
        connection: ConnectionId,
    },
    /// Resets the connection immediately and discards unsent bytes. Its id is not reused.
    Abort {
        /// Id of the connection.
        connection: ConnectionId,
    },
    /// Opens a connection. The driver answers with `Connected` or `ConnectFailed`.
    Connect {
        /// Id of the new connection.
        connection: ConnectionId,
        /// Host name or IP address of the peer.
        host: String,
        /// TCP port of the peer.
        port: u16,
    },
    /// Requests an `Input::Timer` after this time, and replaces any earlier request.
    WakeAfter {
        /// Delay in microseconds.
        micros: u64,
    },
    /// Appends to the append-only file. The bytes survive a process crash, but not a power loss.
    DiskAppend {
        /// Bytes to append.
        bytes: Bytes,
    },
    /// Syncs the append-only file; the driver answers with `DiskSynced`.
    DiskSync,
    /// Atomically replaces and syncs the snapshot and the append-only file.
    DiskReplace {
        /// New contents. The driver ignores the configuration file of the image.
        image: DiskImage,
    },
    /// Atomically replaces and syncs the configuration file.
    DiskConfig {
        /// New configuration in the server's own format.
        config: Bytes,
    },
    /// Reports a damaged file to the operator.
    Damaged(Damage),
    /// Reports a key change to the judge. Simulated processes cannot see it.
    Tap(TapEvent),
    /// Reports a change of the server to the judge.
    Notice(Notice),
}

/// All outputs for one input. The driver clears and reuses the buffer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outputs {
    /// Outputs in the order in which the driver performs them.
    pub list: Vec<Output>,
    /// Number of executed commands, each of which costs the host its service time.
    pub commands: u32,
    /// `true` if a complete command is still buffered. The driver then sends `Continue`.
    pub more: bool,
    /// `true` if the server has stopped (SHUTDOWN, or damaged files). It handles no more inputs.
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
