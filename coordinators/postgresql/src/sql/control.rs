use super::Parser;
use super::ast::{Isolation, Modes, Set, Statement, TransactionStatement};
use super::token::Kind;
use crate::error::{Outcome, SqlError};

impl Parser {
    pub(super) fn transaction(&mut self, word: &str) -> Outcome<TransactionStatement> {
        self.at += 1;
        let noise = |parser: &mut Parser| {
            let _ = parser.take_word("work") || parser.take_word("transaction");
        };
        match word {
            "start" => {
                self.want_word("transaction")?;
                Ok(TransactionStatement::Begin(self.modes()?, "START TRANSACTION"))
            }
            "begin" => {
                noise(self);
                Ok(TransactionStatement::Begin(self.modes()?, "BEGIN"))
            }
            "commit" | "end" => {
                noise(self);
                self.no_chain()?;
                Ok(TransactionStatement::Commit)
            }
            _ => {
                noise(self);
                if self.is_word("to") {
                    return Err(SqlError::unsupported("ROLLBACK TO"));
                }
                self.no_chain()?;
                Ok(TransactionStatement::Rollback)
            }
        }
    }

    fn no_chain(&mut self) -> Outcome<()> {
        if !self.take_word("and") {
            return Ok(());
        }
        let begins_another = !self.take_word("no");
        self.want_word("chain")?;
        match begins_another {
            true => Err(SqlError::unsupported("AND CHAIN")),
            false => Ok(()),
        }
    }

    fn modes(&mut self) -> Outcome<Modes> {
        let mut modes = Modes::default();
        loop {
            if self.take_words(&["isolation", "level"]) {
                modes.isolation = Some(self.isolation()?);
            } else if self.take_words(&["read", "only"]) {
                modes.read_only = Some(true);
            } else if self.take_words(&["read", "write"]) {
                modes.read_only = Some(false);
            } else {
                return Ok(modes);
            }
            self.take_symbol(",");
        }
    }

    fn isolation(&mut self) -> Outcome<Isolation> {
        let levels = [
            (&["serializable"][..], Isolation::Serializable),
            (&["repeatable", "read"], Isolation::RepeatableRead),
            (&["read", "committed"], Isolation::ReadCommitted),
            (&["read", "uncommitted"], Isolation::ReadUncommitted),
        ];
        for (words, isolation) in levels {
            if self.take_words(words) {
                return Ok(isolation);
            }
        }
        Err(self.unexpected())
    }

    pub(super) fn set(&mut self) -> Outcome<Statement> {
        self.at += 1;
        if self.take_words(&["session", "characteristics", "as", "transaction"]) {
            let modes = self.modes()?;
            return Ok(Statement::Transaction(TransactionStatement::SetSession(modes)));
        }
        if self.take_word("transaction") {
            return Ok(Statement::Transaction(TransactionStatement::Set(self.modes()?)));
        }
        let is_local = self.take_word("local");
        if !is_local {
            self.take_word("session");
        }
        let name = if self.take_words(&["time", "zone"]) {
            "timezone".to_owned()
        } else {
            self.refuse(&["authorization", "constraints", "names", "role", "schema"])?;
            let mut name = self.name()?;
            while self.take_symbol(".") {
                name = format!("{name}.{}", self.label()?);
            }
            if !self.take_symbol("=") {
                self.want_word("to")?;
            }
            name
        };
        let value = self.setting_value()?;
        Ok(Statement::Set(Set { is_local, name: Some(name), value, is_reset: false }))
    }

    fn setting_value(&mut self) -> Outcome<Option<String>> {
        if self.take_word("default") {
            return Ok(None);
        }
        let values = self.list(|parser| {
            let is_negative = parser.take_symbol("-");
            let value = match parser.peek().map(|token| token.kind.clone()) {
                Some(Kind::Integer(digits) | Kind::Decimal(digits)) if is_negative => {
                    format!("-{digits}")
                }
                Some(
                    Kind::Text(text)
                    | Kind::Word(text)
                    | Kind::Quoted(text)
                    | Kind::Integer(text)
                    | Kind::Decimal(text),
                ) if !is_negative => text,
                _ => return Err(parser.unexpected()),
            };
            parser.at += 1;
            Ok(value)
        })?;
        Ok(Some(values.join(", ")))
    }

    pub(super) fn reset(&mut self) -> Outcome<Statement> {
        self.at += 1;
        let name = if self.take_word("all") { None } else { Some(self.name()?) };
        Ok(Statement::Set(Set { is_local: false, name, value: None, is_reset: true }))
    }

    pub(super) fn show(&mut self) -> Outcome<Statement> {
        self.at += 1;
        if self.take_words(&["transaction", "isolation", "level"]) {
            return Ok(Statement::Show("transaction_isolation".to_owned()));
        }
        if self.take_words(&["time", "zone"]) {
            return Ok(Statement::Show("timezone".to_owned()));
        }
        self.refuse(&["all"])?;
        Ok(Statement::Show(self.name()?))
    }

    pub(super) fn deallocate(&mut self) -> Outcome<Statement> {
        self.at += 1;
        self.take_word("prepare");
        if self.take_word("all") {
            return Ok(Statement::Deallocate(None));
        }
        Ok(Statement::Deallocate(Some(self.name()?)))
    }
}
