//! Which scripts are seen to leave every table alone, so that KEYS and ARGV are as good as new after them. Must never know Lua's values.
//!
//! A table changes by an assignment to a field, by the definition of a function in a field, or by what the libraries have for it. Text in
//! which none of this can be is harmless; in doubt it is not.

/// What a script must not mention, not even in a string: comments, which hide what belongs together; definitions; the libraries that
/// change tables; and the ways to reach these by other names.
const SUSPECT: [&[u8]; 6] = [b"--", b"function", b"table", b"rawset", b"load", b"_G"];

/// Whether a script cannot change a table.
pub(super) fn is_harmless(script: &[u8]) -> bool {
    let mentions = |word: &[u8]| memchr::memmem::find(script, word).is_some();
    let mut equals = memchr::memchr_iter(b'=', script);
    !SUSPECT.into_iter().any(mentions) && !equals.any(|at| assigns_field(script, at))
}

/// Whether the `=` at a position may be that of an assignment to a field: what stands before it, as far as it is a list of names, then
/// begins in the middle of an expression.
fn assigns_field(script: &[u8], at: usize) -> bool {
    let is_comparison =
        script.get(at + 1) == Some(&b'=') || matches!(script[..at].last(), Some(b'=' | b'~' | b'<' | b'>'));
    let is_in_list =
        |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || matches!(byte, b'_' | b',' | 0x0b);
    let before = script[..at].iter().rfind(|byte| !is_in_list(byte));
    !is_comparison && matches!(before, Some(b'.' | b']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_scripts_that_only_read_tables_and_make_new_ones() {
        for script in [
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
            "local value, ttl = redis.call('get', KEYS[1]), ARGV[2] if value ~= ARGV[1] then return {err = 'x'} end",
            "for i = 1, #KEYS do redis.call('del', KEYS[i]) end local a = 1 a = a + 1 return {a, b = 2, ['c'] = 3}",
            "local n = tonumber(ARGV[1])\nif n >= 1 and n <= 3 then return n end return cjson.encode({x = n})",
        ] {
            let expected = !script.contains("['c']");
            assert_eq!(is_harmless(script.as_bytes()), expected, "{script}");
        }
    }

    #[test]
    fn rejects_whatever_may_change_a_table() {
        for script in [
            "KEYS[1] = 'x'",
            "KEYS[1]='x'",
            "KEYS.x = 1",
            "KEYS . x\n=\n1",
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
        ] {
            assert!(!is_harmless(script.as_bytes()), "{script}");
        }
    }
}
