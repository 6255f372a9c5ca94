use super::random::ScriptRandom;
use super::walks::Walks;
use super::watch::Watch;
use crate::protocol::args::ArgumentVector;
use crate::protocol::error;
use crate::protocol::error::CommandError;
use crate::protocol::reply::{Protocol, Reply};
use crate::state::client_key::ClientKey;
use crate::state::command_info::Flags;
use crate::state::effects::Targets;
use crate::state::scripts::{Permissions, Settings};
use crate::state::server::{Command, Server};
use std::time::Duration;

pub(crate) struct Run<'a> {
    pub(crate) server: &'a mut Server,
    pub(crate) caller: ClientKey,
    pub(crate) began: Option<Duration>,
    pub(crate) permissions: Permissions,
    pub(crate) has_written: bool,
    pub(crate) arguments: ArgumentVector,
    pub(crate) reply: Reply,
    pub(crate) watch: Watch,
    pub(crate) random: ScriptRandom,
    pub(crate) json: Vec<Settings>,
    pub(crate) matched: Vec<usize>,
    pub(crate) walks: Walks,
}

impl<'a> Run<'a> {
    pub(crate) fn begin(
        server: &'a mut Server,
        caller: ClientKey,
        permissions: Permissions,
    ) -> Self {
        let db = server.client(caller).db;
        let client = server.client_mut(ClientKey::SCRIPT);
        client.db = db;
        client.protocol = Protocol::Resp2;
        let (reply, arguments) = (server.spares.reply(), server.spares.arguments());
        let began =
            server.long_script.driver_calls.as_ref().map(|driver_calls| driver_calls.driver.now());
        let (random_state, json) = server.scripts.left();
        Run {
            server,
            caller,
            began,
            permissions,
            has_written: false,
            arguments,
            reply,
            watch: Watch::default(),
            random: ScriptRandom::at(random_state),
            json: vec![json],
            matched: Vec::new(),
            walks: Walks::default(),
        }
    }

    pub(crate) fn end(self) {
        self.server.spares.keep_reply(self.reply);
        self.server.spares.arguments = self.arguments;
        self.server.changes.targets = Targets::ALL;
    }

    pub(crate) fn call(&mut self) -> Result<(), CommandError> {
        self.reply.truncate(0);
        let admitted = self.resolve().and_then(|command| self.check(command).map(|()| command));
        let command = admitted.inspect_err(|error| self.count_refused(error))?;
        self.has_written |= command.flags.intersects(Flags::WRITE);
        self.reply.protocol = self.server.client(ClientKey::SCRIPT).protocol;
        self.server.execute(ClientKey::SCRIPT, command, self.arguments.as_args(), &mut self.reply);
        Ok(())
    }

    fn count_refused(&mut self, error: &CommandError) {
        self.server.statistics.count_error(error);
        self.server.statistics.begin_call();
        if let Some(command) = self.server.known_command(self.arguments.as_args()) {
            self.server.statistics.reject_call(&command.info);
        }
    }

    fn resolve(&mut self) -> Result<&'static Command, CommandError> {
        const UNKNOWN: CommandError =
            CommandError::fixed("ERR Unknown Redis command called from script");
        const WRONG_ARITY: CommandError =
            CommandError::fixed("ERR Wrong number of args calling Redis command from script");
        let count = self.arguments.as_args().len();
        let command = self.server.find_command(self.arguments.as_args()).ok_or(UNKNOWN)?;
        let version = self.server.config.version;
        if command.accepts(count, version) { Ok(command) } else { Err(WRONG_ARITY) }
    }

    fn check(&self, command: &Command) -> Result<(), CommandError> {
        if command.flags(self.server.config.version).intersects(Flags::NOSCRIPT) {
            return Err(CommandError::fixed("ERR This Redis command is not allowed from script"));
        }
        let must_be_obeyed = self.server.client(self.caller).role.must_be_obeyed();
        if self.server.is_stale() && !command.flags.intersects(Flags::STALE) {
            return Err(CommandError::fixed("ERR Can not execute the command on a stale replica"));
        }
        if self.permissions.read_only
            && command.flags.intersects(Flags::WRITE | Flags::MAY_REPLICATE)
        {
            return Err(CommandError::fixed(
                "ERR Write commands are not allowed from read-only scripts.",
            ));
        }
        if command.flags.intersects(Flags::WRITE) && !must_be_obeyed {
            self.server.check_write()?;
        }
        let is_full =
            self.server.turn.is_out_of_memory && !self.has_written && !self.permissions.allow_oom;
        if is_full && command.flags.intersects(Flags::DENYOOM) && !must_be_obeyed {
            return Err(error::OUT_OF_MEMORY);
        }
        Ok(())
    }
}
