//! Failures of lock tests, with messages for developers.

use crate::files::FileError;
use crate::studies::sweep::FailedRun;
use fencepost_reports::{Cause, Kind};
use std::fmt;
use std::path::PathBuf;

/// The reason why a test of a lock fails.
#[derive(Debug)]
pub enum TestFailure {
    /// The results under these faults were unexpected.
    Unexpected(Vec<Deviation>),
    /// The test is invalid. The text names the invalid value and the valid ones.
    Wrong(String),
    /// A run failed.
    Run(FailedRun),
    /// The two engines' histories differ, because the lock depends on more than its `Env`.
    Nondeterministic {
        /// Seed and faults of the run.
        run: String,
    },
    /// A report could not be written.
    Report(FileError),
}

/// An unexpected result under one fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deviation {
    /// Name of the lock.
    pub client: String,
    /// Fault families of the runs.
    pub fault: String,
    /// The unexpected result.
    pub what: What,
}

/// An unexpected result of the runs under one fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// A run broke a rule that should hold.
    Violated {
        /// Lowest seed that breaks the rule.
        seed: u64,
        /// The broken rule.
        kind: Kind,
        /// Lower bound on the number of runs that broke a rule that should hold.
        runs: u64,
        /// Summary in two or three sentences.
        summary: String,
        /// Paths of the written reports.
        reports: Vec<PathBuf>,
        /// Command that reproduces the violation.
        replay: String,
    },
    /// No seed breaks the rule, although at least one should. The number counts the tested seeds.
    Missing(Kind, u64),
    /// No seed breaks the rule for this cause, although one should. The number counts the tested
    /// seeds.
    OtherCause(Kind, Cause, u64),
    /// No seed exercised the lock.
    Unexercised,
}

impl fmt::Display for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestFailure::Unexpected(deviations) => {
                for (place, deviation) in deviations.iter().enumerate() {
                    write!(f, "{}{deviation}", if place == 0 { "" } else { "\n\n" })?;
                }
                Ok(())
            }
            TestFailure::Wrong(what) => f.write_str(what),
            TestFailure::Run(run) => {
                write!(
                    f,
                    "seed {}, client {}, fault {}: {}",
                    run.seed, run.client, run.fault, run.error
                )
            }
            TestFailure::Nondeterministic { run } => write!(
                f,
                "{run}: the two engines give different histories, so the lock depends on more than \
                 the seed: use time, randomness and connections only through Env, and iterate over \
                 no HashMap"
            ),
            TestFailure::Report(failure) => write!(f, "the report was not written: {failure}"),
        }
    }
}

impl std::error::Error for TestFailure {}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (client, fault) = (&self.client, &self.fault);
        match &self.what {
            What::Violated { seed, kind, runs, summary, reports, replay } => {
                writeln!(
                    f,
                    "{client} under {fault}: {kind} in seed {seed} and at least {runs} runs"
                )?;
                writeln!(f, "  {summary}")?;
                for path in reports {
                    writeln!(f, "  report: {}", path.display())?;
                }
                write!(f, "  replay: {replay}")
            }
            What::Missing(kind, seeds) => {
                write!(f, "{client} under {fault}: none of {seeds} seeds shows {kind}")
            }
            What::OtherCause(kind, cause, seeds) => {
                write!(f, "{client} under {fault}: none of {seeds} seeds shows {kind} by {cause}")
            }
            What::Unexercised => {
                write!(
                    f,
                    "{client} under {fault}: no seed exercised the lock; the test is inconclusive"
                )
            }
        }
    }
}
