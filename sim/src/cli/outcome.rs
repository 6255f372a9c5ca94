//! The result of a command, as an exit status.

use fencepost_reports::{RunReport, Verdict};

/// The result of a command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// No violation, or all as expected.
    AsExpected,
    /// Nothing was exercised.
    Unknown,
    /// A violation, or a deviation from expectations.
    Violated,
    /// SIGINT ended it, with or without findings.
    Interrupted,
    /// SIGTERM ended it, with or without findings.
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

    /// The exit status. A failure is 2.
    pub fn status(self) -> u8 {
        match self {
            Outcome::AsExpected => 0,
            Outcome::Violated => 1,
            Outcome::Unknown => 3,
            // The status that a shell reports for a command killed by the signal.
            Outcome::Interrupted => 130,
            Outcome::Terminated => 143,
        }
    }
}
