use super::Parser;
use super::ast::{ColumnDefinition, CreateTable, Expression, Key, Named, Statement};
use crate::error::{Outcome, SqlError};

impl Parser {
    pub(super) fn definition(&mut self) -> Outcome<Option<Statement>> {
        if self.take_words(&["create", "table"]) {
            return self.create_table().map(Some);
        }
        if self.take_words(&["drop", "table"]) {
            let if_exists = self.take_words(&["if", "exists"]);
            let tables = self.list(Parser::table_name)?;
            let _ = self.take_word("cascade") || self.take_word("restrict");
            return Ok(Some(Statement::DropTable { tables, if_exists }));
        }
        Ok(None)
    }

    fn create_table(&mut self) -> Outcome<Statement> {
        let if_not_exists = self.take_words(&["if", "not", "exists"]);
        let name = self.table_name()?;
        let (mut columns, mut keys) = (Vec::new(), Vec::new());
        self.refuse(&["as"])?;
        self.want_symbol("(")?;
        if !self.take_symbol(")") {
            loop {
                match self.table_constraint()? {
                    Some(key) => keys.push(key),
                    None => columns.push(self.column(&mut keys)?),
                }
                if !self.take_symbol(",") {
                    break;
                }
            }
            self.want_symbol(")")?;
        }
        self.refuse(&["inherits", "partition", "tablespace", "with"])?;
        Ok(Statement::CreateTable(CreateTable { name, if_not_exists, columns, keys }))
    }

    fn table_constraint(&mut self) -> Outcome<Option<Key>> {
        let start = self.at;
        let name = if self.take_word("constraint") { Some(self.name()?) } else { None };
        let is_primary = self.take_words(&["primary", "key"]);
        if is_primary || self.take_word("unique") {
            let columns = self.bracketed(Parser::named_column)?;
            return Ok(Some(Key { name, columns, is_primary }));
        }
        if name.is_some() || self.is_word("check") || self.is_word("foreign") {
            return Err(SqlError::unsupported("a constraint other than a key"));
        }
        self.at = start;
        Ok(None)
    }

    fn column(&mut self, keys: &mut Vec<Key>) -> Outcome<ColumnDefinition> {
        let named = self.named_column()?;
        let (name, kind) = (named.name.clone(), self.type_name()?);
        let mut column = ColumnDefinition { name, kind, not_null: false, default: None };
        while self.column_constraint(&named, &mut column, keys)? {}
        Ok(column)
    }

    fn column_constraint(
        &mut self,
        named: &Named,
        column: &mut ColumnDefinition,
        keys: &mut Vec<Key>,
    ) -> Outcome<bool> {
        let name = if self.take_word("constraint") { Some(self.name()?) } else { None };
        let is_primary = self.take_words(&["primary", "key"]);
        if is_primary || self.take_word("unique") {
            keys.push(Key { name, columns: vec![named.clone()], is_primary });
        } else if self.take_words(&["not", "null"]) {
            column.not_null = true;
        } else if self.take_word("default") {
            column.default = Some(self.default_value()?);
        } else if self.is_word("check") || self.is_word("references") {
            return Err(SqlError::unsupported("a constraint other than a key"));
        } else {
            self.refuse(&["collate", "generated"])?;
            return Ok(self.take_word("null"));
        }
        Ok(true)
    }

    fn default_value(&mut self) -> Outcome<(Expression, String)> {
        let start = self.at;
        let value = self.default_expression()?;
        let raw: Vec<&str> =
            self.tokens[start..self.at].iter().map(|token| token.raw.as_str()).collect();
        Ok((value, raw.join(" ")))
    }
}
