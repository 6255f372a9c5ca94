//! Commands on sets (t_set.c).

use super::collection::{edit, edit_existing, peek, read};
use super::hash_random::{REPEATED_MAX, choose};
use super::list::positive_count;
use crate::data::number::parse_integer;
use crate::data::value::Set;
use crate::protocol::error::{CommandResult, NOT_AN_INTEGER, OUT_OF_RANGE, SYNTAX};
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const READ_FLAGS: Flags = Flags::READONLY.union(Flags::FAST);
const CHANGE: Flags = Flags::WRITE.union(Flags::FAST);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("sadd", -3, CHANGE.union(Flags::DENYOOM), Keys::ONE, sadd),
    Command::new("srem", -3, CHANGE, Keys::ONE, srem),
    Command::new("smembers", 2, Flags::READONLY, Keys::ONE, smembers),
    Command::new("sismember", 3, READ_FLAGS, Keys::ONE, sismember),
    Command::new("smismember", -3, READ_FLAGS, Keys::ONE, smismember),
    Command::new("scard", 2, READ_FLAGS, Keys::ONE, scard),
    Command::new("srandmember", -2, Flags::READONLY, Keys::ONE, srandmember),
    Command::new("spop", -2, CHANGE, Keys::ONE, spop),
];

fn sadd(call: &mut Call<'_>) -> CommandResult {
    let members = call.args.from(2).iter();
    let added = edit(call, call.arg(1), "sadd", |set: &mut Set| {
        let added = members.filter(|member| set.add(member)).count();
        (added, added > 0)
    })?;
    call.reply.count(added);
    Ok(())
}

fn srem(call: &mut Call<'_>) -> CommandResult {
    let members = call.args.from(2).iter();
    let removed = edit_existing(call, call.arg(1), "srem", |set: &mut Set| {
        let removed = members.filter(|member| set.remove(member)).count();
        (removed, removed > 0)
    })?;
    call.reply.count(removed.unwrap_or(0));
    Ok(())
}

fn smembers(call: &mut Call<'_>) -> CommandResult {
    let (set, reply) = read::<Set>(call, call.arg(1))?;
    reply.set(set.map_or(0, Set::len));
    set.iter().flat_map(|set| set.iter()).for_each(|member| reply.bulk(&member));
    Ok(())
}

fn sismember(call: &mut Call<'_>) -> CommandResult {
    let member = call.arg(2);
    let (set, reply) = read::<Set>(call, call.arg(1))?;
    reply.integer(i64::from(set.is_some_and(|set| set.contains(member))));
    Ok(())
}

fn smismember(call: &mut Call<'_>) -> CommandResult {
    let members = call.args.from(2).iter();
    let (set, reply) = read::<Set>(call, call.arg(1))?;
    reply.array(members.len());
    members
        .for_each(|member| reply.integer(i64::from(set.is_some_and(|set| set.contains(member)))));
    Ok(())
}

fn scard(call: &mut Call<'_>) -> CommandResult {
    let (set, reply) = read::<Set>(call, call.arg(1))?;
    reply.count(set.map_or(0, Set::len));
    Ok(())
}

fn srandmember(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() > 3 {
        return Err(SYNTAX);
    }
    let count = if call.args.len() == 3 {
        Some(parse_integer(call.arg(2)).ok_or(NOT_AN_INTEGER)?)
    } else {
        None
    };
    if count.is_some_and(|count| count < -REPEATED_MAX) {
        return Err(OUT_OF_RANGE);
    }
    let length = read::<Set>(call, call.arg(1))?.0.map_or(0, Set::len);
    let positions = choose(call, length, count.unwrap_or(1));
    let (set, reply) = read::<Set>(call, call.arg(1))?;
    let mut members = positions.iter().filter_map(|position| set?.at(*position));
    match count {
        None => reply.bulk_or_null(members.next().as_deref()),
        Some(_) => {
            reply.array(positions.len());
            members.for_each(|member| reply.bulk(&member));
        }
    }
    Ok(())
}

/// Propagates SPOP as SREM, because the server chooses the members (`spopCommand`).
fn spop(call: &mut Call<'_>) -> CommandResult {
    if call.args.len() > 3 {
        return Err(SYNTAX);
    }
    let key = call.arg(1);
    let count = if call.args.len() == 3 { Some(positive_count(call.arg(2))?) } else { None };
    let length = peek::<Set>(call, key)?.map_or(0, Set::len);
    let chosen: Vec<usize> = (0..count.unwrap_or(1).min(length))
        .map(|taken| call.server.random.below(length - taken))
        .collect();
    let taken = edit_existing(call, key, "spop", |set: &mut Set| {
        let mut taken = Vec::with_capacity(chosen.len());
        for position in chosen {
            let member = set.at(position).unwrap_or_default().into_owned();
            set.remove(&member);
            taken.push(member);
        }
        let is_changed = !taken.is_empty();
        (taken, is_changed)
    })?
    .unwrap_or_default();
    if !taken.is_empty() {
        let parts: Vec<&[u8]> =
            [&b"SREM"[..], key].into_iter().chain(taken.iter().map(Vec::as_slice)).collect();
        call.replace_effect(&parts);
    }
    match count {
        None => call.reply.bulk_or_null(taken.first().map(Vec::as_slice)),
        Some(_) => {
            call.reply.set(taken.len());
            taken.iter().for_each(|member| call.reply.bulk(member));
        }
    }
    Ok(())
}
