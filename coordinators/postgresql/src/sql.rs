//! Parses queries into syntax trees, in which the names of tables and columns are unresolved.

pub(crate) mod ast;
mod control;
mod expressions;
mod statements;
mod tables;
mod token;

use crate::error::{Outcome, SqlError};
use ast::Statement;
use token::{Kind, Token};

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    length: usize,
    depth: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    pub(crate) statement: Statement,
    pub(crate) parameters: usize,
}

pub(crate) fn parse(query: &str) -> Outcome<Vec<Parsed>> {
    let tokens = token::tokens(query)?;
    let mut parser = Parser { tokens, at: 0, length: query.chars().count(), depth: 0 };
    let mut statements = Vec::new();
    loop {
        while parser.take_symbol(";") {}
        if parser.peek().is_none() {
            return Ok(statements);
        }
        let first = parser.at;
        let statement = parser.statement()?;
        let own = &parser.tokens[first..parser.at];
        let numbers = own.iter().filter_map(|token| match token.kind {
            Kind::Parameter(number) => Some(usize::from(number)),
            _ => None,
        });
        statements.push(Parsed { statement, parameters: numbers.max().unwrap_or(0) });
        if parser.peek().is_some() && !parser.take_symbol(";") {
            return Err(parser.unexpected());
        }
    }
}

const RESERVED: &[&str] = &[
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case",
    "cast", "check", "collate", "column", "constraint", "create", "current_date",
    "current_timestamp", "current_user", "default", "deferrable", "desc", "distinct", "do", "else",
    "end", "except", "false", "fetch", "for", "foreign", "from", "grant", "group", "having", "in",
    "initially", "intersect", "into", "lateral", "leading", "limit", "localtime", "localtimestamp",
    "not", "null", "offset", "on", "only", "or", "order", "placing", "primary", "references",
    "returning", "select", "session_user", "some", "symmetric", "table", "then", "to", "trailing",
    "true", "union", "unique", "user", "using", "variadic", "when", "where", "window", "with",
];

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn peek_after(&self, more: usize) -> Option<&Token> {
        self.tokens.get(self.at + more)
    }

    fn position(&self) -> usize {
        self.peek().map_or(self.length + 1, |token| token.position)
    }

    fn unexpected(&self) -> SqlError {
        match self.peek() {
            Some(token) => {
                let raw = &token.raw;
                SqlError::new("42601", format!("syntax error at or near \"{raw}\""))
            }
            None => SqlError::new("42601", "syntax error at end of input"),
        }
        .at(self.position())
    }

    fn is_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.is_word(word))
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn is_words(&self, words: &[&str]) -> bool {
        let is_there = |(more, word): (usize, &&str)| {
            self.peek_after(more).is_some_and(|token| token.is_word(word))
        };
        words.iter().enumerate().all(is_there)
    }

    fn take_words(&mut self, words: &[&str]) -> bool {
        let found = self.is_words(words);
        self.at += if found { words.len() } else { 0 };
        found
    }

    fn want_word(&mut self, word: &str) -> Outcome<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        self.peek().is_some_and(|token| token.is_symbol(symbol))
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    fn want_symbol(&mut self, symbol: &str) -> Outcome<()> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn name(&mut self) -> Outcome<String> {
        let name = match self.peek().map(|token| &token.kind) {
            Some(Kind::Word(word)) if !RESERVED.contains(&word.as_str()) => word.clone(),
            Some(Kind::Quoted(name)) => name.clone(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(name)
    }

    fn label(&mut self) -> Outcome<String> {
        let name = match self.peek().map(|token| &token.kind) {
            Some(Kind::Word(name) | Kind::Quoted(name)) => name.clone(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(name)
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Outcome<T>) -> Outcome<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.take_symbol(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn bracketed<T>(&mut self, one: impl FnMut(&mut Self) -> Outcome<T>) -> Outcome<Vec<T>> {
        self.want_symbol("(")?;
        let all = self.list(one)?;
        self.want_symbol(")")?;
        Ok(all)
    }
}
