use super::expression::{Comparison, Expression, Function, Inner, List, Named};
use super::parser::Parser;
use super::token::Kind;
use crate::error::{Outcome, SqlError};
use crate::number::Decimal;
use crate::value::Value;

const DEPTH_MAX: usize = 64;
pub(super) const RESERVED: &[&str] = &[
    "select", "from", "where", "limit", "and", "or", "not", "is", "null", "in", "like", "between",
    "as", "set", "use", "kill", "insert", "update", "group", "order", "by", "if", "default",
    "unique", "primary", "constraint", "foreign", "check", "having", "union", "for", "into", "on",
    "to", "with", "xor", "div", "mod", "case", "when", "then", "else", "create", "drop", "table",
    "values", "regexp", "rlike", "collate", "exists", "interval", "true", "false", "database",
    "databases", "schema", "schemas", "dual", "match", "distinct", "all", "show", "call", "lock",
    "unlock", "grant", "revoke", "replace", "release", "key", "primary", "unique", "desc", "asc",
    "delete", "keys", "index", "left", "right", "join", "cross", "inner",
];
/// Functions that the model lacks and whose names are reserved words.
const CALLED: &[&str] =
    &["default", "exists", "if", "insert", "left", "match", "mod", "replace", "right"];
const OPERATORS: &[&str] = &[
    "xor", "like", "between", "regexp", "rlike", "div", "mod", "collate", "not", "*", "/", "%",
    "&", "|", "^", "<<", ">>", "||", "&&",
];

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Outcome<Expression> {
        self.deeper()?;
        let mut parts = match self.conjunction()? {
            Expression::Or(parts) if self.is_word("or") => parts.into_vec(),
            first => vec![first],
        };
        while self.accepts_word("or") {
            parts.push(self.conjunction()?);
        }
        self.refuse_operator()?;
        self.depth -= 1;
        one_or(parts, Expression::Or)
    }

    fn deeper(&mut self) -> Outcome<()> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(SqlError::unsupported("expressions nested this deeply")),
            false => Ok(()),
        }
    }

    fn conjunction(&mut self) -> Outcome<Expression> {
        let mut parts = match self.negation()? {
            Expression::And(parts) if self.is_word("and") => parts.into_vec(),
            first => vec![first],
        };
        while self.accepts_word("and") {
            parts.push(self.negation()?);
        }
        one_or(parts, Expression::And)
    }

    fn negation(&mut self) -> Outcome<Expression> {
        if self.accepts_word("not") {
            self.deeper()?;
            let inner = self.negation()?;
            self.depth -= 1;
            return Ok(Expression::Not(Inner::new(inner)?));
        }
        let mut left = self.predicate()?;
        loop {
            let comparison = match self.symbol() {
                Some("=") => Comparison::Equal,
                Some("<>" | "!=") => Comparison::NotEqual,
                Some("<=>") => Comparison::Same,
                Some("<") => Comparison::Less,
                Some("<=") => Comparison::LessOrEqual,
                Some(">") => Comparison::Greater,
                Some(">=") => Comparison::GreaterOrEqual,
                _ if self.accepts_word("is") => {
                    let is_null = !self.accepts_word("not");
                    self.refuse_words(&["false", "true", "unknown"])?;
                    self.expect_word("null")?;
                    left = Expression::IsNull(Inner::new(left)?, is_null);
                    continue;
                }
                _ => break,
            };
            self.next();
            let right = self.predicate()?;
            left = Expression::Compare(comparison, Inner::new(left)?, Inner::new(right)?);
        }
        Ok(left)
    }

    fn predicate(&mut self) -> Outcome<Expression> {
        let left = self.sum()?;
        let start = self.at;
        let is_negated = self.accepts_word("not");
        if !self.accepts_word("in") {
            self.at = start;
            return Ok(left);
        }
        self.expect("(")?;
        self.refuse_subquery()?;
        let list = self.list(Parser::expression)?;
        self.expect(")")?;
        let found = Expression::In(Inner::new(left)?, List::new(list)?);
        Ok(if is_negated { Expression::Not(Inner::new(found)?) } else { found })
    }

    fn sum(&mut self) -> Outcome<Expression> {
        let mut left = self.operand()?;
        loop {
            let is_plus = match self.symbol() {
                Some("+") => true,
                Some("-") => false,
                _ => return Ok(left),
            };
            self.next();
            if self.accepts_word("interval") {
                left = self.interval(left, if is_plus { 1 } else { -1 })?;
                continue;
            }
            let (left_side, right) = (Inner::new(left)?, Inner::new(self.operand()?)?);
            left = match is_plus {
                true => Expression::Add(left_side, right),
                false => Expression::Subtract(left_side, right),
            };
        }
    }

    fn interval(&mut self, from: Expression, sign: i64) -> Outcome<Expression> {
        self.deeper()?;
        let count = self.sum()?;
        self.depth -= 1;
        let unit = self.unit()?;
        Ok(Expression::Later(Inner::new(from)?, Inner::new(count)?, sign * unit))
    }

    fn unit(&mut self) -> Outcome<i64> {
        let Kind::Word(word) = self.peek().kind.clone() else { return Err(self.wrong()) };
        let micros = match word.to_ascii_lowercase().as_str() {
            "microsecond" => 1,
            "second" => 1_000_000,
            "minute" => 60_000_000,
            "hour" => 3_600_000_000,
            "day" => 86_400_000_000,
            _ => return Err(SqlError::unsupported("this interval unit")),
        };
        self.next();
        Ok(micros)
    }

    fn refuse_operator(&self) -> Outcome<()> {
        let found = match &self.peek().kind {
            Kind::Symbol(symbol) => OPERATORS.iter().find(|operator| *operator == symbol),
            Kind::Word(word) => {
                OPERATORS.iter().find(|operator| operator.eq_ignore_ascii_case(word))
            }
            _ => None,
        };
        match found {
            Some(operator) => Err(SqlError::unsupported(operator)),
            None => Ok(()),
        }
    }

    fn operand(&mut self) -> Outcome<Expression> {
        let token = self.peek().clone();
        match token.kind {
            Kind::Text(_) => Ok(Expression::Literal(Value::Text(self.texts()))),
            Kind::Number(text) => {
                self.next();
                Ok(Expression::Literal(number(&text)))
            }
            Kind::Symbol("-" | "+") => self.signed(),
            Kind::Symbol("(") => {
                self.next();
                self.refuse_subquery()?;
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Symbol("@@") => self.variable(),
            Kind::Symbol("@") => Err(SqlError::unsupported("user variables")),
            Kind::Symbol("!" | "~" | "?" | "{") => Err(SqlError::unsupported("this operator")),
            Kind::Word(word) => self.named(&word),
            Kind::Name(_) => {
                let named = self.qualified()?;
                Ok(Expression::Column(named, self.clause))
            }
            _ => Err(self.wrong()),
        }
    }

    fn refuse_subquery(&self) -> Outcome<()> {
        match self.is_word("select") || self.is_word("with") {
            true => Err(SqlError::unsupported("a subquery")),
            false => Ok(()),
        }
    }

    fn texts(&mut self) -> Vec<u8> {
        let mut whole = Vec::new();
        while let Kind::Text(text) = self.peek().kind.clone() {
            whole.extend(text);
            self.next();
        }
        whole
    }

    fn signed(&mut self) -> Outcome<Expression> {
        let is_negative = self.accepts("-");
        if !is_negative {
            return Err(SqlError::unsupported("+"));
        }
        match self.peek().kind.clone() {
            Kind::Number(text) => {
                self.next();
                Ok(Expression::Literal(match number(&text) {
                    Value::Integer(number) if number <= 1 << 63 => Value::Integer(-number),
                    _ => Value::Decimal(Decimal::written(&text).negated()),
                }))
            }
            Kind::End => Err(self.wrong()),
            _ => Err(SqlError::unsupported("-")),
        }
    }

    fn variable(&mut self) -> Outcome<Expression> {
        self.next();
        let mut name = self.word()?.to_ascii_lowercase();
        let mut is_global = false;
        if matches!(name.as_str(), "session" | "local" | "global") && self.accepts(".") {
            is_global = name == "global";
            name = self.word()?.to_ascii_lowercase();
        }
        Ok(Expression::Variable(name, is_global))
    }

    fn named(&mut self, word: &str) -> Outcome<Expression> {
        let lower = word.to_ascii_lowercase();
        let literal = match lower.as_str() {
            "null" => Some(Expression::Literal(Value::Null)),
            "true" => Some(Expression::Truth(true)),
            "false" => Some(Expression::Truth(false)),
            _ => None,
        };
        if let Some(literal) = literal {
            self.next();
            return Ok(literal);
        }
        if let Some(time) = self.time_function(&lower)? {
            return Ok(time);
        }
        let is_database = matches!(lower.as_str(), "database" | "schema");
        if lower == "case" {
            return Err(SqlError::unsupported("CASE"));
        }
        if self.is_called() && CALLED.contains(&lower.as_str()) {
            return Err(SqlError::unsupported(&format!("the function {word}")));
        }
        if RESERVED.contains(&lower.as_str()) && !is_database {
            return Err(self.wrong());
        }
        self.next();
        if is_database && self.symbol() != Some("(") {
            return Err(self.wrong());
        }
        if lower == "current_user" && self.symbol() != Some("(") {
            return Ok(Expression::Call(Function::User, List::default()));
        }
        if self.symbol() == Some("(") {
            return self.call(word, &lower);
        }
        self.at -= 1;
        let named = self.qualified()?;
        Ok(Expression::Column(named, self.clause))
    }

    pub(super) fn qualified(&mut self) -> Outcome<Named> {
        let name = self.word()?;
        if !self.accepts(".") {
            return Ok(Named { before: None, name });
        }
        let (before, name) = (Some(name), self.word()?);
        if self.symbol() == Some(".") {
            return Err(SqlError::unsupported("a name of three parts"));
        }
        Ok(Named { before, name })
    }

    fn time_function(&mut self, lower: &str) -> Outcome<Option<Expression>> {
        let has_bracket = self.is_called();
        match lower {
            "current_timestamp" | "localtime" | "localtimestamp" | "utc_timestamp" => {}
            "now" | "timestampadd" | "date_add" | "date_sub" | "count" | "values"
                if has_bracket => {}
            _ => return Ok(None),
        }
        self.next();
        let is_utc = lower == "utc_timestamp";
        if !self.accepts("(") {
            return Ok(Some(Expression::Now(0, is_utc)));
        }
        let value = match lower {
            "timestampadd" => {
                let unit = self.unit()?;
                self.expect(",")?;
                let count = self.expression()?;
                self.expect(",")?;
                let from = self.expression()?;
                Expression::Later(Inner::new(from)?, Inner::new(count)?, unit)
            }
            "date_add" | "date_sub" => {
                let from = self.expression()?;
                self.expect(",")?;
                self.expect_word("interval")?;
                self.interval(from, if lower == "date_sub" { -1 } else { 1 })?
            }
            "count" if self.accepts("*") => Expression::Count,
            "count" => return Err(SqlError::unsupported("COUNT of anything but *")),
            "values" => {
                let named = self.qualified()?;
                Expression::Column(named, "VALUES")
            }
            _ => Expression::Now(self.places()?, is_utc),
        };
        self.expect(")")?;
        Ok(Some(value))
    }

    fn places(&mut self) -> Outcome<u8> {
        let Kind::Number(text) = self.peek().kind.clone() else { return Ok(0) };
        self.next();
        match text.parse() {
            Ok(places @ 0..=6) => Ok(places),
            _ => Err(SqlError::unsupported("more than 6 fractional digits")),
        }
    }

    fn call(&mut self, word: &str, lower: &str) -> Outcome<Expression> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.accepts(")") {
            loop {
                arguments.push(self.expression()?);
                if self.accepts(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        let function = Function::named(lower)
            .ok_or_else(|| SqlError::unsupported(&format!("the function {word}")))?;
        let fits = match function.arguments() {
            Some(wanted) => arguments.len() == wanted,
            None => !arguments.is_empty(),
        };
        if !fits {
            let message =
                format!("Incorrect parameter count in the call to native function '{word}'");
            return Err(SqlError::new(1582, "42000", message));
        }
        Ok(Expression::Call(function, List::new(arguments)?))
    }
}

fn one_or(mut parts: Vec<Expression>, all: fn(List) -> Expression) -> Outcome<Expression> {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => {
            parts.extend(last);
            List::new(parts).map(all)
        }
    }
}

fn number(text: &str) -> Value {
    let integer = text.parse::<u64>().ok().map(|number| Value::Integer(i128::from(number)));
    integer.unwrap_or_else(|| Value::Decimal(Decimal::written(text)))
}
