//! What a script may change, as far as its text tells: only what may change something has to be
//! kept from it, and looked after when it ends. Must never know Lua's values.
//!
//! A table changes by an assignment to a field, by the definition of a function in a field, or by
//! what the libraries have for it. Text in which none of this can be leaves all tables alone; in
//! doubt it does not.

/// The worst that a script can do, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Harm {
    /// Nothing: it assigns to nothing but local names, and meets the redis library only to take a
    /// field of it. It may see shared tables as they are.
    None,
    /// It may assign to globals, or hand a shared table to something that tells a proxy from it.
    Globals,
    /// It may change any table that it sees, KEYS and ARGV among them.
    Tables,
}

/// What a script must not mention if it is to leave tables alone, not even in a string: comments,
/// which hide what belongs together; definitions; the libraries that change tables; and the ways to
/// reach these by other names.
const SUSPECT: [&[u8]; 6] = [b"--", b"function", b"table", b"rawset", b"load", b"_G"];

/// The words before a list of names that make them local.
const LOCAL: [&[u8]; 2] = [b"local", b"for"];

impl Harm {
    /// What a script may do.
    pub(super) fn of(script: &[u8]) -> Harm {
        let mentions = |word: &[u8]| memchr::memmem::find(script, word).is_some();
        let assignments = || Assignment::all(script);
        if SUSPECT.into_iter().any(mentions)
            || assignments().any(|assignment| assignment.is_to_field)
        {
            Harm::Tables
        } else if assignments().all(|assignment| assignment.is_local)
            && takes_fields(script, b"redis")
        {
            Harm::None
        } else {
            Harm::Globals
        }
    }
}

/// What a `=` may be.
struct Assignment {
    /// Whether what stands before it, as far as it is a list of names, begins in the middle of an
    /// expression.
    is_to_field: bool,
    /// Whether it certainly is the first value of local names.
    is_local: bool,
}

impl Assignment {
    /// All in a script that are no comparison.
    fn all(script: &[u8]) -> impl Iterator<Item = Assignment> {
        memchr::memchr_iter(b'=', script).filter_map(|at| Assignment::at(script, at))
    }

    fn at(script: &[u8], at: usize) -> Option<Assignment> {
        let is_comparison = script.get(at + 1) == Some(&b'=')
            || matches!(script[..at].last(), Some(b'=' | b'~' | b'<' | b'>'));
        let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
        let is_in_list = |byte: &u8| {
            byte.is_ascii_alphanumeric() || is_space(byte) || matches!(byte, b'_' | b',')
        };
        let before = script[..at].iter().rposition(|byte| !is_in_list(byte));
        let list = &script[before.map_or(0, |before| before + 1)..at];
        // Of a list of names each but the first follows a comma, and the word before the first says
        // what they are.
        let last = list
            .split(|byte| *byte == b',')
            .map(|part| part.split(is_space).filter(|word| !word.is_empty()));
        let mut parts = last.map(Iterator::collect::<Vec<&[u8]>>);
        let first_is_local =
            |words: &Vec<&[u8]>| matches!(&words[..], [.., keyword, _] if LOCAL.contains(keyword));
        let is_local = parts.next().as_ref().is_some_and(first_is_local)
            && parts.all(|words| words.len() == 1);
        let is_to_field = matches!(before.map(|before| script[before]), Some(b'.' | b']'));
        (!is_comparison).then_some(Assignment { is_to_field, is_local })
    }
}

/// Whether a name only ever stands before the name of a field.
fn takes_fields(script: &[u8], name: &[u8]) -> bool {
    memchr::memmem::find_iter(script, name).all(|at| script.get(at + name.len()) == Some(&b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn all_are(harm: Harm, scripts: &[&str]) {
        scripts.iter().for_each(|script| assert_eq!(Harm::of(script.as_bytes()), harm, "{script}"));
    }

    #[test]
    fn scripts_that_only_read_shared_tables_do_no_harm() {
        all_are(
            Harm::None,
            &[
                "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) \
                 else return 0 end",
                "local value, ttl = redis.call('get', KEYS[1]), ARGV[2] if value ~= ARGV[1] then \
                 return {} end",
                "if #KEYS >= 1 then local a = 1 local b\n,\x0bc = 2 end return redis.pcall('PING')",
                "for i = 1, #KEYS do redis.call('del', KEYS[i]) end return nil",
                "local n=tonumber(ARGV[1])\nif n >= 1 and n <= 3 then return n end return \
                 cjson.encode(n)",
            ],
        );
    }

    #[test]
    fn scripts_that_may_assign_to_globals_are_not_shown_shared_tables() {
        all_are(
            Harm::Globals,
            &[
                "a = 1",
                "local a = 1 a = a + 1 return a",
                "local a = 1 b = 2",
                "local a b = 2",
                "local a, b c = 2",
                "local a, b c, d = 2",
                "localised, a = 1, 2",
                "local a; KEYS = 2",
                "return {err = 'x'}",
                "return {1, b = 2}",
                "return redis",
                "return type(redis )",
                "local call = redis .call",
                "return #redis",
                "return cjson.encode(redis)",
            ],
        );
    }

    #[test]
    fn rejects_whatever_may_change_a_table() {
        all_are(
            Harm::Tables,
            &[
                "KEYS[1] = 'x'",
                "KEYS[1]='x'",
                "KEYS.x = 1",
                "KEYS . x\n=\n1",
                "redis.call = 1",
                "local t = ARGV t.x, t.y = 1, 2",
                "local a a, KEYS[2], b = 1, 2, 3",
                "local a KEYS[2], a = 1, 2",
                "function KEYS.f() end",
                "table.insert(KEYS, 1)",
                "setmetatable(KEYS, {})",
                "rawset(KEYS, 1, 2)",
                "_G['raw' .. 'set'](KEYS, 1, 2)",
                "loadstring('KEYS[1] ' .. '= 2')()",
                "KEYS.x --[[comment]] = 1",
                "KEYS.x\x0b= 1",
                "return {a, ['c'] = 3}",
            ],
        );
    }
}
