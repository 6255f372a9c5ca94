//! What an expression is made of.

use crate::error::{Outcome, SqlError};
use crate::value::Value;
use std::ops::Deref;

/// A column of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) expression: Expression,
    pub(crate) name: Vec<u8>,
}

impl Item {
    /// A column that `*` stands for.
    pub(crate) fn column(name: &str) -> Item {
        let named = Named { before: None, name: name.to_owned() };
        let expression = Expression::Column(named, "SELECT");
        Item { expression, name: name.as_bytes().to_vec() }
    }
}

/// A variable that gets a value; `None` is its default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Option<Value>,
}

/// The deepest expression: as deep as one that the real server gets to with its `thread_stack`.
/// Everything that descends into one (shapes, binding, evaluation, drop) recurses per level;
/// `tests/depth.rs` measures that the deepest one fits the stack.
const DEPTH_MAX: u32 = 593;

/// What can be worked out. None is deeper than [`DEPTH_MAX`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expression {
    Literal(Value),
    /// `TRUE` and `FALSE`.
    Truth(bool),
    /// A variable of the server, and whether its global value is meant.
    Variable(String, bool),
    Call(Function, List),
    /// A column as it is named, and the clause that names it. Where there is no table there is no
    /// column.
    Column(Named, &'static str),
    /// A column of the row that is looked at, by its place.
    Field(usize),
    /// The value that the row would have had that could not be inserted.
    Inserted(usize),
    /// `COUNT(*)`.
    Count,
    /// The instant at which the statement began, with so many places, and whether it is told in
    /// UTC.
    Now(u8, bool),
    /// A time, and a number of microseconds times a whole number after it.
    Later(Inner, Inner, i64),
    /// All parts of `a AND b AND c`.
    And(List),
    Or(List),
    /// Whether the first is one of the others.
    In(Inner, List),
    Add(Inner, Inner),
    Subtract(Inner, Inner),
    Compare(Comparison, Inner, Inner),
    /// Whether it is NULL, or with `false` is not.
    IsNull(Inner, bool),
    Not(Inner),
}

impl Expression {
    fn depth(&self) -> u32 {
        1 + match self {
            Expression::Call(_, list) | Expression::And(list) | Expression::Or(list) => list.depth,
            Expression::In(one, list) => one.depth.max(list.depth),
            Expression::Later(left, right, _)
            | Expression::Add(left, right)
            | Expression::Subtract(left, right)
            | Expression::Compare(_, left, right) => left.depth.max(right.depth),
            Expression::IsNull(inner, _) | Expression::Not(inner) => inner.depth,
            Expression::Literal(_)
            | Expression::Truth(_)
            | Expression::Variable(..)
            | Expression::Column(..)
            | Expression::Field(_)
            | Expression::Inserted(_)
            | Expression::Count
            | Expression::Now(..) => 0,
        }
    }
}

/// An expression within another, which knows how deep it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Inner {
    expression: Box<Expression>,
    depth: u32,
}

impl Inner {
    /// Errors: 1436 if nothing can be around it.
    pub(crate) fn new(expression: Expression) -> Outcome<Inner> {
        let depth = expression.depth();
        match depth < DEPTH_MAX {
            true => Ok(Inner { expression: Box::new(expression), depth }),
            false => Err(SqlError::too_deep()),
        }
    }
}

impl Deref for Inner {
    type Target = Expression;

    fn deref(&self) -> &Expression {
        &self.expression
    }
}

/// Expressions within another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct List {
    all: Vec<Expression>,
    depth: u32,
}

impl List {
    /// Errors: 1436 if nothing can be around them.
    pub(crate) fn new(all: Vec<Expression>) -> Outcome<List> {
        let depth = all.iter().map(Expression::depth).max().unwrap_or(0);
        match depth < DEPTH_MAX {
            true => Ok(List { all, depth }),
            false => Err(SqlError::too_deep()),
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Expression> {
        self.all
    }
}

impl Deref for List {
    type Target = [Expression];

    fn deref(&self) -> &[Expression] {
        &self.all
    }
}

/// A column or a table, with what stands before its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) before: Option<String>,
    pub(crate) name: String,
}

impl Named {
    /// As an error quotes it.
    pub(crate) fn shown(&self) -> String {
        let before = self.before.as_ref().map(|before| format!("{before}."));
        format!("{}{}", before.unwrap_or_default(), self.name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// `<=>`, for which NULL is a value like others.
    Same,
}

/// The functions that there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    GetLock,
    ReleaseLock,
    ReleaseAllLocks,
    IsFreeLock,
    IsUsedLock,
    ConnectionId,
    Version,
    Database,
    User,
    Concat,
}

impl Function {
    /// By its name in lower case.
    pub(crate) fn named(name: &str) -> Option<Function> {
        Some(match name {
            "get_lock" => Function::GetLock,
            "release_lock" => Function::ReleaseLock,
            "release_all_locks" => Function::ReleaseAllLocks,
            "is_free_lock" => Function::IsFreeLock,
            "is_used_lock" => Function::IsUsedLock,
            "connection_id" => Function::ConnectionId,
            "version" => Function::Version,
            "database" | "schema" => Function::Database,
            "user" | "current_user" | "session_user" | "system_user" => Function::User,
            "concat" => Function::Concat,
            _ => return None,
        })
    }

    /// How many arguments it takes; `None` for any number but none.
    pub(crate) fn arguments(self) -> Option<usize> {
        match self {
            Function::GetLock => Some(2),
            Function::ReleaseLock | Function::IsFreeLock | Function::IsUsedLock => Some(1),
            Function::ReleaseAllLocks
            | Function::ConnectionId
            | Function::Version
            | Function::Database
            | Function::User => Some(0),
            Function::Concat => None,
        }
    }

    /// Whether its only or first argument is the name of a lock.
    pub(crate) fn names_lock(self) -> Option<&'static str> {
        match self {
            Function::GetLock => Some("get_lock"),
            Function::ReleaseLock => Some("release_lock"),
            Function::IsFreeLock => Some("is_free_lock"),
            Function::IsUsedLock => Some("is_used_lock"),
            _ => None,
        }
    }
}
