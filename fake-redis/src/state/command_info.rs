use crate::config::RedisVersion;

bitflags::bitflags! {
    /// Flags of a command. COMMAND INFO shows their names in lowercase, except for MAY_REPLICATE.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub(crate) struct Flags: u32 {
        const WRITE = 1 << 0;
        const READONLY = 1 << 1;
        const DENYOOM = 1 << 2;
        const ADMIN = 1 << 3;
        const PUBSUB = 1 << 4;
        const NOSCRIPT = 1 << 5;
        const BLOCKING = 1 << 6;
        const LOADING = 1 << 7;
        const STALE = 1 << 8;
        const SKIP_MONITOR = 1 << 9;
        const SKIP_SLOWLOG = 1 << 10;
        const FAST = 1 << 11;
        const NO_AUTH = 1 << 12;
        const ALLOW_BUSY = 1 << 13;
        const NO_MULTI = 1 << 14;
        const MOVABLEKEYS = 1 << 15;
        const NO_MANDATORY_KEYS = 1 << 16;
        const PROTECTED = 1 << 17;
        const MAY_REPLICATE = 1 << 18;
    }
}

/// Positions of a command's keys; all are 0 without keys. A negative `last` counts from the end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Keys {
    pub(crate) first: i32,
    pub(crate) last: i32,
    pub(crate) step: i32,
}

impl Keys {
    pub(crate) const NONE: Keys = Keys { first: 0, last: 0, step: 0 };
    pub(crate) const ONE: Keys = Keys { first: 1, last: 1, step: 1 };
    pub(crate) const TWO: Keys = Keys { first: 1, last: 2, step: 1 };
    pub(crate) const ALL: Keys = Keys { first: 1, last: -1, step: 1 };
    pub(crate) const PAIRS: Keys = Keys { first: 1, last: -1, step: 2 };
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandInfo {
    pub(crate) name: &'static str,
    /// Name with its container command, such as `config|get`.
    pub(crate) full_name: &'static str,
    pub(crate) arity: i32,
    pub(crate) flags: Flags,
    pub(crate) keys: Keys,
    pub(crate) since: RedisVersion,
    pub(crate) earlier: Option<Earlier>,
}

/// A command's arity and flags in versions before `until`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub(crate) until: RedisVersion,
    pub(crate) arity: i32,
    pub(crate) flags: Flags,
}

impl CommandInfo {
    fn earlier(&self, version: RedisVersion) -> Option<Earlier> {
        self.earlier.filter(|earlier| version < earlier.until)
    }

    pub(crate) fn arity(&self, version: RedisVersion) -> i32 {
        self.earlier(version).map_or(self.arity, |earlier| earlier.arity)
    }

    pub(crate) fn flags(&self, version: RedisVersion) -> Flags {
        self.earlier(version).map_or(self.flags, |earlier| earlier.flags)
    }

    pub(crate) fn accepts(&self, arguments: usize, version: RedisVersion) -> bool {
        let arguments = arguments as i64;
        let arity = i64::from(self.arity(version));
        if arity < 0 { arguments >= -arity } else { arguments == arity }
    }
}
