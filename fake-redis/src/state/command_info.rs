//! What is known of a command apart from its code, as COMMAND INFO tells it.

use crate::config::RedisVersion;
use crate::data::number;
use crate::protocol::args::Args;

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
