use crate::config::RedisVersion;
use crate::protocol::args::Args;
use crate::protocol::error::CommandError;
use crate::state::server::{Call, Command, Server};

impl Server {
    pub(crate) fn find_command(&mut self, args: Args<'_>) -> Option<&'static Command> {
        self.commands.find_recent(args.get(0)).or_else(|| {
            let command = self.known_command(args)?;
            self.commands.note_called(command);
            Some(command)
        })
    }

    pub(crate) fn find_whole_command(
        &mut self,
        args: Args<'_>,
    ) -> Result<&'static Command, CommandError> {
        match self.find_command(args) {
            Some(command) if command.accepts(args.len(), self.config.version) => Ok(command),
            _ => self.resolve(args),
        }
    }

    pub(crate) fn resolve(&self, args: Args<'_>) -> Result<&'static Command, CommandError> {
        let version = self.config.version;
        let command = self.known_command(args).ok_or_else(|| {
            match self.commands.table.find(args.get(0)).filter(|command| self.has(command)) {
                Some(container) if !container.subcommands.is_empty() => {
                    unknown_subcommand(args, version)
                }
                _ => self.unknown_command(args),
            }
        })?;
        if command.accepts(args.len(), version) {
            return Ok(command);
        }
        let is_subcommand = command.name != command.full_name;
        Err(if is_subcommand && version < RedisVersion::V7_0 {
            unknown_subcommand(args, version)
        } else {
            wrong_arity(command)
        })
    }

    /// Returns `true` if the server's version has the command.
    pub(crate) fn has(&self, command: &Command) -> bool {
        command.since <= self.config.version
    }

    pub(crate) fn known_command(&self, args: Args<'_>) -> Option<&'static Command> {
        let command = self.commands.table.find(args.get(0)).filter(|command| self.has(command))?;
        if command.subcommands.is_empty() || args.len() == 1 {
            return Some(command);
        }
        command.subcommand(args.get(1)).filter(|command| self.has(command))
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

impl Call<'_> {
    pub(crate) fn unknown_form(&self) -> CommandError {
        unknown_form(self.args, self.server.config.version)
    }
}

fn c_string(text: &[u8], length: usize) -> &[u8] {
    let text = &text[..text.len().min(length)];
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn unknown_subcommand(args: Args<'_>, version: RedisVersion) -> CommandError {
    if version < RedisVersion::V7_0 {
        return unknown_form(args, version);
    }
    let container = args.get(0).to_ascii_uppercase();
    let name = c_string(args.get(1), 128);
    CommandError::text(
        [b"ERR unknown subcommand '", name, b"'. Try ", &*container, b" HELP."].concat(),
    )
}

fn unknown_form(args: Args<'_>, version: RedisVersion) -> CommandError {
    let first: &[u8] = if version < RedisVersion::V7_0 { b"U" } else { b"u" };
    let text = b"nknown subcommand or wrong number of arguments for '";
    let (name, container) = (args.get(1), args.get(0).to_ascii_uppercase());
    CommandError::text([b"ERR ", first, text, name, b"'. Try ", &*container, b" HELP."].concat())
}

pub(crate) fn wrong_arity(command: &Command) -> CommandError {
    CommandError::text(format!("ERR wrong number of arguments for '{}' command", command.full_name))
}
