//! Commands for members of sorted sets (t_zset.c).

use super::collection::{edit, edit_existing, peek, read};
use super::list::{Several, parse_several, positive_count};
use crate::config::RedisVersion;
use crate::data::number::parse_double;
use crate::data::value::{End, SortedSet};
use crate::protocol::error::{CommandError, CommandResult, NOT_A_FLOAT, SYNTAX};
use crate::protocol::reply::Protocol;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

const READ_FLAGS: Flags = Flags::READONLY.union(Flags::FAST);
const CHANGE: Flags = Flags::WRITE.union(Flags::FAST);
const GROW: Flags = CHANGE.union(Flags::DENYOOM);

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("zadd", -4, GROW, Keys::ONE, |call| add(call, Options::default())),
    Command::new("zincrby", 4, GROW, Keys::ONE, |call| {
        add(call, Options { increment: true, ..Options::default() })
    }),
    Command::new("zrem", -3, CHANGE, Keys::ONE, zrem),
    Command::new("zscore", 3, READ_FLAGS, Keys::ONE, zscore),
    Command::new("zmscore", -3, READ_FLAGS, Keys::ONE, zmscore),
    Command::new("zcard", 2, READ_FLAGS, Keys::ONE, zcard),
    Command::new("zrank", 3, READ_FLAGS, Keys::ONE, |call| rank(call, End::Left)),
    Command::new("zrevrank", 3, READ_FLAGS, Keys::ONE, |call| rank(call, End::Right)),
    Command::new("zmpop", -4, CHANGE.union(Flags::MOVABLEKEYS), Keys::NONE, zmpop)
        .since(RedisVersion::V7_0),
    Command::new("zpopmin", -2, CHANGE, Keys::ONE, |call| pop(call, End::Left)),
    Command::new("zpopmax", -2, CHANGE, Keys::ONE, |call| pop(call, End::Right)),
];

const NOT_A_NUMBER: CommandError = CommandError::fixed("ERR resulting score is not a number (NaN)");

#[derive(Clone, Copy, Default)]
struct Options {
    only_new: bool,
    only_present: bool,
    only_greater: bool,
    only_less: bool,
    count_changed: bool,
    increment: bool,
}

fn parse_options(call: &Call<'_>, options: &mut Options) -> usize {
    let mut index = 2;
    while index < call.args.len() {
        match &*call.arg(index).to_ascii_lowercase() {
            b"nx" => options.only_new = true,
            b"xx" => options.only_present = true,
            b"gt" => options.only_greater = true,
            b"lt" => options.only_less = true,
            b"ch" => options.count_changed = true,
            b"incr" => options.increment = true,
            _ => break,
        }
        index += 1;
    }
    index
}

impl Options {
    fn check(self, pairs: usize) -> CommandResult {
        if self.only_new && self.only_present {
            return Err(CommandError::fixed(
                "ERR XX and NX options at the same time are not compatible",
            ));
        }
        let bounds = usize::from(self.only_greater)
            + usize::from(self.only_less)
            + usize::from(self.only_new);
        if bounds > 1 {
            return Err(CommandError::fixed(
                "ERR GT, LT, and/or NX options at the same time are not compatible",
            ));
        }
        if self.increment && pairs > 1 {
            return Err(CommandError::fixed(
                "ERR INCR option supports a single increment-element pair",
            ));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Addition {
    Refused,
    Added(f64),
    Updated(f64),
    Unchanged(f64),
    NotANumber,
}

impl Addition {
    fn is_change(self) -> bool {
        matches!(self, Addition::Added(_) | Addition::Updated(_))
    }
}

fn add_one(set: &mut SortedSet, member: &[u8], score: f64, options: Options) -> Addition {
    let Some(old) = set.score(member) else {
        if options.only_present {
            return Addition::Refused;
        }
        set.set(member, score);
        return Addition::Added(score);
    };
    if options.only_new {
        return Addition::Refused;
    }
    let new = if options.increment { old + score } else { score };
    if new.is_nan() {
        return Addition::NotANumber;
    }
    if options.only_greater && new <= old || options.only_less && new >= old {
        return Addition::Refused;
    }
    set.set(member, new);
    if new == old { Addition::Unchanged(new) } else { Addition::Updated(new) }
}

fn add(call: &mut Call<'_>, mut options: Options) -> CommandResult {
    let first = parse_options(call, &mut options);
    let pairs = call.args.from(first);
    if pairs.len() == 0 || !pairs.len().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    options.check(pairs.len() / 2)?;
    let scored =
        pairs.pairs().map(|(score, member)| parse_double(score).map(|score| (score, member)));
    let scored: Vec<(f64, &[u8])> = scored.collect::<Option<_>>().ok_or(NOT_A_FLOAT)?;
    let event = if options.increment { "zincr" } else { "zadd" };
    let additions = edit(call, call.arg(1), event, |set: &mut SortedSet| {
        let additions: Vec<Addition> =
            scored.iter().map(|(score, member)| add_one(set, member, *score, options)).collect();
        let is_changed = additions.iter().any(|addition| addition.is_change());
        (additions, is_changed)
    })?;
    write_additions(call, &additions, options)
}

fn write_additions(call: &mut Call<'_>, additions: &[Addition], options: Options) -> CommandResult {
    if options.increment {
        match additions.first() {
            Some(
                Addition::Added(score) | Addition::Updated(score) | Addition::Unchanged(score),
            ) => {
                call.reply.double(*score);
            }
            Some(Addition::NotANumber) => return Err(NOT_A_NUMBER),
            _ => call.reply.null(),
        }
        return Ok(());
    }
    let counted = |addition: &&Addition| match addition {
        Addition::Added(_) => true,
        Addition::Updated(_) => options.count_changed,
        _ => false,
    };
    call.reply.count(additions.iter().filter(counted).count());
    Ok(())
}

fn zrem(call: &mut Call<'_>) -> CommandResult {
    let members = call.args.from(2).iter();
    let removed = edit_existing(call, call.arg(1), "zrem", |set: &mut SortedSet| {
        let removed = members.filter(|member| set.remove(member)).count();
        (removed, removed > 0)
    })?;
    call.reply.count(removed.unwrap_or(0));
    Ok(())
}

fn zscore(call: &mut Call<'_>) -> CommandResult {
    let member = call.arg(2);
    let (set, reply) = read::<SortedSet>(call, call.arg(1))?;
    match set.and_then(|set| set.score(member)) {
        Some(score) => reply.double(score),
        None => reply.null(),
    }
    Ok(())
}

fn zmscore(call: &mut Call<'_>) -> CommandResult {
    let members = call.args.from(2).iter();
    let (set, reply) = read::<SortedSet>(call, call.arg(1))?;
    reply.array(members.len());
    for member in members {
        match set.and_then(|set| set.score(member)) {
            Some(score) => reply.double(score),
            None => reply.null(),
        }
    }
    Ok(())
}

fn zcard(call: &mut Call<'_>) -> CommandResult {
    let (set, reply) = read::<SortedSet>(call, call.arg(1))?;
    reply.count(set.map_or(0, SortedSet::len));
    Ok(())
}

fn rank(call: &mut Call<'_>, from: End) -> CommandResult {
    let member = call.arg(2);
    let (set, reply) = read::<SortedSet>(call, call.arg(1))?;
    let rank = set.and_then(|set| set.rank(member).map(|rank| (rank, set.len())));
    match rank {
        None => reply.null(),
        Some((rank, _)) if from == End::Left => reply.count(rank),
        Some((rank, length)) => reply.count(length - 1 - rank),
    }
    Ok(())
}

pub(super) type Scored = Vec<(Vec<u8>, f64)>;

pub(super) fn take(
    call: &mut Call<'_>,
    key: &[u8],
    end: End,
    count: usize,
) -> Result<Scored, CommandError> {
    let event = if end == End::Left { "zpopmin" } else { "zpopmax" };
    let taken = edit_existing(call, key, event, |set: &mut SortedSet| {
        let count = count.min(set.len());
        let ranks = if end == End::Left { 0..count } else { set.len() - count..set.len() };
        let taken = ranks
            .clone()
            .filter_map(|rank| set.at(rank))
            .map(|(member, score)| (member.to_vec(), score));
        let mut taken: Scored = taken.collect();
        if end == End::Right {
            taken.reverse();
        }
        set.remove_ranks(ranks);
        (taken, count > 0)
    })?;
    Ok(taken.unwrap_or_default())
}

fn pop(call: &mut Call<'_>, end: End) -> CommandResult {
    if call.args.len() > 3 {
        return Err(SYNTAX);
    }
    let count = if call.args.len() == 3 { Some(positive_count(call.arg(2))?) } else { None };
    peek::<SortedSet>(call, call.arg(1))?;
    let taken = take(call, call.arg(1), end, count.unwrap_or(1))?;
    let is_nested = call.reply.protocol == Protocol::Resp3 && count.is_some();
    call.reply.array(if is_nested { taken.len() } else { taken.len() * 2 });
    for (member, score) in taken {
        if is_nested {
            call.reply.array(2);
        }
        call.reply.bulk(&member);
        call.reply.double(score);
    }
    Ok(())
}

pub(super) fn parse_end(word: &[u8]) -> Result<End, CommandError> {
    match &*word.to_ascii_lowercase() {
        b"min" => Ok(End::Left),
        b"max" => Ok(End::Right),
        _ => Err(SYNTAX),
    }
}

pub(super) fn pop_several(
    call: &mut Call<'_>,
    several: &Several<'_>,
) -> Result<bool, CommandError> {
    for key in &several.keys {
        if peek::<SortedSet>(call, key)?.is_none() {
            continue;
        }
        let taken = take(call, key, several.end, several.count)?;
        let name: &[u8] = if several.end == End::Left { b"ZPOPMIN" } else { b"ZPOPMAX" };
        call.replace_effect(&[name, key, taken.len().to_string().as_bytes()]);
        call.reply.array(2);
        call.reply.bulk(key);
        call.reply.array(taken.len());
        for (member, score) in taken {
            call.reply.array(2);
            call.reply.bulk(&member);
            call.reply.double(score);
        }
        return Ok(true);
    }
    Ok(false)
}

fn zmpop(call: &mut Call<'_>) -> CommandResult {
    let several = parse_several(call, 1, parse_end)?;
    if !pop_several(call, &several)? {
        call.reply.null_array();
    }
    Ok(())
}
