//! Decides whether a client may execute a command now, in the order of checks in `processCommand`.

use crate::protocol::args::Args;
use crate::protocol::error;
use crate::protocol::error::CommandError;
use crate::state::client::{Client, Role};
use crate::state::client_key::ClientKey;
use crate::state::command_info::Flags;
use crate::state::pause::PauseScope;
use crate::state::server::{Command, Server};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Admission {
    Execute(&'static Command),
    Queue(Flags),
    Postpone,
}

struct CommandTraits {
    writes: bool,
    may_replicate: bool,
    denies_oom: bool,
}

impl Server {
    pub(crate) fn admit(
        &mut self,
        key: ClientKey,
        args: Args<'_>,
    ) -> Result<Admission, CommandError> {
        let command = self.find_whole_command(args)?;
        let flags = self.flags_of(command, args);
        let client = self.client(key);
        let (role, in_transaction) = (client.role, client.transaction.is_open());
        if !role.must_be_obeyed() {
            self.check_client(client, command)?;
            self.check_server(key, command, flags)?;
        }
        if !matches!(role, Role::Replica | Role::Operator)
            && !role.must_be_obeyed()
            && self.is_postponed(key, command, flags)
        {
            return Ok(Admission::Postpone);
        }
        if in_transaction && !is_transaction_control(command) {
            return Ok(Admission::Queue(flags));
        }
        Ok(Admission::Execute(command))
    }

    fn check_client(&self, client: &Client, command: &Command) -> Result<(), CommandError> {
        let needs_password = self.config.requirepass.is_some() && !client.authenticated;
        if needs_password && !command.flags.intersects(Flags::NO_AUTH) {
            return Err(error::NO_AUTH);
        }
        if client.transaction.is_open() && command.flags.intersects(Flags::NO_MULTI) {
            return Err(error::NOT_IN_TRANSACTION);
        }
        Ok(())
    }

    fn command_traits(&self, key: ClientKey, command: &Command, flags: Flags) -> CommandTraits {
        let queued = if command.name == "exec" {
            self.client(key).transaction.flags
        } else {
            Flags::empty()
        };
        let flags = flags | queued;
        CommandTraits {
            writes: flags.intersects(Flags::WRITE),
            may_replicate: flags.intersects(Flags::WRITE | Flags::MAY_REPLICATE),
            denies_oom: flags.intersects(Flags::DENYOOM),
        }
    }

    fn check_server(
        &mut self,
        key: ClientKey,
        command: &'static Command,
        flags: Flags,
    ) -> Result<(), CommandError> {
        let command_traits = self.command_traits(key, command, flags);
        if self.config.maxmemory == 0 {
            self.turn.is_out_of_memory = false;
        } else if self.long_script.running.is_none() {
            let is_queued = self.client(key).transaction.is_open() && !is_control_or_reset(command);
            let is_full = !self.free_memory();
            self.turn.is_out_of_memory = is_full;
            if is_full && (command_traits.denies_oom || is_queued) {
                return Err(error::OUT_OF_MEMORY);
            }
        }
        if command_traits.writes {
            self.check_write()?;
        } else if command.full_name == "ping" {
            self.check_disk()?;
        }
        let client = self.client(key);
        if client.is_only_listening() && !is_allowed_while_listening(command) {
            return Err(only_listening(command));
        }
        let missing = match command.name {
            "exec" => !flags | client.transaction.missing_flags,
            _ => !flags,
        };
        self.check_state(missing)?;
        let touches_keys = command_traits.may_replicate || flags.intersects(Flags::READONLY);
        if client.role == Role::Replica && touches_keys {
            return Err(error::REPLICA_KEYSPACE);
        }
        Ok(())
    }

    fn check_state(&self, missing: Flags) -> Result<(), CommandError> {
        if self.is_stale() && missing.intersects(Flags::STALE) {
            return Err(error::MASTER_DOWN);
        }
        if self.life.is_loading && missing.intersects(Flags::LOADING) {
            return Err(error::LOADING);
        }
        if self.long_script.running.is_some() && missing.intersects(Flags::ALLOW_BUSY) {
            return Err(error::BUSY);
        }
        Ok(())
    }

    fn is_postponed(&self, key: ClientKey, command: &Command, flags: Flags) -> bool {
        let scope = self.pause.scope();
        match scope.max(self.replication.is_failing_over().then_some(PauseScope::Writes)) {
            None => false,
            Some(PauseScope::All) => true,
            Some(PauseScope::Writes) => self.command_traits(key, command, flags).may_replicate,
        }
    }
}

fn only_listening(command: &Command) -> CommandError {
    CommandError::text(format!(
        "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are \
         allowed in this context",
        command.full_name
    ))
}

fn is_allowed_while_listening(command: &Command) -> bool {
    let name = command.full_name;
    name.ends_with("subscribe") || matches!(name, "ping" | "quit" | "reset")
}

fn is_transaction_control(command: &Command) -> bool {
    matches!(command.full_name, "exec" | "discard" | "multi" | "watch" | "quit" | "reset")
}

fn is_control_or_reset(command: &Command) -> bool {
    matches!(command.full_name, "exec" | "discard" | "quit" | "reset")
}
