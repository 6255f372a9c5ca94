//! Commands that change a number stored as a string: INCR, DECR and their variants.

use crate::config::events::EventClass;
use crate::data::decimal::{Decimal, Parsed, parse};
use crate::data::number::parse_integer;
use crate::protocol::error::{
    CommandError, CommandResult, DECREMENT_OVERFLOW, NAN_OR_INFINITY, NOT_A_FLOAT, NOT_AN_INTEGER,
    OVERFLOW,
};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const CHANGE: Flags = Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("incr", 2, CHANGE, Keys::ONE, |call| add(call, 1)),
    Command::new("decr", 2, CHANGE, Keys::ONE, |call| add(call, -1)),
    Command::new("incrby", 3, CHANGE, Keys::ONE, incrby),
    Command::new("decrby", 3, CHANGE, Keys::ONE, decrby),
    Command::new("incrbyfloat", 3, CHANGE, Keys::ONE, incrbyfloat),
];

fn incrby(call: &mut Call<'_>) -> CommandResult {
    let increment = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    add(call, increment)
}

fn decrby(call: &mut Call<'_>) -> CommandResult {
    let decrement = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    add(call, decrement.checked_neg().ok_or(DECREMENT_OVERFLOW)?)
}

fn add(call: &mut Call<'_>, increment: i64) -> CommandResult {
    let (key, db) = (call.arg(1), call.db);
    let position = call.server.find(db, key);
    let text = call.server.string_at(db, position)?;
    let old = if position.is_some() { parse_integer(text).ok_or(NOT_AN_INTEGER)? } else { 0 };
    let new = old.checked_add(increment).ok_or(OVERFLOW)?;
    write_number(call, position, key, itoa::Buffer::new().format(new).as_bytes());
    call.server.notify(EventClass::String, "incrby", db, key);
    call.reply.integer(new);
    Ok(())
}

fn write_number(call: &mut Call<'_>, position: Option<usize>, key: &[u8], text: &[u8]) {
    let entry = position.and_then(|position| call.server.database(call.db).at(position));
    let expires_at_ms = entry.and_then(|(_, entry)| entry.expires_at_ms());
    call.server.store_string(call.db, position, key, text, expires_at_ms);
}

pub(crate) fn float_sum(
    stored: Option<&[u8]>,
    increment: &[u8],
    bad: CommandError,
) -> Result<String, CommandError> {
    let stored = stored.map_or(Some(Parsed::Finite(Decimal::ZERO)), parse).ok_or(bad)?;
    let increment = parse(increment).ok_or(NOT_A_FLOAT)?;
    match (stored, increment) {
        (Parsed::Finite(stored), Parsed::Finite(increment)) => Ok(stored.add(increment).text()),
        (Parsed::Infinite, _) | (_, Parsed::Infinite) => Err(NAN_OR_INFINITY),
        _ => Err(CommandError::fixed("ERR fake-redis only adds numbers below 10^20")),
    }
}

/// Propagates INCRBYFLOAT as SET, because floating-point arithmetic may differ between servers.
fn incrbyfloat(call: &mut Call<'_>) -> CommandResult {
    let (key, db) = (call.arg(1), call.db);
    let position = call.server.find(db, key);
    let text = call.server.string_at(db, position)?;
    let sum = float_sum(position.map(|_| text), call.arg(2), NOT_A_FLOAT)?;
    write_number(call, position, key, sum.as_bytes());
    call.server.notify(EventClass::String, "incrbyfloat", db, key);
    call.replace_effect(&[b"SET", key, sum.as_bytes(), b"KEEPTTL"]);
    call.reply.bulk(sum.as_bytes());
    Ok(())
}
