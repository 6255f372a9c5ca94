//! SCAN and HSCAN iterate without a snapshot. A cursor is the number of elements left to visit,
//! from the last to the first. A removal moves the last element into the gap, so the iteration
//! skips no remaining element.

use crate::data::number::parse_integer;
use crate::data::value::Value;
use crate::data::{glob, number};
use crate::protocol::args::Args;
use crate::protocol::error::{
    CommandError, CommandResult, INVALID_CURSOR, NOT_AN_INTEGER, SYNTAX, WRONG_TYPE,
};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("scan", -2, Flags::READONLY, Keys::NONE, scan),
    Command::new("hscan", -3, Flags::READONLY, Keys::ONE, hscan),
];

pub(super) struct Options<'a> {
    pub(super) pattern: Option<&'a [u8]>,
    pub(super) count: usize,
    kind: Option<&'a [u8]>,
}

pub(super) fn parse_cursor(text: &[u8]) -> Result<usize, CommandError> {
    let cursor = number::parse_cursor(text).ok_or(INVALID_CURSOR)?;
    Ok(usize::try_from(cursor).unwrap_or(usize::MAX))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    Scan,
    HScan,
}

pub(super) fn parse_options(
    options: Args<'_>,
    grammar: Grammar,
) -> Result<Options<'_>, CommandError> {
    let mut parsed = Options { pattern: None, count: 10, kind: None };
    if !options.len().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    for (option, value) in options.pairs() {
        match &*option.to_ascii_lowercase() {
            b"match" => parsed.pattern = Some(value),
            b"count" => {
                let count = parse_integer(value).ok_or(NOT_AN_INTEGER)?;
                parsed.count =
                    usize::try_from(count).ok().filter(|count| *count > 0).ok_or(SYNTAX)?;
            }
            b"type" if grammar == Grammar::Scan => parsed.kind = Some(value),
            _ => return Err(SYNTAX),
        }
    }
    Ok(parsed)
}

pub(super) fn step(cursor: usize, count: usize, length: usize) -> (std::ops::Range<usize>, usize) {
    let end = if cursor == 0 { length } else { cursor.min(length) };
    let start = end.saturating_sub(count);
    (start..end, start)
}

fn scan(call: &mut Call<'_>) -> CommandResult {
    let cursor = parse_cursor(call.arg(1))?;
    let options = parse_options(call.args.from(2), Grammar::Scan)?;
    let (positions, next) = step(cursor, options.count, call.server.database(call.db).len());
    let mut found = Vec::new();
    for position in positions.rev() {
        let Some((key, entry)) = call.server.database(call.db).at(position) else { continue };
        let is_wanted = options.pattern.is_none_or(|pattern| glob::matches(pattern, key));
        if !is_wanted {
            continue;
        }
        let type_name = entry.value.type_name().as_bytes();
        let is_of_kind = options.kind.is_none_or(|kind| kind.eq_ignore_ascii_case(type_name));
        let key = key.to_vec();
        if call.server.find(call.db, &key).is_some() && is_of_kind {
            found.push(key);
        }
    }
    call.reply.array(2);
    call.reply.bulk(itoa::Buffer::new().format(next as i64).as_bytes());
    call.reply.array(found.len());
    found.iter().for_each(|key| call.reply.bulk(key));
    Ok(())
}

fn hscan(call: &mut Call<'_>) -> CommandResult {
    let cursor = parse_cursor(call.arg(2))?;
    let hash = match call.server.read(call.db, call.args.get(1)).map(|entry| &entry.value) {
        Some(Value::Hash(hash)) => hash,
        Some(_) => return Err(WRONG_TYPE),
        None => {
            call.reply.array(2);
            call.reply.bulk(b"0");
            call.reply.array(0);
            return Ok(());
        }
    };
    let options = parse_options(call.args.from(3), Grammar::HScan)?;
    let (positions, next) =
        if hash.is_listed() { (0..hash.len(), 0) } else { step(cursor, options.count, hash.len()) };
    let fields = positions.filter_map(|position| hash.at(position));
    let fields = fields
        .filter(|(field, _)| options.pattern.is_none_or(|pattern| glob::matches(pattern, field)));
    call.reply.array(2);
    call.reply.bulk(itoa::Buffer::new().format(next as i64).as_bytes());
    call.reply.deferred_array(|reply| {
        let written = fields.map(|(field, value)| {
            reply.bulk(field);
            reply.bulk(value);
        });
        written.count() * 2
    });
    Ok(())
}
