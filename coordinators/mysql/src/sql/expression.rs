//! What an expression is made of.

use crate::value::Value;

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

/// What can be worked out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expression {
    Literal(Value),
    /// `TRUE` and `FALSE`.
    Truth(bool),
    /// A variable of the server, and whether its global value is meant.
    Variable(String, bool),
    Call(Function, Vec<Expression>),
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
    Later(Box<Expression>, Box<Expression>, i64),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    /// Whether the first is one of the others.
    In(Box<Expression>, Vec<Expression>),
    Add(Box<Expression>, Box<Expression>),
    Subtract(Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// Whether it is NULL, or with `false` is not.
    IsNull(Box<Expression>, bool),
    Not(Box<Expression>),
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
