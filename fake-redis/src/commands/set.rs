use crate::config::RedisVersion;
use crate::config::events::EventClass;
use crate::data::number::parse_integer;
use crate::data::value::Value;
use crate::protocol::args::Args;
use crate::protocol::error::{CommandError, CommandResult, NOT_AN_INTEGER, SYNTAX, WRONG_TYPE};
use crate::state::server::{Anchor, Call};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Expiry<'a> {
    #[default]
    Unstated,
    Keep,
    Persist,
    At(Unit, Anchor, &'a [u8]),
}

impl Expiry<'_> {
    fn anchor(self) -> Anchor {
        if let Expiry::At(_, anchor, _) = self { anchor } else { Anchor::Epoch }
    }

    fn may_follow(self, before: Expiry<'_>) -> bool {
        match (before, self) {
            (Expiry::Unstated, _) => true,
            (Expiry::At(unit, anchor, _), Expiry::At(other_unit, other_anchor, _)) => {
                unit == other_unit && anchor == other_anchor
            }
            (before, after) => before == after,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Seconds,
    Millis,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition<'a> {
    Missing,
    Present,
    /// IFEQ (Redis 8.4): the key must contain this string.
    Equal(&'a [u8]),
    /// IFNE (Redis 8.4): the key must be missing or contain another string.
    Different(&'a [u8]),
}

impl Condition<'_> {
    fn may_follow(self, before: Option<Condition<'_>>) -> bool {
        matches!(
            (before, self),
            (None, _)
                | (Some(Condition::Missing), Condition::Missing)
                | (Some(Condition::Present), Condition::Present)
        )
    }
}

#[derive(Default)]
struct Options<'a> {
    condition: Option<Condition<'a>>,
    get: bool,
    expiry: Expiry<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Grammar {
    Set,
    SetIf,
    GetEx,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Ex,
    Px,
    ExAt,
    PxAt,
    Persist,
    Nx,
    Xx,
    Get,
    KeepTtl,
    IfEq,
    IfNe,
}

#[inline(always)]
fn parse_options<'a>(
    args: Args<'a>,
    first: usize,
    grammar: Grammar,
) -> Result<Options<'a>, CommandError> {
    let mut options = Options::default();
    let mut index = first;
    while index < args.len() {
        let word = Word::of(args.get(index), grammar).ok_or(SYNTAX)?;
        index += 1;
        let mut operand = || {
            index += 1;
            if index <= args.len() { Ok(args.get(index - 1)) } else { Err(SYNTAX) }
        };
        match word {
            Word::Nx => options.require(Condition::Missing)?,
            Word::Xx => options.require(Condition::Present)?,
            Word::IfEq => options.require(Condition::Equal(operand()?))?,
            Word::IfNe => options.require(Condition::Different(operand()?))?,
            Word::Px => options.expire(Expiry::At(Unit::Millis, Anchor::Now, operand()?))?,
            Word::Ex => options.expire(Expiry::At(Unit::Seconds, Anchor::Now, operand()?))?,
            Word::PxAt => options.expire(Expiry::At(Unit::Millis, Anchor::Epoch, operand()?))?,
            Word::ExAt => options.expire(Expiry::At(Unit::Seconds, Anchor::Epoch, operand()?))?,
            Word::Persist => options.expire(Expiry::Persist)?,
            Word::KeepTtl => options.expire(Expiry::Keep)?,
            Word::Get => options.get = true,
        }
    }
    Ok(options)
}

impl<'a> Options<'a> {
    #[inline(always)]
    fn require(&mut self, condition: Condition<'a>) -> CommandResult {
        if !condition.may_follow(self.condition) {
            return Err(SYNTAX);
        }
        self.condition = Some(condition);
        Ok(())
    }

    #[inline(always)]
    fn expire(&mut self, expiry: Expiry<'a>) -> CommandResult {
        if !expiry.may_follow(self.expiry) {
            return Err(SYNTAX);
        }
        self.expiry = expiry;
        Ok(())
    }
}

impl Word {
    #[inline(always)]
    fn of(name: &[u8], grammar: Grammar) -> Option<Word> {
        const EX: u64 = packed(b"ex");
        const PX: u64 = packed(b"px");
        const EXAT: u64 = packed(b"exat");
        const PXAT: u64 = packed(b"pxat");
        const PERSIST: u64 = packed(b"persist");
        const NX: u64 = packed(b"nx");
        const XX: u64 = packed(b"xx");
        const GET: u64 = packed(b"get");
        const KEEPTTL: u64 = packed(b"keepttl");
        const IFEQ: u64 = packed(b"ifeq");
        const IFNE: u64 = packed(b"ifne");
        Some(match (packed(name), grammar) {
            (EX, _) => Word::Ex,
            (PX, _) => Word::Px,
            (EXAT, _) => Word::ExAt,
            (PXAT, _) => Word::PxAt,
            (PERSIST, Grammar::GetEx) => Word::Persist,
            (_, Grammar::GetEx) => return None,
            (NX, _) => Word::Nx,
            (XX, _) => Word::Xx,
            (GET, _) => Word::Get,
            (KEEPTTL, _) => Word::KeepTtl,
            (IFEQ, Grammar::SetIf) => Word::IfEq,
            (IFNE, Grammar::SetIf) => Word::IfNe,
            _ => return None,
        })
    }
}

/// Packs a word into a number, ignoring case. Returns 0 if the word is longer than every option.
const fn packed(word: &[u8]) -> u64 {
    // Setting this bit makes a letter lowercase, and turns no other byte into a letter.
    const CASE: u8 = 0x20;
    if let [first, second] = word {
        return 1 << 16 | ((*first | CASE) as u64) << 8 | (*second | CASE) as u64;
    }
    if word.len() >= 8 {
        return 0;
    }
    let (mut packed, mut index) = (1, 0);
    while index < word.len() {
        packed = packed << 8 | (word[index] | CASE) as u64;
        index += 1;
    }
    packed
}

#[inline]
pub(crate) fn expiry_instant(
    call: &Call<'_>,
    unit: Unit,
    anchor: Anchor,
    time: &[u8],
    command: &str,
) -> Result<i64, CommandError> {
    let invalid = || invalid_expiry(call.server.config.version, command);
    let time = parse_integer(time).ok_or(NOT_AN_INTEGER)?;
    if time <= 0 {
        return Err(invalid());
    }
    let scale = if unit == Unit::Seconds { 1_000 } else { 1 };
    let base = if anchor == Anchor::Now { call.server.now_ms() } else { 0 };
    time.checked_mul(scale).and_then(|millis| millis.checked_add(base)).ok_or_else(invalid)
}

pub(super) fn invalid_expiry(version: RedisVersion, command: &str) -> CommandError {
    let quote = if version < RedisVersion::V7_0 { ("", "") } else { ("'", "' command") };
    CommandError::text(format!("ERR invalid expire time in {}{command}{}", quote.0, quote.1))
}

pub(crate) fn set(call: &mut Call<'_>) -> CommandResult {
    let compares = call.server.config.version >= RedisVersion::V8_4;
    let grammar = if compares { Grammar::SetIf } else { Grammar::Set };
    let options = parse_options(call.args, 3, grammar)?;
    if options.get
        && options.condition == Some(Condition::Missing)
        && call.server.config.version < RedisVersion::V7_0
    {
        return Err(SYNTAX);
    }
    let (key, value) = (call.arg(1), call.arg(2));
    let expires_at_ms = match options.expiry {
        Expiry::At(unit, anchor, time) => Some(expiry_instant(call, unit, anchor, time, "set")?),
        _ => None,
    };
    let position = call.server.find(call.db, key);
    if options.get {
        write_old_string(call, position)?;
    }
    let is_wanted = match options.condition {
        None => true,
        Some(Condition::Missing) => position.is_none(),
        Some(Condition::Present) => position.is_some(),
        Some(Condition::Equal(wanted)) => holds(call, position, wanted)?,
        Some(Condition::Different(unwanted)) => !holds(call, position, unwanted)?,
    };
    if !is_wanted {
        if !options.get {
            call.reply.null();
        }
        return Ok(());
    }
    let kept = if options.expiry == Expiry::Keep { expiry_at(call, position) } else { None };
    call.server.store_string(call.db, position, key, value, expires_at_ms.or(kept));
    call.server.notify(EventClass::String, "set", call.db, key);
    if let Some(at) = expires_at_ms {
        call.server.notify(EventClass::Generic, "expire", call.db, key);
        let anchor = options.expiry.anchor();
        call.replace_timed_effect(anchor, &[b"SET", key, value, b"PXAT"], at);
    } else if options.get
        || matches!(options.condition, Some(Condition::Equal(_) | Condition::Different(_)))
    {
        propagate_plain_set(call);
    }
    if !options.get {
        call.reply.ok();
    }
    Ok(())
}

fn expiry_at(call: &Call<'_>, position: Option<usize>) -> Option<i64> {
    let (_, entry) = call.server.database(call.db).at(position?)?;
    entry.expires_at_ms()
}

fn write_old_string(call: &mut Call<'_>, position: Option<usize>) -> CommandResult {
    let entry = position.and_then(|position| call.server.database(call.db).at(position));
    match entry.map(|(_, entry)| &entry.value) {
        None => call.reply.null(),
        Some(Value::String(text)) => call.reply.bulk(text),
        Some(_) => return Err(WRONG_TYPE),
    }
    Ok(())
}

pub(super) fn holds(
    call: &Call<'_>,
    position: Option<usize>,
    wanted: &[u8],
) -> Result<bool, CommandError> {
    let text = call.server.string_at(call.db, position)?;
    Ok(position.is_some() && text == wanted)
}

/// Propagates SET without the options GET, IFEQ and IFNE (`setGenericCommand` in t_string.c).
fn propagate_plain_set(call: &mut Call<'_>) {
    let mut parts: Vec<&[u8]> = call.args.up_to(3).iter().collect();
    let mut rest = call.args.from(3).iter();
    while let Some(name) = rest.next() {
        match Word::of(name, Grammar::SetIf) {
            Some(Word::IfEq | Word::IfNe) => {
                rest.next();
            }
            Some(Word::Get) => {}
            _ => parts.push(name),
        }
    }
    call.replace_effect(&parts);
}

pub(crate) fn getex(call: &mut Call<'_>) -> CommandResult {
    let options = parse_options(call.args, 2, Grammar::GetEx)?;
    let key = call.arg(1);
    let position = call.server.find(call.db, key);
    call.server.string_at(call.db, position)?;
    let expires_at_ms = match options.expiry {
        Expiry::At(unit, anchor, time) if position.is_some() => {
            Some(expiry_instant(call, unit, anchor, time, "getex")?)
        }
        _ => None,
    };
    write_old_string(call, position)?;
    let Some(position) = position else { return Ok(()) };
    call.server.use_at(call.db, position);
    match expires_at_ms {
        Some(at) if call.server.is_past_deadline(at) => {
            call.server.remove(call.db, position);
            call.replace_effect(&[b"DEL", key]);
            call.server.notify(EventClass::Generic, "del", call.db, key);
        }
        Some(at) => {
            call.server.set_expiry(call.db, position, key, expires_at_ms);
            let anchor = options.expiry.anchor();
            call.replace_timed_effect(anchor, &[b"PEXPIREAT", key], at);
            call.server.notify(EventClass::Generic, "expire", call.db, key);
        }
        None if options.expiry == Expiry::Persist && expiry_at(call, Some(position)).is_some() => {
            call.server.set_expiry(call.db, position, key, None);
            call.replace_effect(&[b"PERSIST", key]);
            call.server.notify(EventClass::Generic, "persist", call.db, key);
        }
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_in_any_case_and_nothing_else_is() {
        const OPTIONS: [&[u8]; 11] = [
            b"ex", b"px", b"exat", b"pxat", b"persist", b"nx", b"xx", b"get", b"keepttl", b"ifeq",
            b"ifne",
        ];
        let is_known = |word: &[u8]| OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(word));
        let is_taken = |word: &[u8]| {
            [Grammar::SetIf, Grammar::GetEx]
                .iter()
                .any(|grammar| Word::of(word, *grammar).is_some())
        };
        for word in (0..=u16::MAX).map(u16::to_be_bytes) {
            assert_eq!(is_taken(&word), is_known(&word), "{word:?}");
        }
        for option in OPTIONS {
            for (place, byte) in
                (0..option.len()).flat_map(|place| (0..=u8::MAX).map(move |byte| (place, byte)))
            {
                let mut word = option.to_vec();
                word[place] = byte;
                assert_eq!(is_taken(&word), is_known(&word), "{word:?}");
            }
            for word in [
                &option[1..],
                &[b"\0", option].concat(),
                &[option, b"\0"].concat(),
                &option.repeat(2),
            ] {
                assert_eq!(is_taken(word), is_known(word), "{word:?}");
            }
        }
    }
}
