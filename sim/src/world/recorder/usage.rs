use fencepost_faults::{Micros, Node, SimTime};
use fencepost_reports::{Action, What};
use std::collections::BTreeMap;

/// Tracks the periods in which no process was in its critical section. Only the answer to an
/// acquire has an owner, so such an answer begins a critical section.
#[derive(Default)]
pub(super) struct Usage {
    inside: BTreeMap<Node, u32>,
    free_from: SimTime,
    /// Ended periods, each longer than all later ones. Shorter earlier ones cannot be the longest.
    unused: Vec<(SimTime, SimTime)>,
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
        let lasted = until.since(self.free_from);
        while self.unused.last().is_some_and(|(from, to)| to.since(*from) <= lasted) {
            self.unused.pop();
        }
        self.unused.push((self.free_from, until));
    }

    /// Returns the longest time since `since` in which no process was in its critical section.
    pub(super) fn unused_since(&self, since: SimTime, now: SimTime) -> Micros {
        let now_unused = match self.inside.is_empty() {
            true => now.since(self.free_from.max(since)),
            false => Micros::ZERO,
        };
        let ended = self.unused.iter().map(|(from, to)| to.since((*from).max(since)));
        ended.max().unwrap_or(Micros::ZERO).max(now_unused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_period_counts_for_a_process_that_began_to_wait_after_the_longest_one() {
        let mut usage = Usage::default();
        let node = Node::Client(1);
        for (enters, leaves) in [(100, 101), (120, 121), (201, 202)] {
            let (operation, owner) = (1, Some("a".to_owned()));
            let ok = What::Ok { operation, owner, token: None, valid_for_us: None, value: None };
            usage.follow(node, &ok, SimTime(enters));
            let release = What::Invoke { operation: 2, action: Action::Release };
            usage.follow(node, &release, SimTime(leaves));
        }
        let unused = |since, now| usage.unused_since(SimTime(since), SimTime(now)).0;
        assert_eq!(unused(0, 210), 100);
        assert_eq!(unused(50, 210), 80, "from 121 to 201");
        assert_eq!(unused(150, 210), 51);
        assert_eq!(unused(202, 210), 8);
        assert_eq!(unused(0, 400), 198, "the lock is still free");
    }
}
