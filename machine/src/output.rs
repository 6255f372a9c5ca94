//! What a server can want done.

use crate::connection::ConnectionId;
use crate::damage::Damage;
use crate::image::DiskImage;
use crate::notice::Notice;
use crate::tap::TapEvent;
use bytes::Bytes;

/// Something that a server wants done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send these bytes. One `Send` is one message.
    Send {
        /// On which connection.
        connection: ConnectionId,
        /// What to send.
        bytes: Bytes,
    },
    /// Close the connection after what was sent before; its id is spent.
    Close {
        /// Which connection.
        connection: ConnectionId,
    },
    /// Close the connection at once: what waits on it is thrown away. Its id is spent.
    Abort {
        /// Which connection.
        connection: ConnectionId,
    },
    /// Open a connection; answered by `Connected` or `ConnectFailed`. The server picks the id,
    /// counting down from `u32::MAX`, while the driver counts accepted connections up from 0.
    Connect {
        /// The id of the new connection.
        connection: ConnectionId,
        /// Name or IP address.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// Send `Timer` after this many microseconds of the host's monotonic clock. The latest request
    /// replaces all earlier ones.
    WakeAfter {
        /// The span.
        micros: u64,
    },
    /// Append to the append-only file (in the page cache: safe from a process crash, not from power
    /// loss).
    DiskAppend {
        /// What to append.
        bytes: Bytes,
    },
    /// Make all that was appended so far safe from power loss; answered by `DiskSynced`.
    DiskSync,
    /// Atomically replace all that the disk holds (a snapshot, or a rewritten log), synced.
    DiskReplace {
        /// The new contents. What it says of the configuration file is passed over.
        image: DiskImage,
    },
    /// Atomically replace the configuration file, synced.
    DiskConfig {
        /// The new configuration, in the server's own format.
        config: Bytes,
    },
    /// For the operator's eyes: a file of the disk is damaged. A server that refuses it sets
    /// [`Outputs::stopped`], too.
    Damaged(Damage),
    /// For the judge; nobody in the simulated world sees it.
    Tap(TapEvent),
    /// As [`Output::Tap`], of the deployment instead of a key.
    Notice(Notice),
}

/// Everything that one input makes a server want, in order. The driver clears and reuses it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outputs {
    /// In the order in which they must be carried out.
    pub list: Vec<Output>,
    /// How many commands were executed: each costs the host its service time.
    pub commands: u32,
    /// Whether a complete command is still buffered: send `Continue` once the service time has
    /// passed.
    pub more: bool,
    /// Whether the server has ended by its own will (SHUTDOWN, or damaged files). Nothing can be asked of it any
    /// more; a driver that knows better than to ask may end the process.
    pub stopped: bool,
}

impl Outputs {
    /// Empties the outputs, keeping their memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.commands = 0;
        self.more = false;
        self.stopped = false;
    }
}
