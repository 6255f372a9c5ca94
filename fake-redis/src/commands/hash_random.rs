//! HRANDFIELD (t_hash.c). With a negative count, it may return a field several times.

use super::hash;
use crate::data::number::parse_integer;
use crate::protocol::error::{CommandError, CommandResult, NOT_AN_INTEGER, OUT_OF_RANGE, SYNTAX};
use crate::protocol::reply::{Protocol, Reply};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

pub(crate) static COMMANDS: &[Command] =
    &[Command::new("hrandfield", -2, Flags::READONLY, Keys::ONE, hrandfield)];

const TOO_SMALL: CommandError = CommandError::fixed(
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
);

/// Maximum number of elements for a negative count. A longer reply could exhaust memory.
pub(super) const REPEATED_MAX: i64 = 10_000_000;

fn hrandfield(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() == 2 {
        let length = length(call)?;
        let chosen = (length > 0).then(|| call.server.random.below(length));
        let (hash, reply) = hash::read(call)?;
        let field = hash.zip(chosen).and_then(|(hash, position)| hash.at(position));
        reply.bulk_or_null(field.map(|(field, _)| field));
        return Ok(());
    }
    let count = parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?;
    if count == i64::MIN {
        return Err(TOO_SMALL);
    }
    if call.args.len() > 4 || call.args.len() == 4 && !call.args.is(3, "withvalues") {
        return Err(SYNTAX);
    }
    let is_doubled_too_large = call.args.len() == 4 && count.unsigned_abs() > i64::MAX as u64 / 2;
    if is_doubled_too_large || count < -REPEATED_MAX {
        return Err(OUT_OF_RANGE);
    }
    let with_values = call.args.len() == 4;
    let length = length(call)?;
    let positions = choose(call, length, count);
    let (hash, reply) = hash::read(call)?;
    write_head(reply, positions.len(), with_values);
    for (field, value) in positions.iter().filter_map(|position| hash?.at(*position)) {
        if with_values && reply.protocol == Protocol::Resp3 {
            reply.array(2);
        }
        reply.bulk(field);
        if with_values {
            reply.bulk(value);
        }
    }
    Ok(())
}

fn length(call: &mut Call<'_>) -> Result<usize, CommandError> {
    let (hash, _) = hash::read(call)?;
    Ok(hash.map_or(0, |hash| hash.len()))
}

pub(super) fn choose(call: &mut Call<'_>, length: usize, count: i64) -> Vec<usize> {
    if length == 0 {
        return Vec::new();
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count < 0 {
        return (0..wanted).map(|_| call.server.random.below(length)).collect();
    }
    let mut positions: Vec<usize> = (0..length).collect();
    if wanted < length {
        (0..wanted).for_each(|index| {
            positions.swap(index, index + call.server.random.below(length - index))
        });
        positions.truncate(wanted);
    }
    positions
}

fn write_head(reply: &mut Reply, count: usize, with_values: bool) {
    let is_flat_pairs = with_values && reply.protocol == Protocol::Resp2;
    reply.array(if is_flat_pairs { count * 2 } else { count });
}
