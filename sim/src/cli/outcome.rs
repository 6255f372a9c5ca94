//! The outcome of a command, which determines its exit status.

use fencepost_reports::{RunReport, Verdict};

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// Exit status 0: no violation, or every result as expected.
    AsExpected,
    /// An inconclusive result, because no run exercised the lock.
    Unknown,
    /// A violation, or a deviation from the expectations.
    Violated,
    /// SIGINT ended the command.
    Interrupted,
    /// SIGTERM ended the command.
    Terminated,
}

impl Outcome {
    pub(crate) fn of_runs(runs: &[RunReport]) -> Outcome {
        runs.iter().map(|run| Outcome::of(&run.verdict)).max().unwrap_or(Outcome::Unknown)
    }

    pub(crate) fn of(verdict: &Verdict) -> Outcome {
        match verdict {
            Verdict::Valid => Outcome::AsExpected,
            Verdict::Unknown { .. } => Outcome::Unknown,
            Verdict::Violated => Outcome::Violated,
        }
    }

    /// Returns the exit status: 0, 1, 3, or 128 plus the number of the signal.
    pub fn status(self) -> u8 {
        match self {
            Outcome::AsExpected => 0,
            Outcome::Violated => 1,
            Outcome::Unknown => 3,
            Outcome::Interrupted => 130,
            Outcome::Terminated => 143,
        }
    }
}
