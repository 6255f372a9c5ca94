//! Resolves the names and types in expressions.

mod functions;
mod operators;
mod values;

use crate::bound::{Bound, Output, Typed};
use crate::error::{Outcome, SqlError};
use crate::sql::ast::{Expression, Item, Node, Operator};
use crate::store::table::Definition;
use crate::types::{Type, Value};

const SYSTEM_COLUMNS: &[&str] = &["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"];

pub(crate) struct Binder<'t> {
    pub(crate) table: Option<&'t Definition>,
    pub(crate) alias: Option<String>,
    pub(crate) has_excluded: bool,
    pub(crate) parameters: Vec<Option<Type>>,
    /// Arguments of the COUNT calls so far. `None` where COUNT is not allowed.
    pub(crate) counts: Option<Vec<Option<Bound>>>,
    loose_column: Option<(String, usize)>,
}

impl<'t> Binder<'t> {
    pub(crate) fn new(
        table: Option<&'t Definition>,
        alias: Option<String>,
        parameters: Vec<Option<Type>>,
    ) -> Binder<'t> {
        let (counts, loose_column) = (None, None);
        Binder { table, alias, has_excluded: false, parameters, counts, loose_column }
    }

    fn table_name(&self) -> &str {
        let name = self.table.map_or("", |table| table.name.as_str());
        self.alias.as_deref().unwrap_or(name)
    }

    pub(crate) fn bind(&mut self, expression: &Expression) -> Outcome<Typed> {
        let position = expression.position;
        let typed = |bound, kind| Typed { bound, kind, position };
        Ok(match &expression.node {
            Node::Null => typed(Bound::Constant(Value::Null), Type::Unknown),
            Node::Boolean(value) => typed(Bound::Constant(Value::Boolean(*value)), Type::Boolean),
            Node::Integer(digits) => whole(digits, position),
            Node::Decimal(text) => {
                typed(Bound::Constant(Value::Decimal(text.clone())), Type::Numeric)
            }
            Node::Text(text) => typed(Bound::Constant(Value::Text(text.clone())), Type::Unknown),
            Node::Parameter(number) => self.parameter(*number, position)?,
            Node::Column { table, name } => self.column(table.as_deref(), name, position)?,
            Node::Default => {
                let message = "DEFAULT is not allowed in this context";
                return Err(SqlError::new("42601", message).at(position));
            }
            Node::Negate(value) => self.negate(value, position)?,
            Node::Not(value) => {
                let value = self.boolean(value, "NOT")?;
                typed(Bound::Not(Box::new(value)), Type::Boolean)
            }
            Node::Logic { operator, parts } => {
                let part = |part| self.boolean(part, operator.symbol());
                let parts = parts.iter().map(part).collect::<Outcome<Vec<Bound>>>()?;
                typed(Bound::Logic(*operator, parts), Type::Boolean)
            }
            Node::Binary { operator, left, right } => {
                self.binary(*operator, left, right, position)?
            }
            Node::IsNull { value, is_negated } => {
                let value = self.bind(value)?.bound;
                typed(Bound::IsNull(Box::new(value), *is_negated), Type::Boolean)
            }
            Node::Cast { value, to } => self.cast(value, *to, position)?,
            Node::Case { arms, otherwise } => self.case(arms, otherwise.as_deref(), position)?,
            Node::Call { name, arguments, star } => self.call(name, arguments, *star, position)?,
            Node::Keyword(word) => self.keyword(word, position),
        })
    }

    fn parameter(&mut self, number: u16, position: usize) -> Outcome<Typed> {
        let index = usize::from(number).wrapping_sub(1);
        let Some(known) = self.parameters.get(index) else {
            let message = format!("there is no parameter ${number}");
            return Err(SqlError::new("42P02", message).at(position));
        };
        let kind = known.unwrap_or(Type::Unknown);
        Ok(Typed { bound: Bound::Parameter(index), kind, position })
    }

    // Not inlined: its variables would enlarge the stack frames of the recursive `bind`.
    #[inline(never)]
    fn column(&mut self, table: Option<&str>, name: &str, position: usize) -> Outcome<Typed> {
        let is_excluded = table == Some("excluded") && self.has_excluded;
        if let Some(asked) = table
            && !is_excluded
            && (self.table.is_none() || asked != self.table_name())
        {
            let message = format!("missing FROM-clause entry for table \"{asked}\"");
            return Err(SqlError::new("42P01", message).at(position));
        }
        let found = self.table.and_then(|own| Some((own, own.column(name)?)));
        let Some((own, index)) = found else {
            if self.table.is_some() && SYSTEM_COLUMNS.contains(&name) {
                return Err(SqlError::unsupported(format!("the column {name}")).at(position));
            }
            let qualified = table.map_or(String::new(), |table| format!("{table}."));
            let message = match table {
                Some(_) => format!("column {qualified}{name} does not exist"),
                None => format!("column \"{name}\" does not exist"),
            };
            return Err(SqlError::new("42703", message).at(position));
        };
        if self.has_excluded && table.is_none() {
            let message = format!("column reference \"{name}\" is ambiguous");
            return Err(SqlError::new("42702", message).at(position));
        }
        if !is_excluded {
            let full = format!("{}.{name}", self.table_name());
            self.loose_column.get_or_insert((full, position));
        }
        let bound = if is_excluded { Bound::Excluded(index) } else { Bound::Column(index) };
        Ok(Typed { bound, kind: own.columns[index].kind, position })
    }

    pub(crate) fn boolean(&mut self, expression: &Expression, clause: &str) -> Outcome<Bound> {
        let typed = self.bind(expression)?;
        let (kind, position) = (typed.kind, typed.position);
        if kind != Type::Boolean && kind != Type::Unknown {
            let message = format!("argument of {clause} must be type boolean, not type {kind}");
            return Err(SqlError::new("42804", message).at(position));
        }
        Ok(self.coerce(typed, Type::Boolean)?.bound)
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        position: usize,
    ) -> Outcome<Typed> {
        let (left, right) = (self.bind(left)?, self.bind(right)?);
        self.operation(operator, left, right, position)
    }

    pub(crate) fn outputs(&mut self, items: &[Item]) -> Outcome<Vec<Output>> {
        let mut outputs = Vec::new();
        for item in items {
            match item {
                Item::All { table, position } => {
                    outputs.extend(self.all(table.as_deref(), *position)?);
                }
                Item::Expression { expression, label } => {
                    let typed = self.bind(expression)?;
                    let label = label.clone().unwrap_or_else(|| name_of(expression));
                    let kind = if typed.kind == Type::Unknown { Type::Text } else { typed.kind };
                    let origin = match typed.bound {
                        Bound::Column(index) => self.origin(index),
                        _ => None,
                    };
                    let bound = self.coerce(typed, kind)?.bound;
                    outputs.push(Output { label, bound, kind, origin });
                }
            }
        }
        Ok(outputs)
    }

    pub(crate) fn loose_column(&self) -> Option<(String, usize)> {
        self.loose_column.clone()
    }

    fn origin(&self, index: usize) -> Option<(u32, i16)> {
        Some((self.table?.id.0, index as i16 + 1))
    }

    fn all(&mut self, asked: Option<&str>, position: usize) -> Outcome<Vec<Output>> {
        if let Some(asked) = asked
            && (self.table.is_none() || asked != self.table_name())
        {
            let message = format!("missing FROM-clause entry for table \"{asked}\"");
            return Err(SqlError::new("42P01", message).at(position));
        }
        let Some(table) = self.table else {
            let message = "SELECT * with no tables specified is not valid";
            return Err(SqlError::new("42601", message).at(position));
        };
        if let Some(first) = table.columns.first() {
            let full = format!("{}.{}", self.table_name(), first.name);
            self.loose_column.get_or_insert((full, position));
        }
        let of = |(index, column): (usize, &crate::store::table::Column)| Output {
            label: column.name.clone(),
            bound: Bound::Column(index),
            kind: column.kind,
            origin: self.origin(index),
        };
        Ok(table.columns.iter().enumerate().map(of).collect())
    }

    pub(crate) fn settled(&self) -> Outcome<Vec<Type>> {
        let settle = |(index, kind): (usize, &Option<Type>)| {
            let number = index + 1;
            kind.ok_or_else(|| {
                let message = format!("could not determine data type of parameter ${number}");
                SqlError::new("42P18", message)
            })
        };
        self.parameters.iter().enumerate().map(settle).collect()
    }
}

fn whole(digits: &str, position: usize) -> Typed {
    let (bound, kind) = match digits.parse::<i64>() {
        Ok(number) if i32::try_from(number).is_ok() => (Value::Integer(number), Type::Int4),
        Ok(number) => (Value::Integer(number), Type::Int8),
        Err(_) => (Value::Decimal(digits.to_owned()), Type::Numeric),
    };
    Typed { bound: Bound::Constant(bound), kind, position }
}

fn name_of(expression: &Expression) -> String {
    match &expression.node {
        Node::Column { name, .. } => name.clone(),
        Node::Call { name, .. } => name.clone(),
        Node::Keyword(word) => (*word).to_owned(),
        Node::Cast { value, to } => match name_of(value) {
            _ if !has_name(value) => to.short_name().to_owned(),
            name => name,
        },
        Node::Case { otherwise, .. } => match otherwise.as_deref() {
            Some(otherwise) if has_name(otherwise) => name_of(otherwise),
            _ => "case".to_owned(),
        },
        _ => "?column?".to_owned(),
    }
}

fn has_name(expression: &Expression) -> bool {
    match &expression.node {
        Node::Column { .. } | Node::Call { .. } | Node::Keyword(_) => true,
        Node::Cast { value, .. } => has_name(value),
        Node::Case { otherwise, .. } => otherwise.as_deref().is_some_and(has_name),
        _ => false,
    }
}
