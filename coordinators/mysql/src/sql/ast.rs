//! What statements say.

use crate::charset::Charset;
use crate::value::Value;

/// One statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Statement {
    /// `SELECT`: its columns, and whether its one row is asked for.
    Select(Vec<Item>, bool),
    Do(Vec<Expression>),
    Set(Vec<Assignment>),
    Names(Charset),
    Isolation {
        level: &'static str,
        /// Whether it is said for the session; else for the next transaction.
        is_session: bool,
    },
    Use(String),
    Begin,
    Commit,
    Rollback,
    ShowWarnings,
    Kill {
        id: i128,
        /// Whether only the statement is ended, and not the session.
        is_query: bool,
    },
    /// Nothing but a comment.
    Nothing,
}

/// A column of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) expression: Expression,
    pub(crate) name: Vec<u8>,
}

/// A variable that gets a value; `None` is its default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Option<Value>,
}

/// What can be worked out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expression {
    Literal(Value),
    /// `TRUE` and `FALSE`.
    Truth(bool),
    /// A variable of the server, and whether its global value is meant.
    Variable(String, bool),
    Call(Function, Vec<Expression>),
    /// A column, of which there is none, and the kind of statement that names it.
    Column(String, &'static str),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// Whether it is NULL, or with `false` is not.
    IsNull(Box<Expression>, bool),
    Not(Box<Expression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
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
