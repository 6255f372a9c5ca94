//! The state of one client.

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

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Role {
    #[default]
    Normal,
    /// A replica's connection after SYNC or PSYNC.
    Replica,
    Script,
    Primary,
    Disk,
    Operator,
}

impl Role {
    pub(crate) fn must_be_obeyed(self) -> bool {
        matches!(self, Role::Primary | Role::Disk)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ReplyMode {
    #[default]
    On,
    Off,
    SkipNext,
    Skip,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Watch {
    pub(crate) db: usize,
    pub(crate) key: Box<[u8]>,
    /// `true` if the key had already expired at WATCH, so that its later deletion is not a change.
    pub(crate) was_expired: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) role: Role,
    pub(crate) peer: String,
    pub(crate) reader: RequestReader,
    pub(crate) db: usize,
    pub(crate) protocol: Protocol,
    pub(crate) authenticated: bool,
    pub(crate) name: Vec<u8>,
    pub(crate) lib_name: Vec<u8>,
    pub(crate) lib_ver: Vec<u8>,
    pub(crate) reply_mode: ReplyMode,
    pub(crate) transaction: Transaction,
    watching: Vec<Watch>,
    subscriptions: Subscriptions,
    pub(crate) no_evict: bool,
    pub(crate) service: Service,
    pub(crate) output: Unread,
    pub(crate) connected_at: WallTime,
    pub(crate) active_at: WallTime,
    pub(crate) last_command: Option<&'static CommandInfo>,
    pub(crate) write_offset: u64,
}

impl Client {
    pub(crate) fn fixed(role: Role, now: WallTime) -> Self {
        let (connected_at, active_at) = (now, now);
        Client { role, authenticated: true, connected_at, active_at, ..Client::default() }
    }

    pub(crate) fn of_connection(
        id: u64,
        connection: ConnectionId,
        peer: &str,
        now: WallTime,
    ) -> Self {
        let (connection, peer) = (Some(connection), peer.to_owned());
        Client { id, connection, peer, ..Client::fixed(Role::Normal, now) }
    }

    pub(crate) fn reset(&mut self, authenticated: bool) {
        self.db = 0;
        self.protocol = Protocol::Resp2;
        self.reply_mode = ReplyMode::On;
        self.name.clear();
        self.no_evict = false;
        self.authenticated = authenticated;
    }

    /// Sets the mode of CLIENT REPLY. SKIP has no effect after OFF.
    pub(crate) fn set_reply_mode(&mut self, mode: ReplyMode) {
        if !(mode == ReplyMode::SkipNext && self.reply_mode == ReplyMode::Off) {
            self.reply_mode = mode;
        }
    }

    #[inline]
    pub(crate) fn end_command(&mut self) {
        self.reply_mode = match self.reply_mode {
            ReplyMode::SkipNext => ReplyMode::Skip,
            ReplyMode::Skip => ReplyMode::On,
            mode => mode,
        };
    }

    pub(crate) fn watching(&self) -> &[Watch] {
        &self.watching
    }

    pub(crate) fn watch(&mut self, watch: Watch) {
        self.watching.push(watch);
    }

    pub(crate) fn unwatch(&mut self) -> Vec<Watch> {
        self.transaction.has_failed_watch = false;
        std::mem::take(&mut self.watching)
    }

    #[inline]
    pub(crate) fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
    }

    pub(crate) fn subscribe(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.subscriptions.add(kind, name)
    }

    pub(crate) fn unsubscribe(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.subscriptions.remove(kind, name)
    }

    pub(crate) fn unsubscribe_all(&mut self) -> Subscriptions {
        std::mem::take(&mut self.subscriptions)
    }

    pub(crate) fn is_only_listening(&self) -> bool {
        self.protocol == Protocol::Resp2 && self.subscriptions.any()
    }

    pub(crate) fn execute(&mut self, command: &'static CommandInfo) {
        self.last_command = Some(command);
    }

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
            client.reply_mode
        });
        assert_eq!(told, [ReplyMode::Skip, ReplyMode::On, ReplyMode::On]);
        client.set_reply_mode(ReplyMode::Off);
        client.set_reply_mode(ReplyMode::SkipNext);
        client.end_command();
        assert_eq!(client.reply_mode, ReplyMode::Off);
    }
}
