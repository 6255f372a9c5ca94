use crate::error::{Outcome, SqlError};
use crate::sql::expression::{Comparison, Expression};
use crate::store::schema::part;
use crate::timestamp::Instant;
use crate::value::Value;
use std::cmp::Ordering;

const MICROS: std::ops::Range<i64> = -62_135_596_800_000_000..253_402_300_800_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'r> {
    pub(super) values: &'r [Value],
    pub(super) inserted: &'r [Value],
    pub(super) now: Instant,
    pub(super) session: u32,
}

impl Row<'_> {
    pub(super) fn evaluate(&self, expression: &Expression) -> Outcome<Value> {
        Ok(match expression {
            Expression::Literal(value) => value.clone(),
            Expression::Field(place) => self.values[*place].clone(),
            Expression::Inserted(place) => self.inserted[*place].clone(),
            Expression::Now(places, _) => Value::Time(self.now.cut(*places)),
            Expression::Later(from, count, unit) => {
                later(&self.evaluate(from)?, &self.evaluate(count)?, *unit)?
            }
            Expression::Compare(comparison, left, right) => {
                compare(*comparison, &self.evaluate(left)?, &self.evaluate(right)?)?
            }
            Expression::In(one, others) => {
                let one = self.evaluate(one)?;
                let mut found = Some(false);
                for other in others.iter() {
                    let is_it = truth(&compare(Comparison::Equal, &one, &self.evaluate(other)?)?);
                    found = or(found, is_it);
                }
                value(found)
            }
            Expression::IsNull(inner, wanted) => {
                Value::truth((self.evaluate(inner)? == Value::Null) == *wanted)
            }
            Expression::Not(inner) => value(truth(&self.evaluate(inner)?).map(|is_so| !is_so)),
            Expression::And(parts) => {
                let mut some_fails = Some(false);
                for part in parts.iter() {
                    some_fails = or(some_fails, truth(&self.evaluate(part)?).map(|is_so| !is_so));
                }
                value(some_fails.map(|fails| !fails))
            }
            Expression::Or(parts) => {
                let mut some_holds = Some(false);
                for part in parts.iter() {
                    some_holds = or(some_holds, truth(&self.evaluate(part)?));
                }
                value(some_holds)
            }
            Expression::Add(left, right) => sum(&self.evaluate(left)?, &self.evaluate(right)?, 1)?,
            Expression::Subtract(left, right) => {
                sum(&self.evaluate(left)?, &self.evaluate(right)?, -1)?
            }
            Expression::Call(..) => Value::Integer(i128::from(self.session)),
            _ => return Err(SqlError::unsupported("this expression in a query on a table")),
        })
    }

    pub(super) fn holds(&self, condition: Option<&Expression>) -> Outcome<bool> {
        let Some(condition) = condition else { return Ok(true) };
        Ok(truth(&self.evaluate(condition)?) == Some(true))
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Integer(number) => Some(*number != 0),
        _ => None,
    }
}

fn value(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, Value::truth)
}

fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, _) | (_, None) => None,
        _ => Some(false),
    }
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> Outcome<Value> {
    if *left == Value::Null || *right == Value::Null {
        return Ok(match comparison {
            Comparison::Same => Value::truth(left == right),
            _ => Value::Null,
        });
    }
    let order = part(left)?.cmp(&part(right)?);
    Ok(Value::truth(match comparison {
        Comparison::Equal | Comparison::Same => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    }))
}

fn sum(left: &Value, right: &Value, sign: i128) -> Outcome<Value> {
    let (Value::Integer(left), Value::Integer(right)) = (left, right) else {
        return Ok(Value::Null);
    };
    let sum = left + sign * right;
    match i64::try_from(sum) {
        Ok(_) => Ok(Value::Integer(sum)),
        Err(_) => Err(SqlError::unsupported("a number this large")),
    }
}

pub(crate) fn later(from: &Value, count: &Value, unit: i64) -> Outcome<Value> {
    let (Value::Time(from), Value::Integer(count)) = (from, count) else { return Ok(Value::Null) };
    let micros = i64::try_from(i128::from(from.micros) + count * i128::from(unit)).ok();
    let micros = micros.filter(|micros| MICROS.contains(micros));
    let micros = micros.ok_or_else(|| SqlError::unsupported("a time this distant"))?;
    let places = if unit.abs() == 1 { 6 } else { from.places };
    Ok(Value::Time(Instant { micros, places }))
}
