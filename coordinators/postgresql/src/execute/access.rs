//! Which rows a server touches to find those that are asked for: all of the table, or those that an
//! index leads it to.
//!
//! PostgreSQL remembers what a serializable transaction touched, so that its choice is seen. This
//! is what its planner chooses for a table without statistics, which it takes to have ten pages.
//! Once a table of one page is analyzed (by `ANALYZE`, autovacuum, or a `CREATE INDEX` on rows that
//! are there), it reads the whole table in most cases; that is not modelled.

use super::plan::SelectPlan;
use crate::bound::Bound;
use crate::sql::ast::Operator;
use crate::store::table::{Definition, Index};
use crate::types::Type;

/// How the rows of a table are found.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Access {
    /// There can be none.
    Nothing,
    /// All are looked at.
    Sequential,
    Index(Search),
}

/// What is looked for in an index.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Search {
    /// The number of the index.
    pub(super) index: usize,
    /// What the key has to be.
    pub(super) conditions: Vec<Bound>,
    /// Whether a row is touched only once the one before is done with.
    pub(super) is_lazy: bool,
    pub(super) is_backward: bool,
}

/// What else than the filter decides how rows are found.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Wish<'p> {
    order: &'p [(Bound, bool)],
    /// Whether few rows are enough.
    is_limited: bool,
}

/// How many rows a planner assumes that ten pages have, from which on it prefers to read them in
/// the order of an index to sorting them.
const SORTED_MAX: u64 = 830;

impl SelectPlan {
    pub(super) fn wish(&self) -> Wish<'_> {
        let order = if self.counts.is_empty() { &self.order[..] } else { &[] };
        Wish { order, is_limited: self.limit.is_some() && self.counts.is_empty() }
    }
}

/// How the rows of a table are found that pass a filter.
pub(super) fn access(table: &Definition, filter: Option<&Bound>, wish: Wish<'_>) -> Access {
    let mut parts = Vec::new();
    filter.into_iter().for_each(|filter| split(filter, &mut parts));
    if parts.iter().any(|part| is_never(part)) {
        return Access::Nothing;
    }
    let (mut best, mut best_rank) = (None, 0);
    for (number, index) in table.indexes.iter().enumerate() {
        let conditions: Vec<&Bound> =
            parts.iter().copied().filter(|part| narrows(index, part)).collect();
        let rank = rank(index, &conditions);
        if rank > 0 && rank >= best_rank {
            best_rank = rank;
            best = Some((number, conditions.into_iter().cloned().collect::<Vec<Bound>>()));
        }
    }
    let ordered = |index: &Index| direction(index, wish.order);
    let is_open = |parts: &[Bound]| matches!(parts, [Bound::Compare(operator, ..)] if *operator != Operator::Equal);
    if wish.is_limited && wish.order.is_empty() && best_rank == 1 {
        // A few of many rows are found soonest where they are.
        best = best.filter(|(_, conditions)| !is_open(conditions));
    }
    if let Some((index, conditions)) = best {
        let is_lazy = best_rank > 1 || wish.is_limited;
        let is_backward = ordered(&table.indexes[index]) == Some(true) && wish.is_limited;
        return Access::Index(Search { index, conditions, is_lazy, is_backward });
    }
    let reads_in_order = match wish.is_limited {
        true => are_many(&parts),
        false => parts.is_empty() && assumed_rows(table) >= SORTED_MAX,
    };
    let mut numbers = table.indexes.iter().enumerate();
    match numbers.find_map(|(number, index)| Some((number, ordered(index)?))) {
        Some((index, is_backward)) if reads_in_order => {
            Access::Index(Search { index, conditions: Vec::new(), is_lazy: true, is_backward })
        }
        _ => Access::Sequential,
    }
}

/// The parts of a filter that must all be true.
fn split<'b>(filter: &'b Bound, parts: &mut Vec<&'b Bound>) {
    match filter {
        Bound::Logic(Operator::And, own) => own.iter().for_each(|part| split(part, parts)),
        Bound::Constant(crate::types::Value::Boolean(true)) => {}
        part => parts.push(part),
    }
}

/// Whether a planner sees that a part of a filter is true of no row.
fn is_never(part: &Bound) -> bool {
    let is_null = |bound: &Bound| matches!(bound, Bound::Constant(value) if value.is_null());
    match part {
        Bound::Constant(value) => *value != crate::types::Value::Boolean(true),
        Bound::Compare(_, left, right) => is_null(left) || is_null(right),
        _ => false,
    }
}

/// The column that a side of a comparison is.
fn column_of(bound: &Bound) -> Option<usize> {
    match bound {
        Bound::Column(column) => Some(*column),
        Bound::Trim(bound) => column_of(bound),
        _ => None,
    }
}

/// Whether something is the same for all rows.
fn is_fixed(bound: &Bound) -> bool {
    match bound {
        Bound::Constant(_) | Bound::Parameter(_) => true,
        Bound::Column(_) | Bound::Excluded(_) | Bound::Count(_) => false,
        Bound::Negate(value, _)
        | Bound::Not(value)
        | Bound::IsNull(value, _)
        | Bound::Trim(value)
        | Bound::Convert { value, .. } => is_fixed(value),
        Bound::Logic(_, parts) => parts.iter().all(is_fixed),
        Bound::Compare(_, left, right)
        | Bound::Arithmetic(_, left, right, _)
        | Bound::Concatenate(left, right) => is_fixed(left) && is_fixed(right),
        Bound::In(value, list, _) => is_fixed(value) && list.iter().all(is_fixed),
        Bound::Call(function, arguments) => function.is_stable() && arguments.iter().all(is_fixed),
    }
}

/// The column that a part of a filter pins down, and whether to one value.
fn pinned(part: &Bound) -> Option<(usize, bool)> {
    match part {
        Bound::Compare(Operator::Different, ..) => None,
        Bound::Compare(operator, left, right) => {
            let column = match (column_of(left), column_of(right)) {
                (Some(column), None) if is_fixed(right) => column,
                (None, Some(column)) if is_fixed(left) => column,
                _ => return None,
            };
            Some((column, *operator == Operator::Equal))
        }
        Bound::In(value, list, false) if list.iter().all(is_fixed) => {
            Some((column_of(value)?, list.len() == 1))
        }
        Bound::IsNull(value, false) => Some((column_of(value)?, false)),
        _ => None,
    }
}

fn narrows(index: &Index, part: &Bound) -> bool {
    pinned(part).is_some_and(|(column, _)| index.columns.contains(&column))
}

/// How well conditions suit an index: 3 for at most one row, 2 for few, 1 for more.
fn rank(index: &Index, conditions: &[&Bound]) -> u8 {
    let pins: Vec<(usize, bool)> = conditions.iter().filter_map(|part| pinned(part)).collect();
    let all = |is_one: bool| {
        let has = |column: &usize| pins.iter().any(|(at, one)| at == column && (*one || !is_one));
        index.columns.iter().all(has)
    };
    let is_wide = index.columns.len() > 1;
    match pins.is_empty() {
        true => 0,
        false if all(true) => 3,
        false if all(false) && is_wide && pins.iter().any(|(_, is_one)| *is_one) => 2,
        false => 1,
    }
}

/// Whether the order that is wanted is that of an index, and whether backward.
fn direction(index: &Index, order: &[(Bound, bool)]) -> Option<bool> {
    let (_, is_backward) = order.first()?;
    let is_same = order.len() <= index.columns.len()
        && order.iter().zip(&index.columns).all(|((bound, is_descending), column)| {
            is_descending == is_backward && column_of(bound) == Some(*column)
        });
    is_same.then_some(*is_backward)
}

/// Whether a planner assumes that a filter lets several rows through.
fn are_many(parts: &[&Bound]) -> bool {
    let is_weak = |part: &&&Bound| matches!(part, Bound::IsNull(_, true));
    let is_strong = |part: &&Bound| matches!(part, Bound::In(_, _, true));
    parts.iter().filter(|part| !is_weak(part)).count() <= 1 && !parts.iter().any(is_strong)
}

/// How many rows a planner takes ten pages to have.
fn assumed_rows(table: &Definition) -> u64 {
    let width = |kind: Type| match kind {
        Type::Boolean => 1,
        Type::Int2 => 2,
        Type::Int4 => 4,
        Type::Int8 | Type::Timestamp | Type::Timestamptz => 8,
        Type::Bpchar(letters) => 4 + 4 * u64::from(letters),
        Type::Varchar(Some(letters)) => match 4 + 4 * u64::from(letters) {
            most @ ..=32 => most,
            most => 32 + (most.min(1_000) - 32) / 2,
        },
        _ => 32,
    };
    let all: u64 = table.columns.iter().map(|column| width(column.kind)).sum();
    10 * ((8_192 - 24) / (all.next_multiple_of(8) + 24 + 4))
}
