//! Commands for keys of any type (db.c).

use super::connection::database_number;
use super::set;
use crate::config::RedisVersion;
use crate::config::events::EventClass;
use crate::data::glob;
use crate::protocol::error::{CommandError, CommandResult, NO_SUCH_KEY, SAME_OBJECT, SYNTAX};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const READ_FLAGS: Flags = Flags::READONLY.union(Flags::FAST);
const CHANGE: Flags = Flags::WRITE.union(Flags::FAST);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("del", -2, Flags::WRITE, Keys::ALL, delete),
    Command::new("unlink", -2, CHANGE, Keys::ALL, delete),
    Command::new("delex", -2, CHANGE, Keys::ONE, delete_if).since(RedisVersion::V8_4),
    Command::new("exists", -2, READ_FLAGS, Keys::ALL, exists),
    Command::new("touch", -2, READ_FLAGS, Keys::ALL, touch),
    Command::new("type", 2, READ_FLAGS, Keys::ONE, type_of),
    Command::new("keys", 2, Flags::READONLY, Keys::NONE, keys),
    Command::new("randomkey", 1, Flags::READONLY, Keys::NONE, randomkey),
    Command::new("rename", 3, Flags::WRITE, Keys::TWO, rename),
    Command::new("renamenx", 3, CHANGE, Keys::TWO, renamenx),
    Command::new("move", 3, CHANGE, Keys::ONE, move_key),
    Command::new("copy", -3, Flags::WRITE.union(Flags::DENYOOM), Keys::TWO, copy),
    Command::container(
        "object",
        &[
            Command::sub("object|encoding", 3, Flags::READONLY, encoding).with_keys(Keys {
                first: 2,
                last: 2,
                step: 1,
            }),
            Command::sub("object|freq", 3, Flags::READONLY, freq).with_keys(Keys {
                first: 2,
                last: 2,
                step: 1,
            }),
            Command::sub("object|idletime", 3, Flags::READONLY, idletime).with_keys(Keys {
                first: 2,
                last: 2,
                step: 1,
            }),
            Command::sub("object|refcount", 3, Flags::READONLY, refcount).with_keys(Keys {
                first: 2,
                last: 2,
                step: 1,
            }),
        ],
    ),
];

fn delete(call: &mut Call<'_>) -> CommandResult {
    let mut deleted = 0;
    for key in call.args.from(1).iter() {
        let Some(position) = call.server.find(call.db, key) else { continue };
        call.server.remove(call.db, position);
        call.server.notify(EventClass::Generic, "del", call.db, key);
        deleted += 1;
    }
    call.reply.integer(deleted);
    Ok(())
}

fn delete_if(call: &mut Call<'_>) -> CommandResult {
    if !matches!(call.args.len(), 2 | 4) {
        return Err(CommandError::fixed("ERR wrong number of arguments for 'delex' command"));
    }
    let key = call.arg(1);
    let Some(position) = call.server.find(call.db, key) else {
        call.reply.integer(0);
        return Ok(());
    };
    let is_wanted = call.args.len() == 2 || is_as_stated(call, position)?;
    if is_wanted {
        call.server.remove(call.db, position);
        call.server.notify(EventClass::Generic, "del", call.db, key);
        call.replace_effect(&[b"DEL", key]);
    }
    call.reply.integer(i64::from(is_wanted));
    Ok(())
}

fn is_as_stated(call: &Call<'_>, position: usize) -> Result<bool, CommandError> {
    const NO_STRING: CommandError =
        CommandError::fixed("ERR Key should be of string type if conditions are specified");
    const NO_CONDITION: CommandError =
        CommandError::fixed("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
    let (condition, value) = (call.arg(2), call.arg(3));
    let equals = set::holds(call, Some(position), value).map_err(|_| NO_STRING)?;
    match condition.to_ascii_lowercase().as_slice() {
        b"ifeq" => Ok(equals),
        b"ifne" => Ok(!equals),
        _ => Err(NO_CONDITION),
    }
}

fn exists(call: &mut Call<'_>) -> CommandResult {
    let keys = call.args.from(1).iter();
    let count = keys.filter(|key| call.server.find(call.db, key).is_some()).count();
    call.reply.count(count);
    Ok(())
}

fn touch(call: &mut Call<'_>) -> CommandResult {
    let keys = call.args.from(1).iter();
    let count = keys.filter(|key| call.server.read(call.db, key).is_some()).count();
    call.reply.count(count);
    Ok(())
}

fn type_of(call: &mut Call<'_>) -> CommandResult {
    let position = call.server.find(call.db, call.arg(1));
    let entry = position.and_then(|position| call.server.database(call.db).at(position));
    call.reply.status(entry.map_or("none", |(_, entry)| entry.value.type_name()));
    Ok(())
}

fn keys(call: &mut Call<'_>) -> CommandResult {
    let pattern = call.arg(1);
    let server = &*call.server;
    let alive = server.database(call.db).iter().filter(|(_, entry)| !server.is_expired(entry));
    let matching = alive.map(|(key, _)| key).filter(|key| glob::matches(pattern, key));
    call.reply.deferred_array(|reply| matching.map(|key| reply.bulk(key)).count());
    Ok(())
}

/// Replies with a random key. Draws again if the key has expired, but at most 100 times if the
/// server keeps expired keys, as a replica does (`dbRandomKey`).
fn randomkey(call: &mut Call<'_>) -> CommandResult {
    const TRIES_MAX: usize = 100;
    let mut tries = 0;
    loop {
        let length = call.server.database(call.db).len();
        if length == 0 {
            call.reply.null();
            return Ok(());
        }
        let position = call.server.random.below(length);
        let drawn = call.server.database(call.db).at(position);
        let key = drawn.map(|(key, _)| key.to_vec()).unwrap_or_default();
        let is_alive = call.server.find(call.db, &key).is_some();
        tries += usize::from(call.server.database(call.db).len() == length);
        if is_alive || tries == TRIES_MAX {
            call.reply.bulk(&key);
            return Ok(());
        }
    }
}

fn rename(call: &mut Call<'_>) -> CommandResult {
    rename_unless_taken(call, |_| true)?;
    call.reply.ok();
    Ok(())
}

fn renamenx(call: &mut Call<'_>) -> CommandResult {
    let renamed = rename_unless_taken(call, |is_taken| !is_taken)?;
    call.reply.integer(i64::from(renamed));
    Ok(())
}

fn rename_unless_taken(
    call: &mut Call<'_>,
    may: fn(bool) -> bool,
) -> Result<bool, crate::protocol::error::CommandError> {
    let (from, to, db) = (call.arg(1), call.arg(2), call.db);
    call.server.find(db, from).ok_or(NO_SUCH_KEY)?;
    let target = call.server.find(db, to);
    if from == to || !may(target.is_some()) {
        return Ok(may(target.is_some()));
    }
    let Some(entry) =
        call.server.find(db, from).and_then(|position| call.server.remove(db, position))
    else {
        return Err(NO_SUCH_KEY);
    };
    if let Some(target) = call.server.find(db, to) {
        call.server.remove(db, target);
    }
    let expires_at_ms = entry.expires_at_ms();
    call.server.store(db, to, entry.value, expires_at_ms);
    call.server.notify(EventClass::Generic, "rename_from", db, from);
    call.server.notify(EventClass::Generic, "rename_to", db, to);
    Ok(true)
}

fn move_key(call: &mut Call<'_>) -> CommandResult {
    let (key, db) = (call.arg(1), call.db);
    let target = database_number(call, call.arg(2))?;
    if target == db {
        return Err(SAME_OBJECT);
    }
    let is_taken = call.server.find(target, key).is_some();
    let Some(position) = call.server.find(db, key).filter(|_| !is_taken) else {
        call.reply.integer(0);
        return Ok(());
    };
    if let Some(entry) = call.server.remove(db, position) {
        let expires_at_ms = entry.expires_at_ms();
        call.server.store(target, key, entry.value, expires_at_ms);
    }
    call.server.notify(EventClass::Generic, "move_from", db, key);
    call.server.notify(EventClass::Generic, "move_to", target, key);
    call.reply.integer(1);
    Ok(())
}

fn copy(call: &mut Call<'_>) -> CommandResult {
    let (from, to, db) = (call.arg(1), call.arg(2), call.db);
    let (mut target_db, mut replace, mut index) = (db, false, 3);
    while index < call.args.len() {
        if call.args.is(index, "replace") {
            replace = true;
        } else if call.args.is(index, "db") && index + 1 < call.args.len() {
            index += 1;
            target_db = database_number(call, call.arg(index))?;
        } else {
            return Err(SYNTAX);
        }
        index += 1;
    }
    if target_db == db && from == to {
        return Err(SAME_OBJECT);
    }
    let source =
        call.server.read(db, from).map(|entry| (entry.value.clone(), entry.expires_at_ms()));
    let target = call.server.find(target_db, to);
    match (source, target) {
        (None, _) => call.reply.integer(0),
        (Some(_), Some(_)) if !replace => call.reply.integer(0),
        (Some((value, expires_at_ms)), _) => {
            call.server.store(target_db, to, value, expires_at_ms);
            call.server.notify(EventClass::Generic, "copy_to", target_db, to);
            call.reply.integer(1);
        }
    }
    Ok(())
}

fn object(call: &mut Call<'_>) -> Option<usize> {
    call.server.find(call.db, call.arg(2))
}

fn encoding(call: &mut Call<'_>) -> CommandResult {
    let position = object(call);
    let entry = position.and_then(|position| call.server.database(call.db).at(position));
    let name = entry.map(|(_, entry)| entry.value.encoding());
    call.reply.bulk_or_null(name.map(str::as_bytes));
    Ok(())
}

fn refcount(call: &mut Call<'_>) -> CommandResult {
    match object(call) {
        Some(_) => call.reply.integer(1),
        None => call.reply.null(),
    }
    Ok(())
}

fn idletime(call: &mut Call<'_>) -> CommandResult {
    let now_ms = call.server.now_ms();
    let position = object(call);
    match position.and_then(|position| call.server.database(call.db).at(position)) {
        Some((_, entry)) => call.reply.integer((now_ms - entry.used_at_ms).max(0) / 1_000),
        None => call.reply.null(),
    }
    Ok(())
}

fn freq(call: &mut Call<'_>) -> CommandResult {
    use crate::config::MaxmemoryPolicy::{AllKeysLfu, VolatileLfu};
    let position = object(call);
    match position.and_then(|position| call.server.database(call.db).at(position)) {
        None => call.reply.null(),
        Some((_, entry))
            if matches!(call.server.config.maxmemory_policy, AllKeysLfu | VolatileLfu) =>
        {
            call.reply.integer(i64::from(entry.uses.min(255)));
        }
        Some(_) => {
            return Err(crate::protocol::error::CommandError::fixed(
                "ERR An LFU maxmemory policy is not selected, access frequency not tracked. \
                 Please note that when \
                 switching between policies at runtime LRU and LFU data will take some time to \
                 adjust.",
            ));
        }
    }
    Ok(())
}
