//! Expressions whose names are looked up and whose types are known.

use crate::span::Span;
use crate::sql::ast::Operator;
use crate::types::{Type, Value};

/// An expression that can be worked out.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Bound {
    Constant(Value),
    /// Counted from 0.
    Parameter(usize),
    Column(usize),
    /// A column of the row that was to be inserted.
    Excluded(usize),
    Negate(Box<Bound>, Type),
    Not(Box<Bound>),
    Logic(Operator, Vec<Bound>),
    Compare(Operator, Box<Bound>, Box<Bound>),
    Arithmetic(Operator, Box<Bound>, Box<Bound>, Type),
    IsNull(Box<Bound>, bool),
    Convert {
        value: Box<Bound>,
        from: Type,
        to: Type,
        is_cast: bool,
    },
    /// Without the blanks at its end.
    Trim(Box<Bound>),
    Call(Function, Vec<Bound>),
    /// A number of rows.
    Count(usize),
}

/// An expression and its type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Typed {
    pub(crate) bound: Bound,
    pub(crate) kind: Type,
    pub(crate) position: usize,
}

/// A column of a result.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Output {
    pub(crate) label: String,
    pub(crate) bound: Bound,
    pub(crate) kind: Type,
    /// The table and the number of the column in it, if it is one.
    pub(crate) origin: Option<(u32, i16)>,
}

/// A function, once it is known which is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// When the transaction began.
    Now,
    StatementTimestamp,
    ClockTimestamp,
    AdvisoryLock(Advisory),
    AdvisoryUnlock {
        is_shared: bool,
    },
    AdvisoryUnlockAll,
    BackendPid,
    Sleep,
    Version,
    Database,
    User,
    Setting,
    Terminate,
    Cancel,
    IsInRecovery,
    Promote,
    /// The value if no condition is true, then each condition with its value.
    Case,
}

impl Function {
    /// Whether it returns the same for all rows of a statement, and does nothing else.
    pub(crate) fn is_stable(self) -> bool {
        matches!(
            self,
            Function::Now
                | Function::StatementTimestamp
                | Function::BackendPid
                | Function::Version
                | Function::Database
                | Function::User
                | Function::Setting
                | Function::Case
        )
    }
}

/// A request for an advisory lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Advisory {
    pub(crate) is_shared: bool,
    pub(crate) span: Span,
    /// Whether it answers at once.
    pub(crate) tries: bool,
}
