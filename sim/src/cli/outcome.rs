//! The outcome of a command, which determines its exit status.

use fencepost_reports::{RunReport, Verdict};

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// Exit status 0: no violation, or all as expected.
    AsExpected,
    /// An inconclusive result, because no run exercised the lock.
    Unknown,
    /// A violation, or a deviation from the expectations.
    Violated,
    /// An end by SIGINT, with or without findings.
    Interrupted,
    /// An end by SIGTERM, with or without findings.
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

    /// Returns the exit status. A failure has the status 2.
    pub fn status(self) -> u8 {
        match self {
            Outcome::AsExpected => 0,
            Outcome::Violated => 1,
            Outcome::Unknown => 3,
            // A shell reports 128 plus the signal's number for a command that a signal ended.
            Outcome::Interrupted => 130,
            Outcome::Terminated => 143,
        }
    }
}
