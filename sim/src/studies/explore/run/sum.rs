use super::trial::Trial;
use crate::studies::explore::plan::level::Level;
use crate::studies::explore::plan::prune::Pruned;
use fencepost_reports::Verdict;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sum {
    /// Number of runs, indexed by the number of faults in the plan.
    pub runs: [u64; 3],
    /// Number of runs, indexed by the number of delayed messages in the plan.
    pub by_delays: [u64; 3],
    /// Runs that broke no rule and exercised the lock.
    pub valid: u64,
    /// Runs that broke no rule, but are inconclusive.
    pub unknown: u64,
    pub violated: u64,
    pub fired: u64,
    /// Runs in which at least two processes acquired the lock.
    pub contended: u64,
    pub pruned: Pruned,
}

impl Sum {
    pub(crate) fn count(&mut self, level: Level, trial: &Trial) {
        self.runs[usize::from(level.faults.min(2))] += 1;
        self.by_delays[usize::from(level.delays.min(2))] += 1;
        match trial.verdict {
            Verdict::Valid => self.valid += 1,
            Verdict::Unknown { .. } => self.unknown += 1,
            Verdict::Violated => self.violated += 1,
        }
        self.fired += u64::from(trial.fired);
        self.contended += u64::from(trial.contended);
    }

    pub(crate) fn absorb(&mut self, other: &Sum) {
        let own = self.runs.iter_mut().chain(&mut self.by_delays);
        for (own, theirs) in own.zip(other.runs.into_iter().chain(other.by_delays)) {
            *own += theirs;
        }
        self.valid += other.valid;
        self.unknown += other.unknown;
        self.violated += other.violated;
        self.fired += other.fired;
        self.contended += other.contended;
        self.leave_out(other.pruned);
    }

    pub(crate) fn leave_out(&mut self, pruned: Pruned) {
        self.pruned.places_in_gaps += pruned.places_in_gaps;
        self.pruned.idle += pruned.idle;
        self.pruned.colliding += pruned.colliding;
        self.pruned.same_order += pruned.same_order;
    }

    pub fn all_runs(&self) -> u64 {
        self.runs.iter().sum()
    }
}
