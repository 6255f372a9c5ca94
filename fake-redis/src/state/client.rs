//! One client of a server: what is remembered of a connection between its commands.

mod service;
mod transaction;

pub(crate) use service::Service;
pub(crate) use transaction::{Ending, Transaction};

use crate::protocol::reply::Protocol;
use crate::protocol::request::RequestReader;
use crate::state::command_info::CommandInfo;
use crate::state::tracking::Wishes;
use crate::state::unread::Unread;
use fencepost_machine::{ConnectionId, WallTime};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// What kind of client it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// An application's, on a connection.
    Normal,
    /// A replica's, on a connection, after PSYNC: it is sent the stream and no replies.
    Replica,
    /// A fixed one of [`ClientKey`]: scripts.
    Script,
    /// A fixed one of [`ClientKey`]: the primary's stream.
    Primary,
    /// A fixed one of [`ClientKey`]: the append-only file.
    Disk,
    /// A fixed one of [`ClientKey`]: the console.
    Operator,
}

impl Role {
    /// Whether its commands were accepted elsewhere already: they are never refused, and meet
    /// expired keys as if they were alive.
    pub(crate) fn must_be_obeyed(self) -> bool {
        matches!(self, Role::Primary | Role::Disk)
    }
}

/// Which replies are sent: CLIENT REPLY.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ReplyMode {
    /// All.
    #[default]
    On,
    /// None.
    Off,
    /// All but that of this command and of the next one.
    SkipNext,
    /// All but this one.
    Skip,
}

/// A key that WATCH named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Watch {
    /// In which database.
    pub(crate) db: usize,
    /// The key.
    pub(crate) key: Box<[u8]>,
    /// Whether it had expired already, so that its expiry is no change.
    pub(crate) was_expired: bool,
}

/// Names in the order in which they came.
pub(crate) type Names = IndexSet<Box<[u8]>, FxBuildHasher>;

/// What a client listens to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscriptions {
    /// SUBSCRIBE.
    pub(crate) channels: Names,
    /// PSUBSCRIBE.
    pub(crate) patterns: Names,
    /// SSUBSCRIBE.
    pub(crate) shard_channels: Names,
}

impl Subscriptions {
    /// Whether the client is subscribed to anything.
    pub(crate) fn any(&self) -> bool {
        !(self.channels.is_empty() && self.patterns.is_empty() && self.shard_channels.is_empty())
    }
}

/// One client.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its number as CLIENT ID tells it: grows with every connection, never used twice.
    pub(crate) id: u64,
    /// Its connection; `None` for the fixed ones of [`ClientKey`].
    pub(crate) connection: Option<ConnectionId>,
    /// What kind it is.
    pub(crate) role: Role,
    /// Its address as `host:port`.
    pub(crate) peer: String,
    /// Bytes that are not served yet.
    pub(crate) reader: RequestReader,
    /// Its selected database.
    pub(crate) db: usize,
    /// Its protocol version.
    pub(crate) protocol: Protocol,
    /// Whether it gave the password, or needs none.
    pub(crate) authenticated: bool,
    /// CLIENT SETNAME.
    pub(crate) name: Vec<u8>,
    /// CLIENT SETINFO LIB-NAME.
    pub(crate) lib_name: Vec<u8>,
    /// CLIENT SETINFO LIB-VER.
    pub(crate) lib_ver: Vec<u8>,
    /// Which replies are sent.
    pub(crate) reply_mode: ReplyMode,
    /// MULTI.
    pub(crate) transaction: Transaction,
    /// WATCH.
    pub(crate) watching: Vec<Watch>,
    /// SUBSCRIBE.
    pub(crate) subscriptions: Subscriptions,
    /// CLIENT TRACKING.
    pub(crate) tracking: Option<Box<Wishes>>,
    /// CLIENT NO-EVICT.
    pub(crate) no_evict: bool,
    /// What keeps it from being served.
    pub(crate) service: Service,
    /// What was sent to it and waits.
    pub(crate) output: Unread,
    connected_at: WallTime,
    active_at: WallTime,
    last_command: Option<&'static CommandInfo>,
    /// The replication offset after its last write, which WAIT waits for.
    pub(crate) write_offset: u64,
}

impl Client {
    /// A new client in database 0, speaking RESP2.
    pub(crate) fn new(
        id: u64,
        role: Role,
        connection: Option<ConnectionId>,
        now: WallTime,
    ) -> Self {
        Client {
            id,
            connection,
            role,
            peer: String::new(),
            reader: RequestReader::default(),
            db: 0,
            protocol: Protocol::Resp2,
            authenticated: true,
            name: Vec::new(),
            lib_name: Vec::new(),
            lib_ver: Vec::new(),
            reply_mode: ReplyMode::On,
            transaction: Transaction::default(),
            watching: Vec::new(),
            subscriptions: Subscriptions::default(),
            tracking: None,
            no_evict: false,
            service: Service::default(),
            output: Unread::default(),
            connected_at: now,
            active_at: now,
            last_command: None,
            write_offset: 0,
        }
    }

    /// Whether only subscribing commands are allowed: it listens, and RESP2 cannot tell messages
    /// from replies.
    pub(crate) fn is_only_listening(&self) -> bool {
        self.protocol == Protocol::Resp2 && self.subscriptions.any()
    }

    /// When it connected.
    pub(crate) fn connected_at(&self) -> WallTime {
        self.connected_at
    }

    /// When it last sent a command.
    pub(crate) fn active_at(&self) -> WallTime {
        self.active_at
    }

    /// A command of it is looked at.
    pub(crate) fn act(&mut self, now: WallTime) {
        self.active_at = now;
    }

    /// What it last sent that was executed.
    pub(crate) fn last_command(&self) -> Option<&'static CommandInfo> {
        self.last_command
    }

    /// A command of it is executed.
    pub(crate) fn execute(&mut self, command: &'static CommandInfo) {
        self.last_command = Some(command);
    }

    /// Whether its last command changed what it listens to: the answer to that is a message rather
    /// than a reply.
    pub(crate) fn was_subscribing(&self) -> bool {
        self.last_command.is_some_and(|command| command.name.ends_with("subscribe"))
    }
}
