use fencepost_faults::{Micros, Node, SimTime};
use fencepost_reports::{Action, What};
use std::collections::BTreeMap;

/// Tracks the longest period in which no process was in its critical section. Only the answer to an
/// acquire has an owner, so such an answer begins a critical section.
#[derive(Default)]
pub(super) struct Usage {
    inside: BTreeMap<Node, u32>,
    free_from: SimTime,
    longest: (SimTime, SimTime),
}

impl Usage {
    pub(super) fn follow(&mut self, node: Node, what: &What, now: SimTime) {
        let was_used = !self.inside.is_empty();
        match what {
            What::Ok { owner: Some(_), .. } => {
                if !was_used {
                    self.was_unused(now);
                }
                *self.inside.entry(node).or_default() += 1;
            }
            What::Invoke { action: Action::Release, .. } => {
                if let Some(depth) = self.inside.get_mut(&node) {
                    *depth -= 1;
                }
                self.inside.retain(|_, depth| *depth > 0);
            }
            What::Crashed => self.inside.retain(|inside, _| inside.machine() != node),
            _ => {}
        }
        if was_used && self.inside.is_empty() {
            self.free_from = now;
        }
    }

    fn was_unused(&mut self, until: SimTime) {
        let (from, to) = self.longest;
        if until.since(self.free_from) >= to.since(from) {
            self.longest = (self.free_from, until);
        }
    }

    pub(super) fn unused_since(&self, since: SimTime, now: SimTime) -> Micros {
        let now_unused = match self.inside.is_empty() {
            true => now.since(self.free_from.max(since)),
            false => Micros::ZERO,
        };
        let (from, to) = self.longest;
        now_unused.max(to.since(from.max(since)))
    }
}
