use super::{Execution, StatementResult, Stop, transactions};
use crate::error::{Severity, SqlError};
use crate::sql::ast::{Isolation, Modes, Set, Statement, TransactionStatement};
use crate::types::Value;

fn done(tag: &str) -> Result<StatementResult, Stop> {
    Ok(StatementResult { tag: tag.to_owned() })
}

impl Execution<'_> {
    pub(super) fn utility(
        &mut self,
        statement: &Statement,
    ) -> Result<Option<StatementResult>, Stop> {
        if statement.takes_snapshot() {
            self.refuse_serializable()?;
            self.fix_snapshot();
            if let Some(open) = &mut self.session.transaction {
                open.has_looked = true;
            }
        }
        let outcome = match statement {
            Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_) => return Ok(None),
            Statement::Transaction(statement) => self.transaction(statement),
            Statement::Set(set) => self.set(set),
            Statement::Show(name) => self.show(name),
            Statement::CreateTable(create) => self.create_table(create),
            Statement::DropTable { tables, if_exists } => self.drop_tables(tables, *if_exists),
            Statement::Deallocate(name) => {
                self.session.deallocate(name.as_deref())?;
                done(if name.is_some() { "DEALLOCATE" } else { "DEALLOCATE ALL" })
            }
        };
        outcome.map(Some)
    }

    fn warn(&mut self, code: &'static str, message: &str) {
        self.session.notices.push(SqlError::of(Severity::Warning, code, message));
    }

    fn is_in_block(&self) -> bool {
        self.session.transaction.as_ref().is_some_and(|open| open.is_block)
    }

    fn transaction(&mut self, statement: &TransactionStatement) -> Result<StatementResult, Stop> {
        match statement {
            TransactionStatement::Begin(modes, tag) => self.begin(*modes, tag),
            TransactionStatement::Commit => self.commit(),
            TransactionStatement::Rollback => {
                if !self.is_in_block() {
                    self.warn("25P01", "there is no transaction in progress");
                }
                transactions::rollback(self.core, self.session);
                done("ROLLBACK")
            }
            TransactionStatement::Set(modes) => {
                if self.is_in_block() {
                    self.set_modes(*modes)?;
                } else {
                    self.warn("25P01", "SET TRANSACTION can only be used in transaction blocks");
                }
                done("SET")
            }
            TransactionStatement::SetSession(modes) => {
                let settings = &mut self.session.settings;
                settings.isolation = modes.isolation.unwrap_or(settings.isolation);
                settings.read_only = modes.read_only.unwrap_or(settings.read_only);
                done("SET")
            }
        }
    }

    fn begin(&mut self, modes: Modes, tag: &str) -> Result<StatementResult, Stop> {
        if self.is_in_block() {
            self.warn("25001", "there is already a transaction in progress");
        }
        self.set_modes(modes)?;
        if let Some(open) = &mut self.session.transaction {
            open.is_block = true;
        }
        done(tag)
    }

    fn set_modes(&mut self, modes: Modes) -> Result<(), Stop> {
        let is_in_recovery = self.core.is_in_recovery;
        if is_in_recovery && modes.isolation == Some(Isolation::Serializable) {
            let message = "cannot use serializable mode in a hot standby";
            let hint = "You can use REPEATABLE READ instead.";
            return Err(SqlError::new("0A000", message).hint(hint).into());
        }
        let Some(open) = &mut self.session.transaction else { return Ok(()) };
        let has_looked = open.has_looked;
        if has_looked && modes.isolation.is_some_and(|wanted| wanted != open.isolation) {
            let message = "SET TRANSACTION ISOLATION LEVEL must be called before any query";
            return Err(SqlError::new("25001", message).into());
        }
        if has_looked && modes.read_only == Some(false) && open.read_only {
            let message = "transaction read-write mode must be set before any query";
            return Err(SqlError::new("25001", message).into());
        }
        if is_in_recovery && modes.read_only == Some(false) {
            let message = "cannot set transaction read-write mode during recovery";
            return Err(SqlError::new("0A000", message).into());
        }
        open.take_modes(modes);
        Ok(())
    }

    fn commit(&mut self) -> Result<StatementResult, Stop> {
        let is_flushing =
            self.session.transaction.as_ref().is_some_and(|open| open.flushing.is_some());
        if !self.is_in_block() && !is_flushing {
            self.warn("25P01", "there is no transaction in progress");
        }
        if self.session.transaction.as_ref().is_some_and(|open| open.has_failed) {
            transactions::rollback(self.core, self.session);
            return done("ROLLBACK");
        }
        transactions::commit(self.core, self.session)?;
        done("COMMIT")
    }

    fn set(&mut self, set: &Set) -> Result<StatementResult, Stop> {
        let tag = if set.is_reset { "RESET" } else { "SET" };
        let Some(name) = &set.name else {
            self.session.reset_all();
            return done(tag);
        };
        if set.is_local && !self.is_in_block() {
            self.session.settings.clone().set(name, set.value.as_deref())?;
            self.warn("25P01", "SET LOCAL can only be used in transaction blocks");
            return done(tag);
        }
        if name.eq_ignore_ascii_case("transaction_isolation") {
            return Err(SqlError::unsupported("SET transaction_isolation").into());
        }
        let before = self.session.settings.clone();
        self.session.settings.set(name, set.value.as_deref())?;
        if let Some(open) = &mut self.session.transaction {
            match (&mut open.settings_after, set.is_local) {
                (None, true) => open.settings_after = Some(before),
                (Some(after), false) => after.set(name, set.value.as_deref())?,
                _ => {}
            }
        }
        done(tag)
    }

    fn show(&mut self, name: &str) -> Result<StatementResult, Stop> {
        let shown = self.session.show(name)?;
        let own = self.session.settings.show(name).map_or(name, |(known, _)| known);
        let output = crate::bound::Output {
            label: own.to_owned(),
            bound: crate::bound::Bound::Constant(Value::Null),
            kind: crate::types::Type::Text,
            origin: None,
        };
        let planned = super::Planned {
            plan: super::Plan::None,
            outputs: Some(vec![output]),
            parameters: Vec::new(),
        };
        self.run.planned = Some(std::rc::Rc::new(planned));
        self.run.rows.push(vec![Value::Text(shown)]);
        done("SHOW")
    }
}
