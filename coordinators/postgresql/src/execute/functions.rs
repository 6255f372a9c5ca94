//! Functions with side effects, or with results that depend on the server.

use super::{Execution, Stop};
use crate::bound::Function;
use crate::core::Signal;
use crate::error::{Severity, SqlError};
use crate::span::Span;
use crate::sql::ast::LockMode;
use crate::store::Backend;
use crate::store::locks::{Answer, Tag};
use crate::store::transaction::Undo;
use crate::types::Value;

impl Execution<'_> {
    /// Calls a function. A statement that resumes after a wait does not repeat the side effects.
    pub(super) fn call(&mut self, function: Function, values: &[Value]) -> Result<Value, Stop> {
        let began = self.session.transaction.as_ref().map_or(self.run.began, |open| open.began);
        match function {
            Function::Now => return Ok(Value::Time(began)),
            Function::StatementTimestamp => return Ok(Value::Time(self.run.began)),
            Function::BackendPid => {
                return Ok(Value::Integer(i64::from(self.session.backend.0)));
            }
            Function::Version => {
                let version = crate::VERSION.split(' ').next().unwrap_or_default();
                return Ok(Value::Text(format!("PostgreSQL {version} (fencepost)")));
            }
            Function::Database => return Ok(Value::Text(self.session.database.clone())),
            Function::User => return Ok(Value::Text(self.session.user.clone())),
            Function::IsInRecovery => return Ok(Value::Boolean(self.core.is_in_recovery)),
            _ => {}
        }
        if function != Function::AdvisoryUnlockAll && values.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        if let Some(known) = self.run.memo.get(self.run.memo_at) {
            self.run.memo_at += 1;
            return Ok(known.clone());
        }
        let value = self.act(function, values)?;
        self.run.memo.push(value.clone());
        self.run.memo_at += 1;
        Ok(value)
    }

    fn act(&mut self, function: Function, values: &[Value]) -> Result<Value, Stop> {
        match function {
            Function::ClockTimestamp => Ok(Value::Time(self.core.now.wall.0)),
            Function::AdvisoryLock(_) => self.advisory_lock(function, values),
            Function::AdvisoryUnlock { is_shared } => {
                Ok(Value::Boolean(self.advisory_unlock(is_shared, values)))
            }
            Function::AdvisoryUnlockAll => {
                let backend = self.session.backend;
                for (tag, mode) in self.core.locks.advisory_of(backend) {
                    while self.core.locks.release(backend, tag, mode, Span::Session) {}
                }
                Ok(Value::Void)
            }
            Function::Sleep => self.sleep(values),
            Function::Promote => self.promote(),
            Function::Setting => {
                let name = values.first().and_then(|value| value.text(crate::types::Type::Text));
                let shown = self.session.show(&name.unwrap_or_default())?;
                Ok(Value::Text(shown))
            }
            Function::Terminate => self.signal(values, Signal::Terminate),
            Function::Cancel => self.signal(values, Signal::Cancel),
            _ => Err(SqlError::new("XX000", "a function that is none").into()),
        }
    }

    fn signal(&mut self, values: &[Value], signal: Signal) -> Result<Value, Stop> {
        let Some(Value::Integer(pid)) = values.first() else { return Ok(Value::Null) };
        let target = u32::try_from(*pid).map(Backend).ok();
        match target.filter(|backend| self.core.backends.contains(backend)) {
            Some(backend) => {
                self.core.signals.push((backend, signal));
                Ok(Value::Boolean(true))
            }
            None => {
                let message = format!("PID {pid} is not a PostgreSQL backend process");
                self.session.notices.push(SqlError::of(Severity::Warning, "01000", message));
                Ok(Value::Boolean(false))
            }
        }
    }

    fn promote(&mut self) -> Result<Value, Stop> {
        if !self.core.is_in_recovery {
            let hint = "Recovery control functions can only be executed during recovery.";
            return Err(SqlError::new("55000", "recovery is not in progress").hint(hint).into());
        }
        (self.core.is_in_recovery, self.core.is_to_be_promoted) = (false, true);
        Ok(Value::Boolean(true))
    }

    fn sleep(&mut self, values: &[Value]) -> Result<Value, Stop> {
        if std::mem::take(&mut self.run.is_granted) {
            return Ok(Value::Void);
        }
        let seconds = match values.first() {
            Some(Value::Integer(seconds)) => seconds.saturating_mul(1_000_000),
            Some(Value::Decimal(text)) => micros_of(text),
            _ => 0,
        };
        self.run.is_granted = true;
        let span = u64::try_from(seconds).unwrap_or(0);
        Err(Stop::Sleep(self.core.now.monotonic.0.saturating_add(span)))
    }

    fn advisory_lock(&mut self, function: Function, values: &[Value]) -> Result<Value, Stop> {
        let (Function::AdvisoryLock(asked), Some(tag)) = (function, tag_of(values)) else {
            return Ok(Value::Null);
        };
        let mode = if asked.is_shared { LockMode::Share } else { LockMode::Exclusive };
        let backend = self.session.backend;
        if asked.tries && !self.core.locks.is_free(backend, tag, mode) {
            return Ok(Value::Boolean(false));
        }
        let was_granted = std::mem::take(&mut self.run.is_granted);
        if !was_granted && self.core.locks.acquire(backend, tag, mode, asked.span) == Answer::Waits
        {
            self.run.is_granted = true;
            return Err(Stop::Wait);
        }
        if asked.span == Span::Transaction
            && let Some(transaction) = &mut self.session.transaction
        {
            transaction.undo.push(Undo::Took(tag, mode));
        }
        Ok(if asked.tries { Value::Boolean(true) } else { Value::Void })
    }

    fn advisory_unlock(&mut self, is_shared: bool, values: &[Value]) -> bool {
        let Some(tag) = tag_of(values) else { return false };
        let mode = if is_shared { LockMode::Share } else { LockMode::Exclusive };
        let backend = self.session.backend;
        if self.core.locks.release(backend, tag, mode, Span::Session) {
            return true;
        }
        let message = format!("you don't own a lock of type {}", mode.name());
        self.session.notices.push(SqlError::of(Severity::Warning, "01000", message));
        false
    }
}

fn tag_of(values: &[Value]) -> Option<Tag> {
    match values {
        [Value::Integer(key)] => Some(Tag::Advisory(*key)),
        [Value::Integer(first), Value::Integer(second)] => {
            Some(Tag::AdvisoryPair(*first as i32, *second as i32))
        }
        _ => None,
    }
}

fn micros_of(text: &str) -> i64 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().unwrap_or(0);
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let rest: i64 = digits.parse().unwrap_or(0);
    if text.starts_with('-') { 0 } else { seconds.saturating_mul(1_000_000).saturating_add(rest) }
}
