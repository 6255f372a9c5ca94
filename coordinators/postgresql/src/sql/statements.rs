use super::Parser;
use super::ast::{
    Assignment, Delete, Insert, Item, Locking, Named, Node, OnConflict, Order, Policy, Select,
    Source, Statement, Strength, Update,
};
use super::token::Kind;
use crate::error::{Outcome, SqlError};

const KNOWN: &[&str] = &[
    "alter", "analyze", "call", "checkpoint", "close", "cluster", "comment", "copy", "create",
    "declare", "discard", "do", "drop", "execute", "explain", "fetch", "grant", "import", "listen",
    "load", "lock", "merge", "move", "notify", "prepare", "reassign", "refresh", "reindex",
    "release", "revoke", "savepoint", "security", "table", "truncate", "unlisten", "vacuum",
    "values", "with",
];

const JOINS: &[&str] = &["cross", "full", "inner", "join", "left", "natural", "right"];

const CLAUSES: &[&str] = &[
    "except", "fetch", "group", "having", "intersect", "limit", "nulls", "offset", "union",
    "window",
];

impl Parser {
    pub(super) fn statement(&mut self) -> Outcome<Statement> {
        let Some(Kind::Word(word)) = self.peek().map(|token| token.kind.clone()) else {
            return Err(self.unexpected());
        };
        match word.as_str() {
            "select" => self.select().map(Statement::Select),
            "insert" => self.insert().map(Statement::Insert),
            "update" => self.update().map(Statement::Update),
            "delete" => self.delete().map(Statement::Delete),
            "set" => self.set(),
            "reset" => self.reset(),
            "show" => self.show(),
            "deallocate" => self.deallocate(),
            "begin" | "start" | "commit" | "end" | "rollback" | "abort" => {
                self.transaction(&word).map(Statement::Transaction)
            }
            "create" | "drop" => match self.definition()? {
                Some(statement) => Ok(statement),
                None => Err(self.unknown()),
            },
            word if KNOWN.contains(&word) => Err(self.unknown()),
            _ => Err(self.unexpected()),
        }
    }

    fn unknown(&self) -> SqlError {
        let words = self.tokens[self.at..].iter().take(2).map(|token| token.raw.to_uppercase());
        SqlError::unsupported(words.collect::<Vec<_>>().join(" "))
    }

    pub(super) fn table_name(&mut self) -> Outcome<Named> {
        let position = self.position();
        let mut name = self.name()?;
        if self.is_symbol(".") {
            self.at += 1;
            if name == "information_schema" || name == "pg_catalog" {
                return Err(SqlError::unsupported(format!("schema {name}")).at(position));
            }
            if name != "public" {
                let message = format!("schema \"{name}\" does not exist");
                return Err(SqlError::new("3F000", message).at(position));
            }
            name = self.label()?;
        }
        Ok(Named { name, position })
    }

    pub(super) fn named_column(&mut self) -> Outcome<Named> {
        let position = self.position();
        Ok(Named { name: self.name()?, position })
    }

    fn source(&mut self, stops: &[&str]) -> Outcome<Source> {
        if self.is_symbol("(") {
            return Err(SqlError::unsupported("a subquery").at(self.position()));
        }
        let table = self.table_name()?;
        let is_alias = match self.peek().map(|token| &token.kind) {
            Some(Kind::Word(word)) => {
                !super::RESERVED.contains(&word.as_str()) && !stops.contains(&word.as_str())
            }
            Some(Kind::Quoted(_)) => true,
            _ => false,
        };
        let alias = if self.take_word("as") || is_alias { Some(self.name()?) } else { None };
        Ok(Source { table, alias })
    }

    fn items(&mut self) -> Outcome<Vec<Item>> {
        self.list(|parser| {
            let position = parser.position();
            if parser.take_symbol("*") {
                return Ok(Item::All { table: None, position });
            }
            let is_qualified = parser.peek_after(1).is_some_and(|token| token.is_symbol("."))
                && parser.peek_after(2).is_some_and(|token| token.is_symbol("*"));
            if is_qualified {
                let table = Some(parser.name()?);
                parser.at += 2;
                return Ok(Item::All { table, position });
            }
            let expression = parser.expression()?;
            let is_label = match parser.peek().map(|token| &token.kind) {
                Some(Kind::Word(word)) => !super::RESERVED.contains(&word.as_str()),
                Some(Kind::Quoted(_)) => true,
                _ => false,
            };
            let label =
                if parser.take_word("as") || is_label { Some(parser.label()?) } else { None };
            Ok(Item::Expression { expression, label })
        })
    }

    fn select(&mut self) -> Outcome<Select> {
        self.at += 1;
        let is_empty = self.peek().is_none_or(|token| {
            ["from", "where", ";"].iter().any(|end| token.is_word(end) || token.is_symbol(end))
        });
        let items = if is_empty { Vec::new() } else { self.items()? };
        let from = if self.take_word("from") { Some(self.source(JOINS)?) } else { None };
        let joins = self.is_symbol(",") || JOINS.iter().any(|word| self.is_word(word));
        if joins && from.is_some() {
            return Err(SqlError::unsupported("a SELECT from several tables"));
        }
        if self.is_symbol("(") && from.is_some() {
            return Err(SqlError::unsupported("a function in FROM"));
        }
        let filter = self.filter()?;
        let order = if self.take_word("order") {
            self.want_word("by")?;
            self.list(Parser::order)?
        } else {
            Vec::new()
        };
        self.refuse(CLAUSES)?;
        let locking = if self.take_word("for") { Some(self.locking()?) } else { None };
        self.refuse(CLAUSES)?;
        Ok(Select { items, from, filter, order, locking })
    }

    pub(super) fn refuse(&self, words: &[&str]) -> Outcome<()> {
        match words.iter().find(|word| self.is_word(word)) {
            Some(word) => Err(SqlError::unsupported(word.to_uppercase()).at(self.position())),
            None => Ok(()),
        }
    }

    fn order(&mut self) -> Outcome<Order> {
        let expression = self.expression()?;
        let is_descending = self.take_word("desc");
        if !is_descending {
            self.take_word("asc");
        }
        Ok(Order { expression, is_descending })
    }

    fn locking(&mut self) -> Outcome<Locking> {
        let strength = if self.take_word("update") {
            Strength::Update
        } else if self.take_words(&["no", "key", "update"]) {
            Strength::NoKeyUpdate
        } else if self.take_word("share") {
            Strength::Share
        } else if self.take_words(&["key", "share"]) {
            Strength::KeyShare
        } else {
            return Err(self.unexpected());
        };
        if self.take_word("of") {
            self.list(Parser::name)?;
        }
        let policy = if self.take_word("nowait") {
            Policy::Nowait
        } else if self.take_words(&["skip", "locked"]) {
            Policy::SkipLocked
        } else {
            Policy::Wait
        };
        Ok(Locking { strength, policy })
    }

    fn filter(&mut self) -> Outcome<Option<super::ast::Expression>> {
        if self.take_word("where") { self.expression().map(Some) } else { Ok(None) }
    }

    fn returning(&mut self) -> Outcome<Vec<Item>> {
        if self.take_word("returning") { self.items() } else { Ok(Vec::new()) }
    }

    fn insert(&mut self) -> Outcome<Insert> {
        self.at += 1;
        self.want_word("into")?;
        let table = self.table_name()?;
        let alias = if self.take_word("as") { Some(self.name()?) } else { None };
        let table = Source { table, alias };
        let columns =
            if self.is_symbol("(") { Some(self.bracketed(Parser::named_column)?) } else { None };
        let rows = if self.take_words(&["default", "values"]) {
            vec![None]
        } else if self.is_word("select") {
            return Err(SqlError::unsupported("INSERT ... SELECT"));
        } else {
            self.want_word("values")?;
            self.list(|parser| parser.bracketed(Parser::expression).map(Some))?
        };
        let on_conflict = if self.is_word("on") { Some(self.on_conflict()?) } else { None };
        let returning = self.returning()?;
        Ok(Insert { table, columns, rows, on_conflict, returning })
    }

    fn on_conflict(&mut self) -> Outcome<OnConflict> {
        let position = self.position();
        self.at += 1;
        self.want_word("conflict")?;
        let mut constraint = None;
        let columns = if self.is_symbol("(") {
            Some(self.bracketed(Parser::named_column)?)
        } else {
            if self.take_word("on") {
                self.want_word("constraint")?;
                constraint = Some(self.named_column()?);
            }
            None
        };
        self.want_word("do")?;
        let update = if self.take_word("nothing") {
            None
        } else {
            self.want_word("update")?;
            self.want_word("set")?;
            Some((self.list(Parser::assignment)?, self.filter()?))
        };
        Ok(OnConflict { columns, constraint, update, position })
    }

    fn assignment(&mut self) -> Outcome<Assignment> {
        if self.is_symbol("(") {
            return Err(SqlError::unsupported("SET of a list of columns").at(self.position()));
        }
        let column = self.named_column()?;
        self.want_symbol("=")?;
        Ok(Assignment { column, value: self.expression()? })
    }

    fn update(&mut self) -> Outcome<Update> {
        self.at += 1;
        let table = self.source(&["set"])?;
        self.want_word("set")?;
        let assignments = self.list(Parser::assignment)?;
        if self.is_word("from") {
            return Err(SqlError::unsupported("UPDATE ... FROM"));
        }
        Ok(Update { table, assignments, filter: self.filter()?, returning: self.returning()? })
    }

    fn delete(&mut self) -> Outcome<Delete> {
        self.at += 1;
        self.want_word("from")?;
        let table = self.source(&[])?;
        self.refuse(&["using"])?;
        Ok(Delete { table, filter: self.filter()?, returning: self.returning()? })
    }
}

impl super::ast::Expression {
    pub(crate) fn is_default(&self) -> bool {
        self.node == Node::Default
    }
}
