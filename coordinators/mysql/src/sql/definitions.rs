use super::ast::Statement;
use super::expression::Expression;
use super::parser::Parser;
use super::table_ast::{ColumnSpec, CreateTable, Kind as ColumnKind, TableStatement};
use super::token::Kind;
use crate::error::{Outcome, SqlError};

const CHAR_MAX: u64 = 255;
const VARCHAR_MAX: u64 = 8_000;
const OTHER_KEYS: &[&str] = &["check", "foreign", "fulltext", "index", "key", "spatial", "unique"];

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Outcome<Statement> {
        if self.accepts_word("database") || self.accepts_word("schema") {
            let if_missing = self.if_words(&["not", "exists"])?;
            let name = self.word()?;
            return Ok(tables(TableStatement::CreateDatabase { name, if_missing }));
        }
        if !self.accepts_word("table") {
            return Err(self.other("CREATE"));
        }
        let if_missing = self.if_words(&["not", "exists"])?;
        let table = self.qualified()?;
        let (columns, keys, ignored_name) = (Vec::new(), Vec::new(), None);
        let mut made = CreateTable { table, if_missing, columns, keys, ignored_name };
        if self.is_word("like") || self.is_word("as") || self.is_word("select") {
            return Err(SqlError::unsupported("CREATE TABLE from another table"));
        }
        self.expect("(")?;
        loop {
            self.definition(&mut made)?;
            if self.accepts(")") {
                break;
            }
            self.expect(",")?;
        }
        self.options()?;
        Ok(tables(TableStatement::CreateTable(made)))
    }

    pub(super) fn drop_table(&mut self) -> Outcome<Statement> {
        if !self.accepts_word("table") {
            return Err(self.other("DROP"));
        }
        let if_there = self.if_words(&["exists"])?;
        let table = self.qualified()?;
        if self.symbol() == Some(",") {
            return Err(SqlError::unsupported("DROP TABLE of several tables"));
        }
        Ok(tables(TableStatement::DropTable { table, if_there }))
    }

    fn other(&self, what: &str) -> SqlError {
        match self.peek().kind {
            Kind::Word(_) => SqlError::unsupported(what),
            _ => self.wrong(),
        }
    }

    fn if_words(&mut self, words: &[&str]) -> Outcome<bool> {
        if !self.accepts_word("if") {
            return Ok(false);
        }
        words.iter().try_for_each(|word| self.expect_word(word))?;
        Ok(true)
    }

    fn definition(&mut self, made: &mut CreateTable) -> Outcome<()> {
        let is_constraint = self.accepts_word("constraint");
        let is_key = self.is_word("primary") || OTHER_KEYS.iter().any(|word| self.is_word(word));
        let name = if is_constraint && !is_key { Some(self.word()?) } else { None };
        if OTHER_KEYS.iter().any(|word| self.is_word(word)) {
            return Err(SqlError::unsupported("a key other than the primary key"));
        }
        if !is_constraint && !self.is_word("primary") {
            let column = self.column()?;
            made.columns.push(column);
            return Ok(());
        }
        self.expect_word("primary")?;
        self.expect_word("key")?;
        self.expect("(")?;
        let key = self.list(Parser::word)?;
        if self.symbol() == Some("(") {
            return Err(SqlError::unsupported("a key on a column prefix"));
        }
        self.expect(")")?;
        made.keys.push(key);
        made.ignored_name = name.filter(|name| !name.eq_ignore_ascii_case("primary"));
        Ok(())
    }

    fn column(&mut self) -> Outcome<ColumnSpec> {
        let name = self.word()?;
        let kind = self.kind()?;
        let mut column = ColumnSpec { name, kind, nullable: None, default: None, is_key: false };
        loop {
            if self.accepts_word("not") {
                self.expect_word("null")?;
                column.nullable = Some(false);
            } else if self.accepts_word("null") {
                column.nullable = Some(true);
            } else if self.accepts_word("default") {
                column.default = Some(self.default()?);
            } else if self.accepts_word("primary") {
                self.expect_word("key")?;
                column.is_key = true;
            } else if let Kind::Word(word) = &self.peek().kind {
                return Err(SqlError::unsupported(&format!("the column attribute {word}")));
            } else {
                return Ok(column);
            }
        }
    }

    fn default(&mut self) -> Outcome<Expression> {
        match self.expression()? {
            Expression::Truth(is_true) => {
                Ok(Expression::Literal(crate::value::Value::truth(is_true)))
            }
            default @ (Expression::Literal(_) | Expression::Now(_, false)) => Ok(default),
            _ => Err(SqlError::unsupported("this default value")),
        }
    }

    fn kind(&mut self) -> Outcome<ColumnKind> {
        let Kind::Word(word) = self.peek().kind.clone() else { return Err(self.wrong()) };
        self.next();
        let kind = match word.to_ascii_lowercase().as_str() {
            "tinyint" => self.integer(1, 4)?,
            "bool" | "boolean" => ColumnKind::Integer { bytes: 1, width: 1 },
            "int" | "integer" => self.integer(4, 11)?,
            "bigint" => self.integer(8, 20)?,
            "varchar" => self.text(false, VARCHAR_MAX)?,
            "char" => self.text(true, CHAR_MAX)?,
            "timestamp" => ColumnKind::Time { places: self.fraction()?, is_timestamp: true },
            "datetime" => ColumnKind::Time { places: self.fraction()?, is_timestamp: false },
            _ => return Err(SqlError::unsupported(&format!("the type {word}"))),
        };
        if self.is_word("unsigned") || self.is_word("character") || self.is_word("collate") {
            return Err(SqlError::unsupported("this attribute of a column type"));
        }
        Ok(kind)
    }

    fn integer(&mut self, bytes: u8, usual: u32) -> Outcome<ColumnKind> {
        let width = match self.length()? {
            Some(width @ 1..=255) => width as u32,
            Some(_) => return Err(SqlError::unsupported("this display width")),
            None => usual,
        };
        Ok(ColumnKind::Integer { bytes, width })
    }

    fn text(&mut self, is_char: bool, most: u64) -> Outcome<ColumnKind> {
        let characters = match self.length()? {
            Some(length) if (1..=most).contains(&length) => length as u32,
            Some(_) => return Err(SqlError::unsupported("this column length")),
            None if is_char => 1,
            None => return Err(self.wrong()),
        };
        Ok(ColumnKind::Text { characters, is_char })
    }

    fn fraction(&mut self) -> Outcome<u8> {
        match self.length()? {
            Some(places @ 0..=6) => Ok(places as u8),
            Some(_) => Err(SqlError::unsupported("more than 6 fractional digits")),
            None => Ok(0),
        }
    }

    fn length(&mut self) -> Outcome<Option<u64>> {
        if !self.accepts("(") {
            return Ok(None);
        }
        let length = self.count()?;
        self.expect(")")?;
        Ok(Some(length))
    }

    fn options(&mut self) -> Outcome<()> {
        while let Kind::Word(word) = self.peek().kind.clone() {
            self.next();
            let lower = word.to_ascii_lowercase();
            let value = match lower.as_str() {
                "engine" => "innodb",
                "charset" => "utf8mb4",
                "default" => {
                    self.expect_word("charset")?;
                    "utf8mb4"
                }
                _ => return Err(SqlError::unsupported(&format!("the table option {word}"))),
            };
            self.accepts("=");
            if !self.accepts_word(value) {
                return Err(SqlError::unsupported("this value of a table option"));
            }
            self.accepts(",");
        }
        Ok(())
    }
}

pub(super) fn tables(statement: TableStatement) -> Statement {
    Statement::Tables(Box::new(statement))
}
