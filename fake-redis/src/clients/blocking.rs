//! Blocks clients on lists and sorted sets, and serves them in order of arrival (blocked.c).

use crate::data::value::Value;
use crate::protocol::args::Args;
use crate::protocol::error::{CommandError, UNBLOCKED};
use crate::protocol::reply::Reply;
use crate::state::blocking::{Unblocking, Wait, Waiting, Wanted};
use crate::state::client_key::ClientKey;
use crate::state::server::{Attempt, Call, Effect, Server};
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

impl Call<'_> {
    pub(crate) fn block(&mut self, wait: Wait<Attempt>) -> Result<(), CommandError> {
        if (wait.attempt)(self)? {
            return Ok(());
        }
        if !self.may_block() {
            (wait.give_up)(self.reply);
            return Ok(());
        }
        self.client().service.block();
        self.server.blocking.add(Waiting { client: self.client, db: self.db, wait });
        self.server.schedule_blocked();
        Ok(())
    }

    /// Returns `true` if a client sent the command directly, not within EXEC.
    pub(crate) fn may_block(&mut self) -> bool {
        // Within EXEC, the client's last command is EXEC, not the queued command that is running.
        let name = self.arg(0).to_ascii_lowercase();
        let client = self.client();
        let is_last = client.last_command.is_some_and(|command| command.name.as_bytes() == &*name);
        client.connection.is_some() && is_last
    }
}

impl Server {
    pub(crate) fn serve_blocked(&mut self) {
        while let Some((db, key)) = self.blocking.take_ready() {
            let mut passed = 0;
            while let Some(index) = self.next_blocked(db, &key, passed) {
                passed = if self.attempt_blocked(index) { index } else { index + 1 };
            }
        }
    }

    fn next_blocked(&self, db: usize, key: &[u8], from: usize) -> Option<usize> {
        let held = match self.database(db).get(key).map(|entry| &entry.value)? {
            Value::List(_) => Wanted::List,
            Value::SortedSet(_) => Wanted::SortedSet,
            _ => return None,
        };
        self.blocking.first_for(db, key, held, from)
    }

    fn attempt_blocked(&mut self, index: usize) -> bool {
        let Waiting { client, db, wait } = self.blocking.take(index);
        let mut reply = self.reply_for(client);
        let before = self.turn.begin_nested(client);
        let mut call = Call {
            server: self,
            client,
            db,
            args: Args::new(&[], &[]),
            reply: &mut reply,
            effect: Effect::Replaced,
        };
        let result = (wait.attempt)(&mut call);
        self.turn.resume(before);
        let is_done = !matches!(result, Ok(false));
        if let Err(error) = result {
            reply.error(&error.0);
        }
        self.flush_effects();
        if is_done {
            self.note_write_offset(client);
            self.unblock(client, reply);
        } else {
            self.spares.keep_reply(reply);
            self.blocking.reinsert(index, Waiting { client, db, wait });
        }
        is_done
    }

    pub(crate) fn end_blocked(&mut self) {
        let now = self.now_ms();
        while let Some(index) = self.blocking.first_over(now) {
            self.give_up(index, Unblocking::Timeout);
        }
        self.schedule_blocked();
    }

    pub(crate) fn unblock_client(&mut self, client: ClientKey, how: Unblocking) -> bool {
        match self.blocking.place_of(client) {
            Some(index) => {
                self.give_up(index, how);
                true
            }
            None => self.unblock_waiting(client, how),
        }
    }

    fn give_up(&mut self, index: usize, how: Unblocking) {
        let Waiting { client, .. } = self.blocking.take(index);
        let mut reply = self.reply_for(client);
        match how {
            Unblocking::Timeout => reply.null_array(),
            Unblocking::Error => reply.error(&UNBLOCKED.0),
        }
        self.unblock(client, reply);
    }

    pub(crate) fn disconnect_blocked(&mut self) {
        for Waiting { client, .. } in self.blocking.take_all() {
            let mut reply = self.reply_for(client);
            reply.error(
                b"UNBLOCKED force unblock from blocking operation, instance state changed \
                 (master -> replica?)",
            );
            self.send_reply(client, &mut reply);
            self.spares.keep_reply(reply);
            self.disconnect(client);
        }
    }

    fn reply_for(&mut self, client: ClientKey) -> Reply {
        let mut reply = self.spares.reply();
        reply.protocol = self.client(client).protocol;
        reply
    }

    fn unblock(&mut self, client: ClientKey, mut reply: Reply) {
        self.send_reply(client, &mut reply);
        self.spares.keep_reply(reply);
        self.client_mut(client).service.unblock();
        self.read_command(client);
    }

    fn schedule_blocked(&mut self) {
        if let Some(first) = self.blocking.first_deadline_ms() {
            self.timers.set_at_latest(Timer::BlockedClient, WallTime(first.saturating_mul(1_000)));
        }
    }
}
