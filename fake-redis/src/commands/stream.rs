//! Commands on streams (t_stream.c). Consumer groups are not modelled.

use super::collection::read;
use crate::config::RedisVersion;
use crate::config::events::EventClass;
use crate::data::number::parse_integer;
use crate::data::value::{Entry, Keep, NODE_ENTRIES_MAX, Pairs, Stream, StreamId, Trim, Value};
use crate::protocol::error::{
    CommandError, CommandResult, INVALID_STREAM_ID, NOT_AN_INTEGER, SYNTAX, WRONG_TYPE,
};
use crate::protocol::reply::Reply;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const APPEND: Flags = Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST);
const READ: Flags = Flags::READONLY.union(Flags::FAST);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("xadd", -5, APPEND, Keys::ONE, xadd),
    Command::new("xlen", 2, READ, Keys::ONE, xlen),
    Command::new("xtrim", -4, Flags::WRITE, Keys::ONE, xtrim),
    Command::new("xdel", -3, Flags::WRITE.union(Flags::FAST), Keys::ONE, xdel),
    Command::new("xrange", -4, Flags::READONLY, Keys::ONE, |call| range(call, Order::Forward)),
    Command::new("xrevrange", -4, Flags::READONLY, Keys::ONE, |call| range(call, Order::Backward)),
];

/// Maximum number of entries that an approximate trim without LIMIT removes (100 full nodes).
const LIMIT: usize = 100 * NODE_ENTRIES_MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Forward,
    Backward,
}

#[derive(Clone, Copy)]
enum Wanted {
    Next,
    NextOf(u64),
    Exactly(StreamId),
}

#[derive(Default)]
struct Options {
    keeps_absent: bool,
    trim: Option<(Trim, usize)>,
    id: Option<(Wanted, usize)>,
}

fn error(text: &'static str) -> CommandError {
    CommandError::fixed(text)
}

/// Parses an unsigned integer as leniently as `string2ull`.
fn parse_part(text: &[u8]) -> Option<u64> {
    if let Some(integer) = parse_integer(text) {
        return u64::try_from(integer).ok();
    }
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    match digits.strip_prefix('-') {
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => digits.parse().ok().map(u64::wrapping_neg),
        None => digits.parse().ok(),
    }
}

fn parse_id(text: &[u8], missing: u64) -> Result<StreamId, CommandError> {
    let mut parts = text.splitn(2, |byte| *byte == b'-');
    let ms = parts.next().and_then(parse_part);
    let sequence = parts.next().map_or(Some(missing), parse_part);
    let id = ms.zip(sequence).filter(|_| text.len() <= 127);
    id.map(|(ms, sequence)| StreamId { ms, sequence }).ok_or(INVALID_STREAM_ID)
}

fn parse_options(call: &Call<'_>, adds: bool) -> Result<Options, CommandError> {
    let (mut options, mut limit) = (Options::default(), None);
    let (count, mut index) = (call.args.len(), 2);
    while index < count {
        let (word, more) = (call.arg(index).to_ascii_lowercase(), count - 1 - index);
        match &*word {
            b"*" if adds => {
                options.id = Some((Wanted::Next, index));
                break;
            }
            name @ (b"maxlen" | b"minid") if more > 0 => {
                if options.trim.is_some() {
                    return Err(error(
                        "ERR syntax error, MAXLEN and MINID options at the same time are not \
                         compatible",
                    ));
                }
                let is_marked = more >= 2 && matches!(call.arg(index + 1), b"~" | b"=");
                let is_approximate = is_marked && call.arg(index + 1) == b"~";
                index += 1 + usize::from(is_marked);
                let keep = keep(name, call.arg(index))?;
                options.trim = Some((Trim { keep, is_approximate, limit: None }, index));
            }
            b"limit" if more > 0 => {
                index += 1;
                let stated = parse_integer(call.arg(index)).ok_or(NOT_AN_INTEGER)?;
                let stated = usize::try_from(stated)
                    .map_err(|_| error("ERR The LIMIT argument must be >= 0."))?;
                limit = Some(stated);
            }
            b"nomkstream" if adds => options.keeps_absent = true,
            _ if adds => {
                let version = call.server.config.version;
                options.id = Some((wanted(call.arg(index), version)?, index));
                break;
            }
            _ => return Err(SYNTAX),
        }
        index += 1;
    }
    limit_trim(call, &mut options, limit, adds)?;
    Ok(options)
}

fn limit_trim(
    call: &Call<'_>,
    options: &mut Options,
    stated: Option<usize>,
    adds: bool,
) -> CommandResult {
    let Some((trim, _)) = &mut options.trim else {
        return match stated {
            Some(1..) => Err(error(
                "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
            )),
            _ if adds => Ok(()),
            _ => Err(error("ERR syntax error, XTRIM must be called with a trimming strategy")),
        };
    };
    if call.server.client(call.client).role.must_be_obeyed() {
        return Ok(());
    }
    if stated.is_some() && !trim.is_approximate {
        return Err(error("ERR syntax error, LIMIT cannot be used without the special ~ option"));
    }
    let limit = stated.unwrap_or(if trim.is_approximate { LIMIT } else { 0 });
    trim.limit = Some(limit).filter(|limit| *limit > 0);
    Ok(())
}

fn keep(name: &[u8], text: &[u8]) -> Result<Keep, CommandError> {
    if name == b"minid" {
        return parse_id(text, 0).map(Keep::From);
    }
    let length = parse_integer(text).ok_or(NOT_AN_INTEGER)?;
    let length =
        usize::try_from(length).map_err(|_| error("ERR The MAXLEN argument must be >= 0."))?;
    Ok(Keep::Newest(length))
}

fn wanted(text: &[u8], version: RedisVersion) -> Result<Wanted, CommandError> {
    match text.strip_suffix(b"-*") {
        Some(ms) if version >= RedisVersion::V7_0 => {
            parse_part(ms).map(Wanted::NextOf).ok_or(INVALID_STREAM_ID)
        }
        _ => parse_id(text, 0).map(Wanted::Exactly),
    }
}

fn next_id(wanted: Wanted, last: StreamId, now_ms: u64) -> Result<StreamId, CommandError> {
    const ID_TOO_SMALL: &str =
        "ERR The ID specified in XADD is equal or smaller than the target stream top item";
    let exhausted =
        || error("ERR The stream has exhausted the last possible ID, unable to add more items");
    let after_last = last.next().ok_or_else(exhausted)?;
    let id = match wanted {
        Wanted::Next if last.ms < now_ms => StreamId { ms: now_ms, sequence: 0 },
        Wanted::Next => after_last,
        Wanted::NextOf(ms) if ms == last.ms && after_last.ms == ms => after_last,
        Wanted::NextOf(ms) => StreamId { ms, sequence: 0 },
        Wanted::Exactly(id) => id,
    };
    if last < id { Ok(id) } else { Err(error(ID_TOO_SMALL)) }
}

fn position(call: &mut Call<'_>) -> Result<Option<usize>, CommandError> {
    let Some(position) = call.server.find(call.db, call.arg(1)) else { return Ok(None) };
    let entry = call.server.database(call.db).at(position);
    match entry.map(|(_, entry)| &entry.value) {
        Some(Value::Stream(_)) => Ok(Some(position)),
        _ => Err(WRONG_TYPE),
    }
}

fn at<'c>(call: &'c mut Call<'_>, position: usize) -> Result<&'c mut Stream, CommandError> {
    match call.server.value_mut(call.db, position) {
        Some(Value::Stream(stream)) => Ok(stream),
        _ => Err(WRONG_TYPE),
    }
}

fn xadd(call: &mut Call<'_>) -> CommandResult {
    let options = parse_options(call, true)?;
    let fields = options.id.map_or(call.args.len(), |(_, place)| place + 1);
    let Some((wanted, place)) = options
        .id
        .filter(|_| fields + 2 <= call.args.len() && (call.args.len() - fields).is_multiple_of(2))
    else {
        return Err(error("ERR wrong number of arguments for 'xadd' command"));
    };
    if matches!(wanted, Wanted::Exactly(StreamId::MIN)) {
        return Err(error("ERR The ID specified in XADD must be greater than 0-0"));
    }
    let position = position(call)?;
    if position.is_none() && options.keeps_absent {
        call.reply.null();
        return Ok(());
    }
    let now_ms = u64::try_from(call.server.now_ms()).unwrap_or(0);
    let last = match position {
        Some(position) => at(call, position)?.last(),
        None => StreamId::MIN,
    };
    let id = next_id(wanted, last, now_ms)?;
    let pairs: Pairs =
        call.args.from(fields).pairs().map(|(field, value)| (field.into(), value.into())).collect();
    let (mut trimmed, mut kept) = (0, None);
    let change = |stream: &mut Stream| {
        stream.append(id, pairs);
        if let Some((trim, _)) = options.trim {
            trimmed = stream.trim(trim);
            kept = Some(outcome(stream, trim));
        }
    };
    let (key, db) = (call.arg(1), call.db);
    match position {
        Some(position) => {
            change(at(call, position)?);
            call.server.changed(db, position, key);
        }
        None => {
            let mut stream = Stream::default();
            change(&mut stream);
            call.server.store(db, key, Value::Stream(Box::new(stream)), None);
        }
    }
    call.server.notify(EventClass::Stream, "xadd", db, key);
    if trimmed > 0 {
        call.server.notify(EventClass::Stream, "xtrim", db, key);
    }
    let text = id.text();
    state(call, &options, kept, Some((place, text.as_bytes())));
    call.reply.bulk(text.as_bytes());
    Ok(())
}

fn outcome(stream: &Stream, trim: Trim) -> String {
    match trim.keep {
        Keep::Newest(_) => stream.len().to_string(),
        Keep::From(_) => stream.first().unwrap_or_default().text(),
    }
}

fn state(call: &mut Call<'_>, options: &Options, kept: Option<String>, id: Option<(usize, &[u8])>) {
    let mut parts: Vec<&[u8]> = call.args.iter().collect();
    if let Some((place, id)) = id {
        parts[place] = id;
    }
    if let (Some((trim, place)), Some(kept)) = (options.trim, &kept)
        && trim.is_approximate
    {
        parts[place - 1] = b"=";
        parts[place] = kept.as_bytes();
    }
    call.replace_effect(&parts);
}

fn xlen(call: &mut Call<'_>) -> CommandResult {
    let (stream, reply) = read::<Stream>(call, call.arg(1))?;
    reply.count(stream.map_or(0, Stream::len));
    Ok(())
}

fn xtrim(call: &mut Call<'_>) -> CommandResult {
    let options = parse_options(call, false)?;
    let position = position(call)?;
    let (Some(position), Some((trim, _))) = (position, options.trim) else {
        call.reply.integer(0);
        return Ok(());
    };
    let (key, db) = (call.arg(1), call.db);
    let stream = at(call, position)?;
    let trimmed = stream.trim(trim);
    let kept = outcome(stream, trim);
    if trimmed > 0 {
        call.server.changed(db, position, key);
        call.server.notify(EventClass::Stream, "xtrim", db, key);
        state(call, &options, Some(kept), None);
    }
    call.reply.count(trimmed);
    Ok(())
}

fn xdel(call: &mut Call<'_>) -> CommandResult {
    let Some(position) = position(call)? else {
        call.reply.integer(0);
        return Ok(());
    };
    let ids = call.args.from(2).iter().map(|text| parse_id(text, 0));
    let ids: Vec<StreamId> = ids.collect::<Result<_, _>>()?;
    let (key, db) = (call.arg(1), call.db);
    let stream = at(call, position)?;
    let removed = ids.into_iter().filter(|id| stream.remove(*id)).count();
    if removed > 0 {
        call.server.changed(db, position, key);
        call.server.notify(EventClass::Stream, "xdel", db, key);
    }
    call.reply.count(removed);
    Ok(())
}

fn parse_end(
    text: &[u8],
    missing: u64,
    beyond: fn(StreamId) -> Option<StreamId>,
) -> Result<Option<StreamId>, CommandError> {
    match text {
        b"-" => Ok(Some(StreamId::MIN)),
        b"+" => Ok(Some(StreamId::MAX)),
        [b'(', id @ ..] if !id.is_empty() => parse_id(id, missing).map(beyond),
        id => parse_id(id, missing).map(Some),
    }
}

fn parse_count(call: &Call<'_>) -> Result<Option<usize>, CommandError> {
    let (mut count, mut index) = (None, 4);
    while index < call.args.len() {
        if !call.args.is(index, "count") || index + 1 == call.args.len() {
            return Err(SYNTAX);
        }
        let stated = parse_integer(call.arg(index + 1)).ok_or(NOT_AN_INTEGER)?;
        count = Some(usize::try_from(stated).unwrap_or(0));
        index += 2;
    }
    Ok(count)
}

fn range(call: &mut Call<'_>, order: Order) -> CommandResult {
    let (first, last) = match order {
        Order::Forward => (call.arg(2), call.arg(3)),
        Order::Backward => (call.arg(3), call.arg(2)),
    };
    let from = parse_end(first, 0, StreamId::next)?
        .ok_or(error("ERR invalid start ID for the interval"))?;
    let to = parse_end(last, u64::MAX, StreamId::previous)?
        .ok_or(error("ERR invalid end ID for the interval"))?;
    let count = parse_count(call)?;
    let (stream, reply) = read::<Stream>(call, call.arg(1))?;
    let Some(stream) = stream else {
        reply.array(0);
        return Ok(());
    };
    if count == Some(0) {
        reply.null_array();
        return Ok(());
    }
    let is_within = |entry: &&Entry| from <= entry.id && entry.id <= to;
    let most = count.unwrap_or(usize::MAX);
    let entries: Vec<&Entry> = match order {
        Order::Forward => stream.iter().filter(is_within).take(most).collect(),
        Order::Backward => stream.iter().rev().filter(is_within).take(most).collect(),
    };
    reply.array(entries.len());
    entries.into_iter().for_each(|entry| write_entry(reply, entry));
    Ok(())
}

fn write_entry(reply: &mut Reply, entry: &Entry) {
    reply.array(2);
    reply.bulk(entry.id.text().as_bytes());
    reply.array(2 * entry.pairs.len());
    for (field, value) in &entry.pairs {
        reply.bulk(field);
        reply.bulk(value);
    }
}
