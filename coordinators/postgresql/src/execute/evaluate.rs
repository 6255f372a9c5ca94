//! Evaluates expressions with three-valued logic, in which NULL is unknown.

use super::{Execution, Stop};
use crate::bound::{Bound, Function};
use crate::error::{Outcome, SqlError};
use crate::sql::ast::Operator;
use crate::types::{Interval, Type, Value, compare};
use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row<'v> {
    pub(super) own: &'v [Value],
    pub(super) excluded: &'v [Value],
    pub(super) counts: &'v [i64],
}

impl<'v> Row<'v> {
    pub(super) fn of(own: &'v [Value]) -> Row<'v> {
        Row { own, ..Row::default() }
    }
}

impl Execution<'_> {
    pub(super) fn evaluate(&mut self, bound: &Bound, row: Row<'_>) -> Result<Value, Stop> {
        Ok(match bound {
            Bound::Constant(value) => value.clone(),
            Bound::Parameter(index) => self.run.parameters[*index].0.clone(),
            Bound::Column(index) => row.own[*index].clone(),
            Bound::Excluded(index) => row.excluded[*index].clone(),
            Bound::Count(index) => Value::Integer(row.counts[*index]),
            Bound::Negate(value, kind) => negated(self.evaluate(value, row)?, *kind)?,
            Bound::Not(value) => match self.evaluate(value, row)? {
                Value::Boolean(value) => Value::Boolean(!value),
                _ => Value::Null,
            },
            Bound::Logic(operator, parts) => self.logic(*operator, parts, row)?,
            Bound::Compare(operator, left, right) => {
                let (left, right) = (self.evaluate(left, row)?, self.evaluate(right, row)?);
                compared(*operator, &left, &right)
            }
            Bound::Arithmetic(operator, left, right, kind) => {
                let (left, right) = (self.evaluate(left, row)?, self.evaluate(right, row)?);
                calculated(*operator, &left, &right, *kind)?
            }
            Bound::IsNull(value, is_negated) => {
                Value::Boolean(self.evaluate(value, row)?.is_null() != *is_negated)
            }
            Bound::Convert { value, from, to, is_cast } => {
                converted(self.evaluate(value, row)?, *from, *to, *is_cast)?
            }
            Bound::Trim(value) => match self.evaluate(value, row)? {
                Value::Text(text) => Value::Text(text.trim_end_matches(' ').to_owned()),
                other => other,
            },
            Bound::Call(Function::Case, arguments) => {
                let Some((otherwise, arms)) = arguments.split_first() else {
                    return Ok(Value::Null);
                };
                let mut chosen = otherwise;
                for arm in arms.chunks_exact(2) {
                    if self.evaluate(&arm[0], row)? == Value::Boolean(true) {
                        chosen = &arm[1];
                        break;
                    }
                }
                self.evaluate(chosen, row)?
            }
            Bound::Call(function, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.evaluate(argument, row)?);
                }
                self.call(*function, &values)?
            }
        })
    }

    /// Evaluates constant parts, as the planner does. Returns `true` for a constant expression.
    pub(super) fn check_constants(&mut self, bound: &Bound) -> Result<bool, Stop> {
        let parts: Vec<&Bound> = match bound {
            Bound::Constant(_) | Bound::Parameter(_) => return Ok(true),
            Bound::Column(_) | Bound::Excluded(_) | Bound::Count(_) => {
                return Ok(false);
            }
            Bound::Negate(value, _)
            | Bound::Not(value)
            | Bound::IsNull(value, _)
            | Bound::Trim(value)
            | Bound::Convert { value, .. } => vec![value],
            Bound::Logic(_, parts) => parts.iter().collect(),
            Bound::Compare(_, left, right) | Bound::Arithmetic(_, left, right, _) => {
                vec![left, right]
            }
            Bound::Call(_, arguments) => arguments.iter().collect(),
        };
        let mut is_constant = !matches!(bound, Bound::Call(..));
        for part in parts {
            is_constant &= self.check_constants(part)?;
        }
        if is_constant {
            self.evaluate(bound, Row::default())?;
        }
        Ok(is_constant)
    }

    pub(super) fn passes(&mut self, filter: Option<&Bound>, row: Row<'_>) -> Result<bool, Stop> {
        match filter {
            Some(filter) => Ok(self.evaluate(filter, row)? == Value::Boolean(true)),
            None => Ok(true),
        }
    }

    fn logic(&mut self, operator: Operator, parts: &[Bound], row: Row<'_>) -> Result<Value, Stop> {
        let decides = Value::Boolean(operator == Operator::Or);
        let mut is_unknown = false;
        for part in parts {
            let value = self.evaluate(part, row)?;
            if value == decides {
                return Ok(decides);
            }
            is_unknown |= value.is_null();
        }
        Ok(if is_unknown { Value::Null } else { Value::Boolean(operator != Operator::Or) })
    }
}

fn compared(operator: Operator, left: &Value, right: &Value) -> Value {
    if left.is_null() || right.is_null() {
        return Value::Null;
    }
    let order = compare(left, right);
    Value::Boolean(match operator {
        Operator::Equal => order == Ordering::Equal,
        Operator::Different => order != Ordering::Equal,
        Operator::Less => order == Ordering::Less,
        Operator::LessEqual => order != Ordering::Greater,
        Operator::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

fn too_large(kind: Type) -> SqlError {
    match kind {
        Type::Interval => SqlError::new("22008", "interval out of range"),
        kind if kind.is_time() => SqlError::new("22008", "timestamp out of range"),
        kind => SqlError::new("22003", format!("{kind} out of range")),
    }
}

fn negated(value: Value, kind: Type) -> Outcome<Value> {
    match value {
        Value::Integer(number) => {
            let negated = number.checked_neg().ok_or_else(|| too_large(kind))?;
            Value::narrowed(negated, kind)
        }
        Value::Interval(interval) => Ok(Value::Interval(interval.negated())),
        _ => Ok(Value::Null),
    }
}

fn calculated(operator: Operator, left: &Value, right: &Value, kind: Type) -> Outcome<Value> {
    use Operator::{Add, Divide, Multiply, Remainder, Subtract};
    let signed = |interval: Interval| match operator {
        Subtract => interval.negated(),
        _ => interval,
    };
    let value = match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => {
            if *right == 0 && matches!(operator, Divide | Remainder) {
                return Err(SqlError::new("22012", "division by zero"));
            }
            let number = match operator {
                Add => left.checked_add(*right),
                Subtract => left.checked_sub(*right),
                Multiply => left.checked_mul(*right),
                Divide => left.checked_div(*right),
                _ => Some(left.checked_rem(*right).unwrap_or(0)),
            };
            return Value::narrowed(number.ok_or_else(|| too_large(kind))?, kind);
        }
        (Value::Time(time), Value::Interval(interval))
        | (Value::Interval(interval), Value::Time(time)) => {
            signed(*interval).after(*time).map(Value::Time)
        }
        (Value::Time(left), Value::Time(right)) => {
            Interval::between(*left, *right).map(Value::Interval)
        }
        (Value::Interval(left), Value::Interval(right)) => {
            left.plus(signed(*right)).map(Value::Interval)
        }
        (Value::Interval(interval), Value::Integer(factor))
        | (Value::Integer(factor), Value::Interval(interval)) => {
            interval.times(*factor).map(Value::Interval)
        }
        _ => return Ok(Value::Null),
    };
    value.ok_or_else(|| too_large(kind))
}

fn converted(value: Value, from: Type, to: Type, is_cast: bool) -> Outcome<Value> {
    match (&value, to) {
        (Value::Null, _) => Ok(value),
        (Value::Integer(number), to) if to.is_integer() => Value::narrowed(*number, to),
        (Value::Integer(number), Type::Boolean) => Ok(Value::Boolean(*number != 0)),
        (Value::Boolean(value), to) if to.is_integer() => Ok(Value::Integer(i64::from(*value))),
        (Value::Boolean(value), to) if to.is_text() => {
            Value::Text(value.to_string()).fitted(to, is_cast)
        }
        (Value::Time(_), to) if to.is_time() => Ok(value),
        (Value::Text(text), to) if to.is_text() => {
            let is_padded = matches!(from, Type::Bpchar(_)) && !matches!(to, Type::Bpchar(_));
            let text = if is_padded { text.trim_end_matches(' ') } else { text };
            Value::Text(text.to_owned()).fitted(to, is_cast)
        }
        (Value::Text(text), to) => Value::read(text, to),
        (_, to) if to.is_text() => {
            Value::Text(value.text(from).unwrap_or_default()).fitted(to, is_cast)
        }
        _ => Value::read(&value.text(from).unwrap_or_default(), to),
    }
}
