use super::facts::{Facts, facts_of};
use super::lint::{describe_fact, unknown_call};
use super::machine::Machine;
use super::source::Source;
use crate::lock::Deployment;
use std::sync::Arc;

const TEXT_MAX: usize = 256 * 1024;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    pub(super) source: Arc<Source>,
    pub(super) facts: Facts,
}

/// A mistake in a script. The message begins with the file and, if known, line and column.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidScript(pub(super) String);

impl Script {
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

    pub fn file(&self) -> &str {
        &self.source.file
    }

    pub fn text(&self) -> &str {
        &self.source.text
    }

    pub fn deployment(&self) -> Deployment {
        self.facts.deployment
    }

    pub fn has_tokens(&self) -> bool {
        self.facts.tokens
    }

    pub fn is_fair(&self) -> bool {
        self.facts.fair
    }

    pub fn models(&self) -> Option<&str> {
        self.facts.models.as_deref()
    }

    pub fn ttl_ms(&self) -> Option<u64> {
        self.facts.ttl_ms
    }

    /// Returns the shortest and longest retry delays that the script requests, in milliseconds.
    pub fn retry_ms(&self) -> Option<(u64, u64)> {
        self.facts.retry_ms
    }

    /// Returns `true` if the script or the application renews the lease.
    pub fn keeps_its_lease(&self) -> bool {
        self.facts.renews || self.facts.extends
    }

    /// Adds the file, line and column of the function named at the start of `problem`.
    pub fn describe(&self, problem: &str) -> String {
        describe_fact(&self.source, problem)
    }

    pub fn is_own_error(&self, reason: &str) -> bool {
        reason.strip_prefix(self.file()).is_some_and(|rest| rest.starts_with(':'))
    }
}
