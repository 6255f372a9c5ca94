use crate::error::{Outcome, SqlError};
use crate::value::Value;
use std::ops::Deref;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) expression: Expression,
    pub(crate) name: Vec<u8>,
}

impl Item {
    pub(crate) fn column(name: &str) -> Item {
        let named = Named { before: None, name: name.to_owned() };
        let expression = Expression::Column(named, "SELECT");
        Item { expression, name: name.as_bytes().to_vec() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Option<Value>,
}

/// Expression depth limit of the real server (measured). `tests/depth.rs` checks the stack use.
const DEPTH_MAX: u32 = 593;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expression {
    Literal(Value),
    Truth(bool),
    Variable(String, bool),
    Call(Function, List),
    Column(Named, &'static str),
    Field(usize),
    Inserted(usize),
    Count,
    /// The current time with this number of decimals, and `true` for UTC.
    Now(u8, bool),
    /// A time plus a number of units. A unit is in microseconds, and negative to subtract.
    Later(Inner, Inner, i64),
    And(List),
    Or(List),
    In(Inner, List),
    Add(Inner, Inner),
    Subtract(Inner, Inner),
    Compare(Comparison, Inner, Inner),
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

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Inner {
    expression: Box<Expression>,
    depth: u32,
}

impl Inner {
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

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct List {
    all: Vec<Expression>,
    depth: u32,
}

impl List {
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

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) before: Option<String>,
    pub(crate) name: String,
}

impl Named {
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
    /// Operator `<=>`, for which NULL equals NULL.
    Same,
}

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
