//! Parses expressions by precedence climbing.

use super::ast::{Expression, Node, Operator};
use super::token::{Kind, Token};
use super::{Parser, RESERVED};
use crate::error::{Outcome, SqlError};
use crate::types::Type;

const BRACKETS_MAX: usize = 200;

const KEYWORDS: &[&str] =
    &["current_timestamp", "localtimestamp", "current_user", "session_user", "user"];

const PREDICATES: &[&str] = &["between", "ilike", "in", "like", "similar"];

const TESTS: &[&[&str]] = &[
    &["is", "distinct"],
    &["is", "false"],
    &["is", "true"],
    &["is", "unknown"],
    &["is", "not", "distinct"],
    &["is", "not", "false"],
    &["is", "not", "true"],
    &["is", "not", "unknown"],
];

/// Keywords of PostgreSQL's expressions that the model lacks.
const UNSUPPORTED: &[&str] = &[
    "array", "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "distinct", "localtime",
];

const QUERIES: &[&str] = &["select", "values", "with"];

const UNSUPPORTED_CALLS: &[&str] =
    &["all", "any", "exists", "extract", "overlay", "position", "row", "some", "substring", "trim"];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Power {
    Or,
    And,
    Not,
    Is,
    Comparison,
    Sum,
    Product,
    Zone,
    Sign,
    Cast,
}

impl Power {
    fn follows(self, last: Power) -> bool {
        self < last || self == last && self != Power::Comparison
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Infix {
    Binary(Operator),
    IsNull { is_negated: bool },
    Zone,
    Cast,
}

impl Infix {
    fn power(self) -> Power {
        use Operator::{Add, And, Divide, Multiply, Or, Remainder, Subtract};
        match self {
            Infix::Binary(Or) => Power::Or,
            Infix::Binary(And) => Power::And,
            Infix::Binary(Add | Subtract) => Power::Sum,
            Infix::Binary(Multiply | Divide | Remainder) => Power::Product,
            Infix::Binary(_) => Power::Comparison,
            Infix::IsNull { .. } => Power::Is,
            Infix::Zone => Power::Zone,
            Infix::Cast => Power::Cast,
        }
    }
}

fn operator(symbol: &str) -> Option<Operator> {
    Some(match symbol {
        "=" => Operator::Equal,
        "<>" => Operator::Different,
        "<" => Operator::Less,
        "<=" => Operator::LessEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterEqual,
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "%" => Operator::Remainder,
        _ => return None,
    })
}

impl Parser {
    pub(super) fn expression(&mut self) -> Outcome<Expression> {
        self.depth += 1;
        if self.depth > BRACKETS_MAX {
            return Err(SqlError::too_deep());
        }
        let expression = self.climb(None);
        self.depth -= 1;
        expression
    }

    pub(super) fn default_expression(&mut self) -> Outcome<Expression> {
        self.climb(Some(Power::Comparison))
    }

    fn climb(&mut self, floor: Option<Power>) -> Outcome<Expression> {
        let mut left = self.operand(floor)?;
        let mut last = None;
        while let Some(infix) = self.infix()? {
            let power = infix.power();
            let is_tighter = floor.is_none_or(|floor| power > floor);
            if !is_tighter || last.is_some_and(|last| !power.follows(last)) {
                break;
            }
            // Any operator may follow IS NULL.
            last = (power != Power::Is).then_some(power);
            left = self.extended(left, infix)?;
        }
        Ok(left)
    }

    // Not inlined: its variables would enlarge the stack frames of the recursive `climb`.
    #[inline(never)]
    fn infix(&self) -> Outcome<Option<Infix>> {
        let refused = |what: &str| Err(SqlError::unsupported(what).at(self.position()));
        let Some(token) = self.peek() else { return Ok(None) };
        Ok(Some(match &token.kind {
            Kind::Symbol(symbol) if symbol == "::" => Infix::Cast,
            Kind::Symbol(symbol) if ["||", "~", "^", "&", "|", "#"].contains(&symbol.as_str()) => {
                return refused(symbol);
            }
            Kind::Symbol(symbol) => match operator(symbol) {
                Some(operator) => Infix::Binary(operator),
                None => return Ok(None),
            },
            Kind::Word(word) => match word.as_str() {
                "or" => Infix::Binary(Operator::Or),
                "and" => Infix::Binary(Operator::And),
                "isnull" => Infix::IsNull { is_negated: false },
                "notnull" => Infix::IsNull { is_negated: true },
                "is" if self.is_words(&["is", "null"]) => Infix::IsNull { is_negated: false },
                "is" if self.is_words(&["is", "not", "null"]) => Infix::IsNull { is_negated: true },
                "is" if TESTS.iter().any(|test| self.is_words(test)) => return refused("IS"),
                word if word == "collate" || PREDICATES.contains(&word) => {
                    return refused(&word.to_uppercase());
                }
                "not" => match PREDICATES.iter().find(|word| self.is_words(&["not", word])) {
                    Some(word) => return refused(&format!("NOT {}", word.to_uppercase())),
                    None => return Ok(None),
                },
                "at" if self.is_words(&["at", "time", "zone"]) => Infix::Zone,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    fn extended(&mut self, left: Expression, infix: Infix) -> Outcome<Expression> {
        let position = self.position();
        self.pass(infix);
        let node = match infix {
            Infix::Binary(operator @ (Operator::And | Operator::Or)) => {
                let mut parts = match left.node {
                    Node::Logic { operator: own, parts } if own == operator => parts,
                    _ => vec![left],
                };
                parts.push(self.climb(Some(infix.power()))?);
                while self.infix()? == Some(infix) {
                    self.pass(infix);
                    parts.push(self.climb(Some(infix.power()))?);
                }
                Node::Logic { operator, parts }
            }
            Infix::Binary(operator) => {
                let right = Box::new(self.climb(Some(infix.power()))?);
                Node::Binary { operator, left: Box::new(left), right }
            }
            Infix::IsNull { is_negated } => Node::IsNull { value: Box::new(left), is_negated },
            // The parser turns `x AT TIME ZONE z` into `timezone(z, x)`.
            Infix::Zone => {
                let arguments = vec![self.climb(Some(Power::Zone))?, left];
                Node::Call { name: "timezone".to_owned(), arguments, star: false }
            }
            Infix::Cast => Node::Cast { value: Box::new(left), to: self.type_name()? },
        };
        Expression::new(node, position)
    }

    fn pass(&mut self, infix: Infix) {
        self.at += match infix {
            Infix::Zone => 3,
            Infix::IsNull { is_negated } if self.is_word("is") => 2 + usize::from(is_negated),
            _ => 1,
        };
    }

    fn operand(&mut self, floor: Option<Power>) -> Outcome<Expression> {
        if self.is_word("not") && floor.is_none_or(|floor| floor < Power::Not) {
            return self.negation();
        }
        if self.is_symbol("-") || self.is_symbol("+") {
            return self.signed();
        }
        self.atom()
    }

    fn negation(&mut self) -> Outcome<Expression> {
        let position = self.position();
        let mut times = 0_usize;
        while self.take_word("not") {
            times += 1;
        }
        let mut value = self.climb(Some(Power::Not))?;
        for _ in 0..times {
            value = Expression::new(Node::Not(Box::new(value)), position)?;
        }
        Ok(value)
    }

    fn signed(&mut self) -> Outcome<Expression> {
        let mut minuses = Vec::new();
        while self.is_symbol("-") || self.is_symbol("+") {
            minuses.extend(self.is_symbol("-").then(|| self.position()));
            self.at += 1;
        }
        let mut value = self.climb(Some(Power::Sign))?;
        for position in minuses.into_iter().rev() {
            value = Expression::new(Node::Negate(Box::new(value)), position)?;
        }
        Ok(value)
    }

    fn atom(&mut self) -> Outcome<Expression> {
        self.refuse_beginning()?;
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
                self.want_end()?;
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
        Expression::new(node, position)
    }

    // Not inlined: its errors would enlarge the stack frames of the recursive `atom`.
    #[inline(never)]
    fn refuse_beginning(&self) -> Outcome<()> {
        let next = self.peek_after(1);
        let what = match self.peek().map(|token| &token.kind) {
            Some(Kind::Symbol(symbol)) if symbol == "(" => {
                let is_query = |next: &Token| QUERIES.iter().any(|word| next.is_word(word));
                next.is_some_and(is_query).then(|| "a subquery".to_owned())
            }
            Some(Kind::Word(word)) => {
                let is_called = next.is_some_and(|token| token.is_symbol("("));
                let word = word.as_str();
                let is_refused =
                    UNSUPPORTED.contains(&word) || is_called && UNSUPPORTED_CALLS.contains(&word);
                is_refused.then(|| word.to_uppercase())
            }
            _ => None,
        };
        what.map_or(Ok(()), |what| Err(SqlError::unsupported(what).at(self.position())))
    }

    // Not inlined: its errors would enlarge the stack frames of the recursive `atom`.
    #[inline(never)]
    fn want_end(&mut self) -> Outcome<()> {
        if self.is_symbol(",") {
            return Err(SqlError::unsupported("ROW").at(self.position()));
        }
        self.want_symbol(")")?;
        if self.is_word("over") || self.is_word("filter") {
            return Err(SqlError::unsupported("OVER or FILTER").at(self.position()));
        }
        Ok(())
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
            return Expression::new(node, position);
        }
        if word == "cast" {
            self.at += 1;
            self.want_symbol("(")?;
            let value = Box::new(self.expression()?);
            self.want_word("as")?;
            let to = self.type_name()?;
            self.want_symbol(")")?;
            return Expression::new(Node::Cast { value, to }, position);
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
        Expression::new(Node::Case { arms, otherwise }, position)
    }

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
        let inner = Expression::new(Node::Text(text), self.position())?;
        self.at += 1;
        let node = Node::Cast { value: Box::new(inner), to };
        Expression::new(node, position).map(Some)
    }

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
            return Expression::new(node, position);
        }
        Expression::new(Node::Column { table: None, name }, position)
    }

    fn call(&mut self, name: String, position: usize) -> Outcome<Expression> {
        let star = self.take_symbol("*");
        let arguments =
            if star || self.is_symbol(")") { Vec::new() } else { self.list(Parser::expression)? };
        self.want_end()?;
        Expression::new(Node::Call { name, arguments, star }, position)
    }

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
