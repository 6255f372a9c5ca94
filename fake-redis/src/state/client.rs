//! One client of a server: what is remembered of a connection between its commands.

mod service;
mod transaction;

pub(crate) use service::Service;
pub(crate) use transaction::{Ending, Transaction};

use crate::protocol::reply::Protocol;
use crate::protocol::request::RequestReader;
use crate::state::command_info::CommandInfo;
use crate::state::subscription::{Kind, Subscriptions};
use crate::state::unread::Unread;
use fencepost_machine::{ConnectionId, WallTime};

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

/// One client. Who it is never changes, but that it may become a replica. What it watches and listens
/// to stands a second time in the tables of `Watches` and `PubSub`, which one place each of `keys`
/// and `commands` changes with it. Open is what a command may set as it
/// likes: a name, a database, a protocol; and what keeps invariants of its own.
#[derive(Debug)]
pub(crate) struct Client {
    id: u64,
    connection: Option<ConnectionId>,
    role: Role,
    peer: String,
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
    reply_mode: ReplyMode,
    /// MULTI.
    pub(crate) transaction: Transaction,
    watching: Vec<Watch>,
    subscriptions: Subscriptions,
    /// CLIENT NO-EVICT.
    pub(crate) no_evict: bool,
    /// What keeps it from being served.
    pub(crate) service: Service,
    /// What was sent to it and waits.
    pub(crate) output: Unread,
    connected_at: WallTime,
    active_at: WallTime,
    last_command: Option<&'static CommandInfo>,
    write_offset: u64,
}

impl Client {
    /// A fixed client, in database 0 and speaking RESP2.
    pub(crate) fn fixed(role: Role, now: WallTime) -> Self {
        Client {
            id: 0,
            connection: None,
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
            no_evict: false,
            service: Service::default(),
            output: Unread::default(),
            connected_at: now,
            active_at: now,
            last_command: None,
            write_offset: 0,
        }
    }

    /// A new client on a connection that comes from this address, `host:port`.
    pub(crate) fn of_connection(
        id: u64,
        connection: ConnectionId,
        peer: &str,
        now: WallTime,
    ) -> Self {
        let (connection, peer) = (Some(connection), peer.to_owned());
        Client { id, connection, peer, ..Client::fixed(Role::Normal, now) }
    }

    /// Its number as CLIENT ID tells it: grows with every connection, never used twice.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Its connection; `None` for the fixed ones of [`ClientKey`].
    #[inline]
    pub(crate) fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// What kind it is.
    #[inline]
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Its address as `host:port`.
    pub(crate) fn peer(&self) -> &str {
        &self.peer
    }

    /// It is a replica's from now on.
    pub(crate) fn become_replica(&mut self) {
        self.role = Role::Replica;
    }

    /// As it was when it connected, its transaction and subscriptions aside.
    pub(crate) fn reset(&mut self, authenticated: bool) {
        self.db = 0;
        self.protocol = Protocol::Resp2;
        self.reply_mode = ReplyMode::On;
        self.name.clear();
        self.no_evict = false;
        self.authenticated = authenticated;
    }

    /// Which replies are sent.
    #[inline]
    pub(crate) fn reply_mode(&self) -> ReplyMode {
        self.reply_mode
    }

    /// CLIENT REPLY. Who is told nothing already cannot skip a reply.
    pub(crate) fn set_reply_mode(&mut self, mode: ReplyMode) {
        if !(mode == ReplyMode::SkipNext && self.reply_mode == ReplyMode::Off) {
            self.reply_mode = mode;
        }
    }

    /// A command has ended: what was to be skipped is skipped.
    #[inline]
    pub(crate) fn end_command(&mut self) {
        self.reply_mode = match self.reply_mode {
            ReplyMode::SkipNext => ReplyMode::Skip,
            ReplyMode::Skip => ReplyMode::On,
            mode => mode,
        };
    }

    /// WATCH: the keys.
    pub(crate) fn watching(&self) -> &[Watch] {
        &self.watching
    }

    /// It watches one more key.
    pub(crate) fn watch(&mut self, watch: Watch) {
        self.watching.push(watch);
    }

    /// It watches nothing any more. Returns what it did.
    pub(crate) fn unwatch(&mut self) -> Vec<Watch> {
        self.transaction.forget_overtaken();
        std::mem::take(&mut self.watching)
    }

    /// SUBSCRIBE and the like.
    #[inline]
    pub(crate) fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
    }

    /// It listens to one name more; false if it did already.
    pub(crate) fn subscribe(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.subscriptions.add(kind, name)
    }

    /// It no longer listens to a name; false if it did not.
    pub(crate) fn unsubscribe(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.subscriptions.remove(kind, name)
    }

    /// It listens to nothing any more. Returns what it did listen to.
    pub(crate) fn unsubscribe_all(&mut self) -> Subscriptions {
        std::mem::take(&mut self.subscriptions)
    }

    /// The replication offset after its last write, which WAIT waits for.
    pub(crate) fn write_offset(&self) -> u64 {
        self.write_offset
    }

    /// It wrote, and the stream is that long now.
    #[inline]
    pub(crate) fn wrote(&mut self, offset: u64) {
        self.write_offset = offset;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reply_is_skipped_unless_all_are() {
        let mut client = Client::fixed(Role::Normal, WallTime(0));
        client.set_reply_mode(ReplyMode::SkipNext);
        let told = [(); 3].map(|()| {
            client.end_command();
            client.reply_mode()
        });
        assert_eq!(told, [ReplyMode::Skip, ReplyMode::On, ReplyMode::On]);
        client.set_reply_mode(ReplyMode::Off);
        client.set_reply_mode(ReplyMode::SkipNext);
        client.end_command();
        assert_eq!(client.reply_mode(), ReplyMode::Off);
    }
}
