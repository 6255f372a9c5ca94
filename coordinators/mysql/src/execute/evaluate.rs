//! Evaluates an expression for one row.

use crate::error::{Outcome, SqlError};
use crate::sql::expression::{Comparison, Expression};
use crate::store::schema::part;
use crate::value::Value;
use std::cmp::Ordering;

#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'r> {
    pub(super) values: &'r [Value],
    pub(super) session: u32,
}

impl Row<'_> {
    pub(super) fn evaluate(&self, expression: &Expression) -> Outcome<Value> {
        Ok(match expression {
            Expression::Literal(value) => value.clone(),
            Expression::Field(place) => self.values[*place].clone(),
            Expression::Compare(comparison, left, right) => {
                compare(*comparison, &self.evaluate(left)?, &self.evaluate(right)?)?
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
            _ => return Err(SqlError::unsupported("such an expression with a table")),
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
        return Ok(Value::Null);
    }
    let order = part(left)?.cmp(&part(right)?);
    Ok(Value::truth(match comparison {
        Comparison::Equal => order == Ordering::Equal,
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
        Err(_) => Err(SqlError::unsupported("so large a number")),
    }
}
