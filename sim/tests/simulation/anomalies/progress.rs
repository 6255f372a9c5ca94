use super::rows::Case;
use fencepost::Engine;
use fencepost_faults::SimTime;
use fencepost_reports::History;
use fencepost_reports::judge::timeline::{Acquisition, Outcome, Timeline};
use fencepost_reports::record::history::{Change, What};
use std::collections::BTreeSet;

pub(crate) fn history(case: Case, fault: &str, seed: u64) -> History {
    case.drawn(fault, seed).run(Engine::Fast).expect("the run comes to its end").history
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) wanted_us: u64,
    pub(crate) idle_us: u64,
    pub(crate) idle_us_max: u64,
    pub(crate) granted: u64,
    pub(crate) missed: u64,
    pub(crate) attempts: u64,
    pub(crate) split: u64,
}

impl Progress {
    pub(crate) fn add(&mut self, history: &History) {
        let timeline = Timeline::new(history);
        let wanted =
            timeline.acquisitions.iter().map(|one| (one.invoked.time, ends(&timeline, one)));
        let held =
            timeline.sections.iter().map(|section| (section.from.time, section.ends(timeline.end)));
        let (wanted, held) = (joined(wanted.collect()), joined(held.collect()));
        self.wanted_us += wanted.iter().map(|(from, to)| to.0 - from.0).sum::<u64>();
        for (from, to) in without(&wanted, &held) {
            self.idle_us += to.0 - from.0;
            self.idle_us_max = self.idle_us_max.max(to.0 - from.0);
        }
        let granted =
            timeline.acquisitions.iter().filter(|one| one.outcome == Outcome::Granted).count()
                as u64;
        self.granted += granted;
        self.missed += timeline.acquisitions.len() as u64 - granted;
        self.add_attempts(history);
    }

    fn add_attempts(&mut self, history: &History) {
        let (mut voted, mut won) = (BTreeSet::new(), BTreeSet::new());
        for event in &history.events {
            match &event.what {
                What::Server { change: Change::Granted, value: Some(value), .. } => {
                    voted.insert(value.as_str())
                }
                What::Ok { owner: Some(owner), .. } => won.insert(owner.as_str()),
                _ => false,
            };
        }
        self.attempts += voted.len() as u64;
        self.split += voted.difference(&won).count() as u64;
    }

    pub(crate) fn split_permille(&self) -> u64 {
        self.split * 1_000 / self.attempts.max(1)
    }

    pub(crate) fn idle_permille(&self) -> u64 {
        self.idle_us * 1_000 / self.wanted_us.max(1)
    }
}

pub(crate) fn ends(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> SimTime {
    one.completed.map_or(timeline.end, |end| end.time)
}

fn joined(mut spans: Vec<(SimTime, SimTime)>) -> Vec<(SimTime, SimTime)> {
    spans.sort();
    let mut joined: Vec<(SimTime, SimTime)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

fn without(spans: &[(SimTime, SimTime)], taken: &[(SimTime, SimTime)]) -> Vec<(SimTime, SimTime)> {
    let mut left = Vec::new();
    for (from, to) in spans {
        let mut at = *from;
        for (begins, ends) in taken.iter().filter(|(begins, ends)| begins < to && from < ends) {
            if at < *begins {
                left.push((at, *begins));
            }
            at = at.max(*ends);
        }
        if at < *to {
            left.push((at, *to));
        }
    }
    left
}
