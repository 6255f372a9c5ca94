//! Non-blocking list commands (t_list.c).

use super::collection::{edit, edit_existing, peek, positions, read};
use crate::config::RedisVersion;
use crate::data::number::parse_integer;
use crate::data::value::{End, List};
use crate::protocol::error::{
    CommandError, CommandResult, INDEX_OUT_OF_RANGE, NO_SUCH_KEY, NOT_A_POSITIVE, NOT_AN_INTEGER,
    SYNTAX,
};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const PUSH: Flags = Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST);
const POP: Flags = Flags::WRITE.union(Flags::FAST);
const CHANGE: Flags = Flags::WRITE.union(Flags::DENYOOM);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("lpush", -3, PUSH, Keys::ONE, |call| push(call, End::Left)),
    Command::new("rpush", -3, PUSH, Keys::ONE, |call| push(call, End::Right)),
    Command::new("lpushx", -3, PUSH, Keys::ONE, |call| push_existing(call, End::Left)),
    Command::new("rpushx", -3, PUSH, Keys::ONE, |call| push_existing(call, End::Right)),
    Command::new("lpop", -2, POP, Keys::ONE, |call| pop(call, End::Left)),
    Command::new("rpop", -2, POP, Keys::ONE, |call| pop(call, End::Right)),
    Command::new("llen", 2, Flags::READONLY.union(Flags::FAST), Keys::ONE, llen),
    Command::new("lindex", 3, Flags::READONLY, Keys::ONE, lindex),
    Command::new("lrange", 4, Flags::READONLY, Keys::ONE, lrange),
    Command::new("lset", 4, CHANGE, Keys::ONE, lset),
    Command::new("ltrim", 4, Flags::WRITE, Keys::ONE, ltrim),
    Command::new("lrem", 4, Flags::WRITE, Keys::ONE, lrem),
    Command::new("linsert", 5, CHANGE, Keys::ONE, linsert),
    Command::new("lpos", -3, Flags::READONLY, Keys::ONE, lpos),
    Command::new("rpoplpush", 3, CHANGE, Keys::TWO, rpoplpush),
    Command::new("lmove", 5, CHANGE, Keys::TWO, lmove),
    Command::new("lmpop", -4, Flags::WRITE.union(Flags::MOVABLEKEYS), Keys::NONE, lmpop)
        .since(RedisVersion::V7_0),
];

fn push_event(end: End) -> &'static str {
    if end == End::Left { "lpush" } else { "rpush" }
}

fn pop_event(end: End) -> &'static str {
    if end == End::Left { "lpop" } else { "rpop" }
}

fn push(call: &mut Call<'_>, end: End) -> CommandResult {
    let elements = call.args.from(2).iter();
    let length = edit(call, call.arg(1), push_event(end), |list: &mut List| {
        elements.for_each(|element| list.push(end, element));
        (list.len(), true)
    })?;
    call.reply.count(length);
    Ok(())
}

fn push_existing(call: &mut Call<'_>, end: End) -> CommandResult {
    let elements = call.args.from(2).iter();
    let length = edit_existing(call, call.arg(1), push_event(end), |list: &mut List| {
        elements.for_each(|element| list.push(end, element));
        (list.len(), true)
    })?;
    call.reply.count(length.unwrap_or(0));
    Ok(())
}

pub(super) fn take(
    call: &mut Call<'_>,
    key: &[u8],
    end: End,
    count: usize,
) -> Result<Vec<Box<[u8]>>, CommandError> {
    let taken = edit_existing(call, key, pop_event(end), |list: &mut List| {
        let taken: Vec<_> = std::iter::from_fn(|| list.pop(end)).take(count).collect();
        let is_changed = !taken.is_empty();
        (taken, is_changed)
    })?;
    Ok(taken.unwrap_or_default())
}

pub(super) fn positive_count(text: &[u8]) -> Result<usize, CommandError> {
    let count = parse_integer(text).ok_or(NOT_A_POSITIVE)?;
    usize::try_from(count).map_err(|_| NOT_A_POSITIVE)
}

fn pop(call: &mut Call<'_>, end: End) -> CommandResult {
    if call.args.len() > 3 {
        let name = String::from_utf8_lossy(&call.arg(0).to_ascii_lowercase()).into_owned();
        return Err(CommandError::text(format!(
            "ERR wrong number of arguments for '{name}' command"
        )));
    }
    let count = if call.args.len() == 3 { Some(positive_count(call.arg(2))?) } else { None };
    let is_there = peek::<List>(call, call.arg(1))?.is_some();
    match (is_there, count) {
        (false, None) => call.reply.null(),
        (false, Some(_)) => call.reply.null_array(),
        (true, None) => {
            let taken = take(call, call.arg(1), end, 1)?;
            call.reply.bulk_or_null(taken.first().map(|element| &**element));
        }
        (true, Some(count)) => {
            let taken = take(call, call.arg(1), end, count)?;
            call.reply.array(taken.len());
            taken.iter().for_each(|element| call.reply.bulk(element));
        }
    }
    Ok(())
}

fn llen(call: &mut Call<'_>) -> CommandResult {
    let (list, reply) = read::<List>(call, call.arg(1))?;
    reply.count(list.map_or(0, List::len));
    Ok(())
}

fn position(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(length as i64)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < length)
}

fn lindex(call: &mut Call<'_>) -> CommandResult {
    let index = call.arg(2);
    let (list, reply) = read::<List>(call, call.arg(1))?;
    let Some(list) = list else {
        reply.null();
        return Ok(());
    };
    let index = parse_integer(index).ok_or(NOT_AN_INTEGER)?;
    reply.bulk_or_null(position(index, list.len()).and_then(|position| list.get(position)));
    Ok(())
}

fn bounds(call: &Call<'_>) -> Result<(i64, i64), CommandError> {
    let start = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    let stop = parse_integer(call.arg(3)).ok_or(NOT_AN_INTEGER)?;
    Ok((start, stop))
}

fn lrange(call: &mut Call<'_>) -> CommandResult {
    let (start, stop) = bounds(call)?;
    let (list, reply) = read::<List>(call, call.arg(1))?;
    let Some(list) = list else {
        reply.array(0);
        return Ok(());
    };
    let range = positions(start, stop, list.len());
    reply.array(range.len());
    list.range(range).for_each(|element| reply.bulk(element));
    Ok(())
}

fn lset(call: &mut Call<'_>) -> CommandResult {
    let element = call.arg(3);
    peek::<List>(call, call.arg(1))?.ok_or(NO_SUCH_KEY)?;
    let index = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    let was_set = edit_existing(call, call.arg(1), "lset", |list: &mut List| {
        let was_set =
            position(index, list.len()).is_some_and(|position| list.set(position, element));
        (was_set, was_set)
    })?;
    if was_set != Some(true) {
        return Err(INDEX_OUT_OF_RANGE);
    }
    call.reply.ok();
    Ok(())
}

fn ltrim(call: &mut Call<'_>) -> CommandResult {
    let (start, stop) = bounds(call)?;
    edit_existing(call, call.arg(1), "ltrim", |list: &mut List| {
        let range = positions(start, stop, list.len());
        list.keep(range);
        ((), true)
    })?;
    call.reply.ok();
    Ok(())
}

fn lrem(call: &mut Call<'_>) -> CommandResult {
    let count = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    let element = call.arg(3);
    let removed = edit_existing(call, call.arg(1), "lrem", |list: &mut List| {
        let wanted = if count == 0 {
            usize::MAX
        } else {
            usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX)
        };
        let equal = list
            .iter()
            .enumerate()
            .filter(|(_, other)| *other == element)
            .map(|(position, _)| position);
        let mut found: Vec<usize> = if count < 0 {
            equal.collect::<Vec<_>>().into_iter().rev().take(wanted).collect()
        } else {
            equal.take(wanted).collect()
        };
        // Removing the last positions first keeps the remaining positions valid.
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.iter().for_each(|position| list.remove(*position));
        (found.len(), !found.is_empty())
    })?;
    call.reply.count(removed.unwrap_or(0));
    Ok(())
}

fn linsert(call: &mut Call<'_>) -> CommandResult {
    let offset = match &*call.arg(2).to_ascii_lowercase() {
        b"before" => 0,
        b"after" => 1,
        _ => return Err(SYNTAX),
    };
    let (pivot, element) = (call.arg(3), call.arg(4));
    let length = edit_existing(call, call.arg(1), "linsert", |list: &mut List| {
        let place = list.iter().position(|other| other == pivot);
        if let Some(place) = place {
            list.insert(place + offset, element);
        }
        (place.map_or(-1, |_| list.len() as i64), place.is_some())
    })?;
    call.reply.integer(length.unwrap_or(0));
    Ok(())
}

struct Search {
    rank: i64,
    count: Option<usize>,
    compared_max: usize,
}

fn parse_search(call: &Call<'_>) -> Result<Search, CommandError> {
    let mut search = Search { rank: 1, count: None, compared_max: 0 };
    let mut index = 3;
    while index < call.args.len() {
        if index + 1 == call.args.len() {
            return Err(SYNTAX);
        }
        let value = call.arg(index + 1);
        match &*call.arg(index).to_ascii_lowercase() {
            b"rank" => search.rank = rank(call, value)?,
            b"count" => search.count = Some(at_least_zero(value, "ERR COUNT can't be negative")?),
            b"maxlen" => {
                search.compared_max = at_least_zero(value, "ERR MAXLEN can't be negative")?
            }
            _ => return Err(SYNTAX),
        }
        if search.rank == 0 {
            return Err(CommandError::fixed(
                "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second \
                 ... or use negative to start \
                 from the end of the list",
            ));
        }
        index += 2;
    }
    Ok(search)
}

/// Before Redis 7.2, the lowest integer is a valid rank, although its negation overflows.
fn rank(call: &Call<'_>, text: &[u8]) -> Result<i64, CommandError> {
    match parse_integer(text).ok_or(NOT_AN_INTEGER)? {
        i64::MIN if call.server.config.version >= RedisVersion::V7_2 => Err(CommandError::text(
            format!("ERR value is out of range, value must between {} and {}", -i64::MAX, i64::MAX),
        )),
        rank => Ok(rank),
    }
}

fn at_least_zero(text: &[u8], otherwise: &'static str) -> Result<usize, CommandError> {
    let number = parse_integer(text).and_then(|number| usize::try_from(number).ok());
    number.ok_or(CommandError::fixed(otherwise))
}

fn lpos(call: &mut Call<'_>) -> CommandResult {
    let search = parse_search(call)?;
    let element = call.arg(2);
    let (list, reply) = read::<List>(call, call.arg(1))?;
    let length = list.map_or(0, List::len);
    let compared = if search.compared_max == 0 { length } else { search.compared_max.min(length) };
    let position = |step: usize| if search.rank > 0 { step } else { length - 1 - step };
    let wanted = match search.count {
        None => 1,
        Some(0) => usize::MAX,
        Some(count) => count,
    };
    let equal = (0..compared)
        .map(position)
        .filter(|position| list.is_some_and(|list| list.get(*position) == Some(element)));
    // As in Redis 7.0, the negation of the lowest rank overflows, so the first match counts.
    let rank = search.rank.checked_abs().unwrap_or(1);
    let skipped = usize::try_from(rank - 1).unwrap_or(usize::MAX);
    let found: Vec<usize> = equal.skip(skipped).take(wanted).collect();
    match (search.count, found.first()) {
        (None, None) => reply.null(),
        (None, Some(first)) => reply.count(*first),
        (Some(_), _) => {
            reply.array(found.len());
            found.iter().for_each(|position| reply.count(*position));
        }
    }
    Ok(())
}

pub(super) fn parse_end(word: &[u8]) -> Result<End, CommandError> {
    match &*word.to_ascii_lowercase() {
        b"left" => Ok(End::Left),
        b"right" => Ok(End::Right),
        _ => Err(SYNTAX),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Route {
    pub(super) from: End,
    pub(super) to: End,
}

pub(super) fn shift(
    call: &mut Call<'_>,
    (source, target): (&[u8], &[u8]),
    route: Route,
) -> Result<Option<Box<[u8]>>, CommandError> {
    if peek::<List>(call, source)?.is_none() {
        return Ok(None);
    }
    peek::<List>(call, target)?;
    if source == target {
        return rotate(call, source, route);
    }
    let taken = edit_existing(call, source, pop_event(route.from), |list: &mut List| {
        (list.pop(route.from), true)
    })?;
    let Some(element) = taken.flatten() else { return Ok(None) };
    edit(call, target, push_event(route.to), |list: &mut List| {
        list.push(route.to, &element);
        ((), true)
    })?;
    Ok(Some(element))
}

/// Moves an element in one edit, so that a one-element list is not removed in between.
fn rotate(
    call: &mut Call<'_>,
    key: &[u8],
    route: Route,
) -> Result<Option<Box<[u8]>>, CommandError> {
    let element = edit_existing(call, key, push_event(route.to), |list: &mut List| {
        let element = list.pop(route.from);
        if let Some(element) = &element {
            list.push(route.to, element);
        }
        (element, true)
    })?;
    call.server.notify(
        crate::config::events::EventClass::List,
        pop_event(route.from),
        call.db,
        key,
    );
    Ok(element.flatten())
}

fn rpoplpush(call: &mut Call<'_>) -> CommandResult {
    let moved = shift(call, (call.arg(1), call.arg(2)), Route { from: End::Right, to: End::Left })?;
    call.reply.bulk_or_null(moved.as_deref());
    Ok(())
}

fn lmove(call: &mut Call<'_>) -> CommandResult {
    let route = Route { from: parse_end(call.arg(3))?, to: parse_end(call.arg(4))? };
    let moved = shift(call, (call.arg(1), call.arg(2)), route)?;
    call.reply.bulk_or_null(moved.as_deref());
    Ok(())
}

pub(super) struct Several<'a> {
    pub(super) keys: Vec<&'a [u8]>,
    pub(super) end: End,
    pub(super) count: usize,
}

pub(super) fn parse_several<'a>(
    call: &Call<'a>,
    first: usize,
    parse_end: fn(&[u8]) -> Result<End, CommandError>,
) -> Result<Several<'a>, CommandError> {
    let number = parse_integer(call.arg(first)).and_then(|number| usize::try_from(number).ok());
    let number = number
        .filter(|number| *number > 0)
        .ok_or(CommandError::fixed("ERR numkeys should be greater than 0"))?;
    let place = first.saturating_add(number).saturating_add(1);
    if place >= call.args.len() {
        return Err(SYNTAX);
    }
    let end = parse_end(call.arg(place))?;
    let (mut count, mut index) = (None, place + 1);
    while index < call.args.len() {
        if count.is_some() || !call.args.is(index, "count") || index + 1 == call.args.len() {
            return Err(SYNTAX);
        }
        let number =
            parse_integer(call.arg(index + 1)).and_then(|count| usize::try_from(count).ok());
        let number = number.filter(|count| *count > 0);
        count = Some(number.ok_or(CommandError::fixed("ERR count should be greater than 0"))?);
        index += 2;
    }
    let count = count.unwrap_or(1);
    let keys = call.args.up_to(place).from(first + 1).iter().collect();
    Ok(Several { keys, end, count })
}

pub(super) fn pop_several(
    call: &mut Call<'_>,
    several: &Several<'_>,
) -> Result<bool, CommandError> {
    for key in &several.keys {
        if peek::<List>(call, key)?.is_none() {
            continue;
        }
        let taken = take(call, key, several.end, several.count)?;
        let name: &[u8] = if several.end == End::Left { b"LPOP" } else { b"RPOP" };
        call.replace_effect(&[name, key, taken.len().to_string().as_bytes()]);
        call.reply.array(2);
        call.reply.bulk(key);
        call.reply.array(taken.len());
        taken.iter().for_each(|element| call.reply.bulk(element));
        return Ok(true);
    }
    Ok(false)
}

fn lmpop(call: &mut Call<'_>) -> CommandResult {
    let several = parse_several(call, 1, parse_end)?;
    if !pop_several(call, &several)? {
        call.reply.null_array();
    }
    Ok(())
}
