//! What is known of a command apart from its code, as COMMAND INFO tells it.

use crate::config::RedisVersion;
use crate::data::number;
use crate::protocol::args::Args;

bitflags::bitflags! {
    /// Properties of a command. `COMMAND INFO` names them as they are called here, in lower case.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub(crate) struct Flags: u32 {
        /// May change keys.
        const WRITE = 1 << 0;
        /// Reads keys.
        const READONLY = 1 << 1;
        /// Refused when memory is full.
        const DENYOOM = 1 << 2;
        /// For administrators.
        const ADMIN = 1 << 3;
        /// About channels.
        const PUBSUB = 1 << 4;
        /// Not allowed in scripts.
        const NOSCRIPT = 1 << 5;
        /// May block the client.
        const BLOCKING = 1 << 6;
        /// Allowed while the data is loaded.
        const LOADING = 1 << 7;
        /// Allowed on a replica that lost its primary.
        const STALE = 1 << 8;
        /// Not shown by MONITOR.
        const SKIP_MONITOR = 1 << 9;
        /// Not kept in the slow log.
        const SKIP_SLOWLOG = 1 << 10;
        /// Constant or logarithmic time.
        const FAST = 1 << 11;
        /// Needs no authentication.
        const NO_AUTH = 1 << 12;
        /// Allowed while a script is stuck.
        const ALLOW_BUSY = 1 << 13;
        /// Not allowed in a transaction.
        const NO_MULTI = 1 << 14;
        /// Keys are found by reading the arguments.
        const MOVABLEKEYS = 1 << 15;
        /// May come without keys.
        const NO_MANDATORY_KEYS = 1 << 16;
        /// Can be switched off.
        const PROTECTED = 1 << 17;
        /// Has effects on replicas though it changes no key itself.
        const MAY_REPLICATE = 1 << 18;
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

/// What is known of a command apart from its code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandInfo {
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
    /// The first version that knows it, among those that differ.
    pub(crate) since: RedisVersion,
}

impl CommandInfo {
    /// Whether this many arguments, the name included, are right.
    pub(crate) fn accepts(&self, arguments: usize) -> bool {
        let arguments = arguments as i64;
        let arity = i64::from(self.arity);
        if arity < 0 { arguments >= -arity } else { arguments == arity }
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

/// The keys among the arguments of EVAL and its like; none if their number is wrong.
pub(crate) fn keys_of_script(args: Args<'_>) -> Vec<&[u8]> {
    let count = number::parse_integer(args.get(2)).and_then(|count| usize::try_from(count).ok());
    args.from(3).up_to(count.unwrap_or(0)).iter().collect()
}
