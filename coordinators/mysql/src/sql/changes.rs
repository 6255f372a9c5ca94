use super::ast::Statement;
use super::definitions::tables;
use super::expression::{Expression, Item, Named};
use super::parser::Parser;
use super::statements::is_reserved;
use super::table_ast::{
    Delete, Insert, LockWait, Select, Source, Strength, TableStatement, Update,
};
use super::token::Kind;
use crate::error::{Outcome, SqlError};

impl Parser<'_> {
    pub(super) fn select_from(&mut self, items: Option<Vec<Item>>) -> Outcome<Statement> {
        let from = self.source()?;
        let condition = self.condition()?;
        self.refuse_clauses(&[])?;
        let limit = if self.accepts_word("limit") { Some(self.limit()?) } else { None };
        let lock = self.lock_clause()?;
        Ok(tables(TableStatement::Select(Select { items, from, condition, limit, lock })))
    }

    fn source(&mut self) -> Outcome<Source> {
        if self.symbol() == Some("(") {
            return Err(SqlError::unsupported("a subquery"));
        }
        let table = self.qualified()?;
        let is_demanded = self.accepts_word("as");
        let alias = match &self.peek().kind {
            Kind::Name(_) => Some(self.word()?),
            Kind::Word(word) if !is_reserved(word) => Some(self.word()?),
            _ if is_demanded => return Err(self.wrong()),
            _ => None,
        };
        if matches!(self.symbol(), Some(",")) {
            return Err(SqlError::unsupported("a query on several tables"));
        }
        let joins = ["join", "left", "right", "inner", "cross", "natural"];
        if joins.iter().any(|join| self.is_word(join)) {
            return Err(SqlError::unsupported("a query on several tables"));
        }
        Ok(Source { table, alias })
    }

    fn condition(&mut self) -> Outcome<Option<Expression>> {
        if !self.accepts_word("where") {
            return Ok(None);
        }
        self.clause = "WHERE";
        self.expression().map(Some)
    }

    fn lock_clause(&mut self) -> Outcome<Option<(Strength, LockWait)>> {
        let strength = if self.accepts_word("for") {
            self.expect_word("update")?;
            Strength::Update
        } else if self.accepts_word("lock") {
            ["in", "share", "mode"].iter().try_for_each(|word| self.expect_word(word))?;
            Strength::Share
        } else {
            return Ok(None);
        };
        let patience = if self.accepts_word("nowait") {
            LockWait::Seconds(0)
        } else if self.accepts_word("wait") {
            LockWait::Seconds(self.count()?)
        } else if self.accepts_word("skip") {
            self.expect_word("locked")?;
            LockWait::Skip
        } else {
            LockWait::Usual
        };
        Ok(Some((strength, patience)))
    }

    pub(super) fn insert(&mut self) -> Outcome<Statement> {
        self.clause = "INSERT INTO";
        self.refuse_words(&["delayed", "high_priority", "low_priority"])?;
        let ignores = self.accepts_word("ignore");
        self.accepts_word("into");
        let table = self.qualified()?;
        let (columns, rows) = if self.accepts_word("set") {
            let set = self.list(|parser| {
                let column = parser.qualified()?;
                parser.expect("=")?;
                Ok((column, parser.value()?))
            })?;
            let (columns, row) = set.into_iter().unzip();
            (Some(columns), vec![row])
        } else {
            let columns = match self.accepts("(") {
                true if self.accepts(")") => Some(Vec::new()),
                true => {
                    let columns = self.list(Parser::qualified)?;
                    self.expect(")")?;
                    Some(columns)
                }
                false => None,
            };
            if !self.accepts_word("values") && !self.accepts_word("value") {
                return Err(match self.is_word("select") {
                    true => SqlError::unsupported("INSERT ... SELECT"),
                    false => self.wrong(),
                });
            }
            (columns, self.list(Parser::row)?)
        };
        let on_duplicate = self.on_duplicate()?;
        self.refuse_words(&["returning"])?;
        let insert = Insert { table, ignores, columns, rows, on_duplicate };
        Ok(tables(TableStatement::Insert(insert)))
    }

    fn on_duplicate(&mut self) -> Outcome<Vec<(Named, Expression)>> {
        if !self.accepts_word("on") {
            return Ok(Vec::new());
        }
        ["duplicate", "key", "update"].iter().try_for_each(|word| self.expect_word(word))?;
        self.clause = "UPDATE";
        self.list(Parser::assigned_column)
    }

    fn row(&mut self) -> Outcome<Vec<Option<Expression>>> {
        self.expect("(")?;
        if self.accepts(")") {
            return Ok(Vec::new());
        }
        let row = self.list(Parser::value)?;
        self.expect(")")?;
        Ok(row)
    }

    fn value(&mut self) -> Outcome<Option<Expression>> {
        if self.accepts_word("default") {
            return Ok(None);
        }
        self.expression().map(Some)
    }

    fn assigned_column(&mut self) -> Outcome<(Named, Expression)> {
        let column = self.qualified()?;
        self.expect("=")?;
        if self.is_word("default") {
            return Err(SqlError::unsupported("DEFAULT in an UPDATE"));
        }
        Ok((column, self.expression()?))
    }

    pub(super) fn update(&mut self) -> Outcome<Statement> {
        self.refuse_words(&["ignore", "low_priority"])?;
        let table = self.source()?;
        self.expect_word("set")?;
        self.clause = "SET";
        let set = self.list(Parser::assigned_column)?;
        let condition = self.condition()?;
        self.refuse_rest("UPDATE")?;
        Ok(tables(TableStatement::Update(Update { table, set, condition })))
    }

    pub(super) fn delete(&mut self) -> Outcome<Statement> {
        if !self.accepts_word("from") {
            return Err(match self.peek().kind {
                Kind::Word(_) | Kind::Name(_) => {
                    SqlError::unsupported("DELETE from several tables")
                }
                _ => self.wrong(),
            });
        }
        let from = self.qualified()?;
        let condition = self.condition()?;
        self.refuse_rest("DELETE")?;
        Ok(tables(TableStatement::Delete(Delete { from, condition })))
    }

    fn refuse_rest(&self, what: &str) -> Outcome<()> {
        let rest = ["order", "limit", "returning", "using"];
        match rest.iter().find(|word| self.is_word(word)) {
            Some(word) => {
                Err(SqlError::unsupported(&format!("{what} {}", word.to_ascii_uppercase())))
            }
            None => Ok(()),
        }
    }
}
