//! The table of commands and how a name is looked up in it.

use crate::args::Args;
use crate::client::{Client, ClientKey};
use crate::commands::{self, Anchor};
use crate::config::RedisVersion;
use crate::error::CommandResult;
use crate::reply::Reply;
use crate::server::Server;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::fmt;
use std::sync::LazyLock;

/// Properties of a command, as in Redis's `COMMAND INFO`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Flags(u32);

macro_rules! flags {
    ($($bit:literal $name:ident $text:literal $doc:literal;)*) => {
        impl Flags {
            $(#[doc = $doc] pub(crate) const $name: Flags = Flags(1 << $bit);)*
            /// Every flag that COMMAND INFO names, with its name.
            pub(crate) const NAMES: &[(&'static str, Flags)] = &[$(($text, Flags::$name)),*];
        }
    };
}

flags! {
    0 WRITE "write" "May change keys.";
    1 READONLY "readonly" "Reads keys.";
    2 DENYOOM "denyoom" "Refused when memory is full.";
    3 ADMIN "admin" "For administrators.";
    4 PUBSUB "pubsub" "About channels.";
    5 NOSCRIPT "noscript" "Not allowed in scripts.";
    6 BLOCKING "blocking" "May block the client.";
    7 LOADING "loading" "Allowed while the data is loaded.";
    8 STALE "stale" "Allowed on a replica that lost its primary.";
    9 SKIP_MONITOR "skip_monitor" "Not shown by MONITOR.";
    10 SKIP_SLOWLOG "skip_slowlog" "Not kept in the slow log.";
    11 FAST "fast" "Constant or logarithmic time.";
    12 NO_AUTH "no_auth" "Needs no authentication.";
    13 ALLOW_BUSY "allow_busy" "Allowed while a script is stuck.";
    14 NO_MULTI "no_multi" "Not allowed in a transaction.";
    15 MOVABLE_KEYS "movablekeys" "Keys are found by reading the arguments.";
    16 NO_MANDATORY_KEYS "no_mandatory_keys" "May come without keys.";
    17 PROTECTED "protected" "Can be switched off.";
    18 MAY_REPLICATE "may_replicate" "Has effects on replicas though it changes no key itself.";
}

impl Flags {
    /// No property.
    pub(crate) const NONE: Flags = Flags(0);

    /// Both.
    pub(crate) const fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether any of `other` is set.
    pub(crate) const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        self.and(other)
    }
}

/// Where the keys are among the arguments; all 0 if nowhere. `last` counts from the end if
/// negative.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Keys {
    /// The first key.
    pub(crate) first: i32,
    /// The last key.
    pub(crate) last: i32,
    /// From one key to the next.
    pub(crate) step: i32,
}

impl Keys {
    /// No keys.
    pub(crate) const NONE: Keys = Keys { first: 0, last: 0, step: 0 };
    /// The first argument.
    pub(crate) const ONE: Keys = Keys { first: 1, last: 1, step: 1 };
    /// The first two arguments.
    pub(crate) const TWO: Keys = Keys { first: 1, last: 2, step: 1 };
    /// All arguments.
    pub(crate) const ALL: Keys = Keys { first: 1, last: -1, step: 1 };
    /// Every other argument.
    pub(crate) const PAIRS: Keys = Keys { first: 1, last: -1, step: 2 };
}

/// The code of a command.
pub(crate) type Run = fn(&mut Call<'_>) -> CommandResult;

/// A row of the table.
pub(crate) struct Command {
    /// In lower case.
    pub(crate) name: &'static str,
    /// With the container's name in front: `config|get`.
    pub(crate) full_name: &'static str,
    /// How many arguments with the name; at least that many if negative.
    pub(crate) arity: i32,
    /// Its properties.
    pub(crate) flags: Flags,
    /// Where its keys are.
    pub(crate) keys: Keys,
    /// Its code. A container's own code is never reached.
    pub(crate) run: Run,
    /// If it is a container, what it contains.
    pub(crate) subcommands: &'static [Command],
    /// The first version that knows it, among those that differ.
    pub(crate) since: RedisVersion,
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
    /// A row for a command.
    pub(crate) const fn new(
        name: &'static str,
        arity: i32,
        flags: Flags,
        keys: Keys,
        run: Run,
    ) -> Command {
        Command {
            name,
            full_name: name,
            arity,
            flags,
            keys,
            run,
            subcommands: &[],
            since: RedisVersion::V6_2,
        }
    }

    /// A row for a subcommand; its name is what follows the bar.
    pub(crate) const fn sub(
        full_name: &'static str,
        arity: i32,
        flags: Flags,
        run: Run,
    ) -> Command {
        let name = name_after_bar(full_name);
        Command {
            name,
            full_name,
            arity,
            flags,
            keys: Keys::NONE,
            run,
            subcommands: &[],
            since: RedisVersion::V6_2,
        }
    }

    /// A row for a container.
    pub(crate) const fn container(name: &'static str, subcommands: &'static [Command]) -> Command {
        let (flags, keys) = (Flags::NONE, Keys::NONE);
        Command {
            name,
            full_name: name,
            arity: -2,
            flags,
            keys,
            run: unreachable_container,
            subcommands,
            since: RedisVersion::V6_2,
        }
    }

    /// Makes older versions not know it.
    pub(crate) const fn since(mut self, version: RedisVersion) -> Command {
        self.since = version;
        self
    }

    /// Gives a subcommand keys.
    pub(crate) const fn with_keys(mut self, keys: Keys) -> Command {
        self.keys = keys;
        self
    }

    /// Whether this many arguments, the name included, are right.
    pub(crate) fn accepts(&self, arguments: usize) -> bool {
        let arguments = arguments as i64;
        let arity = i64::from(self.arity);
        if arity < 0 { arguments >= -arity } else { arguments == arity }
    }

    /// The subcommand of this name, in any case.
    pub(crate) fn subcommand(&self, name: &[u8]) -> Option<&'static Command> {
        self.subcommands.iter().find(|sub| sub.name.as_bytes().eq_ignore_ascii_case(name))
    }

    /// The keys among the arguments of a call.
    pub(crate) fn keys_in<'a>(&self, args: Args<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let Keys { first, last, step } = self.keys;
        let count = args.len() as i32;
        let last = if last < 0 { count + last } else { last.min(count - 1) };
        let wanted = if step == 0 { 0..0 } else { first..last + 1 };
        wanted.step_by(step.max(1) as usize).map(move |index| args.get(index as usize))
    }
}

fn unreachable_container(_: &mut Call<'_>) -> CommandResult {
    Err(crate::error::SYNTAX)
}

const fn name_after_bar(full_name: &'static str) -> &'static str {
    let bytes = full_name.as_bytes();
    let mut index = 0;
    while bytes[index] != b'|' {
        index += 1;
    }
    full_name.split_at(index + 1).1
}

type Table = IndexMap<&'static [u8], &'static Command, FxBuildHasher>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let rows = commands::FAMILIES.iter().flat_map(|family| family.iter());
    rows.map(|command| (command.name.as_bytes(), command)).collect()
});

/// Every command, in the order of the table.
pub(crate) fn all() -> impl ExactSizeIterator<Item = &'static Command> {
    TABLE.values().copied()
}

/// The command of this name, in any case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    const NAME_LENGTH_MAX: usize = 24;
    let mut lower = [0; NAME_LENGTH_MAX];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    TABLE.get(&*lower).copied()
}

/// What reaches replicas and the append-only file of a command that changed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// The command as it was sent.
    AsSent,
    /// What the command itself said, which may be nothing.
    Stated,
}

/// One execution of a command.
pub(crate) struct Call<'a> {
    /// The server that executes it.
    pub(crate) server: &'a mut Server,
    /// For whom.
    pub(crate) client: ClientKey,
    /// The client's database when the command began.
    pub(crate) db: usize,
    /// The arguments, the name first. A subcommand's arguments still begin with the container's
    /// name.
    pub(crate) args: Args<'a>,
    /// Where the reply goes.
    pub(crate) reply: &'a mut Reply,
    /// What is propagated.
    pub(crate) effect: Effect,
}

impl<'a> Call<'a> {
    /// The argument at `index`, which the arity check has made sure of.
    pub(crate) fn arg(&self, index: usize) -> &'a [u8] {
        self.args.get(index)
    }

    /// The client for whom this is executed.
    pub(crate) fn client(&mut self) -> &mut Client {
        self.server.client_mut(self.client)
    }

    /// Propagates this instead of the command as it was sent; may be called more than once.
    pub(crate) fn state_effect(&mut self, parts: &[&[u8]]) {
        self.effect = Effect::Stated;
        self.server.add_effect(self.db, parts);
    }

    /// As [`Call::state_effect`] of a command whose last part is an instant. Before 7.0, replicas
    /// are told the span from now on if that is what the client said.
    pub(crate) fn state_timed_effect(&mut self, anchor: Anchor, parts: &[&[u8]]) {
        self.effect = Effect::Stated;
        let is_relative = anchor == Anchor::Now && self.server.config.version < RedisVersion::V7_0;
        if is_relative {
            self.server.add_relative_effect(self.db, parts);
        } else {
            self.server.add_effect(self.db, parts);
        }
    }

    /// Propagates nothing of this command.
    pub(crate) fn state_no_effect(&mut self) {
        self.effect = Effect::Stated;
    }
}
