use super::Call;
use crate::config::RedisVersion;
use crate::protocol::error::CommandResult;
use crate::state::command_info::{CommandInfo, Earlier, Flags, Keys};
use std::fmt;
use std::ops::Deref;

pub(crate) type Run = fn(&mut Call<'_>) -> CommandResult;

pub(crate) struct Command {
    pub(crate) info: CommandInfo,
    pub(crate) run: Run,
    pub(crate) subcommands: &'static [Command],
}

impl Deref for Command {
    type Target = CommandInfo;

    fn deref(&self) -> &CommandInfo {
        &self.info
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.full_name)
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Command) -> bool {
        self.full_name == other.full_name
    }
}

impl Command {
    pub(crate) const fn new(
        name: &'static str,
        arity: i32,
        flags: Flags,
        keys: Keys,
        run: Run,
    ) -> Command {
        let since = RedisVersion::V6_2;
        let earlier = None;
        let info = CommandInfo { name, full_name: name, arity, flags, keys, since, earlier };
        Command { info, run, subcommands: &[] }
    }

    pub(crate) const fn sub(
        full_name: &'static str,
        arity: i32,
        flags: Flags,
        run: Run,
    ) -> Command {
        let name = name_after_bar(full_name);
        let (keys, since) = (Keys::NONE, RedisVersion::V6_2);
        Command {
            info: CommandInfo { name, full_name, arity, flags, keys, since, earlier: None },
            run,
            subcommands: &[],
        }
    }

    pub(crate) const fn container(name: &'static str, subcommands: &'static [Command]) -> Command {
        let row = Command::new(name, -2, Flags::empty(), Keys::NONE, unreachable_container);
        Command { subcommands, ..row }
    }

    pub(crate) const fn runs(mut self, arity: i32, flags: Flags, run: Run) -> Command {
        (self.info.arity, self.info.flags, self.run) = (arity, flags, run);
        self
    }

    pub(crate) const fn since(mut self, version: RedisVersion) -> Command {
        self.info.since = version;
        self
    }

    pub(crate) const fn before(mut self, until: RedisVersion, arity: i32, flags: Flags) -> Command {
        self.info.earlier = Some(Earlier { until, arity, flags });
        self
    }

    /// Forbids the command in scripts before this version.
    pub(crate) const fn in_scripts_since(self, version: RedisVersion) -> Command {
        let (arity, flags) = (self.info.arity, self.info.flags.union(Flags::NOSCRIPT));
        self.before(version, arity, flags)
    }

    pub(crate) const fn with_keys(mut self, keys: Keys) -> Command {
        self.info.keys = keys;
        self
    }

    pub(crate) fn subcommand(&self, name: &[u8]) -> Option<&'static Command> {
        self.subcommands.iter().find(|sub| sub.name.as_bytes().eq_ignore_ascii_case(name))
    }
}

fn unreachable_container(_: &mut Call<'_>) -> CommandResult {
    Err(crate::protocol::error::SYNTAX)
}

const fn name_after_bar(full_name: &'static str) -> &'static str {
    let bytes = full_name.as_bytes();
    let mut index = 0;
    while bytes[index] != b'|' {
        index += 1;
    }
    full_name.split_at(index + 1).1
}
