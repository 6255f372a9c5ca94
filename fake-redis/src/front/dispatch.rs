//! Serves commands one by one: executes each command, propagates its effects, and replies.

use crate::config::RedisVersion;
use crate::front::admission::Admission;
use crate::protocol::args::{Args, ArgumentVector};
use crate::protocol::error::{CommandError, EXEC_ABORT};
use crate::protocol::reply::Reply;
use crate::state::client_key::ClientKey;
use crate::state::command_info::Flags;
use crate::state::server::Server;

fn is_http(name: &[u8]) -> bool {
    matches!(name.len(), 4 | 5)
        && (name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:"))
}

impl Server {
    pub(crate) fn serve_next(&mut self) {
        while !self.life.is_asleep {
            let Some(key) = self.roster.take_ready() else { return };
            if self.serve(key) {
                return;
            }
        }
    }

    fn serve(&mut self, key: ClientKey) -> bool {
        let now = self.clock.now;
        let client = self.client_mut(key);
        client.active_at = now;
        let request = client.reader.take();
        let protocol = client.protocol;
        let mut reply = self.spares.reply();
        reply.protocol = protocol;
        self.turn.begin(key, self.replication.offset());
        let was_served = self.process(key, request.args(), &mut reply);
        self.turn.acting = None;
        let client = self.client_mut(key);
        if was_served {
            client.reader.give_back(request);
            self.finish_command(key, &mut reply);
        } else {
            client.reader.restore(request);
            client.service.postpone();
        }
        self.spares.keep_reply(reply);
        was_served
    }

    fn finish_command(&mut self, key: ClientKey, reply: &mut Reply) {
        self.outbox.outputs.commands += 1;
        self.statistics.commands += 1;
        // The server propagates the effects of an interrupted script only after the script ends.
        if self.long_script.running.is_none() {
            self.flush_effects();
            self.note_write_offset(key);
            self.serve_blocked();
        }
        if self.client(key).service.is_aborting() {
            return self.abort_client(key);
        }
        if self.life.is_over {
            // After SHUTDOWN, the server does not reply, not even to a stopped script's client.
            reply.truncate(0);
        }
        self.send_reply(key, reply);
        let client = self.client_mut(key);
        client.end_command();
        if client.service.is_closing() {
            self.close_after_replies(key);
        } else if client.reader.pending() > 0 && !client.service.is_blocked() {
            // As in Redis, all commands read from one client run before those of the next client.
            self.read_command(key);
            self.roster.move_to_front(key);
        }
    }

    /// Executes, queues or refuses a command. Returns `false` if it must wait (`processCommand`).
    pub(crate) fn process(&mut self, key: ClientKey, args: Args<'_>, reply: &mut Reply) -> bool {
        if is_http(args.get(0)) {
            self.client_mut(key).service.abort();
            return true;
        }
        match self.admit(key, args) {
            Ok(Admission::Execute(command)) => {
                self.client_mut(key).execute(&command.info);
                self.execute(key, command, args, reply);
            }
            Ok(Admission::Queue(flags)) => {
                self.client_mut(key).transaction.queue(flags, args);
                reply.status("QUEUED");
            }
            Ok(Admission::Postpone) => return false,
            Err(error) => self.refuse(key, args, &error, reply),
        }
        true
    }

    fn refuse(&mut self, key: ClientKey, args: Args<'_>, error: &CommandError, reply: &mut Reply) {
        let is_exec = args.is(0, "exec");
        if is_exec {
            self.discard_transaction(key);
            let why = error.0.strip_prefix(b"ERR ").unwrap_or(&error.0);
            reply.error(&[b"EXECABORT Transaction discarded because of: ", why].concat());
        } else {
            self.client_mut(key).transaction.mark_invalid();
            reply.error(&error.0);
        }
        let counted = if is_exec { EXEC_ABORT } else { error.clone() };
        self.statistics.count_error(&counted);
        if let Some(command) = self.known_command(args) {
            self.statistics.reject_call(&command.info);
        }
    }

    /// Applies a replicated command. From 7.0 on, a failed disk ends the server before a write
    /// (`replica-ignore-disk-write-errors`).
    pub(crate) fn apply_replicated(&mut self, args: &[&[u8]]) {
        let minds_disk = self.config.version >= RedisVersion::V7_0;
        if minds_disk && self.check_disk().is_err() && self.is_write(args) {
            self.life.is_over = true;
            return;
        }
        self.apply(ClientKey::PRIMARY, args);
    }

    fn is_write(&self, args: &[&[u8]]) -> bool {
        let arguments = ArgumentVector::of(args.iter().copied());
        let command = self.known_command(arguments.as_args());
        command.is_some_and(|command| command.flags.intersects(Flags::WRITE))
    }

    pub(crate) fn apply_from_disk(&mut self, args: &[&[u8]]) -> Result<(), CommandError> {
        let arguments = ArgumentVector::of(args.iter().copied());
        self.find_whole_command(arguments.as_args())?;
        self.apply_arguments(ClientKey::DISK, arguments.as_args());
        Ok(())
    }

    pub(crate) fn apply_from_operator(&mut self, args: &[&[u8]]) {
        self.apply(ClientKey::OPERATOR, args);
    }

    fn apply(&mut self, key: ClientKey, args: &[&[u8]]) {
        if args.is_empty() {
            return;
        }
        let arguments = ArgumentVector::of(args.iter().copied());
        self.apply_arguments(key, arguments.as_args());
    }

    fn apply_arguments(&mut self, key: ClientKey, args: Args<'_>) {
        let mut reply = self.spares.reply();
        let now = self.clock.now;
        self.client_mut(key).active_at = now;
        self.turn.begin(key, self.replication.offset());
        self.process(key, args, &mut reply);
        self.turn.acting = None;
        self.flush_effects();
        self.send_reply(key, &mut reply);
        self.spares.keep_reply(reply);
    }
}
