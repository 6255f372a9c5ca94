//! Whether a command may be executed now, for this client, on this server.
//!
//! The order of the checks is that of `processCommand` in server.c of Redis 7.0, since the first
//! that fails gives the error.

use super::{PauseScope, Server};
use crate::args::Args;
use crate::client::{ClientKey, Role};
use crate::command::{self, Command, Flags};
use crate::config::RedisVersion;
use crate::error::{self, CommandError};

/// What to do with a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Admission {
    /// Now.
    Execute(&'static Command),
    /// At EXEC.
    Queue(&'static Command),
    /// When CLIENT PAUSE ends.
    Postpone,
}

/// What the checks need to know of a command in its context.
struct Nature {
    writes: bool,
    may_replicate: bool,
    denies_oom: bool,
}

impl Server {
    /// Decides what to do with a command, or why it is refused.
    pub(crate) fn admit(
        &mut self,
        key: ClientKey,
        args: Args<'_>,
    ) -> Result<Admission, CommandError> {
        let command = match self.find_command(args) {
            Some(command) if command.accepts(args.len()) => command,
            _ => self.resolve(args)?,
        };
        let role = self.client(key).role;
        if !role.must_be_obeyed() {
            self.check_client(key, command)?;
            self.check_server(key, command)?;
        }
        if !matches!(role, Role::Replica | Role::Operator)
            && !role.must_be_obeyed()
            && self.is_postponed(key, command)
        {
            return Ok(Admission::Postpone);
        }
        if self.client(key).transaction.open && !is_transaction_control(command) {
            return Ok(Admission::Queue(command));
        }
        Ok(Admission::Execute(command))
    }

    /// As [`Server::known_command`], and remembers it.
    pub(crate) fn find_command(&mut self, args: Args<'_>) -> Option<&'static Command> {
        self.recent.find(args.get(0)).or_else(|| {
            let command = self.known_command(args)?;
            self.recent.note(command);
            Some(command)
        })
    }

    /// The command that the arguments name, if there are as many as it wants.
    pub(crate) fn resolve(&self, args: Args<'_>) -> Result<&'static Command, CommandError> {
        let command = self.known_command(args).ok_or_else(|| match command::find(args.get(0)) {
            Some(container) if !container.subcommands.is_empty() => unknown_subcommand(args),
            _ => self.unknown_command(args),
        })?;
        if command.accepts(args.len()) { Ok(command) } else { Err(wrong_arity(command)) }
    }

    /// The command that the arguments name, if this version knows it.
    pub(crate) fn known_command(&self, args: Args<'_>) -> Option<&'static Command> {
        let is_known = |command: &&'static Command| command.since <= self.config.version;
        let command = command::find(args.get(0)).filter(is_known)?;
        if command.subcommands.is_empty() || args.len() == 1 {
            return Some(command);
        }
        command.subcommand(args.get(1)).filter(is_known)
    }

    fn check_client(&self, key: ClientKey, command: &Command) -> Result<(), CommandError> {
        let client = self.client(key);
        let needs_password = self.config.requirepass.is_some() && !client.authenticated;
        if needs_password && !command.flags.any(Flags::NO_AUTH) {
            return Err(error::NO_AUTH);
        }
        if client.transaction.open && command.flags.any(Flags::NO_MULTI) {
            return Err(error::NOT_IN_TRANSACTION);
        }
        Ok(())
    }

    fn nature(&self, key: ClientKey, command: &Command) -> Nature {
        let queued =
            if command.name == "exec" { self.client(key).transaction.flags } else { Flags::NONE };
        let flags = command.flags | queued;
        Nature {
            writes: flags.any(Flags::WRITE),
            may_replicate: flags.any(Flags::WRITE | Flags::MAY_REPLICATE),
            denies_oom: flags.any(Flags::DENYOOM),
        }
    }

    fn check_server(
        &mut self,
        key: ClientKey,
        command: &'static Command,
    ) -> Result<(), CommandError> {
        let nature = self.nature(key, command);
        if self.config.maxmemory == 0 {
            self.is_out_of_memory = false;
        } else if self.busy.is_none() {
            let is_queued = self.client(key).transaction.open && !is_control_or_reset(command);
            self.is_out_of_memory = !self.free_memory();
            if self.is_out_of_memory && (nature.denies_oom || is_queued) {
                return Err(error::OUT_OF_MEMORY);
            }
        }
        if nature.writes {
            self.check_write()?;
        }
        if self.client(key).is_only_listening() && !is_allowed_while_listening(command) {
            return Err(only_listening(command));
        }
        self.check_state(command)?;
        let touches_keys = nature.may_replicate || command.flags.any(Flags::READONLY);
        if self.client(key).role == Role::Replica && touches_keys {
            return Err(error::REPLICA_KEYSPACE);
        }
        Ok(())
    }

    /// Whether this server takes writes at all just now.
    pub(crate) fn check_write(&self) -> Result<(), CommandError> {
        if let Some(error) = self.persistence.denied_write() {
            return Err(error);
        }
        if !self.is_replica() && !self.replication.has_enough_replicas(&self.config, self.now) {
            return Err(error::NO_REPLICAS);
        }
        if self.is_replica() && self.config.replica_read_only {
            return Err(error::READ_ONLY);
        }
        Ok(())
    }

    /// Whether this is a replica without its primary that shall not answer from old data.
    pub(crate) fn is_stale(&self) -> bool {
        self.is_replica() && !self.replication.is_link_up() && !self.config.replica_serve_stale_data
    }

    fn check_state(&self, command: &Command) -> Result<(), CommandError> {
        if self.is_stale() && !command.flags.any(Flags::STALE) {
            return Err(error::MASTER_DOWN);
        }
        if self.loading && !command.flags.any(Flags::LOADING) {
            return Err(error::LOADING);
        }
        if self.busy.is_some() && !command.flags.any(Flags::ALLOW_BUSY) {
            return Err(error::BUSY);
        }
        Ok(())
    }

    fn is_postponed(&self, key: ClientKey, command: &Command) -> bool {
        let scope = self.pause.map(|pause| pause.scope);
        match scope.max(self.replication.is_failing_over().then_some(PauseScope::Writes)) {
            None => false,
            Some(PauseScope::All) => true,
            Some(PauseScope::Writes) => self.nature(key, command).may_replicate,
        }
    }

    fn unknown_command(&self, args: Args<'_>) -> CommandError {
        const SHOWN_LENGTH_MAX: usize = 128;
        let (quote, separator): (u8, &[u8]) =
            if self.config.version >= RedisVersion::V7_0 { (b'\'', b" ") } else { (b'`', b", ") };
        let open = if quote == b'`' { b'`' } else { b'\'' };
        let mut shown = Vec::new();
        for argument in args.from(1).iter() {
            if shown.len() >= SHOWN_LENGTH_MAX {
                break;
            }
            let part = c_string(argument, SHOWN_LENGTH_MAX - shown.len());
            shown.extend_from_slice(&[open]);
            shown.extend_from_slice(part);
            shown.extend_from_slice(&[quote]);
            shown.extend_from_slice(separator);
        }
        let name = c_string(args.get(0), SHOWN_LENGTH_MAX);
        let quoted = [&[open], name, &[quote]].concat();
        CommandError::text(
            [b"ERR unknown command ", &*quoted, b", with args beginning with: ", &*shown].concat(),
        )
    }
}

/// What C prints of a string with `%.*s`: up to the first NUL byte, and no more than `length`.
fn c_string(text: &[u8], length: usize) -> &[u8] {
    let text = &text[..text.len().min(length)];
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn unknown_subcommand(args: Args<'_>) -> CommandError {
    let container = args.get(0).to_ascii_uppercase();
    let name = c_string(args.get(1), 128);
    CommandError::text(
        [b"ERR unknown subcommand '", name, b"'. Try ", &*container, b" HELP."].concat(),
    )
}

/// The error for a command that got too few or too many arguments.
pub(crate) fn wrong_arity(command: &Command) -> CommandError {
    CommandError::text(format!("ERR wrong number of arguments for '{}' command", command.full_name))
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

/// Commands that act on a transaction rather than being queued by it.
fn is_transaction_control(command: &Command) -> bool {
    matches!(command.full_name, "exec" | "discard" | "multi" | "watch" | "quit" | "reset")
}

fn is_control_or_reset(command: &Command) -> bool {
    matches!(command.full_name, "exec" | "discard" | "quit" | "reset")
}
