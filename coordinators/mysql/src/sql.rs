//! The statements that are understood: from text to [`ast::Statement`].

pub(crate) mod ast;
mod expressions;
mod settings;
mod statements;
mod token;

pub(crate) use statements::{Parsed, parse};
pub(crate) use token::{rest, wrong};
