//! A lock written in Lua ([`Script`]), with the facts that the script states about itself.

use super::facts::{Facts, facts_of};
use super::lint::{describe_fact, unknown_call};
use super::machine::Machine;
use super::source::Source;
use crate::lock::Deployment;
use std::sync::Arc;

const TEXT_MAX: usize = 256 * 1024;

/// A lock written in Lua that has passed the checks before its first run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    pub(super) source: Arc<Source>,
    pub(super) facts: Facts,
}

/// An error in a script, as a line of the form FILE:LINE:COLUMN: problem.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidScript(pub(super) String);

impl Script {
    /// Reads the text of a script. Error messages name it `file`.
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
        let facts = facts_of(&mut machine, parts)
            .map_err(|problem| InvalidScript(describe_fact(&source, &problem)))?;
        machine.recycle();
        Ok(Script { source: Arc::new(source), facts })
    }

    /// Returns the file name for error messages.
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// Returns the text of the script.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// Returns the servers that the script needs.
    pub fn deployment(&self) -> Deployment {
        self.facts.deployment
    }

    /// Returns whether the script's leases have a fencing token.
    pub fn has_tokens(&self) -> bool {
        self.facts.tokens
    }

    /// Returns whether the script promises to serve waiters in order of arrival.
    pub fn is_fair(&self) -> bool {
        self.facts.fair
    }

    /// Returns the library and version that the script models, if any.
    pub fn models(&self) -> Option<&str> {
        self.facts.models.as_deref()
    }

    /// Returns the ttl that the script requests, in milliseconds.
    pub fn ttl_ms(&self) -> Option<u64> {
        self.facts.ttl_ms
    }

    /// Returns the shortest and longest retry delay that the script requests, in milliseconds.
    pub fn retry_ms(&self) -> Option<(u64, u64)> {
        self.facts.retry_ms
    }

    /// Returns whether a refusal's reason is an error of the script rather than of a server.
    pub fn is_own_error(&self, reason: &str) -> bool {
        reason.strip_prefix(self.file()).is_some_and(|rest| rest.starts_with(':'))
    }
}
