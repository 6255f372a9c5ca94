use super::Binder;
use crate::bound::{Bound, Typed};
use crate::error::{Outcome, SqlError};
use crate::sql::ast::Expression;
use crate::store::table::Column;
use crate::types::{Type, Value};

pub(super) fn base(kind: Type) -> Type {
    match kind {
        Type::Varchar(_) => Type::Varchar(None),
        Type::Bpchar(_) => Type::Bpchar(0),
        other => other,
    }
}

impl Binder<'_> {
    pub(crate) fn coerce(&mut self, typed: Typed, to: Type) -> Outcome<Typed> {
        if typed.kind != Type::Unknown {
            return Ok(typed);
        }
        let position = typed.position;
        let (bound, kind) = match typed.bound {
            Bound::Constant(Value::Text(text)) => {
                let value = Value::read(&text, base(to)).map_err(|error| error.at(position))?;
                (Bound::Constant(value), to)
            }
            Bound::Parameter(index) => {
                if self.parameters[index].is_none() {
                    self.parameters[index] = Some(base(to));
                }
                match self.parameters[index] {
                    Some(known) if known != base(to) => {
                        let value = Box::new(Bound::Parameter(index));
                        (Bound::Convert { value, from: known, to, is_cast: false }, to)
                    }
                    _ => (Bound::Parameter(index), to),
                }
            }
            other => (other, to),
        };
        Ok(Typed { bound, kind, position })
    }

    pub(super) fn cast(&mut self, value: &Expression, to: Type, position: usize) -> Outcome<Typed> {
        let typed = self.bind(value)?;
        let from = if typed.kind == Type::Unknown { base(to) } else { typed.kind };
        let is_possible = from == to
            || from.is_text()
            || to.is_text()
            || from.is_integer() && (to.is_integer() || matches!(to, Type::Numeric | Type::Float8))
            || from.is_time() && to.is_time()
            || matches!((from, to), (Type::Int4, Type::Boolean) | (Type::Boolean, Type::Int4))
            || matches!((from, to), (Type::Numeric | Type::Float8, Type::Float8 | Type::Numeric));
        if !is_possible {
            let message = format!("cannot cast type {from} to {to}");
            return Err(SqlError::new("42846", message).at(position));
        }
        let value = Box::new(self.coerce(typed, base(to))?.bound);
        let bound = match from == to && base(to) == to {
            true => *value,
            false => Bound::Convert { value, from, to, is_cast: true },
        };
        Ok(Typed { bound, kind: to, position })
    }

    pub(crate) fn stored(&mut self, expression: &Expression, column: &Column) -> Outcome<Bound> {
        let typed = self.bind(expression)?;
        let (from, to, position) = (typed.kind, column.kind, typed.position);
        if from == Type::Unknown {
            let bound = self.coerce(typed, to)?.bound;
            let value = Box::new(bound);
            return Ok(match base(to) == to {
                true => *value,
                false => Bound::Convert { value, from: base(to), to, is_cast: false },
            });
        }
        let fits = from == to
            || to.is_text() && from != Type::Void
            || from.is_integer() && to.is_integer()
            || from.is_time() && to.is_time();
        if !fits {
            let message = format!(
                "column \"{}\" is of type {to} but expression is of type {from}",
                column.name
            );
            let hint = "You will need to rewrite or cast the expression.";
            return Err(SqlError::new("42804", message).hint(hint).at(position));
        }
        let value = Box::new(typed.bound);
        Ok(if from == to { *value } else { Bound::Convert { value, from, to, is_cast: false } })
    }
}
