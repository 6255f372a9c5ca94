//! Commands on strings, except counters (`counter`), SET and GETEX (`set`).

use super::set::{self, Unit};
use crate::config::events::EventClass;
use crate::data::number::parse_integer;
use crate::data::value::Value;
use crate::protocol::error::{
    CommandError, CommandResult, NOT_AN_INTEGER, OFFSET_OUT_OF_RANGE, STRING_TOO_LONG, WRONG_TYPE,
};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Anchor, Call, Command};

const READ_FLAGS: Flags = Flags::READONLY.union(Flags::FAST);
const CHANGE: Flags = Flags::WRITE.union(Flags::DENYOOM);
const CHANGE_FAST: Flags = CHANGE.union(Flags::FAST);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("get", 2, READ_FLAGS, Keys::ONE, get),
    Command::new("set", -3, CHANGE, Keys::ONE, set::set),
    Command::new("getex", -2, Flags::WRITE.union(Flags::FAST), Keys::ONE, set::getex),
    Command::new("setnx", 3, CHANGE_FAST, Keys::ONE, setnx),
    Command::new("setex", 4, CHANGE, Keys::ONE, |call| {
        set_with_expiry(call, Unit::Seconds, "setex")
    }),
    Command::new("psetex", 4, CHANGE, Keys::ONE, |call| {
        set_with_expiry(call, Unit::Millis, "psetex")
    }),
    Command::new("getset", 3, CHANGE_FAST, Keys::ONE, getset),
    Command::new("getdel", 2, Flags::WRITE.union(Flags::FAST), Keys::ONE, getdel),
    Command::new("mget", -2, READ_FLAGS, Keys::ALL, mget),
    Command::new("mset", -3, CHANGE, Keys::PAIRS, mset),
    Command::new("msetnx", -3, CHANGE, Keys::PAIRS, msetnx),
    Command::new("append", 3, CHANGE_FAST, Keys::ONE, append),
    Command::new("strlen", 2, READ_FLAGS, Keys::ONE, strlen),
    Command::new("getrange", 4, Flags::READONLY, Keys::ONE, getrange),
    Command::new("substr", 4, Flags::READONLY, Keys::ONE, getrange),
    Command::new("setrange", 4, CHANGE, Keys::ONE, setrange),
];

fn get(call: &mut Call<'_>) -> CommandResult {
    match call.server.read(call.db, call.args.get(1)).map(|entry| &entry.value) {
        None => call.reply.null(),
        Some(Value::String(text)) => call.reply.bulk(text),
        Some(_) => return Err(WRONG_TYPE),
    }
    Ok(())
}

fn setnx(call: &mut Call<'_>) -> CommandResult {
    let key = call.arg(1);
    let is_taken = call.server.find(call.db, key).is_some();
    if !is_taken {
        call.server.store_string(call.db, None, key, call.arg(2), None);
        call.server.notify(EventClass::String, "set", call.db, key);
    }
    call.reply.integer(i64::from(!is_taken));
    Ok(())
}

fn set_with_expiry(call: &mut Call<'_>, unit: Unit, command: &str) -> CommandResult {
    let (key, time, value) = (call.arg(1), call.arg(2), call.arg(3));
    let at = set::expiry_instant(call, unit, Anchor::Now, time, command)?;
    let position = call.server.find(call.db, key);
    call.server.store_string(call.db, position, key, value, Some(at));
    call.server.notify(EventClass::String, "set", call.db, key);
    call.server.notify(EventClass::Generic, "expire", call.db, key);
    call.replace_timed_effect(Anchor::Now, &[b"SET", key, value, b"PXAT"], at);
    call.reply.ok();
    Ok(())
}

fn getset(call: &mut Call<'_>) -> CommandResult {
    let (key, value) = (call.arg(1), call.arg(2));
    let position = call.server.find(call.db, key);
    let old = call.server.string_at(call.db, position)?;
    call.reply.bulk_or_null(position.map(|_| old));
    call.server.store_string(call.db, position, key, value, None);
    call.server.notify(EventClass::String, "set", call.db, key);
    call.replace_effect(&[b"SET", key, value]);
    Ok(())
}

fn getdel(call: &mut Call<'_>) -> CommandResult {
    let key = call.arg(1);
    let position = call.server.find(call.db, key);
    let old = call.server.string_at(call.db, position)?;
    call.reply.bulk_or_null(position.map(|_| old));
    if let Some(position) = position {
        call.server.remove(call.db, position);
        call.server.notify(EventClass::Generic, "del", call.db, key);
        call.replace_effect(&[b"DEL", key]);
    }
    Ok(())
}

fn mget(call: &mut Call<'_>) -> CommandResult {
    let keys = call.args.from(1).iter();
    call.reply.array(keys.len());
    for key in keys {
        match call.server.read(call.db, key).map(|entry| &entry.value) {
            Some(Value::String(text)) => call.reply.bulk(text),
            _ => call.reply.null(),
        }
    }
    Ok(())
}

fn check_pairs(call: &Call<'_>, command: &str) -> CommandResult {
    if call.args.len() % 2 == 1 {
        return Ok(());
    }
    Err(CommandError::text(format!("ERR wrong number of arguments for '{command}' command")))
}

fn set_pairs(call: &mut Call<'_>) {
    for (key, value) in call.args.from(1).pairs() {
        let position = call.server.find(call.db, key);
        call.server.store_string(call.db, position, key, value, None);
        call.server.notify(EventClass::String, "set", call.db, key);
    }
}

fn mset(call: &mut Call<'_>) -> CommandResult {
    check_pairs(call, "mset")?;
    set_pairs(call);
    call.reply.ok();
    Ok(())
}

fn msetnx(call: &mut Call<'_>) -> CommandResult {
    check_pairs(call, "msetnx")?;
    let mut keys = call.args.from(1).pairs().map(|(key, _)| key);
    let is_taken = keys.any(|key| call.server.find(call.db, key).is_some());
    if !is_taken {
        set_pairs(call);
    }
    call.reply.integer(i64::from(!is_taken));
    Ok(())
}

fn check_length(call: &Call<'_>, length: usize) -> CommandResult {
    if length > call.server.config.proto_max_bulk_len { Err(STRING_TOO_LONG) } else { Ok(()) }
}

fn edit(
    call: &mut Call<'_>,
    position: Option<usize>,
    key: &[u8],
    change: impl FnOnce(&mut Vec<u8>),
) -> usize {
    let db = call.db;
    let Some(position) = position else {
        let mut text = Vec::new();
        change(&mut text);
        let length = text.len();
        call.server.store(db, key, Value::String(text), None);
        return length;
    };
    let Some(Value::String(text)) = call.server.value_mut(db, position) else { return 0 };
    change(text);
    let length = text.len();
    call.server.changed(db, position, key);
    length
}

fn append(call: &mut Call<'_>) -> CommandResult {
    let (key, addition) = (call.arg(1), call.arg(2));
    let position = call.server.find(call.db, key);
    let length = call.server.string_at(call.db, position)?.len();
    check_length(call, length + addition.len())?;
    let length = edit(call, position, key, |text| text.extend_from_slice(addition));
    call.server.notify(EventClass::String, "append", call.db, key);
    call.reply.count(length);
    Ok(())
}

fn strlen(call: &mut Call<'_>) -> CommandResult {
    let length = match call.server.read(call.db, call.args.get(1)).map(|entry| &entry.value) {
        None => 0,
        Some(Value::String(text)) => text.len(),
        Some(_) => return Err(WRONG_TYPE),
    };
    call.reply.count(length);
    Ok(())
}

fn getrange(call: &mut Call<'_>) -> CommandResult {
    let start = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    let end = parse_integer(call.arg(3)).ok_or(NOT_AN_INTEGER)?;
    match call.server.read(call.db, call.args.get(1)).map(|entry| &entry.value) {
        None => call.reply.bulk(b""),
        Some(Value::String(text)) => call.reply.bulk(&text[clamped(start, end, text.len())]),
        Some(_) => return Err(WRONG_TYPE),
    }
    Ok(())
}

fn clamped(start: i64, end: i64, length: usize) -> std::ops::Range<usize> {
    let length = length as i64;
    if start < 0 && end < 0 && start > end {
        return 0..0;
    }
    let from_end = |index: i64| if index < 0 { index.saturating_add(length).max(0) } else { index };
    let (start, end) = (from_end(start), from_end(end).min(length - 1));
    if start > end || length == 0 { 0..0 } else { start as usize..end as usize + 1 }
}

fn setrange(call: &mut Call<'_>) -> CommandResult {
    let (key, patch) = (call.arg(1), call.arg(3));
    let offset = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    let offset = usize::try_from(offset).map_err(|_| OFFSET_OUT_OF_RANGE)?;
    let position = call.server.find(call.db, key);
    let length = call.server.string_at(call.db, position)?.len();
    if patch.is_empty() {
        call.reply.count(length);
        return Ok(());
    }
    check_length(call, offset.saturating_add(patch.len()))?;
    let length = edit(call, position, key, |text| {
        let end = offset + patch.len();
        text.resize(text.len().max(end), 0);
        text[offset..end].copy_from_slice(patch);
    });
    call.server.notify(EventClass::String, "setrange", call.db, key);
    call.reply.count(length);
    Ok(())
}
