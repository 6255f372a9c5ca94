use super::Binder;
use super::values::base;
use crate::bound::{Advisory, Bound, Function, Typed};
use crate::error::{Outcome, SqlError};
use crate::span::Span;
use crate::sql::ast::Expression;
use crate::types::{Type, Value};

const PLAIN: &[(&str, Function, &[Type], Type)] = &[
    ("now", Function::Now, &[], Type::Timestamptz),
    ("transaction_timestamp", Function::Now, &[], Type::Timestamptz),
    ("statement_timestamp", Function::StatementTimestamp, &[], Type::Timestamptz),
    ("clock_timestamp", Function::ClockTimestamp, &[], Type::Timestamptz),
    ("pg_advisory_unlock_all", Function::AdvisoryUnlockAll, &[], Type::Void),
    ("pg_backend_pid", Function::BackendPid, &[], Type::Int4),
    ("pg_sleep", Function::Sleep, &[Type::Float8], Type::Void),
    ("version", Function::Version, &[], Type::Text),
    ("current_database", Function::Database, &[], Type::Name),
    ("current_setting", Function::Setting, &[Type::Text], Type::Text),
    ("pg_terminate_backend", Function::Terminate, &[Type::Int4], Type::Boolean),
    ("pg_cancel_backend", Function::Cancel, &[Type::Int4], Type::Boolean),
    ("pg_is_in_recovery", Function::IsInRecovery, &[], Type::Boolean),
    ("pg_promote", Function::Promote, &[], Type::Boolean),
];

/// Functions of PostgreSQL that the model lacks, or supports only for some arguments.
const UNSUPPORTED: &[&str] = &[
    "abs", "age", "array_agg", "avg", "bool_and", "bool_or", "ceil", "coalesce", "concat",
    "current_setting", "currval", "date_part", "date_trunc", "decode", "encode", "every", "floor",
    "format", "gen_random_uuid", "generate_series", "greatest", "hashtext", "hashtextextended",
    "json_build_object", "jsonb_build_object", "least", "length", "lower", "make_interval", "max",
    "md5", "min", "mod", "nextval", "nullif", "random", "replace", "round", "row_number",
    "set_config", "setval", "sha256", "string_agg", "substr", "sum", "timeofday", "to_char",
    "to_regclass", "to_timestamp", "trunc", "txid_current", "unnest", "upper",
];

fn advisory(name: &str) -> Option<(Function, Type)> {
    let unshared = name.strip_suffix("_shared").unwrap_or(name);
    let is_shared = unshared != name;
    let (span, tries) = match unshared {
        "pg_advisory_unlock" => {
            return Some((Function::AdvisoryUnlock { is_shared }, Type::Boolean));
        }
        "pg_advisory_lock" => (Span::Session, false),
        "pg_try_advisory_lock" => (Span::Session, true),
        "pg_advisory_xact_lock" => (Span::Transaction, false),
        "pg_try_advisory_xact_lock" => (Span::Transaction, true),
        _ => return None,
    };
    let kind = if tries { Type::Boolean } else { Type::Void };
    Some((Function::AdvisoryLock(Advisory { is_shared, span, tries }), kind))
}

fn missing(name: &str, kinds: &[Type], star: bool, position: usize) -> SqlError {
    let is_known = advisory(name).is_some() || PLAIN.iter().any(|known| known.0 == name);
    if UNSUPPORTED.contains(&name) || name.starts_with("pg_") && !is_known {
        return SqlError::unsupported(format!("the function {name}")).at(position);
    }
    let list = kinds.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    let list = if star { "*".to_owned() } else { list };
    let hint = "No function matches the given name and argument types. You might need to add \
                explicit type casts.";
    let message = format!("function {name}({list}) does not exist");
    SqlError::new("42883", message).hint(hint).at(position)
}

impl Binder<'_> {
    pub(super) fn keyword(&mut self, word: &str, position: usize) -> Typed {
        let (function, kind) = match word {
            "current_timestamp" => (Function::Now, Type::Timestamptz),
            "localtimestamp" => (Function::Now, Type::Timestamp),
            _ => (Function::User, Type::Name),
        };
        Typed { bound: Bound::Call(function, Vec::new()), kind, position }
    }

    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[Expression],
        star: bool,
        position: usize,
    ) -> Outcome<Typed> {
        if name == "count" {
            return self.count(arguments, star, position);
        }
        let mut typed = Vec::new();
        for argument in arguments {
            typed.push(self.bind(argument)?);
        }
        self.called(name, typed, star, position)
    }

    // Not inlined: its variables would enlarge the stack frames of the recursive `bind`.
    #[inline(never)]
    fn called(
        &mut self,
        name: &str,
        typed: Vec<Typed>,
        star: bool,
        position: usize,
    ) -> Outcome<Typed> {
        let kinds: Vec<Type> = typed.iter().map(|typed| typed.kind).collect();
        let missing = || missing(name, &kinds, star, position);
        if star {
            return Err(missing());
        }
        if name == "timezone" && typed.len() == 2 {
            return self.timezone(typed, position).ok_or_else(missing)?;
        }
        if let Some((function, kind)) = advisory(name) {
            let wanted: &[Type] =
                if typed.len() == 2 { &[Type::Int4, Type::Int4] } else { &[Type::Int8] };
            let bound = self.arguments(typed, wanted)?.ok_or_else(missing)?;
            return Ok(Typed { bound: Bound::Call(function, bound), kind, position });
        }
        let known = PLAIN.iter().find(|known| known.0 == name);
        let Some((_, function, wanted, kind)) = known else { return Err(missing()) };
        let bound = self.arguments(typed, wanted)?.ok_or_else(missing)?;
        Ok(Typed { bound: Bound::Call(*function, bound), kind: *kind, position })
    }

    fn arguments(&mut self, typed: Vec<Typed>, wanted: &[Type]) -> Outcome<Option<Vec<Bound>>> {
        let suits = |(typed, wanted): (&Typed, &Type)| match (typed.kind, *wanted) {
            (Type::Unknown, _) => true,
            (kind, wanted) if kind == wanted => true,
            (Type::Int2 | Type::Int4, Type::Int8) | (Type::Int2, Type::Int4) => true,
            (kind, Type::Float8) => kind.is_integer() || kind == Type::Numeric,
            (kind, Type::Text) => kind.is_text(),
            _ => false,
        };
        if typed.len() != wanted.len() || !typed.iter().zip(wanted).all(suits) {
            return Ok(None);
        }
        let mut bound = Vec::new();
        for (typed, wanted) in typed.into_iter().zip(wanted) {
            bound.push(self.coerce(typed, *wanted)?.bound);
        }
        Ok(Some(bound))
    }

    // Not inlined: its variables would enlarge the stack frames of the recursive `bind`.
    #[inline(never)]
    fn count(&mut self, arguments: &[Expression], star: bool, position: usize) -> Outcome<Typed> {
        let Some(outer) = self.counts.take() else {
            let message = "aggregate functions are not allowed here";
            return Err(SqlError::new("42803", message).at(position));
        };
        let loose = self.loose_column.take();
        let counted = match (star, arguments) {
            (true, _) => None,
            (false, [one]) => Some(self.bind(one)?.bound),
            _ => {
                let message = "count(*) must be used to call a parameterless aggregate function";
                return Err(SqlError::new("42809", message).at(position));
            }
        };
        self.loose_column = loose;
        let index = outer.len();
        self.counts = Some(outer.into_iter().chain([counted]).collect());
        Ok(Typed { bound: Bound::Count(index), kind: Type::Int8, position })
    }

    pub(super) fn case(
        &mut self,
        arms: &[(Expression, Expression)],
        otherwise: Option<&Expression>,
        position: usize,
    ) -> Outcome<Typed> {
        let null = Typed { bound: Bound::Constant(Value::Null), kind: Type::Unknown, position };
        let (mut conditions, mut values) = (Vec::new(), vec![null]);
        for (condition, value) in arms {
            conditions.push(self.boolean(condition, "CASE/WHEN")?);
            values.push(self.bind(value)?);
        }
        if let Some(otherwise) = otherwise {
            values[0] = self.bind(otherwise)?;
        }
        let (values, kind) = self.alike(values, "CASE")?;
        let mut values = values.into_iter();
        let mut bound: Vec<Bound> = values.next().into_iter().collect();
        bound.extend(conditions.into_iter().zip(values).flat_map(|(when, then)| [when, then]));
        Ok(Typed { bound: Bound::Call(Function::Case, bound), kind, position })
    }

    fn alike(&mut self, typed: Vec<Typed>, what: &str) -> Outcome<(Vec<Bound>, Type)> {
        let known = typed.iter().map(|typed| typed.kind).find(|kind| *kind != Type::Unknown);
        let first = known.unwrap_or(Type::Text);
        let is_one = typed.iter().all(|typed| typed.kind == first);
        let integers = typed.iter().map(|typed| typed.kind).filter(|kind| kind.is_integer());
        let kind = match integers.max() {
            _ if is_one => first,
            Some(widest) if first.is_integer() => widest,
            _ => base(first),
        };
        let mut bound = Vec::new();
        for typed in typed {
            let other = typed.kind;
            let is_narrower = other.is_integer() && kind.is_integer();
            if other != Type::Unknown && base(other) != base(kind) && !is_narrower {
                let message = format!("{what} types {kind} and {other} cannot be matched");
                return Err(SqlError::new("42804", message).at(typed.position));
            }
            bound.push(self.coerce(typed, kind)?.bound);
        }
        Ok((bound, kind))
    }

    fn timezone(&mut self, typed: Vec<Typed>, position: usize) -> Option<Outcome<Typed>> {
        let [zone, time] = <[Typed; 2]>::try_from(typed).ok()?;
        let kind = match time.kind {
            Type::Timestamp => Type::Timestamptz,
            Type::Timestamptz | Type::Unknown => Type::Timestamp,
            _ => return None,
        };
        let Bound::Constant(Value::Text(name)) = zone.bound else {
            return Some(Err(SqlError::unsupported("a time zone that is not a constant")));
        };
        if !["utc", "gmt", "etc/utc", "z"].contains(&name.to_ascii_lowercase().as_str()) {
            return Some(Err(SqlError::unsupported(format!("the time zone \"{name}\""))));
        }
        let time = match self.coerce(time, Type::Timestamptz) {
            Ok(time) => time,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(Typed { bound: time.bound, kind, position }))
    }
}
