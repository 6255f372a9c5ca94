//! How a server meets the world: inputs in, outputs out. Must never know who drives it.

use crate::config::NodeConfig;
use bytes::Bytes;

/// Names a connection of one server, for as long as it is open. Given by the driver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

/// The wall clock of the server's host: microseconds since the Unix epoch. It may be stepped in
/// either direction between two inputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WallTime(pub i64);

impl WallTime {
    /// Whole milliseconds since the Unix epoch, as Redis's `mstime()`.
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

/// Something that happens to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input<'a> {
    /// A client connected. `peer` is its address as `host:port`.
    Accepted {
        /// The new connection.
        connection: ConnectionId,
        /// Where it comes from.
        peer: &'a str,
    },
    /// Bytes arrived. At most one complete command is served; if more are buffered, `Outputs::more`
    /// is set.
    Received {
        /// On which connection.
        connection: ConnectionId,
        /// What arrived.
        bytes: &'a [u8],
    },
    /// Serve the next buffered command, asked for by `Outputs::more`.
    Continue,
    /// The peer closed the connection, or it was reset. Not sent for connections that the server
    /// closed itself.
    Closed {
        /// Which connection.
        connection: ConnectionId,
    },
    /// A connection asked for by [`Output::Connect`] is open.
    Connected {
        /// Which connection.
        connection: ConnectionId,
    },
    /// A connection asked for by [`Output::Connect`] could not be opened.
    ConnectFailed {
        /// Which connection.
        connection: ConnectionId,
    },
    /// The time asked for by [`Output::WakeAfter`] has passed.
    Timer,
    /// Everything appended to the disk before the matching [`Output::DiskSync`] is now safe from
    /// power loss.
    DiskSynced,
    /// So many bytes that were sent on a connection have not been taken by the network: its peer
    /// does not read, or not fast enough. Told anew when the number changes; never told by a driver
    /// whose network takes everything.
    Unsent {
        /// On which connection.
        connection: ConnectionId,
        /// How many bytes wait.
        bytes: usize,
    },
    /// An operator at the server's console runs a command; its reply goes nowhere.
    Operator {
        /// The command and its arguments.
        command: &'a [&'a [u8]],
    },
}

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
    /// Atomically replace all that the disk holds (RDB save or AOF rewrite), synced.
    DiskReplace {
        /// The new contents. What it says of the configuration file is passed over.
        image: DiskImage,
    },
    /// Atomically replace the configuration file, synced (CONFIG REWRITE).
    DiskConfig {
        /// The new configuration.
        config: Box<NodeConfig>,
    },
    /// For the judge; nobody in the simulated world sees it.
    Tap(TapEvent),
}

/// What the files of a server hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    /// The snapshot (dump.rdb), if one was ever saved.
    pub snapshot: Option<Bytes>,
    /// The append-only file.
    pub append_only: Bytes,
    /// The configuration file, if it was ever rewritten: it takes the place of the one that the
    /// server was first started with.
    pub config: Option<Box<NodeConfig>>,
}

/// A change of one key, told to the judge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TapEvent {
    /// The key.
    pub key: Bytes,
    /// What happened to it.
    pub change: KeyChange,
    /// The string value after the change, or before it if the key is gone. For other types, a short
    /// rendering of the content.
    pub value: Option<Bytes>,
    /// The connection whose command did it; `None` for the server itself, its primary, its disk or
    /// an operator.
    pub by: Option<ConnectionId>,
    /// When the key will expire, in wall-clock milliseconds; `None` for never or gone.
    pub expires_at_ms: Option<i64>,
    /// Whether the server was acting as a primary.
    pub primary: bool,
}

/// What a server did with a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyChange {
    /// It came to be, or has a new value.
    Granted,
    /// Its time to live was set anew, and nothing else.
    Extended,
    /// A command deleted it.
    Removed,
    /// Its time to live ran out by the server's clock (told when the server notices).
    Expired,
    /// Evicted to free memory.
    Evicted,
    /// Removed by FLUSHALL or FLUSHDB.
    Flushed,
    /// Discarded by a full resynchronisation.
    Discarded,
    /// Loaded from disk, or received in a full resynchronisation.
    Restored,
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
    /// Whether the server has ended by its own will (SHUTDOWN). Nothing can be asked of it any
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

/// A server without a world of its own: the same machine runs in unit tests, in both engines and
/// behind real TCP.
pub trait Machine {
    /// Takes one input at the instant `now` of the host's wall clock and says what is to be done
    /// about it.
    fn handle(&mut self, input: Input<'_>, now: WallTime, out: &mut Outputs);
}
