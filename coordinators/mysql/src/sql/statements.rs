use super::ast::Statement;
use super::expression::{Expression, Item};
use super::expressions::RESERVED;
use super::parser::Parser;
use super::token::{Kind, Token, tokens, wrong};
use crate::error::{Outcome, SqlError};
use crate::value::Value;

const OTHERS: &[&str] = &[
    "replace", "alter", "truncate", "lock", "with", "unlock", "call", "prepare", "execute",
    "deallocate", "explain", "describe", "desc", "grant", "revoke", "flush", "reset", "analyze",
    "optimize", "check", "load", "savepoint", "release", "xa", "values", "handler", "rename",
    "signal", "stop", "purge", "install", "uninstall", "help",
];
const CLAUSES: &[&str] = &["group", "having", "order", "union", "into", "procedure"];
const MODIFIERS: &[&str] = &[
    "all", "distinct", "distinctrow", "high_priority", "sql_cache", "sql_calc_found_rows",
    "sql_no_cache", "straight_join",
];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parsed {
    pub(crate) statement: Statement,
    pub(crate) end: usize,
}

pub(crate) fn parse(text: &[u8], at: usize) -> Outcome<Parsed> {
    let (tokens, has_comment) = tokens(text, at)?;
    let mut parser = Parser { text, tokens, at: 0, depth: 0, clause: "SELECT" };
    if parser.is_at_end() {
        return match has_comment {
            true => Ok(Parsed { statement: Statement::Nothing, end: text.len() }),
            false => Err(SqlError::new(1065, "42000", "Query was empty")),
        };
    }
    let statement = parser.statement()?;
    if !parser.is_at_end() && parser.symbol() != Some(";") {
        return Err(parser.wrong());
    }
    let end = parser.peek().end;
    Ok(Parsed { statement, end })
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(super) fn next(&mut self) {
        self.at += 1;
    }

    pub(super) fn is_called(&self) -> bool {
        let next = self.tokens.get(self.at + 1);
        next.is_some_and(|token| token.kind == Kind::Symbol("("))
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    pub(super) fn symbol(&self) -> Option<&'static str> {
        match self.peek().kind {
            Kind::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    pub(super) fn accepts(&mut self, symbol: &str) -> bool {
        let is_there = self.symbol() == Some(symbol);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Outcome<()> {
        if self.accepts(symbol) { Ok(()) } else { Err(self.wrong()) }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, Kind::Word(found) if found.eq_ignore_ascii_case(word))
    }

    pub(super) fn accepts_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Outcome<()> {
        if self.accepts_word(word) { Ok(()) } else { Err(self.wrong()) }
    }

    pub(super) fn word(&mut self) -> Outcome<String> {
        let word = match &self.peek().kind {
            Kind::Word(word) if !is_reserved(word) => word.clone(),
            Kind::Name(name) => String::from_utf8_lossy(name).into_owned(),
            _ => return Err(self.wrong()),
        };
        self.next();
        Ok(word)
    }

    pub(super) fn wrong(&self) -> SqlError {
        let token = self.peek();
        // For a comma, report its end: the real server has read the comma when it finds the error.
        let is_comma = token.kind == Kind::Symbol(",");
        wrong(self.text, if is_comma { token.end } else { token.start })
    }

    fn statement(&mut self) -> Outcome<Statement> {
        if self.symbol() == Some("(") {
            return Err(SqlError::unsupported("a query in parentheses"));
        }
        let Kind::Word(word) = self.peek().kind.clone() else { return Err(self.wrong()) };
        let lower = word.to_ascii_lowercase();
        let start = self.at;
        self.next();
        match lower.as_str() {
            "select" => self.select(),
            "do" => {
                self.clause = "DO";
                self.list(Parser::expression).map(Statement::Do)
            }
            "set" => self.set(),
            "use" => self.word().map(Statement::Use),
            "begin" => self.ended(Statement::Begin),
            "start" => {
                self.expect_word("transaction")?;
                self.ended(Statement::Begin)
            }
            "commit" => self.ended(Statement::Commit),
            "rollback" => self.ended(Statement::Rollback),
            "show" if self.accepts_word("warnings") => Ok(Statement::ShowWarnings),
            "show" if !self.is_at_end() => Err(SqlError::unsupported("SHOW")),
            "show" => Err(self.wrong()),
            "kill" => self.kill(),
            "create" => self.create(),
            "drop" => self.drop_table(),
            "insert" => self.insert(),
            "update" => self.update(),
            "delete" => self.delete(),
            _ if OTHERS.contains(&lower.as_str()) => {
                Err(SqlError::unsupported(&word.to_ascii_uppercase()))
            }
            _ => {
                self.at = start;
                Err(self.wrong())
            }
        }
    }

    fn ended(&mut self, statement: Statement) -> Outcome<Statement> {
        self.accepts_word("work");
        match self.is_at_end() || self.symbol() == Some(";") {
            true => Ok(statement),
            false if matches!(self.peek().kind, Kind::Word(_)) => {
                Err(SqlError::unsupported("transaction options"))
            }
            false => Err(self.wrong()),
        }
    }

    pub(super) fn list<T>(&mut self, one: impl Fn(&mut Self) -> Outcome<T>) -> Outcome<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.accepts(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn select(&mut self) -> Outcome<Statement> {
        if self.accepts("*") {
            if !self.accepts_word("from") {
                return Err(match self.is_at_end() {
                    true => SqlError::new(1096, "HY000", "No tables used"),
                    false => self.wrong(),
                });
            }
            return self.select_from(None);
        }
        self.refuse_words(MODIFIERS)?;
        let items = self.list(Parser::item)?;
        if self.accepts_word("from") && !self.accepts_word("dual") {
            return self.select_from(Some(items));
        }
        self.refuse_clauses(&["where", "for", "lock"])?;
        let has_row = match self.accepts_word("limit") {
            true => matches!(self.limit()?, (1.., 0)),
            false => true,
        };
        Ok(Statement::Select(items, has_row))
    }

    pub(super) fn refuse_clauses(&self, more: &[&str]) -> Outcome<()> {
        self.refuse_words(CLAUSES)?;
        self.refuse_words(more)
    }

    pub(super) fn refuse_words(&self, words: &[&str]) -> Outcome<()> {
        match words.iter().find(|word| self.is_word(word)) {
            Some(word) => Err(SqlError::unsupported(&word.to_ascii_uppercase())),
            None => Ok(()),
        }
    }

    pub(super) fn limit(&mut self) -> Outcome<(u64, u64)> {
        let first = self.count()?;
        if self.accepts(",") {
            return Ok((self.count()?, first));
        }
        let offset = if self.accepts_word("offset") { self.count()? } else { 0 };
        Ok((first, offset))
    }

    pub(super) fn count(&mut self) -> Outcome<u64> {
        let count = match &self.peek().kind {
            Kind::Number(text) => text.parse().ok(),
            Kind::Word(_) => return Err(SqlError::unsupported("a name in LIMIT")),
            _ => None,
        };
        let count = count.ok_or_else(|| self.wrong())?;
        self.next();
        Ok(count)
    }

    fn item(&mut self) -> Outcome<Item> {
        let start = self.peek().start;
        let expression = self.expression()?;
        let end = self.tokens[self.at.saturating_sub(1)].end;
        let name = match self.alias()? {
            Some(alias) => alias,
            None => named(&expression, &self.text[start..end]),
        };
        Ok(Item { expression, name })
    }

    fn alias(&mut self) -> Outcome<Option<Vec<u8>>> {
        let is_demanded = self.accepts_word("as");
        let alias = match &self.peek().kind {
            Kind::Text(text) | Kind::Name(text) => text.clone(),
            Kind::Word(word) if !is_reserved(word) => word.clone().into_bytes(),
            _ if is_demanded => return Err(self.wrong()),
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(alias))
    }

    fn kill(&mut self) -> Outcome<Statement> {
        let is_query = self.accepts_word("query");
        if !is_query {
            self.accepts_word("connection");
        }
        let id = match &self.peek().kind {
            Kind::Number(text) => text.parse::<u64>().ok().map(i128::from),
            Kind::End => return Err(self.wrong()),
            _ => None,
        };
        let id = id.ok_or_else(|| SqlError::unsupported("this thread id in KILL"))?;
        self.next();
        Ok(Statement::Kill { id, is_query })
    }
}

pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word.to_ascii_lowercase().as_str())
}

fn named(expression: &Expression, written: &[u8]) -> Vec<u8> {
    match expression {
        Expression::Literal(Value::Null) => b"NULL".to_vec(),
        Expression::Truth(true) => b"TRUE".to_vec(),
        Expression::Truth(false) => b"FALSE".to_vec(),
        Expression::Literal(Value::Text(text)) => text.clone(),
        Expression::Column(named, _) => named.name.clone().into_bytes(),
        // The column name of a number omits its parentheses, unless the number is negative.
        Expression::Literal(_) if !written.contains(&b'-') => {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            written.iter().copied().filter(is_digit).collect()
        }
        _ => written.to_vec(),
    }
}
