//! Expressions, by climbing precedence.

use super::ast::{Expression, Node, Operator};
use super::token::Kind;
use super::{Parser, RESERVED};
use crate::error::{Outcome, SqlError};
use crate::types::Type;

/// Brackets and prefixes deeper than this are refused, as the real server refuses them when its
/// stack is used up.
const DEPTH_MAX: usize = 200;

/// Functions that are written without brackets.
const KEYWORDS: &[&str] =
    &["current_timestamp", "localtimestamp", "current_user", "session_user", "user"];

impl Parser {
    pub(super) fn expression(&mut self) -> Outcome<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let limit = "Increase the configuration parameter \"max_stack_depth\" (currently \
                         2048kB), after ensuring the platform's stack depth limit is adequate.";
            return Err(SqlError::new("54001", "stack depth limit exceeded").hint(limit));
        }
        let expression = self.alternatives();
        self.depth -= 1;
        expression
    }

    fn alternatives(&mut self) -> Outcome<Expression> {
        let mut left = self.conjunction()?;
        while self.is_word("or") {
            left = self.binary(Operator::Or, left, Parser::conjunction)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Outcome<Expression> {
        let mut left = self.negation()?;
        while self.is_word("and") {
            left = self.binary(Operator::And, left, Parser::negation)?;
        }
        Ok(left)
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Expression,
        right: impl FnOnce(&mut Parser) -> Outcome<Expression>,
    ) -> Outcome<Expression> {
        let position = self.position();
        self.at += 1;
        let (left, right) = (Box::new(left), Box::new(right(self)?));
        Ok(Expression { node: Node::Binary { operator, left, right }, position })
    }

    fn negation(&mut self) -> Outcome<Expression> {
        let position = self.position();
        let mut times = 0;
        while self.take_word("not") {
            times += 1;
            if times > DEPTH_MAX {
                return Err(SqlError::new("54001", "stack depth limit exceeded"));
            }
        }
        let mut value = self.is_null()?;
        for _ in 0..times {
            value = Expression { node: Node::Not(Box::new(value)), position };
        }
        Ok(value)
    }

    fn is_null(&mut self) -> Outcome<Expression> {
        let mut value = self.comparison()?;
        loop {
            let position = self.position();
            let is_negated = if self.take_words(&["is", "not", "null"]) || self.take_word("notnull")
            {
                true
            } else if self.take_words(&["is", "null"]) || self.take_word("isnull") {
                false
            } else {
                return Ok(value);
            };
            let node = Node::IsNull { value: Box::new(value), is_negated };
            value = Expression { node, position };
        }
    }

    fn comparison_operator(&self) -> Option<Operator> {
        let Kind::Symbol(symbol) = &self.peek()?.kind else { return None };
        Some(match symbol.as_str() {
            "=" => Operator::Equal,
            "<>" => Operator::Different,
            "<" => Operator::Less,
            "<=" => Operator::LessEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterEqual,
            _ => return None,
        })
    }

    /// Comparisons do not chain.
    fn comparison(&mut self) -> Outcome<Expression> {
        let left = self.membership()?;
        let Some(operator) = self.comparison_operator() else { return Ok(left) };
        let compared = self.binary(operator, left, Parser::membership)?;
        if self.comparison_operator().is_some() { Err(self.unexpected()) } else { Ok(compared) }
    }

    fn membership(&mut self) -> Outcome<Expression> {
        let value = self.concatenation()?;
        let position = self.position();
        let is_negated = if self.take_words(&["not", "in"]) {
            true
        } else if self.take_word("in") {
            false
        } else {
            return Ok(value);
        };
        let list = self.bracketed(Parser::expression)?;
        let node = Node::In { value: Box::new(value), list, is_negated };
        Ok(Expression { node, position })
    }

    pub(super) fn concatenation(&mut self) -> Outcome<Expression> {
        let mut left = self.sum()?;
        while self.is_symbol("||") {
            left = self.binary(Operator::Concatenate, left, Parser::sum)?;
        }
        Ok(left)
    }

    fn sum(&mut self) -> Outcome<Expression> {
        let mut left = self.product()?;
        loop {
            let operator = if self.is_symbol("+") {
                Operator::Add
            } else if self.is_symbol("-") {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = self.binary(operator, left, Parser::product)?;
        }
    }

    fn product(&mut self) -> Outcome<Expression> {
        let mut left = self.zoned()?;
        loop {
            let operator = if self.is_symbol("*") {
                Operator::Multiply
            } else if self.is_symbol("/") {
                Operator::Divide
            } else if self.is_symbol("%") {
                Operator::Remainder
            } else {
                return Ok(left);
            };
            left = self.binary(operator, left, Parser::zoned)?;
        }
    }

    /// `x AT TIME ZONE z` is `timezone(z, x)`.
    fn zoned(&mut self) -> Outcome<Expression> {
        let mut value = self.signed()?;
        loop {
            let position = self.position();
            if !self.take_words(&["at", "time", "zone"]) {
                return Ok(value);
            }
            let arguments = vec![self.signed()?, value];
            let node = Node::Call { name: "timezone".to_owned(), arguments, star: false };
            value = Expression { node, position };
        }
    }

    fn signed(&mut self) -> Outcome<Expression> {
        let mut signs = Vec::new();
        while self.is_symbol("-") || self.is_symbol("+") {
            signs.push((self.is_symbol("-"), self.position()));
            self.at += 1;
            if signs.len() > DEPTH_MAX {
                return Err(SqlError::new("54001", "stack depth limit exceeded"));
            }
        }
        let mut value = self.cast()?;
        for (is_minus, position) in signs.into_iter().rev() {
            if is_minus {
                value = Expression { node: Node::Negate(Box::new(value)), position };
            }
        }
        Ok(value)
    }

    fn cast(&mut self) -> Outcome<Expression> {
        let mut value = self.atom()?;
        loop {
            let position = self.position();
            if !self.take_symbol("::") {
                return Ok(value);
            }
            let node = Node::Cast { value: Box::new(value), to: self.type_name()? };
            value = Expression { node, position };
        }
    }

    fn atom(&mut self) -> Outcome<Expression> {
        let position = self.position();
        let Some(token) = self.peek().cloned() else { return Err(self.unexpected()) };
        let node = match token.kind {
            Kind::Text(text) => Node::Text(text),
            Kind::Integer(digits) => Node::Integer(digits),
            Kind::Decimal(text) => Node::Decimal(text),
            Kind::Parameter(number) => Node::Parameter(number),
            Kind::Symbol(symbol) if symbol == "(" => {
                self.at += 1;
                let value = self.expression()?;
                self.want_symbol(")")?;
                return Ok(value);
            }
            Kind::Symbol(_) => return Err(self.unexpected()),
            Kind::Quoted(name) => {
                self.at += 1;
                return self.named(name, position);
            }
            Kind::Word(word) => return self.word(&word, position),
        };
        self.at += 1;
        Ok(Expression { node, position })
    }

    fn word(&mut self, word: &str, position: usize) -> Outcome<Expression> {
        let plain = match word {
            "null" => Some(Node::Null),
            "true" => Some(Node::Boolean(true)),
            "false" => Some(Node::Boolean(false)),
            "default" => Some(Node::Default),
            _ => KEYWORDS.iter().find(|known| **known == word).map(|known| Node::Keyword(known)),
        };
        if let Some(node) = plain {
            self.at += 1;
            return Ok(Expression { node, position });
        }
        if word == "cast" {
            self.at += 1;
            self.want_symbol("(")?;
            let value = Box::new(self.expression()?);
            self.want_word("as")?;
            let to = self.type_name()?;
            self.want_symbol(")")?;
            return Ok(Expression { node: Node::Cast { value, to }, position });
        }
        if word == "case" {
            self.at += 1;
            return self.case(position);
        }
        if let Some(typed) = self.typed_constant(word, position)? {
            return Ok(typed);
        }
        if RESERVED.contains(&word) {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.named(word.to_owned(), position)
    }

    /// `CASE WHEN condition THEN value ... ELSE value END`, whose first word was read.
    fn case(&mut self, position: usize) -> Outcome<Expression> {
        let mut arms = Vec::new();
        while self.take_word("when") {
            let condition = self.expression()?;
            self.want_word("then")?;
            arms.push((condition, self.expression()?));
        }
        if arms.is_empty() {
            return Err(SqlError::unsupported("CASE with a value to compare").at(position));
        }
        let otherwise = match self.take_word("else") {
            true => Some(Box::new(self.expression()?)),
            false => None,
        };
        self.want_word("end")?;
        Ok(Expression { node: Node::Case { arms, otherwise }, position })
    }

    /// `interval '1 day'`, `timestamp '...'`.
    fn typed_constant(&mut self, word: &str, position: usize) -> Outcome<Option<Expression>> {
        let start = self.at;
        if !Type::is_name(word) {
            return Ok(None);
        }
        let Ok(to) = self.type_name() else {
            self.at = start;
            return Ok(None);
        };
        let Some(Kind::Text(text)) = self.peek().map(|token| token.kind.clone()) else {
            self.at = start;
            return Ok(None);
        };
        let inner = Expression { node: Node::Text(text), position: self.position() };
        self.at += 1;
        let node = Node::Cast { value: Box::new(inner), to };
        Ok(Some(Expression { node, position }))
    }

    /// A column or a call, whose name was read.
    fn named(&mut self, name: String, position: usize) -> Outcome<Expression> {
        if self.take_symbol("(") {
            return self.call(name, position);
        }
        if self.take_symbol(".") {
            let column = self.label()?;
            if self.take_symbol("(") {
                return self.call(column, position);
            }
            let node = Node::Column { table: Some(name), name: column };
            return Ok(Expression { node, position });
        }
        Ok(Expression { node: Node::Column { table: None, name }, position })
    }

    fn call(&mut self, name: String, position: usize) -> Outcome<Expression> {
        let star = self.take_symbol("*");
        let arguments =
            if star || self.is_symbol(")") { Vec::new() } else { self.list(Parser::expression)? };
        self.want_symbol(")")?;
        Ok(Expression { node: Node::Call { name, arguments, star }, position })
    }

    /// The name of a type, with its length.
    pub(super) fn type_name(&mut self) -> Outcome<Type> {
        let position = self.position();
        let name = self.label()?;
        let name = match name.as_str() {
            "pg_catalog" if self.take_symbol(".") => self.label()?,
            _ => name,
        };
        let name = match name.as_str() {
            "double" if self.take_word("precision") => "float8".to_owned(),
            "character" if self.take_word("varying") => "varchar".to_owned(),
            _ => name,
        };
        let mut length = None;
        if self.take_symbol("(") {
            let Some(Kind::Integer(digits)) = self.peek().map(|token| token.kind.clone()) else {
                return Err(self.unexpected());
            };
            self.at += 1;
            length = digits.parse().ok();
            self.want_symbol(")")?;
        }
        let is_time = name == "timestamp";
        if is_time && self.take_words(&["with", "time", "zone"]) {
            return Ok(Type::Timestamptz);
        }
        if is_time {
            self.take_words(&["without", "time", "zone"]);
        }
        Type::named(&name, length).map_err(|error| error.at(position))
    }
}
