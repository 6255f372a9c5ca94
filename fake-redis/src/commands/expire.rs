use crate::config::RedisVersion;
use crate::config::events::EventClass;
use crate::data::number::parse_integer;
use crate::protocol::args::Args;
use crate::protocol::error::{CommandError, CommandResult, NOT_AN_INTEGER};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Anchor, Call, Command};

const CHANGE: Flags = Flags::WRITE.union(Flags::FAST);
const READ_FLAGS: Flags = Flags::READONLY.union(Flags::FAST);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("expire", -3, CHANGE, Keys::ONE, |call| {
        expire(call, Time { scale: 1_000, from_now: true }, "expire")
    })
    .before(RedisVersion::V7_0, 3, CHANGE),
    Command::new("pexpire", -3, CHANGE, Keys::ONE, |call| {
        expire(call, Time { scale: 1, from_now: true }, "pexpire")
    })
    .before(RedisVersion::V7_0, 3, CHANGE),
    Command::new("expireat", -3, CHANGE, Keys::ONE, |call| {
        expire(call, Time { scale: 1_000, from_now: false }, "expireat")
    })
    .before(RedisVersion::V7_0, 3, CHANGE),
    Command::new("pexpireat", -3, CHANGE, Keys::ONE, |call| {
        expire(call, Time { scale: 1, from_now: false }, "pexpireat")
    })
    .before(RedisVersion::V7_0, 3, CHANGE),
    Command::new("ttl", 2, READ_FLAGS, Keys::ONE, |call| {
        ttl(call, |at, now| in_seconds(at.saturating_sub(now).max(0)))
    }),
    Command::new("pttl", 2, READ_FLAGS, Keys::ONE, |call| {
        ttl(call, |at, now| at.saturating_sub(now).max(0))
    }),
    Command::new("expiretime", 2, READ_FLAGS, Keys::ONE, |call| ttl(call, |at, _| in_seconds(at)))
        .since(RedisVersion::V7_0),
    Command::new("pexpiretime", 2, READ_FLAGS, Keys::ONE, |call| ttl(call, |at, _| at))
        .since(RedisVersion::V7_0),
    Command::new("persist", 2, CHANGE, Keys::ONE, persist),
];

#[derive(Clone, Copy)]
struct Time {
    scale: i64,
    from_now: bool,
}

#[derive(Clone, Copy, Default)]
struct Conditions {
    if_none: bool,
    if_some: bool,
    if_later: bool,
    if_earlier: bool,
}

fn parse_conditions(options: Args<'_>) -> Result<Conditions, CommandError> {
    let mut conditions = Conditions::default();
    for option in options.iter() {
        match &*option.to_ascii_lowercase() {
            b"nx" => conditions.if_none = true,
            b"xx" => conditions.if_some = true,
            b"gt" => conditions.if_later = true,
            b"lt" => conditions.if_earlier = true,
            _ => return Err(CommandError::text([b"ERR Unsupported option ", option].concat())),
        }
    }
    let Conditions { if_none, if_some, if_later, if_earlier } = conditions;
    if if_none && (if_some || if_later || if_earlier) {
        let text = "ERR NX and XX, GT or LT options at the same time are not compatible";
        return Err(CommandError::fixed(text));
    }
    if if_later && if_earlier {
        return Err(CommandError::fixed(
            "ERR GT and LT options at the same time are not compatible",
        ));
    }
    Ok(conditions)
}

impl Conditions {
    fn allow(self, old: Option<i64>, new: i64) -> bool {
        let is_later = old.is_some_and(|old| new > old);
        let is_earlier = old.is_none_or(|old| new < old);
        !(self.if_none && old.is_some()
            || self.if_some && old.is_none()
            || self.if_later && !is_later
            || self.if_earlier && !is_earlier)
    }
}

fn instant(call: &Call<'_>, time: Time, command: &str) -> Result<i64, CommandError> {
    let number = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    let base = if time.from_now { call.server.now_ms() } else { 0 };
    let millis = number.checked_mul(time.scale).and_then(|millis| millis.checked_add(base));
    millis.ok_or_else(|| super::set::invalid_expiry(call.server.config.version, command))
}

fn expire(call: &mut Call<'_>, time: Time, command: &str) -> CommandResult {
    let conditions = parse_conditions(call.args.from(3))?;
    let at = instant(call, time, command)?;
    let (key, db) = (call.arg(1), call.db);
    let Some(position) = call.server.find(db, key) else {
        call.reply.integer(0);
        return Ok(());
    };
    let old = call.server.database(db).at(position).and_then(|(_, entry)| entry.expires_at_ms());
    if !conditions.allow(old, at) {
        call.reply.integer(0);
        return Ok(());
    }
    call.reply.integer(1);
    if call.server.is_past_deadline(at) {
        call.server.remove(db, position);
        call.replace_effect(&[b"DEL", key]);
        call.server.notify(EventClass::Generic, "del", db, key);
    } else {
        call.server.set_expiry(db, position, key, Some(at));
        let anchor = if time.from_now { Anchor::Now } else { Anchor::Epoch };
        call.replace_timed_effect(anchor, &[b"PEXPIREAT", key], at);
        call.server.notify(EventClass::Generic, "expire", db, key);
    }
    Ok(())
}

fn in_seconds(millis: i64) -> i64 {
    millis.div_euclid(1_000) + i64::from(millis.rem_euclid(1_000) >= 500)
}

fn ttl(call: &mut Call<'_>, show: fn(i64, i64) -> i64) -> CommandResult {
    let now_ms = call.server.now_ms();
    let position = call.server.find(call.db, call.arg(1));
    let entry = position.and_then(|position| call.server.database(call.db).at(position));
    let answer = match entry.map(|(_, entry)| entry.expires_at_ms()) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => show(at, now_ms),
    };
    call.reply.integer(answer);
    Ok(())
}

fn persist(call: &mut Call<'_>) -> CommandResult {
    let (key, db) = (call.arg(1), call.db);
    let position = call.server.find(db, key);
    let volatile = position.filter(|position| {
        let entry = call.server.database(db).at(*position);
        entry.is_some_and(|(_, entry)| entry.expires_at_ms().is_some())
    });
    if let Some(position) = volatile {
        call.server.set_expiry(db, position, key, None);
        call.server.notify(EventClass::Generic, "persist", db, key);
    }
    call.reply.integer(i64::from(volatile.is_some()));
    Ok(())
}
