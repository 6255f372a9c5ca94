//! Selects the commands to compare, and the replies that count as equal (docs/fidelity.md).

fn sorted(reply: &[u8]) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = reply.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    parts.sort();
    parts
}

fn integer(reply: &[u8]) -> Option<i64> {
    std::str::from_utf8(reply.strip_prefix(b":")?).ok()?.trim_end().parse().ok()
}

pub(crate) fn same(real: &[u8], fake: &[u8], name: &str, history: &[&Vec<String>]) -> bool {
    if real == fake {
        return true;
    }
    match name {
        "HRANDFIELD" if history.last().is_some_and(|words| words.len() == 2) => {
            !is_error(real) && !is_error(fake)
        }
        "KEYS" | "SMEMBERS" | "HKEYS" | "HVALS" | "HGETALL" | "HSCAN" | "SCAN" | "HRANDFIELD"
        | "SPOP" => sorted(real) == sorted(fake),
        "TTL" | "PTTL" | "EXPIRETIME" | "PEXPIRETIME" => integer(real)
            .zip(integer(fake))
            .is_some_and(|(real, fake)| real > 0 && fake > 0 && real.abs_diff(fake) < 5_000),
        // Real servers share small integers, and remember that a string was changed in place.
        "OBJECT" => !is_error(real) && !is_error(fake),
        "EXEC" => {
            let may_differ = |words: &&Vec<String>| {
                ["TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "OBJECT"]
                    .iter()
                    .any(|name| words[0].eq_ignore_ascii_case(name))
            };
            sorted(real) == sorted(fake) || history.iter().any(may_differ)
        }
        _ => false,
    }
}

fn is_error(reply: &[u8]) -> bool {
    reply.starts_with(b"-")
}

/// Returns `false` for commands whose replies cannot be compared, such as commands that block.
pub(crate) fn is_comparable(words: &[String]) -> bool {
    let silences = words[0].eq_ignore_ascii_case("client")
        && words.get(1).is_some_and(|word| word.eq_ignore_ascii_case("reply"));
    let waits = matches!(words[0].to_ascii_lowercase().as_str(), "blpop" | "blmove");
    let counts = words[0].eq_ignore_ascii_case("command");
    // Ranges by member are defined only for members with equal scores.
    let is_by_member = words.iter().any(|word| word.to_ascii_lowercase().ends_with("lex"))
        && !words.get(1).is_some_and(|key| key.starts_with('y'));
    let is_by_member = is_by_member
        || words[0].eq_ignore_ascii_case("zadd")
            && words[1..].iter().any(|word| word == "INCR")
            && words[1..].iter().any(|word| word.starts_with('y'));
    // SPOP chooses members at random, unless the count is invalid or selects all members or none.
    let is_chance = |count: &str| !matches!(count, "1000" | "0" | "-1");
    let draws = words[0].eq_ignore_ascii_case("spop")
        && words.get(1).is_some_and(|key| key != "missing")
        && words.get(2).is_none_or(|count| words.len() == 3 && is_chance(count));
    !draws && !silences && !waits && !counts && !is_by_member
}
