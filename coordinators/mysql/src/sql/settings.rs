use super::ast::Statement;
use super::expression::{Assignment, Expression};
use super::parser::Parser;
use super::token::Kind;
use crate::charset::{Charset, DEFAULT};
use crate::error::{Outcome, SqlError};
use crate::value::Value;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Outcome<Statement> {
        if self.accepts_word("names") {
            return self.names();
        }
        let start = self.at;
        let is_session = self.accepts_word("session") || self.accepts_word("local");
        if self.accepts_word("transaction") {
            return self.isolation(is_session);
        }
        self.at = start;
        self.refuse_words(&["character", "charset", "password", "role", "statement"])?;
        self.list(Parser::assignment).map(Statement::Set)
    }

    fn names(&mut self) -> Outcome<Statement> {
        let unknown =
            |name: &str| SqlError::new(1115, "42000", format!("Unknown character set: '{name}'"));
        let name = match self.accepts_word("default") {
            true => "default".to_owned(),
            false => self.text_or_word()?,
        };
        let charset = match name.eq_ignore_ascii_case("default") {
            true => DEFAULT,
            false => Charset::named(&name).ok_or_else(|| unknown(&name))?,
        };
        if !self.accepts_word("collate") {
            return Ok(Statement::Names(charset));
        }
        let collation = self.text_or_word()?;
        let chosen = Charset::of_collation(&collation).ok_or_else(|| {
            SqlError::new(1273, "HY000", format!("Unknown collation: '{collation}'"))
        })?;
        if chosen.name != charset.name {
            let (collation, name) = (chosen.collation, charset.name);
            let message =
                format!("COLLATION '{collation}' is not valid for CHARACTER SET '{name}'");
            return Err(SqlError::new(1253, "42000", message));
        }
        Ok(Statement::Names(chosen))
    }

    fn text_or_word(&mut self) -> Outcome<String> {
        let Kind::Text(text) = self.peek().kind.clone() else { return self.word() };
        self.next();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn isolation(&mut self, is_session: bool) -> Outcome<Statement> {
        if self.is_word("read") {
            return Err(SqlError::unsupported("the access mode of a transaction"));
        }
        self.expect_word("isolation")?;
        self.expect_word("level")?;
        let level = if self.accepts_word("serializable") {
            "SERIALIZABLE"
        } else if self.accepts_word("repeatable") {
            self.expect_word("read")?;
            "REPEATABLE-READ"
        } else {
            self.expect_word("read")?;
            if self.accepts_word("committed") {
                "READ-COMMITTED"
            } else {
                self.expect_word("uncommitted")?;
                "READ-UNCOMMITTED"
            }
        };
        if self.symbol() == Some(",") {
            return Err(SqlError::unsupported("the access mode of a transaction"));
        }
        Ok(Statement::Isolation { level, is_session })
    }

    fn assignment(&mut self) -> Outcome<Assignment> {
        if self.symbol() == Some("@") {
            return Err(SqlError::unsupported("user variables"));
        }
        let has_signs = self.accepts("@@");
        let mut name = self.word()?.to_ascii_lowercase();
        if matches!(name.as_str(), "session" | "local" | "global") {
            if name == "global" {
                return Err(SqlError::unsupported("SET GLOBAL"));
            }
            if has_signs {
                self.expect(".")?;
            }
            name = self.word()?.to_ascii_lowercase();
        }
        if !self.accepts("=") {
            self.expect(":=")?;
        }
        let value = self.assigned()?;
        Ok(Assignment { name, value })
    }

    fn assigned(&mut self) -> Outcome<Option<Value>> {
        if let Kind::Word(word) = self.peek().kind.clone() {
            let lower = word.to_ascii_lowercase();
            if !matches!(lower.as_str(), "null" | "true" | "false") {
                self.next();
                return match lower == "default" {
                    true => Ok(None),
                    false if self.symbol() == Some("(") => {
                        Err(SqlError::unsupported("an expression as the value of a variable"))
                    }
                    false => Ok(Some(Value::Text(word.into_bytes()))),
                };
            }
        }
        match self.expression()? {
            Expression::Literal(value) => Ok(Some(value)),
            Expression::Truth(is_true) => Ok(Some(Value::truth(is_true))),
            _ => Err(SqlError::unsupported("an expression as the value of a variable")),
        }
    }
}
