//! Which rows a server touches to find those that are asked for: those of one key if the filter
//! names it whole, otherwise all of the table.
//!
//! PostgreSQL remembers what a serializable transaction touched, so that its choice is seen. This
//! is what its planner chooses for a table without statistics, for the statements that lock tables
//! get: it knows more ways, through parts of a key and ranges.

use crate::bound::Bound;
use crate::sql::ast::Operator;
use crate::store::table::Definition;

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
}

/// How the rows of a table are found that pass a filter.
pub(super) fn access(table: &Definition, filter: Option<&Bound>) -> Access {
    let mut parts = Vec::new();
    filter.into_iter().for_each(|filter| split(filter, &mut parts));
    if parts.iter().any(|part| is_never(part)) {
        return Access::Nothing;
    }
    for (number, index) in table.indexes.iter().enumerate().rev() {
        let is_named = |column| parts.iter().any(|part| pinned(part) == Some(column));
        if index.columns.iter().all(|column| is_named(*column)) {
            let is_of_key =
                |part: &&&Bound| pinned(part).is_some_and(|column| index.columns.contains(&column));
            let conditions = parts.iter().filter(is_of_key).map(|part| (*part).clone()).collect();
            return Access::Index(Search { index: number, conditions });
        }
    }
    Access::Sequential
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
        Bound::Compare(_, left, right) | Bound::Arithmetic(_, left, right, _) => {
            is_fixed(left) && is_fixed(right)
        }
        Bound::Call(function, arguments) => function.is_stable() && arguments.iter().all(is_fixed),
    }
}

/// The column that a part of a filter pins down to one value.
fn pinned(part: &Bound) -> Option<usize> {
    match part {
        Bound::Compare(Operator::Equal, left, right) => match (column_of(left), column_of(right)) {
            (Some(column), None) if is_fixed(right) => Some(column),
            (None, Some(column)) if is_fixed(left) => Some(column),
            _ => None,
        },
        _ => None,
    }
}
