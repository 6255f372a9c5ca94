//! Binds column names to positions. Refuses comparisons that the model does not support.

use crate::error::{Outcome, SqlError};
use crate::sql::expression::{Expression, Function, Inner, List, Named};
use crate::sql::table_ast::Kind;
use crate::store::schema::Definition;
use crate::timestamp::read;
use crate::value::Value;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Null,
    Integer,
    Text,
    Time,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'t> {
    pub(super) definition: &'t Definition,
    pub(super) called: &'t str,
    pub(super) has_inserted: bool,
}

impl Scope<'_> {
    pub(super) fn place(&self, named: &Named, clause: &str) -> Outcome<usize> {
        let is_called = named.before.as_ref().is_none_or(|before| before == self.called);
        let place = self.definition.column(&named.name).filter(|_| is_called);
        place.ok_or_else(|| {
            let message = format!("Unknown column '{}' in '{clause}'", named.shown());
            SqlError::new(1054, "42S22", message)
        })
    }

    fn class(&self, place: usize) -> Class {
        match self.definition.columns[place].kind {
            Kind::Integer { .. } => Class::Integer,
            Kind::Text { .. } => Class::Text,
            Kind::Time { .. } => Class::Time,
        }
    }

    pub(super) fn bind(&self, expression: &Expression) -> Outcome<(Expression, Class)> {
        Ok(match expression {
            Expression::Literal(value) => (expression.clone(), class_of(value)?),
            Expression::Truth(is_true) => {
                (Expression::Literal(Value::truth(*is_true)), Class::Integer)
            }
            Expression::Column(named, "VALUES") => {
                if !self.has_inserted {
                    return Err(SqlError::unsupported("VALUES outside an INSERT"));
                }
                let place = self.place(named, "UPDATE")?;
                (Expression::Inserted(place), self.class(place))
            }
            Expression::Column(named, clause) => {
                let place = self.place(named, clause)?;
                (Expression::Field(place), self.class(place))
            }
            Expression::Now(..) => (expression.clone(), Class::Time),
            Expression::Later(from, count, unit) => {
                let from = self.bind_as(from, Class::Time, "this expression as a time")?;
                let count =
                    self.bind_as(count, Class::Integer, "this expression as an interval")?;
                (Expression::Later(Inner::new(from)?, Inner::new(count)?, *unit), Class::Time)
            }
            Expression::Compare(comparison, left, right) => {
                let (left, right) = matched(self.bind(left)?, self.bind(right)?)?;
                let compared =
                    Expression::Compare(*comparison, Inner::new(left)?, Inner::new(right)?);
                (compared, Class::Integer)
            }
            Expression::In(one, others) => {
                let (first, list) = self.members(one, others)?;
                (Expression::In(Inner::new(first)?, List::new(list)?), Class::Integer)
            }
            Expression::IsNull(inner, wanted) => {
                let (inner, _) = self.bind(inner)?;
                (Expression::IsNull(Inner::new(inner)?, *wanted), Class::Integer)
            }
            Expression::Not(inner) => {
                let inner =
                    self.bind_as(inner, Class::Integer, "NOT of a value that is not an integer")?;
                (Expression::Not(Inner::new(inner)?), Class::Integer)
            }
            Expression::And(parts) => (Expression::And(self.truths(parts)?), Class::Integer),
            Expression::Or(parts) => (Expression::Or(self.truths(parts)?), Class::Integer),
            Expression::Add(left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                (Expression::Add(left, right), Class::Integer)
            }
            Expression::Subtract(left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                (Expression::Subtract(left, right), Class::Integer)
            }
            Expression::Call(Function::ConnectionId, _) => (expression.clone(), Class::Integer),
            Expression::Count => return Err(SqlError::unsupported("COUNT in this place")),
            _ => return Err(SqlError::unsupported("this expression in a query on a table")),
        })
    }

    fn members(
        &self,
        one: &Expression,
        others: &[Expression],
    ) -> Outcome<(Expression, Vec<Expression>)> {
        // Bind `one` only once, because nested INs would otherwise take exponential time.
        let (mut first, class) = self.bind(one)?;
        let mut list = Vec::new();
        for other in others {
            let (one, other) = matched((first, class), self.bind(other)?)?;
            if matches!(one, Expression::Literal(_)) {
                return Err(SqlError::unsupported("IN with a literal on its left"));
            }
            first = one;
            list.push(other);
        }
        Ok((first, list))
    }

    fn bind_as(&self, expression: &Expression, wanted: Class, what: &str) -> Outcome<Expression> {
        match self.bind(expression)? {
            (bound, class) if class == wanted || class == Class::Null => Ok(bound),
            _ => Err(SqlError::unsupported(what)),
        }
    }

    fn truth(&self, part: &Expression) -> Outcome<Inner> {
        Inner::new(self.bind_as(
            part,
            Class::Integer,
            "a condition or sum of values that are not integers",
        )?)
    }

    fn truths(&self, parts: &[Expression]) -> Outcome<List> {
        let what = "a condition or sum of values that are not integers";
        let bound = parts.iter().map(|part| self.bind_as(part, Class::Integer, what));
        List::new(bound.collect::<Outcome<Vec<Expression>>>()?)
    }

    pub(super) fn condition(&self, condition: Option<&Expression>) -> Outcome<Option<Expression>> {
        let Some(condition) = condition else { return Ok(None) };
        self.bind_as(condition, Class::Integer, "a condition that is not an integer").map(Some)
    }
}

/// Converts a string to a time if it is compared with a time.
fn matched(
    (left, one): (Expression, Class),
    (right, other): (Expression, Class),
) -> Outcome<(Expression, Expression)> {
    match (one, other) {
        (one, other) if one == other => Ok((left, right)),
        (Class::Null, _) | (_, Class::Null) => Ok((left, right)),
        (Class::Time, Class::Text) => Ok((left, time(right)?)),
        (Class::Text, Class::Time) => Ok((time(left)?, right)),
        _ => Err(SqlError::unsupported("comparing values of different types")),
    }
}

fn class_of(value: &Value) -> Outcome<Class> {
    match value {
        Value::Null => Ok(Class::Null),
        Value::Integer(_) => Ok(Class::Integer),
        Value::Text(_) => Ok(Class::Text),
        Value::Time(_) => Ok(Class::Time),
        Value::Decimal(_) => Err(SqlError::unsupported("a decimal in a query on a table")),
    }
}

fn time(text: Expression) -> Outcome<Expression> {
    let Expression::Literal(Value::Text(text)) = &text else {
        return Err(SqlError::unsupported("comparing a time with a string column"));
    };
    match read(&String::from_utf8_lossy(text)) {
        Ok(at) => Ok(Expression::Literal(Value::Time(at))),
        Err(_) => Err(SqlError::unsupported("comparing a time with this string")),
    }
}

pub(super) fn conjuncts<'e>(condition: &'e Expression, out: &mut Vec<&'e Expression>) {
    match condition {
        Expression::And(parts) => parts.iter().for_each(|part| conjuncts(part, out)),
        other => out.push(other),
    }
}

pub(super) fn fields(expression: &Expression, out: &mut Vec<usize>) {
    match expression {
        Expression::Field(place) => out.push(*place),
        Expression::IsNull(inner, _) | Expression::Not(inner) => fields(inner, out),
        Expression::Compare(_, left, right)
        | Expression::Later(left, right, _)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right) => {
            fields(left, out);
            fields(right, out);
        }
        Expression::And(parts) | Expression::Or(parts) => {
            parts.iter().for_each(|part| fields(part, out));
        }
        Expression::In(one, others) => {
            fields(one, out);
            others.iter().for_each(|other| fields(other, out));
        }
        _ => {}
    }
}
