use crate::files::FileError;
use crate::studies::sweep::FailedRun;
use fencepost_reports::{Cause, Kind};
use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub enum TestFailure {
    Unexpected(Vec<Deviation>),
    Wrong(String),
    Run(FailedRun),
    /// The histories of the two engines differ.
    Nondeterministic {
        /// Seed and faults of the run.
        run: String,
    },
    Report(FileError),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deviation {
    pub client: String,
    pub fault: String,
    pub what: What,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Violated {
        /// Lowest seed that breaks the rule.
        seed: u64,
        kind: Kind,
        /// Lower bound on the number of runs that broke a forbidden rule.
        runs: u64,
        summary: String,
        reports: Vec<PathBuf>,
        replay: String,
    },
    /// No tested seed breaks this rule, but one should. The number is how many seeds were tested.
    Missing(Kind, u64),
    /// No tested seed breaks this rule for this cause. The number is how many seeds were tested.
    OtherCause(Kind, Cause, u64),
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
                    "{client} under {fault}: {kind} in at least {runs} runs, first in seed {seed}"
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
