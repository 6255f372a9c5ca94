use super::Binder;
use crate::bound::{Bound, Typed};
use crate::error::{Outcome, SqlError};
use crate::sql::ast::{Expression, Operator};
use crate::types::{Type, Value};

const NO_OPERATOR: &str = "No operator matches the given name and argument types. You might need \
                           to add explicit type casts.";

impl Binder<'_> {
    pub(super) fn operation(
        &mut self,
        operator: Operator,
        left: Typed,
        right: Typed,
        position: usize,
    ) -> Outcome<Typed> {
        if operator.is_comparison() {
            return self.comparison(operator, left, right, position);
        }
        self.arithmetic(operator, left, right, position)
    }

    fn missing(operator: Operator, left: Type, right: Type, position: usize) -> SqlError {
        let symbol = operator.symbol();
        let message = format!("operator does not exist: {left} {symbol} {right}");
        SqlError::new("42883", message).hint(NO_OPERATOR).at(position)
    }

    fn comparison(
        &mut self,
        operator: Operator,
        left: Typed,
        right: Typed,
        position: usize,
    ) -> Outcome<Typed> {
        let base = |kind| match kind {
            Type::Bpchar(_) => Type::Bpchar(0),
            Type::Varchar(_) | Type::Name => Type::Text,
            other => other,
        };
        let (left_kind, right_kind) = (left.kind, right.kind);
        let common = match (base(left_kind), base(right_kind)) {
            (Type::Unknown, Type::Unknown) => Type::Text,
            (Type::Unknown, known) | (known, Type::Unknown) => known,
            (one, other) if one == other => one,
            (one, other) if one.is_integer() && other.is_integer() => one.max(other),
            (one, other) if one.is_text() && other.is_text() => Type::Text,
            (one, other) if one.is_time() && other.is_time() => Type::Timestamptz,
            _ => return Err(Self::missing(operator, left_kind, right_kind, position)),
        };
        if matches!(common, Type::Void | Type::Numeric | Type::Float8) {
            return match common {
                Type::Void => Err(Self::missing(operator, left_kind, right_kind, position)),
                other => Err(SqlError::unsupported(format!("a comparison of type {other}"))),
            };
        }
        let side = |typed: Typed, binder: &mut Self| {
            let is_padded = matches!(typed.kind, Type::Bpchar(_)) || common == Type::Bpchar(0);
            let kind = if typed.kind == Type::Unknown { common } else { typed.kind };
            let bound = binder.coerce(typed, kind)?.bound;
            Ok::<Bound, SqlError>(if is_padded { Bound::Trim(Box::new(bound)) } else { bound })
        };
        let left = Box::new(side(left, self)?);
        let right = Box::new(side(right, self)?);
        let bound = Bound::Compare(operator, left, right);
        Ok(Typed { bound, kind: Type::Boolean, position })
    }

    fn arithmetic(
        &mut self,
        operator: Operator,
        left: Typed,
        right: Typed,
        position: usize,
    ) -> Outcome<Typed> {
        use Operator::{Add, Multiply, Subtract};
        let (one, other) = (left.kind, right.kind);
        // An operand of unknown type gets the other operand's type, but is an interval in a sum
        // with a time.
        let (one, other) = match (one, other) {
            (Type::Unknown, Type::Unknown) => {
                let symbol = operator.symbol();
                let message = format!("operator is not unique: unknown {symbol} unknown");
                let hint = "Could not choose a best candidate operator. You might need to add \
                            explicit type casts.";
                return Err(SqlError::new("42725", message).hint(hint).at(position));
            }
            (Type::Unknown, time) if time.is_time() && operator == Add => (Type::Interval, time),
            (time, Type::Unknown) if time.is_time() && operator == Add => (time, Type::Interval),
            (Type::Unknown, known) => (known, known),
            (known, Type::Unknown) => (known, known),
            kinds => kinds,
        };
        let kind = match (one, operator, other) {
            (one, _, other) if one.is_integer() && other.is_integer() => one.max(other),
            (time, Add | Subtract, Type::Interval) if time.is_time() => time,
            (Type::Interval, Add, time) if time.is_time() => time,
            (one, Subtract, other) if one.is_time() && other.is_time() => Type::Interval,
            (Type::Interval, Add | Subtract, Type::Interval) => Type::Interval,
            (Type::Interval, Multiply, other) if other.is_integer() => Type::Interval,
            (one, Multiply, Type::Interval) if one.is_integer() => Type::Interval,
            (Type::Numeric | Type::Float8, _, _) | (_, _, Type::Numeric | Type::Float8) => {
                return Err(SqlError::unsupported("arithmetic of type numeric"));
            }
            _ => return Err(Self::missing(operator, left.kind, right.kind, position)),
        };
        let left = Box::new(self.coerce(left, one)?.bound);
        let right = Box::new(self.coerce(right, other)?.bound);
        Ok(Typed { bound: Bound::Arithmetic(operator, left, right, kind), kind, position })
    }

    pub(super) fn negate(&mut self, value: &Expression, position: usize) -> Outcome<Typed> {
        let typed = self.bind(value)?;
        let kind = typed.kind;
        match (&typed.bound, kind) {
            (Bound::Constant(Value::Decimal(text)), Type::Numeric) => {
                // Parse the sign with the digits: the smallest integer has no positive counterpart.
                let bound = match format!("-{text}").parse() {
                    Ok(number) if !text.contains(['.', 'e']) => {
                        return Ok(Typed {
                            bound: Bound::Constant(Value::Integer(number)),
                            kind: Type::Int8,
                            position,
                        });
                    }
                    _ => Value::Decimal(format!("-{text}")),
                };
                Ok(Typed { bound: Bound::Constant(bound), kind, position })
            }
            (_, kind) if kind.is_integer() || kind == Type::Interval => {
                Ok(Typed { bound: Bound::Negate(Box::new(typed.bound), kind), kind, position })
            }
            _ => {
                let message = format!("operator does not exist: - {kind}");
                Err(SqlError::new("42883", message).hint(NO_OPERATOR).at(position))
            }
        }
    }
}
