//! A lock that is written in Lua: its text, and what it says of itself.

use super::facts::{Facts, facts_of};
use super::lint::unknown_call;
use super::machine::Machine;
use super::source::Source;
use crate::lock::Deployment;
use std::sync::Arc;

const TEXT_MAX: usize = 256 * 1024;

/// A lock written in Lua, after the checks that are possible before it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    pub(super) source: Arc<Source>,
    pub(super) facts: Facts,
}

/// A script that cannot be run: FILE:LINE:COLUMN: and what is wrong, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidScript(pub(super) String);

impl Script {
    /// Reads the text of a script. `file` is what errors call it.
    pub fn read(file: &str, text: &str) -> Result<Script, InvalidScript> {
        if text.len() > TEXT_MAX {
            let bytes = text.len();
            let problem = format!("{file}: {bytes} bytes: expected a script of at most 256 KB");
            return Err(InvalidScript(problem));
        }
        let source = Source::new(file, text);
        let wrong = |raw: &str| InvalidScript(source.describe(raw));
        let mut machine = Machine::take(&source).map_err(|raw| wrong(&raw))?;
        if let Some(problem) = unknown_call(&source, &mut machine) {
            return Err(InvalidScript(problem));
        }
        let parts = machine.instantiate(super::facts::MASTERS).map_err(|raw| wrong(&raw))?;
        let facts = facts_of(&mut machine, parts).map_err(|raw| wrong(&raw))?;
        machine.recycle();
        Ok(Script { source: Arc::new(source), facts })
    }

    /// The file name for error messages.
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The servers that it runs against.
    pub fn deployment(&self) -> Deployment {
        self.facts.deployment
    }

    /// Returns whether its leases carry a fencing token.
    pub fn has_tokens(&self) -> bool {
        self.facts.tokens
    }

    /// Returns whether the script promises to serve waiters in order of arrival.
    pub fn is_fair(&self) -> bool {
        self.facts.fair
    }

    /// The library and version that it models, if any.
    pub fn models(&self) -> Option<&str> {
        self.facts.models.as_deref()
    }

    /// The ttl that it asks for, in milliseconds.
    pub fn ttl_ms(&self) -> Option<u64> {
        self.facts.ttl_ms
    }

    /// The shortest and the longest delay between two attempts that it asks for, in milliseconds.
    pub fn retry_ms(&self) -> Option<(u64, u64)> {
        self.facts.retry_ms
    }

    /// Returns whether this is an error of the script itself, rather than of a server.
    pub fn is_own_error(&self, reason: &str) -> bool {
        reason.strip_prefix(self.file()).is_some_and(|rest| rest.starts_with(':'))
    }
}
