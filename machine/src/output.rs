use crate::connection::ConnectionId;
use crate::damage::Damage;
use crate::image::DiskImage;
use crate::notice::Notice;
use crate::tap::TapEvent;
use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    Send {
        connection: ConnectionId,
        bytes: Bytes,
    },
    Close {
        /// Connection to close after all sent bytes have left.
        connection: ConnectionId,
    },
    Abort {
        /// Connection to reset immediately. Discards unsent bytes.
        connection: ConnectionId,
    },
    /// Opens a connection. The driver answers with `Connected` or `ConnectFailed`.
    Connect {
        connection: ConnectionId,
        host: String,
        port: u16,
    },
    WakeAfter {
        /// Microseconds until the next `Input::Timer`. A later request replaces an earlier one.
        micros: u64,
    },
    DiskAppend {
        /// Bytes that survive a process crash, and after the next sync also a power loss.
        bytes: Bytes,
    },
    /// Syncs the append-only file. The driver answers `DiskSynced`, `DiskFailed` or stops the
    /// server.
    DiskSync,
    /// Atomically replaces and syncs the snapshot and the append-only file.
    DiskReplace {
        /// New contents. The driver ignores the image's configuration file.
        image: DiskImage,
    },
    /// Atomically replaces and syncs the configuration file.
    DiskConfig {
        config: Bytes,
    },
    Damaged(Damage),
    Tap(TapEvent),
    Notice(Notice),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outputs {
    pub list: Vec<Output>,
    pub commands: u32,
    /// `true` if a complete command is still buffered. The driver then sends `Continue`.
    pub more: bool,
    /// `true` if the server has stopped, for example after SHUTDOWN or because its disk failed.
    pub stopped: bool,
}

impl Outputs {
    pub fn clear(&mut self) {
        self.list.clear();
        self.commands = 0;
        self.more = false;
        self.stopped = false;
    }
}
