use crate::span::Span;
use crate::sql::ast::Operator;
use crate::types::{Type, Value};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Bound {
    Constant(Value),
    Parameter(usize),
    Column(usize),
    Excluded(usize),
    Negate(Box<Bound>, Type),
    Not(Box<Bound>),
    Logic(Operator, Vec<Bound>),
    Compare(Operator, Box<Bound>, Box<Bound>),
    Arithmetic(Operator, Box<Bound>, Box<Bound>, Type),
    IsNull(Box<Bound>, bool),
    Convert { value: Box<Bound>, from: Type, to: Type, is_cast: bool },
    Trim(Box<Bound>),
    Call(Function, Vec<Bound>),
    Count(usize),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Typed {
    pub(crate) bound: Bound,
    pub(crate) kind: Type,
    pub(crate) position: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Output {
    pub(crate) label: String,
    pub(crate) bound: Bound,
    pub(crate) kind: Type,
    pub(crate) origin: Option<(u32, i16)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Now,
    StatementTimestamp,
    ClockTimestamp,
    AdvisoryLock(Advisory),
    AdvisoryUnlock { is_shared: bool },
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
    Case,
}

impl Function {
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Advisory {
    pub(crate) is_shared: bool,
    pub(crate) span: Span,
    pub(crate) tries: bool,
}
