//! The failure of a lock's test, for its readers.

use crate::files::FileError;
use crate::studies::sweep::FailedRun;
use fencepost_reports::{Cause, Kind};
use std::fmt;
use std::path::PathBuf;

/// Why a test of a lock fails.
#[derive(Debug)]
pub enum TestFailure {
    /// The result was unexpected, under each of these faults.
    Unexpected(Vec<Deviation>),
    /// The test is invalid; names the bad value and the valid ones.
    Wrong(String),
    /// A run failed.
    Run(FailedRun),
    /// The engines' histories differ: the lock depends on something besides its `Env`.
    Nondeterministic {
        /// The seed and the faults.
        run: String,
    },
    /// A report could not be written.
    Report(FileError),
}

/// An unexpected result under one fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deviation {
    /// The lock.
    pub client: String,
    /// The faults.
    pub fault: String,
    /// The unexpected result.
    pub what: What,
}

/// An unexpected result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// A rule was broken that should hold.
    Violated {
        /// The lowest seed that shows it.
        seed: u64,
        /// The rule.
        kind: Kind,
        /// The number of runs that break a rule that should hold, at least.
        runs: u64,
        /// Two or three sentences.
        summary: String,
        /// The reports that were written.
        reports: Vec<PathBuf>,
        /// The command that reproduces it.
        replay: String,
    },
    /// A rule should be broken and was not, by this many seeds.
    Missing(Kind, u64),
    /// A rule should be broken for a cause and was not, by this many seeds.
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
