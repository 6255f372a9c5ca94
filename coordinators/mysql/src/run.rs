//! A stack machine for expressions. It can stop while a statement waits for a lock.

use crate::error::{Outcome, SqlError};
use crate::execute::later;
use crate::locks::{Release, UserLocks};
use crate::number::seconds;
use crate::session::Session;
use crate::sql::expression::{Comparison, Expression, Function};
use crate::timestamp::Instant;
use crate::value::Value;
use crate::variables::Setting;

const NAME_MAX: usize = 192;
/// Smallest number of seconds that rounds to 2^63 as a double.
const SECONDS_MAX: i128 = (1 << 63) - 512;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Operation {
    Push(Value),
    Variable(String, bool),
    Call(Function, usize),
    Compare(Comparison),
    IsNull(bool),
    Not,
    Now(u8),
    Later(i64),
}

#[derive(Debug)]
pub(crate) struct Run {
    operations: Vec<Operation>,
    at: usize,
    stack: Vec<Value>,
    now: i64,
    /// `true` for DO, which records errors as messages and continues with NULL.
    continues_after_errors: bool,
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Done(Vec<Value>),
    Wait(i128),
}

enum Progress {
    Value(Value),
    Wait(i128),
}

impl Run {
    pub(crate) fn new(expressions: &[Expression], now: i64) -> Run {
        let mut operations = Vec::new();
        for expression in expressions {
            compile(expression, &mut operations);
        }
        Run { operations, at: 0, stack: Vec::new(), now, continues_after_errors: false }
    }

    pub(crate) fn continuing_after_errors(expressions: &[Expression], now: i64) -> Run {
        Run { continues_after_errors: true, ..Run::new(expressions, now) }
    }

    pub(crate) fn answer(&mut self, came: Outcome<Value>, session: &mut Session) -> Outcome<()> {
        let value = match came {
            Err(error) if self.continues_after_errors => {
                session.add_error(&error);
                Value::Null
            }
            came => came?,
        };
        if value == Value::truth(false) {
            session.forget_messages();
        }
        self.stack.push(value);
        Ok(())
    }

    pub(crate) fn resume(
        &mut self,
        session: &mut Session,
        locks: &mut UserLocks,
        is_killed: bool,
    ) -> Outcome<Step> {
        while let Some(operation) = self.operations.get(self.at).cloned() {
            self.at += 1;
            match self.carry_out(operation, session, locks, is_killed) {
                Ok(Progress::Value(value)) => self.stack.push(value),
                Ok(Progress::Wait(micros)) => return Ok(Step::Wait(micros)),
                Err(error) => self.answer(Err(error), session)?,
            }
        }
        Ok(Step::Done(std::mem::take(&mut self.stack)))
    }

    fn carry_out(
        &mut self,
        operation: Operation,
        session: &mut Session,
        locks: &mut UserLocks,
        is_killed: bool,
    ) -> Outcome<Progress> {
        let value = match operation {
            Operation::Push(value) => value,
            Operation::Variable(name, is_global) => {
                match session.variables.get(&name, is_global)? {
                    Setting::Truth(is_true) => Value::truth(is_true),
                    Setting::Number(number) => Value::Integer(i128::from(number)),
                    Setting::Text(text) => Value::Text(text.into_bytes()),
                }
            }
            Operation::Call(Function::GetLock, _) => {
                let (timeout, name) = (self.pop(), self.pop());
                match get_lock(session, locks, &name, &timeout)? {
                    Attempt::Over(value) => value,
                    Attempt::Wait { .. } if is_killed => Value::Null,
                    Attempt::Wait { name, micros } => {
                        if !locks.wait(session.id, &name) {
                            return Err(SqlError::deadlock());
                        }
                        return Ok(Progress::Wait(micros));
                    }
                }
            }
            Operation::Call(function, count) => {
                let arguments = self.stack.split_off(self.stack.len() - count);
                call(function, &arguments, session, locks)?
            }
            Operation::Compare(comparison) => {
                let (right, left) = (self.pop(), self.pop());
                compare(comparison, &left, &right)
            }
            Operation::IsNull(wanted) => Value::truth((self.pop() == Value::Null) == wanted),
            Operation::Now(places) => {
                Value::Time(Instant { micros: self.now, places: 6 }.cut(places))
            }
            Operation::Later(unit) => {
                let (count, from) = (self.pop(), self.pop());
                later(&from, &count, unit)?
            }
            Operation::Not => match self.pop() {
                Value::Integer(number) => Value::truth(number == 0),
                _ => Value::Null,
            },
        };
        Ok(Progress::Value(value))
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::Null)
    }
}

fn compile(expression: &Expression, out: &mut Vec<Operation>) {
    match expression {
        Expression::Literal(value) => out.push(Operation::Push(value.clone())),
        Expression::Truth(is_true) => out.push(Operation::Push(Value::truth(*is_true))),
        Expression::Variable(name, is_global) => {
            out.push(Operation::Variable(name.clone(), *is_global));
        }
        Expression::Now(places, _) => out.push(Operation::Now(*places)),
        Expression::Later(from, count, unit) => {
            compile(from, out);
            compile(count, out);
            out.push(Operation::Later(*unit));
        }
        Expression::Column(..)
        | Expression::Field(_)
        | Expression::Inserted(_)
        | Expression::Count
        | Expression::And(..)
        | Expression::Or(..)
        | Expression::In(..)
        | Expression::Add(..)
        | Expression::Subtract(..) => out.push(Operation::Push(Value::Null)),
        Expression::Call(function, arguments) => {
            arguments.iter().for_each(|argument| compile(argument, out));
            out.push(Operation::Call(*function, arguments.len()));
        }
        Expression::Compare(comparison, left, right) => {
            compile(left, out);
            compile(right, out);
            out.push(Operation::Compare(*comparison));
        }
        Expression::IsNull(inner, wanted) => {
            compile(inner, out);
            out.push(Operation::IsNull(*wanted));
        }
        Expression::Not(inner) => {
            compile(inner, out);
            out.push(Operation::Not);
        }
    }
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> Value {
    let has_null = *left == Value::Null || *right == Value::Null;
    match comparison {
        Comparison::Same => Value::truth(left == right),
        _ if has_null => Value::Null,
        Comparison::Equal => Value::truth(left == right),
        Comparison::NotEqual => Value::truth(left != right),
        _ => {
            let number = |value: &Value| match value {
                Value::Integer(number) => *number,
                _ => 0,
            };
            let (left, right) = (number(left), number(right));
            Value::truth(match comparison {
                Comparison::Less => left < right,
                Comparison::LessOrEqual => left <= right,
                Comparison::Greater => left > right,
                _ => left >= right,
            })
        }
    }
}

/// Returns the lock name in a string, up to the first NUL byte; `None` for an empty string.
fn lock_name(value: &Value) -> Outcome<Option<Vec<u8>>> {
    let text = match value {
        Value::Text(text) if !text.is_empty() => text,
        _ => return Ok(None),
    };
    if text.len() > NAME_MAX {
        return Err(SqlError::name_too_long(text));
    }
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    Ok(Some(text[..end].to_vec()))
}

enum Attempt {
    Over(Value),
    Wait { name: Vec<u8>, micros: i128 },
}

fn get_lock(
    session: &mut Session,
    locks: &mut UserLocks,
    name: &Value,
    timeout: &Value,
) -> Outcome<Attempt> {
    let refuse = |session: &mut Session, shown: &str| {
        let message = format!("Incorrect timeout value: '{shown}' for function get_lock");
        session.warn(1411, message);
        Ok(Attempt::Over(Value::Null))
    };
    let Some(text) = timeout.text() else { return refuse(session, "NULL") };
    let wanted = seconds(&text);
    if matches!(timeout, Value::Text(_)) && !wanted.is_whole {
        let message = [b"Truncated incorrect DOUBLE value: '", &text[..], b"'"].concat();
        session.warn(1292, message);
    }
    // If the number is too large, the error shows the smallest signed 64-bit number.
    let whole = wanted.micros / 1_000_000;
    let is_unsigned = matches!(timeout, Value::Integer(number) if *number > i128::from(i64::MAX));
    let is_too_large = whole >= SECONDS_MAX || whole <= -SECONDS_MAX;
    if !is_unsigned && (whole < 0 || is_too_large) {
        let shown = if is_too_large { i128::from(i64::MIN) } else { whole };
        return refuse(session, &shown.to_string());
    }
    let Some(name) = lock_name(name)? else { return Ok(Attempt::Over(Value::Null)) };
    if locks.take(session.id, &name) {
        return Ok(Attempt::Over(Value::truth(true)));
    }
    // A timeout of 0 fails before the deadlock check, a negative fraction of a second after it.
    if wanted.micros == 0 {
        session.forget_messages();
        return Ok(Attempt::Over(Value::truth(false)));
    }
    Ok(Attempt::Wait { name, micros: wanted.micros })
}

fn call(
    function: Function,
    arguments: &[Value],
    session: &Session,
    locks: &mut UserLocks,
) -> Outcome<Value> {
    let name = match (function.names_lock(), arguments.first()) {
        (Some(_), Some(first)) => match lock_name(first)? {
            Some(name) => name,
            None => return Ok(Value::Null),
        },
        _ => Vec::new(),
    };
    Ok(match function {
        Function::GetLock => Value::Null,
        Function::ReleaseLock => match locks.release(session.id, &name) {
            Release::Done => Value::truth(true),
            Release::NotOwner => Value::truth(false),
            Release::NotHeld => Value::Null,
        },
        Function::ReleaseAllLocks => Value::Integer(i128::from(locks.release_all(session.id))),
        Function::IsFreeLock => Value::truth(locks.holder(&name).is_none()),
        Function::IsUsedLock => match locks.holder(&name) {
            Some(holder) => Value::Integer(i128::from(holder)),
            None => Value::Null,
        },
        Function::ConnectionId => Value::Integer(i128::from(session.id)),
        Function::Version => Value::Text(crate::VERSION.as_bytes().to_vec()),
        Function::Database => match &session.database {
            Some(name) => Value::Text(name.clone().into_bytes()),
            None => Value::Null,
        },
        Function::User => Value::Text(format!("{}@{}", session.user, session.host).into_bytes()),
        Function::Concat => {
            let texts: Option<Vec<Vec<u8>>> = arguments.iter().map(Value::text).collect();
            texts.map_or(Value::Null, |texts| Value::Text(texts.concat()))
        }
    })
}
