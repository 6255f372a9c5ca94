//! Blocking commands on lists and sorted sets (t_list.c, t_zset.c).

use super::collection::peek;
use super::list::{Route, Several};
use super::{list, sorted_set};
use crate::config::RedisVersion;
use crate::data::number::parse_double;
use crate::data::value::{End, List, SortedSet};
use crate::protocol::error::{CommandError, CommandResult, TIMEOUT_OUT_OF_RANGE};
use crate::protocol::reply::Reply;
use crate::state::blocking::{Wait, Wanted};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Attempt, Call, Command};

const BLOCKING: Flags = Flags::WRITE.union(Flags::BLOCKING);
const BLOCKING_MOVE: Flags = BLOCKING.union(Flags::DENYOOM);
const ALL_BUT_LAST: Keys = Keys { first: 1, last: -2, step: 1 };

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("blpop", -3, BLOCKING, ALL_BUT_LAST, |call| pop(call, End::Left))
        .in_scripts_since(RedisVersion::V7_2),
    Command::new("brpop", -3, BLOCKING, ALL_BUT_LAST, |call| pop(call, End::Right))
        .in_scripts_since(RedisVersion::V7_2),
    Command::new("brpoplpush", 4, BLOCKING_MOVE, Keys::TWO, brpoplpush)
        .in_scripts_since(RedisVersion::V7_2),
    Command::new("blmove", 6, BLOCKING_MOVE, Keys::TWO, blmove)
        .in_scripts_since(RedisVersion::V7_2),
    Command::new("blmpop", -5, BLOCKING.union(Flags::MOVABLEKEYS), Keys::NONE, blmpop)
        .since(RedisVersion::V7_0),
    Command::new("bzmpop", -5, BLOCKING.union(Flags::MOVABLEKEYS), Keys::NONE, bzmpop)
        .since(RedisVersion::V7_0),
    Command::new("bzpopmin", -3, BLOCKING.union(Flags::FAST), ALL_BUT_LAST, |call| {
        zpop(call, End::Left)
    })
    .in_scripts_since(RedisVersion::V7_2),
    Command::new("bzpopmax", -3, BLOCKING.union(Flags::FAST), ALL_BUT_LAST, |call| {
        zpop(call, End::Right)
    })
    .in_scripts_since(RedisVersion::V7_2),
];

/// Returns the wall-clock deadline in milliseconds, if any (`getTimeoutFromObjectOrReply`).
fn deadline(call: &Call<'_>, text: &[u8]) -> Result<Option<i64>, CommandError> {
    const INVALID: CommandError = CommandError::fixed("ERR timeout is not a float or out of range");
    let seconds = parse_double(text).ok_or(INVALID)?;
    let millis = (seconds * 1_000.0).ceil();
    if millis > i64::MAX as f64 || seconds.is_infinite() {
        return Err(TIMEOUT_OUT_OF_RANGE);
    }
    if millis < 0.0 {
        return Err(CommandError::fixed("ERR timeout is negative"));
    }
    match millis as i64 {
        0 => Ok(None),
        millis => millis.checked_add(call.server.now_ms()).map(Some).ok_or(TIMEOUT_OUT_OF_RANGE),
    }
}

fn owned<'a>(keys: impl IntoIterator<Item = &'a [u8]>) -> Vec<Box<[u8]>> {
    keys.into_iter().map(Box::from).collect()
}

fn wait_for(
    call: &mut Call<'_>,
    wanted: Wanted,
    keys: Vec<Box<[u8]>>,
    until_ms: Option<i64>,
    attempt: Attempt,
    give_up: fn(&mut Reply),
) -> CommandResult {
    call.block(Wait { keys, wanted, attempt, give_up, until_ms })
}

fn pop(call: &mut Call<'_>, end: End) -> CommandResult {
    let last = call.args.len() - 1;
    let until_ms = deadline(call, call.arg(last))?;
    let keys = owned(call.args.up_to(last).from(1).iter());
    let wanted = keys.clone();
    let attempt = move |call: &mut Call<'_>| {
        for key in &wanted {
            if peek::<List>(call, key)?.is_none() {
                continue;
            }
            let taken = list::take(call, key, end, 1)?;
            call.replace_effect(&[if end == End::Left { b"LPOP" } else { b"RPOP" }, key]);
            call.reply.array(2);
            call.reply.bulk(key);
            call.reply.bulk_or_null(taken.first().map(|element| &**element));
            return Ok(true);
        }
        Ok(false)
    };
    wait_for(call, Wanted::List, keys, until_ms, Box::new(attempt), Reply::null_array)
}

fn move_element(call: &mut Call<'_>, route: Route, until_ms: Option<i64>) -> CommandResult {
    let (source, target): (Box<[u8]>, Box<[u8]>) = (call.arg(1).into(), call.arg(2).into());
    let keys = vec![source.clone()];
    let word = |end: End| if end == End::Left { &b"LEFT"[..] } else { b"RIGHT" };
    let attempt = move |call: &mut Call<'_>| {
        let Some(element) = list::shift(call, (&source, &target), route)? else { return Ok(false) };
        if route == (Route { from: End::Right, to: End::Left }) {
            call.replace_effect(&[b"RPOPLPUSH", &source, &target]);
        } else {
            call.replace_effect(&[b"LMOVE", &source, &target, word(route.from), word(route.to)]);
        }
        call.reply.bulk(&element);
        Ok(true)
    };
    wait_for(call, Wanted::List, keys, until_ms, Box::new(attempt), Reply::null)
}

fn brpoplpush(call: &mut Call<'_>) -> CommandResult {
    let until_ms = deadline(call, call.arg(3))?;
    move_element(call, Route { from: End::Right, to: End::Left }, until_ms)
}

fn blmove(call: &mut Call<'_>) -> CommandResult {
    let route = Route { from: list::parse_end(call.arg(3))?, to: list::parse_end(call.arg(4))? };
    let until_ms = deadline(call, call.arg(5))?;
    move_element(call, route, until_ms)
}

fn blmpop(call: &mut Call<'_>) -> CommandResult {
    pop_several(call, Wanted::List, list::parse_end, list::pop_several)
}

fn bzmpop(call: &mut Call<'_>) -> CommandResult {
    pop_several(call, Wanted::SortedSet, sorted_set::parse_end, sorted_set::pop_several)
}

fn pop_several(
    call: &mut Call<'_>,
    wanted: Wanted,
    parse_end: fn(&[u8]) -> Result<End, CommandError>,
    pop: fn(&mut Call<'_>, &Several<'_>) -> Result<bool, CommandError>,
) -> CommandResult {
    let until_ms = deadline(call, call.arg(1))?;
    let several = list::parse_several(call, 2, parse_end)?;
    let (keys, end, count) = (owned(several.keys), several.end, several.count);
    let names = keys.clone();
    let attempt = move |call: &mut Call<'_>| {
        let keys = names.iter().map(|key| &**key).collect();
        pop(call, &Several { keys, end, count })
    };
    wait_for(call, wanted, keys, until_ms, Box::new(attempt), Reply::null_array)
}

fn zpop(call: &mut Call<'_>, end: End) -> CommandResult {
    let last = call.args.len() - 1;
    let until_ms = deadline(call, call.arg(last))?;
    let keys = owned(call.args.up_to(last).from(1).iter());
    let wanted = keys.clone();
    let attempt = move |call: &mut Call<'_>| {
        for key in &wanted {
            if peek::<SortedSet>(call, key)?.is_none() {
                continue;
            }
            let taken = sorted_set::take(call, key, end, 1)?;
            call.replace_effect(&[if end == End::Left { b"ZPOPMIN" } else { b"ZPOPMAX" }, key]);
            call.reply.array(3);
            call.reply.bulk(key);
            for (member, score) in taken {
                call.reply.bulk(&member);
                call.reply.double(score);
            }
            return Ok(true);
        }
        Ok(false)
    };
    wait_for(call, Wanted::SortedSet, keys, until_ms, Box::new(attempt), Reply::null_array)
}
