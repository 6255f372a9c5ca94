use super::expression::{Assignment, Expression, Item};
use super::table_ast::TableStatement;
use crate::charset::Charset;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Statement {
    /// A SELECT without a table, and `false` if a LIMIT excludes its only row.
    Select(Vec<Item>, bool),
    Do(Vec<Expression>),
    Set(Vec<Assignment>),
    Names(Charset),
    Isolation {
        level: &'static str,
        is_session: bool,
    },
    Use(String),
    Begin,
    Commit,
    Rollback,
    ShowWarnings,
    Kill {
        id: i128,
        is_query: bool,
    },
    Tables(Box<TableStatement>),
    Nothing,
}
