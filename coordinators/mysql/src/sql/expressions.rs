//! Expressions: literals, variables, calls, and what compares them.

use super::ast::{Comparison, Expression, Function};
use super::statements::Parser;
use super::token::Kind;
use crate::error::{Outcome, SqlError};
use crate::number::Decimal;
use crate::value::Value;

/// How deep brackets and calls may be nested.
const DEPTH_MAX: usize = 64;
/// Words that cannot be the name of a column.
pub(super) const RESERVED: &[&str] = &[
    "select",
    "from",
    "where",
    "limit",
    "and",
    "or",
    "not",
    "is",
    "null",
    "in",
    "like",
    "between",
    "as",
    "set",
    "use",
    "kill",
    "insert",
    "update",
    "delete",
    "group",
    "order",
    "by",
    "if",
    "having",
    "union",
    "for",
    "into",
    "on",
    "to",
    "with",
    "xor",
    "div",
    "mod",
    "case",
    "when",
    "then",
    "else",
    "create",
    "drop",
    "table",
    "values",
    "regexp",
    "rlike",
    "collate",
    "exists",
    "interval",
    "true",
    "false",
    "database",
    "databases",
    "schema",
    "schemas",
    "dual",
    "match",
    "distinct",
    "all",
    "show",
    "call",
    "lock",
    "unlock",
    "grant",
    "revoke",
    "replace",
    "release",
    "key",
    "keys",
    "index",
    "left",
    "right",
    "join",
    "cross",
    "inner",
];
/// What can follow an expression in the real server's language, and not in this one's.
const OPERATORS: &[&str] = &[
    "and", "or", "xor", "like", "in", "between", "regexp", "rlike", "div", "mod", "collate", "not",
    "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "||", "&&",
];

impl Parser<'_> {
    /// An expression. Errors: 1064, 1235, and what is said of functions and columns.
    pub(super) fn expression(&mut self) -> Outcome<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SqlError::unsupported("expressions nested so deeply"));
        }
        let expression = self.negation()?;
        self.depth -= 1;
        Ok(expression)
    }

    fn negation(&mut self) -> Outcome<Expression> {
        if self.accepts_word("not") {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(SqlError::unsupported("expressions nested so deeply"));
            }
            let inner = self.negation()?;
            self.depth -= 1;
            return Ok(Expression::Not(Box::new(inner)));
        }
        let mut left = self.operand()?;
        loop {
            let comparison = match self.symbol() {
                Some("=") => Comparison::Equal,
                Some("<>" | "!=") => Comparison::NotEqual,
                Some("<=>") => Comparison::Same,
                _ if self.accepts_word("is") => {
                    let is_null = !self.accepts_word("not");
                    self.expect_word("null")?;
                    left = Expression::IsNull(Box::new(left), is_null);
                    continue;
                }
                _ => break,
            };
            self.next();
            let right = self.operand()?;
            left = Expression::Compare(comparison, Box::new(left), Box::new(right));
        }
        self.refuse_operator()?;
        Ok(left)
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
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Symbol("@@") => self.variable(),
            Kind::Symbol("@") => Err(SqlError::unsupported("user variables")),
            Kind::Symbol("!" | "~" | "?" | "{") => Err(SqlError::unsupported("this operator")),
            Kind::Word(word) => self.named(&word),
            Kind::Name(name) => {
                self.next();
                Ok(Expression::Column(String::from_utf8_lossy(&name).into_owned(), self.clause))
            }
            _ => Err(self.wrong()),
        }
    }

    /// Texts that stand beside each other are one.
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

    /// A word: a literal, a call or the name of a column, of which there is none.
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
        // These are reserved, and still the names of functions.
        let is_database = matches!(lower.as_str(), "database" | "schema");
        if RESERVED.contains(&lower.as_str()) && !is_database {
            return Err(self.wrong());
        }
        self.next();
        if is_database && self.symbol() != Some("(") {
            return Err(self.wrong());
        }
        if lower == "current_user" && self.symbol() != Some("(") {
            return Ok(Expression::Call(Function::User, Vec::new()));
        }
        if self.symbol() == Some("(") {
            return self.call(word, &lower);
        }
        Ok(Expression::Column(word.to_owned(), self.clause))
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
        Ok(Expression::Call(function, arguments))
    }
}

/// The value of a number as it is written.
fn number(text: &str) -> Value {
    let integer = text.parse::<u64>().ok().map(|number| Value::Integer(i128::from(number)));
    integer.unwrap_or_else(|| Value::Decimal(Decimal::written(text)))
}
