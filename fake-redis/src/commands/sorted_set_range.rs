//! Ranges of sorted sets by rank, score or member (t_zset.c, `zrangeGenericCommand`).

use super::collection::{edit_existing, positions, read};
use crate::config::events::EventClass;
use crate::data::number::{parse_integer, parse_score_bound};
use crate::data::value::{SortedSet, Value};
use crate::protocol::error::{CommandError, CommandResult, NOT_AN_INTEGER, SYNTAX};
use crate::protocol::reply::Protocol;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};
use std::ops::Range;

const READ_FLAGS: Flags = Flags::READONLY;

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("zrange", -4, READ_FLAGS, Keys::ONE, |call| range(call, None, None)),
    Command::new("zrangestore", -5, Flags::WRITE.union(Flags::DENYOOM), Keys::TWO, zrangestore),
    Command::new("zrevrange", -4, READ_FLAGS, Keys::ONE, |call| {
        range(call, Some(RangeKind::Rank), Some(Direction::Down))
    }),
    Command::new("zrangebyscore", -4, READ_FLAGS, Keys::ONE, |call| {
        range(call, Some(RangeKind::Score), Some(Direction::Up))
    }),
    Command::new("zrevrangebyscore", -4, READ_FLAGS, Keys::ONE, |call| {
        range(call, Some(RangeKind::Score), Some(Direction::Down))
    }),
    Command::new("zrangebylex", -4, READ_FLAGS, Keys::ONE, |call| {
        range(call, Some(RangeKind::Member), Some(Direction::Up))
    }),
    Command::new("zrevrangebylex", -4, READ_FLAGS, Keys::ONE, |call| {
        range(call, Some(RangeKind::Member), Some(Direction::Down))
    }),
    Command::new("zcount", 4, READ_FLAGS.union(Flags::FAST), Keys::ONE, |call| {
        count(call, RangeKind::Score)
    }),
    Command::new("zlexcount", 4, READ_FLAGS.union(Flags::FAST), Keys::ONE, |call| {
        count(call, RangeKind::Member)
    }),
    Command::new("zremrangebyrank", 4, Flags::WRITE, Keys::ONE, |call| {
        remove(call, RangeKind::Rank)
    }),
    Command::new("zremrangebyscore", 4, Flags::WRITE, Keys::ONE, |call| {
        remove(call, RangeKind::Score)
    }),
    Command::new("zremrangebylex", 4, Flags::WRITE, Keys::ONE, |call| {
        remove(call, RangeKind::Member)
    }),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RangeKind {
    Rank,
    Score,
    Member,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Up,
    Down,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Bound<T> {
    value: T,
    is_open: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Edge<'a> {
    Before,
    At(&'a [u8]),
    Behind,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Span<'a> {
    Ranks(i64, i64),
    Scores(Bound<f64>, Bound<f64>),
    Members(Bound<Edge<'a>>, Bound<Edge<'a>>),
}

fn score_bound(text: &[u8]) -> Result<Bound<f64>, CommandError> {
    let (is_open, text) = text.strip_prefix(b"(").map_or((false, text), |rest| (true, rest));
    let value =
        parse_score_bound(text).ok_or(CommandError::fixed("ERR min or max is not a float"))?;
    Ok(Bound { value, is_open })
}

fn member_bound(text: &[u8]) -> Result<Bound<Edge<'_>>, CommandError> {
    match text {
        b"-" => Ok(Bound { value: Edge::Before, is_open: false }),
        b"+" => Ok(Bound { value: Edge::Behind, is_open: false }),
        [b'(', rest @ ..] => Ok(Bound { value: Edge::At(rest), is_open: true }),
        [b'[', rest @ ..] => Ok(Bound { value: Edge::At(rest), is_open: false }),
        _ => Err(CommandError::fixed("ERR min or max not valid string range item")),
    }
}

impl<'a> Span<'a> {
    fn parse(by: RangeKind, least: &'a [u8], greatest: &'a [u8]) -> Result<Self, CommandError> {
        Ok(match by {
            RangeKind::Rank => {
                let rank = |text| parse_integer(text).ok_or(NOT_AN_INTEGER);
                Span::Ranks(rank(least)?, rank(greatest)?)
            }
            RangeKind::Score => Span::Scores(score_bound(least)?, score_bound(greatest)?),
            RangeKind::Member => Span::Members(member_bound(least)?, member_bound(greatest)?),
        })
    }

    fn ranks(self, set: &SortedSet) -> Range<usize> {
        let (start, end) = match self {
            Span::Ranks(start, stop) => return positions(start, stop, set.len()),
            Span::Scores(least, greatest) => (
                set.first_rank(|_, score| {
                    if least.is_open { score > least.value } else { score >= least.value }
                }),
                set.first_rank(|_, score| {
                    if greatest.is_open { score >= greatest.value } else { score > greatest.value }
                }),
            ),
            Span::Members(least, greatest) => (
                set.first_rank(|member, _| is_from(least, member)),
                set.first_rank(|member, _| is_past(greatest, member)),
            ),
        };
        start..end.max(start)
    }
}

fn is_from(least: Bound<Edge<'_>>, member: &[u8]) -> bool {
    match least.value {
        Edge::Before => true,
        Edge::Behind => false,
        Edge::At(edge) => member > edge || !least.is_open && member == edge,
    }
}

fn is_past(greatest: Bound<Edge<'_>>, member: &[u8]) -> bool {
    match greatest.value {
        Edge::Before => true,
        Edge::Behind => false,
        Edge::At(edge) => member > edge || greatest.is_open && member == edge,
    }
}

struct Options {
    by: RangeKind,
    direction: Direction,
    offset: i64,
    limit: i64,
    with_scores: bool,
}

fn parse_options(
    call: &Call<'_>,
    first: usize,
    mut by: Option<RangeKind>,
    mut direction: Option<Direction>,
    takes_scores: fn() -> bool,
) -> Result<Options, CommandError> {
    let (mut offset, mut limit, mut with_scores) = (0, -1, false);
    let mut index = first;
    while index < call.args.len() {
        let word = call.arg(index).to_ascii_lowercase();
        match &*word {
            b"withscores" if takes_scores() => with_scores = true,
            b"limit" if index + 2 < call.args.len() => {
                offset = parse_integer(call.arg(index + 1)).ok_or(NOT_AN_INTEGER)?;
                limit = parse_integer(call.arg(index + 2)).ok_or(NOT_AN_INTEGER)?;
                index += 2;
            }
            b"rev" if direction.is_none() => direction = Some(Direction::Down),
            b"bylex" if by.is_none() => by = Some(RangeKind::Member),
            b"byscore" if by.is_none() => by = Some(RangeKind::Score),
            _ => return Err(SYNTAX),
        }
        index += 1;
    }
    let (by, direction) = (by.unwrap_or(RangeKind::Rank), direction.unwrap_or(Direction::Up));
    if limit != -1 && by == RangeKind::Rank {
        return Err(CommandError::fixed(
            "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
        ));
    }
    if with_scores && by == RangeKind::Member {
        return Err(CommandError::fixed(
            "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
        ));
    }
    Ok(Options { by, direction, offset, limit, with_scores })
}

fn wanted(set: &SortedSet, span: Span<'_>, options: &Options) -> Vec<usize> {
    let ranks = span.ranks(set);
    let is_by_rank = options.by == RangeKind::Rank;
    let ordered: Vec<usize> = match options.direction {
        Direction::Up => ranks.collect(),
        Direction::Down if is_by_rank => ranks.map(|rank| set.len() - 1 - rank).collect(),
        Direction::Down => ranks.rev().collect(),
    };
    if is_by_rank {
        return ordered;
    }
    // A negative offset skips all elements, and a negative limit means no limit.
    let skipped = usize::try_from(options.offset).unwrap_or(usize::MAX);
    let limit = usize::try_from(options.limit).unwrap_or(usize::MAX);
    ordered.into_iter().skip(skipped).take(limit).collect()
}

fn span_of<'a>(call: &Call<'a>, first: usize, options: &Options) -> Result<Span<'a>, CommandError> {
    let (start, stop) = (call.arg(first), call.arg(first + 1));
    let is_reversed = options.direction == Direction::Down && options.by != RangeKind::Rank;
    let (least, greatest) = if is_reversed { (stop, start) } else { (start, stop) };
    Span::parse(options.by, least, greatest)
}

fn range(
    call: &mut Call<'_>,
    by: Option<RangeKind>,
    direction: Option<Direction>,
) -> CommandResult {
    let options = parse_options(call, 4, by, direction, || true)?;
    let span = span_of(call, 2, &options)?;
    let (set, reply) = read::<SortedSet>(call, call.arg(1))?;
    let ranks = set.map(|set| wanted(set, span, &options)).unwrap_or_default();
    let is_nested = options.with_scores && reply.protocol == Protocol::Resp3;
    reply.array(if options.with_scores && !is_nested { ranks.len() * 2 } else { ranks.len() });
    for (member, score) in ranks.iter().filter_map(|rank| set?.at(*rank)) {
        if is_nested {
            reply.array(2);
        }
        reply.bulk(member);
        if options.with_scores {
            reply.double(score);
        }
    }
    Ok(())
}

fn zrangestore(call: &mut Call<'_>) -> CommandResult {
    let options = parse_options(call, 5, None, None, || false)?;
    let span = span_of(call, 3, &options)?;
    let (target, db) = (call.arg(1), call.db);
    let (source, _) = read::<SortedSet>(call, call.arg(2))?;
    let mut stored = SortedSet::default();
    if let Some(source) = source {
        let members = wanted(source, span, &options).into_iter().filter_map(|rank| source.at(rank));
        members.for_each(|(member, score)| _ = stored.set(member, score));
    }
    let length = stored.len();
    if length > 0 {
        call.server.store(db, target, Value::SortedSet(Box::new(stored)), None);
        call.server.notify(EventClass::SortedSet, "zrangestore", db, target);
    } else if let Some(position) = call.server.find(db, target) {
        call.server.remove(db, position);
        call.server.notify(EventClass::Generic, "del", db, target);
    }
    call.reply.count(length);
    Ok(())
}

fn count(call: &mut Call<'_>, by: RangeKind) -> CommandResult {
    let span = Span::parse(by, call.arg(2), call.arg(3))?;
    let (set, reply) = read::<SortedSet>(call, call.arg(1))?;
    reply.count(set.map_or(0, |set| span.ranks(set).len()));
    Ok(())
}

fn remove(call: &mut Call<'_>, by: RangeKind) -> CommandResult {
    let span = Span::parse(by, call.arg(2), call.arg(3))?;
    let event = match by {
        RangeKind::Rank => "zremrangebyrank",
        RangeKind::Score => "zremrangebyscore",
        RangeKind::Member => "zremrangebylex",
    };
    let removed = edit_existing(call, call.arg(1), event, |set: &mut SortedSet| {
        let ranks = span.ranks(set);
        let removed = ranks.len();
        set.remove_ranks(ranks);
        (removed, removed > 0)
    })?;
    call.reply.count(removed.unwrap_or(0));
    Ok(())
}
