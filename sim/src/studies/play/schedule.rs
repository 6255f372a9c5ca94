use super::Rounds;
use fencepost_faults::{FaultPlan, Micros, SimTime, TimedFault};
use std::collections::VecDeque;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Round(u32),
    Begin(TimedFault),
    End(TimedFault),
    Over,
}

pub(super) struct Schedule {
    plan: FaultPlan,
    rounds: Rounds,
    begun: u32,
    steps: VecDeque<(SimTime, Step)>,
}

impl Schedule {
    pub(super) fn new(plan: FaultPlan, rounds: Rounds) -> Schedule {
        let mut schedule = Schedule { plan, rounds, begun: 0, steps: VecDeque::new() };
        schedule.begin_round();
        schedule
    }

    pub(super) fn rounds(&self) -> Rounds {
        self.rounds
    }

    pub(super) fn fault(&self, id: u32) -> Option<TimedFault> {
        self.plan.faults.iter().find(|timed| timed.id == id).cloned()
    }

    pub(super) fn next(&self) -> Option<SimTime> {
        self.steps.front().map(|(at, _)| *at)
    }

    pub(super) fn take_due(&mut self, now: SimTime) -> Option<(SimTime, Step)> {
        self.next().filter(|at| *at <= now)?;
        let due = self.steps.pop_front()?;
        if self.steps.is_empty() && self.begun < self.rounds.count {
            self.begin_round();
        }
        Some(due)
    }

    fn begin_round(&mut self) {
        let Rounds { length, count, ends } = self.rounds;
        let start = SimTime(length.0.saturating_mul(u64::from(self.begun)));
        self.begun += 1;
        let is_last = self.begun == count;
        let latest = (ends || !is_last).then_some(start + length);
        let mut steps = vec![(start, Step::Round(self.begun))];
        for timed in &self.plan.faults {
            let since_start = |at: SimTime| start + Micros(at.0);
            let begins = since_start(timed.at_us);
            if latest.is_some_and(|latest| begins > latest) {
                continue;
            }
            steps.push((begins, Step::Begin(timed.clone())));
            let ends = timed.ends_at().map(since_start);
            if let Some(ends) = ends.into_iter().chain(latest).min() {
                steps.push((ends, Step::End(timed.clone())));
            }
        }
        if ends && is_last {
            steps.extend(latest.map(|latest| (latest, Step::Over)));
        }
        steps.sort_by_key(|(at, _)| *at);
        self.steps.extend(steps);
    }
}
