//! How a script's functions fail, and when a script has to end.

use super::lend;
use super::long::{Ending, MEMORY_MAX};
use super::raw;
use crate::protocol::error::CommandError;
use mlua::{Error, Lua, Result};
use std::fmt;

/// What a function of the host fails with.
#[derive(Debug)]
pub(super) enum Problem {
    /// An error reply's text, which scripts meet as a table with `err`.
    Reply(CommandError),
    /// A text, which scripts meet as it is.
    Text(String),
    /// The script has to end, and cannot catch this.
    Stop(Ending),
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Reply(error) => formatter.write_str(&String::from_utf8_lossy(&error.0)),
            Problem::Text(text) => formatter.write_str(text),
            Problem::Stop(ending) => ending.fmt(formatter),
        }
    }
}

impl std::error::Error for Problem {}

/// The error that ends a script whatever it does.
pub(super) fn stop(ending: Ending) -> Error {
    Error::external(Problem::Stop(ending))
}

/// Looks at the run, which has lasted for so many looks and needs so many bytes of memory: why it
/// has to end, if it has to.
pub(crate) fn look(looks: u32, memory: usize) -> Option<Ending> {
    if memory > MEMORY_MAX {
        return Some(Ending::Memory);
    }
    let looked = raw::keep_panic(|| lend::borrow(|run| run.look(looks)));
    looked.map_or(Some(Ending::Panicked), Option::flatten)
}

/// Ends the script if it needs more bytes of memory than scripts may have.
pub(super) fn check_memory(bytes: usize) -> Result<()> {
    if bytes > MEMORY_MAX { Err(stop(Ending::Memory)) } else { Ok(()) }
}

/// Fails as a function of the redis library.
pub(super) fn raise<T>(text: &'static str) -> Result<T> {
    Err(Error::external(Problem::Reply(CommandError::fixed(text))))
}

/// Fails as Lua itself does within a function of C: with nothing in front.
pub(super) fn complain_plainly<T>(text: &str) -> Result<T> {
    Err(Error::external(Problem::Text(text.to_owned())))
}

/// Fails as a function of Lua's own libraries: with the place from which it was called in front.
pub(super) fn complain<T>(lua: &Lua, text: &str) -> Result<T> {
    let place = lua.inspect_stack(1, |debug| {
        let line = debug.current_line()?;
        Some(format!("{}:{line}: ", debug.source().short_src.as_deref()?))
    });
    Err(Error::external(Problem::Text(place.flatten().unwrap_or_default() + text)))
}
