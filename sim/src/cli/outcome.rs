use fencepost_reports::{RunReport, Verdict};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    AsExpected,
    Unknown,
    Violated,
    Interrupted,
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
