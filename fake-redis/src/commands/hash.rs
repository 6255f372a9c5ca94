//! Commands on hashes (t_hash.c).

use super::counter::float_sum;
use crate::config::events::EventClass;
use crate::data::decimal::{Parsed, parse};
use crate::data::number::parse_integer;
use crate::data::value::{Hash, Value};
use crate::protocol::error::{
    CommandError, CommandResult, HASH_NOT_A_FLOAT, HASH_NOT_AN_INTEGER, NOT_A_FLOAT,
    NOT_AN_INTEGER, OVERFLOW, WRONG_TYPE,
};
use crate::protocol::reply::Reply;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const READ_FLAGS: Flags = Flags::READONLY.union(Flags::FAST);
const CHANGE: Flags = Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("hset", -4, CHANGE, Keys::ONE, hset),
    Command::new("hmset", -4, CHANGE, Keys::ONE, hmset),
    Command::new("hsetnx", 4, CHANGE, Keys::ONE, hsetnx),
    Command::new("hget", 3, READ_FLAGS, Keys::ONE, hget),
    Command::new("hmget", -3, READ_FLAGS, Keys::ONE, hmget),
    Command::new("hdel", -3, Flags::WRITE.union(Flags::FAST), Keys::ONE, hdel),
    Command::new("hlen", 2, READ_FLAGS, Keys::ONE, hlen),
    Command::new("hstrlen", 3, READ_FLAGS, Keys::ONE, hstrlen),
    Command::new("hexists", 3, READ_FLAGS, Keys::ONE, hexists),
    Command::new("hincrby", 4, CHANGE, Keys::ONE, hincrby),
    Command::new("hincrbyfloat", 4, CHANGE, Keys::ONE, hincrbyfloat),
    Command::new("hkeys", 2, Flags::READONLY, Keys::ONE, hkeys),
    Command::new("hvals", 2, Flags::READONLY, Keys::ONE, hvals),
    Command::new("hgetall", 2, Flags::READONLY, Keys::ONE, hgetall),
];

pub(crate) fn read<'c>(
    call: &'c mut Call<'_>,
) -> Result<(Option<&'c Hash>, &'c mut Reply), CommandError> {
    let key = call.args.get(1);
    match call.server.read(call.db, key).map(|entry| &entry.value) {
        None => Ok((None, call.reply)),
        Some(Value::Hash(hash)) => Ok((Some(hash), call.reply)),
        Some(_) => Err(WRONG_TYPE),
    }
}

fn find(call: &mut Call<'_>) -> Result<Option<usize>, CommandError> {
    let position = call.server.find(call.db, call.arg(1));
    let entry = position.and_then(|position| call.server.database(call.db).at(position));
    match entry.map(|(_, entry)| &entry.value) {
        None | Some(Value::Hash(_)) => Ok(position),
        Some(_) => Err(WRONG_TYPE),
    }
}

fn at<'c>(call: &'c Call<'_>, position: Option<usize>) -> Option<&'c Hash> {
    match call.server.database(call.db).at(position?).map(|(_, entry)| &entry.value) {
        Some(Value::Hash(hash)) => Some(hash),
        _ => None,
    }
}

fn edit<T>(call: &mut Call<'_>, position: Option<usize>, change: impl FnOnce(&mut Hash) -> T) -> T {
    let (key, db) = (call.arg(1), call.db);
    if let Some(position) = position
        && let Some(Value::Hash(hash)) = call.server.value_mut(db, position)
    {
        let result = change(hash);
        call.server.changed(db, position, key);
        return result;
    }
    let mut hash = Hash::default();
    let result = change(&mut hash);
    call.server.store(db, key, Value::Hash(Box::new(hash)), None);
    result
}

fn set_fields(call: &mut Call<'_>, command: &str) -> Result<usize, CommandError> {
    if call.args.len() % 2 == 1 {
        return Err(CommandError::text(format!(
            "ERR wrong number of arguments for '{command}' command"
        )));
    }
    let position = find(call)?;
    let pairs = call.args.from(2).pairs();
    let created = edit(call, position, |hash| {
        pairs.map(|(field, value)| usize::from(hash.set(field, value))).sum()
    });
    call.server.notify(EventClass::Hash, "hset", call.db, call.arg(1));
    Ok(created)
}

fn hset(call: &mut Call<'_>) -> CommandResult {
    let created = set_fields(call, "hset")?;
    call.reply.count(created);
    Ok(())
}

fn hmset(call: &mut Call<'_>) -> CommandResult {
    set_fields(call, "hmset")?;
    call.reply.ok();
    Ok(())
}

fn hsetnx(call: &mut Call<'_>) -> CommandResult {
    let (field, value) = (call.arg(2), call.arg(3));
    let position = find(call)?;
    let is_taken = at(call, position).is_some_and(|hash| hash.get(field).is_some());
    if !is_taken {
        edit(call, position, |hash| hash.set(field, value));
        call.server.notify(EventClass::Hash, "hset", call.db, call.arg(1));
    }
    call.reply.integer(i64::from(!is_taken));
    Ok(())
}

fn hget(call: &mut Call<'_>) -> CommandResult {
    let field = call.arg(2);
    let (hash, reply) = read(call)?;
    reply.bulk_or_null(hash.and_then(|hash| hash.get(field)));
    Ok(())
}

fn hmget(call: &mut Call<'_>) -> CommandResult {
    let fields = call.args.from(2).iter();
    let (hash, reply) = read(call)?;
    reply.array(fields.len());
    fields.for_each(|field| reply.bulk_or_null(hash.and_then(|hash| hash.get(field))));
    Ok(())
}

fn hdel(call: &mut Call<'_>) -> CommandResult {
    let (key, db) = (call.arg(1), call.db);
    let fields = call.args.from(2).iter();
    let Some(position) = find(call)? else {
        call.reply.integer(0);
        return Ok(());
    };
    let Some(Value::Hash(hash)) = call.server.value_mut(db, position) else {
        return Err(WRONG_TYPE);
    };
    let removed = fields.filter(|field| hash.remove(field)).count();
    let is_empty = hash.len() == 0;
    if is_empty {
        call.server.remove(db, position);
    } else if removed > 0 {
        call.server.changed(db, position, key);
    }
    if removed > 0 {
        call.server.notify(EventClass::Hash, "hdel", db, key);
    }
    if is_empty {
        call.server.notify(EventClass::Generic, "del", db, key);
    }
    call.reply.count(removed);
    Ok(())
}

fn hlen(call: &mut Call<'_>) -> CommandResult {
    let (hash, reply) = read(call)?;
    reply.count(hash.map_or(0, Hash::len));
    Ok(())
}

fn hstrlen(call: &mut Call<'_>) -> CommandResult {
    let field = call.arg(2);
    let (hash, reply) = read(call)?;
    reply.count(hash.and_then(|hash| hash.get(field)).map_or(0, <[u8]>::len));
    Ok(())
}

fn hexists(call: &mut Call<'_>) -> CommandResult {
    let field = call.arg(2);
    let (hash, reply) = read(call)?;
    reply.integer(i64::from(hash.is_some_and(|hash| hash.get(field).is_some())));
    Ok(())
}

fn hincrby(call: &mut Call<'_>) -> CommandResult {
    let field = call.arg(2);
    let increment = parse_integer(call.arg(3)).ok_or(NOT_AN_INTEGER)?;
    let position = find(call)?;
    let stored = at(call, position).and_then(|hash| hash.get(field));
    let old = stored.map_or(Some(0), parse_integer).ok_or(HASH_NOT_AN_INTEGER)?;
    let new = old.checked_add(increment).ok_or(OVERFLOW)?;
    edit(call, position, |hash| hash.set(field, itoa::Buffer::new().format(new).as_bytes()));
    call.server.notify(EventClass::Hash, "hincrby", call.db, call.arg(1));
    call.reply.integer(new);
    Ok(())
}

fn hincrbyfloat(call: &mut Call<'_>) -> CommandResult {
    let (key, field) = (call.arg(1), call.arg(2));
    if parse(call.arg(3)).ok_or(NOT_A_FLOAT)? == Parsed::Infinite {
        return Err(CommandError::fixed("ERR value is NaN or Infinity"));
    }
    let position = find(call)?;
    let stored = at(call, position).and_then(|hash| hash.get(field));
    let sum = float_sum(stored, call.arg(3), HASH_NOT_A_FLOAT)?;
    edit(call, position, |hash| hash.set(field, sum.as_bytes()));
    call.server.notify(EventClass::Hash, "hincrbyfloat", call.db, key);
    call.replace_effect(&[b"HSET", key, field, sum.as_bytes()]);
    call.reply.bulk(sum.as_bytes());
    Ok(())
}

fn hkeys(call: &mut Call<'_>) -> CommandResult {
    let (hash, reply) = read(call)?;
    reply.array(hash.map_or(0, Hash::len));
    hash.into_iter().flat_map(Hash::iter).for_each(|(field, _)| reply.bulk(field));
    Ok(())
}

fn hvals(call: &mut Call<'_>) -> CommandResult {
    let (hash, reply) = read(call)?;
    reply.array(hash.map_or(0, Hash::len));
    hash.into_iter().flat_map(Hash::iter).for_each(|(_, value)| reply.bulk(value));
    Ok(())
}

fn hgetall(call: &mut Call<'_>) -> CommandResult {
    let (hash, reply) = read(call)?;
    reply.map(hash.map_or(0, Hash::len));
    for (field, value) in hash.into_iter().flat_map(Hash::iter) {
        reply.bulk(field);
        reply.bulk(value);
    }
    Ok(())
}
