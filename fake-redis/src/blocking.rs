//! Clients that wait for an element of a list or of a sorted set (blocked.c).
//!
//! Who came first is served first. A key is ready when it gains elements; those who wait for it are
//! served when the command, script or transaction that did it has ended.

use crate::args::Args;
use crate::client::ClientKey;
use crate::command::{Call, Effect};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::server::Server;
use crate::timers::Timer;
use crate::value::Value;
use fencepost_machine::WallTime;
use std::collections::VecDeque;

/// What a client that waits wants done as soon as it can be. Writes the reply; false if it still
/// cannot.
pub(crate) type Attempt = Box<dyn Fn(&mut Call<'_>) -> Result<bool, CommandError>>;

/// The type of value that a client waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// A list.
    List,
    /// A sorted set.
    SortedSet,
}

/// What is said to a client whose wait is ended by another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unblocking {
    /// As if the time were up.
    Timeout,
    /// An error.
    Error,
}

/// A client that waits.
pub(crate) struct Wait {
    /// For any of these keys.
    pub(crate) keys: Vec<Box<[u8]>>,
    /// To hold this.
    pub(crate) wanted: Wanted,
    /// To do this with it.
    pub(crate) attempt: Attempt,
    /// What is written if nothing comes.
    pub(crate) give_up: fn(&mut Reply),
    /// Until then at the latest, in wall-clock milliseconds; `None` is for ever.
    pub(crate) until_ms: Option<i64>,
}

struct Waiting {
    client: ClientKey,
    db: usize,
    wait: Wait,
}

/// All who wait, in the order in which they came, and the keys that became ready.
#[derive(Default)]
pub(crate) struct Blocking {
    waiting: Vec<Waiting>,
    ready: VecDeque<(usize, Box<[u8]>)>,
}

impl std::fmt::Debug for Blocking {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clients: Vec<ClientKey> = self.waiting.iter().map(|waiting| waiting.client).collect();
        formatter
            .debug_struct("Blocking")
            .field("waiting", &clients)
            .field("ready", &self.ready)
            .finish()
    }
}

impl Call<'_> {
    /// Does what can be done at once, or has the client wait for it. Who must not wait is answered
    /// as if the time were up: in a transaction, in a script.
    pub(crate) fn block(&mut self, wait: Wait) -> Result<(), CommandError> {
        if (wait.attempt)(self)? {
            return Ok(());
        }
        // A client that is in the middle of another command of its own is in EXEC.
        let name = self.arg(0).to_ascii_lowercase();
        let client = self.client();
        let is_in_exec =
            client.last_command.is_none_or(|command| command.name.as_bytes() != &*name);
        if client.connection.is_none() || is_in_exec {
            (wait.give_up)(self.reply);
            return Ok(());
        }
        client.blocked = true;
        self.server.blocking.waiting.push(Waiting { client: self.client, db: self.db, wait });
        self.server.schedule_blocked();
        Ok(())
    }
}

impl Server {
    /// A key gained elements, or may have.
    pub(crate) fn note_ready(&mut self, db: usize, key: &[u8]) {
        let blocking = &mut self.blocking;
        let is_awaited = |waiting: &Waiting| {
            waiting.db == db && waiting.wait.keys.iter().any(|other| **other == *key)
        };
        if !blocking.waiting.is_empty() && blocking.waiting.iter().any(is_awaited) {
            blocking.ready.push_back((db, key.into()));
        }
    }

    /// Two databases were exchanged: whatever is awaited in them may be there now.
    pub(crate) fn note_all_ready(&mut self) {
        let awaited = self.blocking.waiting.iter();
        let keys: Vec<_> = awaited
            .flat_map(|waiting| waiting.wait.keys.iter().map(|key| (waiting.db, key.clone())))
            .collect();
        self.blocking.ready.extend(keys);
    }

    /// Serves those who wait for keys that became ready: `handleClientsBlockedOnKeys`.
    pub(crate) fn serve_blocked(&mut self) {
        while let Some((db, key)) = self.blocking.ready.pop_front() {
            let mut passed = 0;
            while let Some(index) = self.next_blocked(db, &key, passed) {
                passed = if self.attempt_blocked(index) { index } else { index + 1 };
            }
        }
    }

    /// The first who waits for this key, from `from` on, if the key holds what is wanted.
    fn next_blocked(&self, db: usize, key: &[u8], from: usize) -> Option<usize> {
        let held = match self.database(db).get(key).map(|entry| &entry.value)? {
            Value::List(_) => Wanted::List,
            Value::SortedSet(_) => Wanted::SortedSet,
            _ => return None,
        };
        let mut waiting = self.blocking.waiting.iter().enumerate().skip(from);
        let found = waiting.find(|(_, waiting)| {
            waiting.db == db
                && waiting.wait.wanted == held
                && waiting.wait.keys.iter().any(|other| **other == *key)
        });
        found.map(|(index, _)| index)
    }

    /// Tries what a client waits for; whether it waits no longer.
    fn attempt_blocked(&mut self, index: usize) -> bool {
        let Waiting { client, db, wait } = self.blocking.waiting.remove(index);
        let mut reply = self.reply_for(client);
        let acting = self.acting.replace(client);
        let mut call = Call {
            server: self,
            client,
            db,
            args: Args::new(&[], &[]),
            reply: &mut reply,
            effect: Effect::Stated,
        };
        let result = (wait.attempt)(&mut call);
        self.acting = acting;
        let is_done = !matches!(result, Ok(false));
        if let Err(error) = result {
            reply.error(&error.0);
        }
        self.flush_effects();
        if is_done {
            self.note_write_offset(client);
            self.unblock(client, reply);
        } else {
            self.spare_replies.push(reply);
            self.blocking.waiting.insert(index, Waiting { client, db, wait });
        }
        is_done
    }

    /// Answers those whose time is up; runs when [`Timer::BlockedClient`] is due.
    pub(crate) fn end_blocked(&mut self) {
        let now = self.now_ms();
        while let Some(index) = self
            .blocking
            .waiting
            .iter()
            .position(|waiting| waiting.wait.until_ms.is_some_and(|until| until <= now))
        {
            self.give_up(index, Unblocking::Timeout);
        }
        self.schedule_blocked();
    }

    /// CLIENT UNBLOCK; false if the client does not wait.
    pub(crate) fn unblock_client(&mut self, client: ClientKey, how: Unblocking) -> bool {
        let index = self.blocking.waiting.iter().position(|waiting| waiting.client == client);
        index.map(|index| self.give_up(index, how)).is_some()
    }

    fn give_up(&mut self, index: usize, how: Unblocking) {
        let Waiting { client, wait, .. } = self.blocking.waiting.remove(index);
        let mut reply = self.reply_for(client);
        match how {
            Unblocking::Timeout => (wait.give_up)(&mut reply),
            Unblocking::Error => reply.error(b"UNBLOCKED client unblocked via CLIENT UNBLOCK"),
        }
        self.unblock(client, reply);
    }

    /// This server is no longer a primary: who waits is disconnected
    /// (`disconnectAllBlockedClients`).
    pub(crate) fn disconnect_blocked(&mut self) {
        for Waiting { client, .. } in std::mem::take(&mut self.blocking.waiting) {
            let mut reply = self.reply_for(client);
            reply.error(
                b"UNBLOCKED force unblock from blocking operation, instance state changed \
                 (master -> replica?)",
            );
            self.send_reply(client, &mut reply);
            self.spare_replies.push(reply);
            self.disconnect(client);
        }
    }

    /// A client is gone.
    pub(crate) fn forget_blocked(&mut self, client: ClientKey) {
        self.blocking.waiting.retain(|waiting| waiting.client != client);
    }

    fn reply_for(&mut self, client: ClientKey) -> Reply {
        let mut reply = self.spare_reply();
        reply.protocol = self.client(client).protocol;
        reply
    }

    fn unblock(&mut self, client: ClientKey, mut reply: Reply) {
        self.send_reply(client, &mut reply);
        self.spare_replies.push(reply);
        self.client_mut(client).blocked = false;
        self.look_for_command(client);
    }

    fn schedule_blocked(&mut self) {
        if let Some(first) =
            self.blocking.waiting.iter().filter_map(|waiting| waiting.wait.until_ms).min()
        {
            self.timers.set_at_latest(Timer::BlockedClient, WallTime(first.saturating_mul(1_000)));
        }
    }
}
