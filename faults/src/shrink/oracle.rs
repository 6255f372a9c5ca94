//! Calls a search's predicate at most `calls_max` times, and at most once per plan.

use crate::plan::FaultPlan;

pub(super) struct Oracle<F> {
    violates: F,
    calls: u32,
    calls_max: u32,
    answers: Vec<(FaultPlan, bool)>,
    refused: bool,
}

impl<F: FnMut(&FaultPlan) -> bool> Oracle<F> {
    pub(super) fn new(calls_max: u32, violates: F) -> Oracle<F> {
        Oracle { violates, calls: 0, calls_max, answers: Vec::new(), refused: false }
    }

    pub(super) fn violates(&mut self, plan: &FaultPlan) -> bool {
        if let Some(answer) = self.known(plan) {
            return answer;
        }
        if self.calls == self.calls_max {
            self.refused = true;
            return false;
        }
        self.calls += 1;
        let answer = (self.violates)(plan);
        self.answers.push((plan.clone(), answer));
        answer
    }

    pub(super) fn known(&self, plan: &FaultPlan) -> Option<bool> {
        self.answers.iter().find(|(asked, _)| asked == plan).map(|(_, answer)| *answer)
    }

    pub(super) fn calls(&self) -> u32 {
        self.calls
    }

    pub(super) fn refused(&self) -> bool {
        self.refused
    }
}
