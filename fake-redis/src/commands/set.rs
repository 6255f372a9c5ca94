//! SET and GETEX with their options. Must never know other types.

use crate::args::Args;
use crate::command::Call;
use crate::error::{CommandError, CommandResult, NOT_AN_INTEGER, SYNTAX, WRONG_TYPE};
use crate::notify::EventClass;
use crate::number::{Decimal, parse_integer};
use crate::value::Value;

/// What an option says about the time to live.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Expiry<'a> {
    /// Nothing.
    #[default]
    Unstated,
    /// KEEPTTL.
    Keep,
    /// PERSIST.
    Persist,
    /// EX, PX, EXAT or PXAT.
    At(Unit, Anchor, &'a [u8]),
}

impl Expiry<'_> {
    /// Whether this may come after what was said before: nothing, or the same option.
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

/// The unit of a span or instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
}

/// From when a time counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    /// From now.
    Now,
    /// From the Unix epoch.
    Epoch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    Missing,
    Present,
}

#[derive(Default)]
struct Options<'a> {
    condition: Option<Condition>,
    get: bool,
    expiry: Expiry<'a>,
}

/// Which command's options are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grammar {
    Set,
    GetEx,
}

/// Reads options as `parseExtendedStringArgumentsOrReply` in t_string.c: what contradicts is refused, what is repeated is not.
fn parse_options<'a>(args: Args<'a>, first: usize, grammar: Grammar) -> Result<Options<'a>, CommandError> {
    let mut options = Options::default();
    let mut index = first;
    while index < args.len() {
        let word = |text: &str| args.is(index, text);
        let is_set = grammar == Grammar::Set;
        let timed = ["ex", "px", "exat", "pxat"].into_iter().find(|name| word(name));
        let expiry = match timed {
            Some(name) => (index + 1 < args.len()).then(|| expiry_of(name, args.get(index + 1))),
            None if is_set && word("keepttl") => Some(Expiry::Keep),
            None if !is_set && word("persist") => Some(Expiry::Persist),
            None => None,
        };
        if is_set && word("nx") && options.condition != Some(Condition::Present) {
            options.condition = Some(Condition::Missing);
        } else if is_set && word("xx") && options.condition != Some(Condition::Missing) {
            options.condition = Some(Condition::Present);
        } else if is_set && word("get") {
            options.get = true;
        } else if let Some(expiry) = expiry.filter(|expiry| expiry.may_follow(options.expiry)) {
            index += usize::from(timed.is_some());
            options.expiry = expiry;
        } else {
            return Err(SYNTAX);
        }
        index += 1;
    }
    Ok(options)
}

fn expiry_of<'a>(name: &str, time: &'a [u8]) -> Expiry<'a> {
    match name {
        "ex" => Expiry::At(Unit::Seconds, Anchor::Now, time),
        "px" => Expiry::At(Unit::Millis, Anchor::Now, time),
        "exat" => Expiry::At(Unit::Seconds, Anchor::Epoch, time),
        _ => Expiry::At(Unit::Millis, Anchor::Epoch, time),
    }
}

/// When a key shall expire, in wall-clock milliseconds. This is `getExpireMillisecondsOrReply` in t_string.c.
pub(crate) fn expiry_instant(
    call: &Call<'_>,
    (unit, anchor): (Unit, Anchor),
    time: &[u8],
    command: &str,
) -> Result<i64, CommandError> {
    let invalid = || CommandError::text(format!("ERR invalid expire time in '{command}' command"));
    let time = parse_integer(time).ok_or(NOT_AN_INTEGER)?;
    if time <= 0 {
        return Err(invalid());
    }
    let scale = if unit == Unit::Seconds { 1_000 } else { 1 };
    let base = if anchor == Anchor::Now { call.server.now_ms() } else { 0 };
    time.checked_mul(scale).and_then(|millis| millis.checked_add(base)).ok_or_else(invalid)
}

/// SET.
pub(crate) fn set(call: &mut Call<'_>) -> CommandResult {
    let options = parse_options(call.args, 3, Grammar::Set)?;
    let (key, value) = (call.arg(1), call.arg(2));
    let expires_at_ms = match options.expiry {
        Expiry::At(unit, anchor, time) => Some(expiry_instant(call, (unit, anchor), time, "set")?),
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
    };
    if !is_wanted {
        if !options.get {
            call.reply.null();
        }
        return Ok(());
    }
    let kept = if options.expiry == Expiry::Keep { expiry_at(call, position) } else { None };
    call.server.store_string(call.db, (position, key), value, expires_at_ms.or(kept));
    call.server.notify(EventClass::String, "set", call.db, key);
    if let Some(at) = expires_at_ms {
        call.server.notify(EventClass::Generic, "expire", call.db, key);
        call.state_effect(&[b"SET", key, value, b"PXAT", Decimal::of(at).as_bytes()]);
    } else if options.get {
        state_without_get(call);
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

/// The GET option is for the client alone: what is propagated has none (`setGenericCommand` in t_string.c).
fn state_without_get(call: &mut Call<'_>) {
    let options = call.args.from(3).iter().filter(|option| !option.eq_ignore_ascii_case(b"get"));
    let parts: Vec<&[u8]> = call.args.up_to(3).iter().chain(options).collect();
    call.state_effect(&parts);
}

/// GETEX.
pub(crate) fn getex(call: &mut Call<'_>) -> CommandResult {
    let options = parse_options(call.args, 2, Grammar::GetEx)?;
    let key = call.arg(1);
    let position = call.server.find(call.db, key);
    super::string::string_at(call.server, call.db, position)?;
    let expires_at_ms = match options.expiry {
        Expiry::At(unit, anchor, time) if position.is_some() => {
            Some(expiry_instant(call, (unit, anchor), time, "getex")?)
        }
        _ => None,
    };
    write_old_string(call, position)?;
    let Some(position) = position else { return Ok(()) };
    call.server.use_at(call.db, position);
    match expires_at_ms {
        Some(at) if call.server.is_past_deadline(at) => {
            call.server.remove(call.db, position);
            call.state_effect(&[b"DEL", key]);
            call.server.notify(EventClass::Generic, "del", call.db, key);
        }
        Some(at) => {
            call.server.set_expiry(call.db, position, key, expires_at_ms);
            call.state_effect(&[b"PEXPIREAT", key, Decimal::of(at).as_bytes()]);
            call.server.notify(EventClass::Generic, "expire", call.db, key);
        }
        None if options.expiry == Expiry::Persist && expiry_at(call, Some(position)).is_some() => {
            call.server.set_expiry(call.db, position, key, None);
            call.state_effect(&[b"PERSIST", key]);
            call.server.notify(EventClass::Generic, "persist", call.db, key);
        }
        None => {}
    }
    Ok(())
}
