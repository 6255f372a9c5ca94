//! Parses statements into [`ast::Statement`].

pub(crate) mod ast;
mod changes;
mod definitions;
pub(crate) mod expression;
mod expressions;
mod parser;
mod settings;
mod statements;
pub(crate) mod table_ast;
mod token;

pub(crate) use statements::{Parsed, parse};
pub(crate) use token::{rest, wrong};
