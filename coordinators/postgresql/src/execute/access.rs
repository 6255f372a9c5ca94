//! Chooses a statement's access path: an index lookup if the filter fixes a whole key, otherwise a
//! scan, or nothing if the filter is never true.

use crate::bound::Bound;
use crate::sql::ast::Operator;
use crate::store::table::Definition;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Access {
    Nothing,
    Sequential,
    Index(Search),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Search {
    pub(super) index: usize,
    pub(super) conditions: Vec<Bound>,
}

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

fn split<'b>(filter: &'b Bound, parts: &mut Vec<&'b Bound>) {
    match filter {
        Bound::Logic(Operator::And, own) => own.iter().for_each(|part| split(part, parts)),
        Bound::Constant(crate::types::Value::Boolean(true)) => {}
        part => parts.push(part),
    }
}

fn is_never(part: &Bound) -> bool {
    let is_null = |bound: &Bound| matches!(bound, Bound::Constant(value) if value.is_null());
    match part {
        Bound::Constant(value) => *value != crate::types::Value::Boolean(true),
        Bound::Compare(_, left, right) => is_null(left) || is_null(right),
        _ => false,
    }
}

fn column_of(bound: &Bound) -> Option<usize> {
    match bound {
        Bound::Column(column) => Some(*column),
        Bound::Trim(bound) => column_of(bound),
        _ => None,
    }
}

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
