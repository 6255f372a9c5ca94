//! What statements say.

use super::expression::{Assignment, Expression, Item};
use super::table_ast::TableStatement;
use crate::charset::Charset;

/// One statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Statement {
    /// `SELECT`: its columns, and whether its one row is asked for.
    Select(Vec<Item>, bool),
    Do(Vec<Expression>),
    Set(Vec<Assignment>),
    Names(Charset),
    Isolation {
        level: &'static str,
        /// Whether it is said for the session; else for the next transaction.
        is_session: bool,
    },
    Use(String),
    Begin,
    Commit,
    Rollback,
    ShowWarnings,
    Kill {
        id: i128,
        /// Whether only the statement is ended, and not the session.
        is_query: bool,
    },
    /// One that names tables.
    Tables(Box<TableStatement>),
    /// Nothing but a comment.
    Nothing,
}
