//! Detects silences: intervals in which a waiting thread sends no request to a server.

use super::usage::Usage;
use fencepost_faults::{Micros, Node, SimTime};
use fencepost_reports::{Action, What};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EarlySilences {
    /// Silences longer than this bound.
    All(Micros),
    /// Silences during which no process used the lock for longer than this bound.
    WhileUnused(Micros),
}

#[derive(Default)]
pub(super) struct Waiting {
    threads: Vec<Waiter>,
    pub(super) by_machine: bool,
    pub(super) bound: Option<Micros>,
    pub(super) early: Option<EarlySilences>,
    usage: Usage,
    healed: Option<SimTime>,
}

#[derive(Clone, Copy)]
struct Waiter {
    node: Node,
    began: SimTime,
    sent_last: SimTime,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Silence {
    pub(super) node: Node,
    pub(super) since_us: SimTime,
    pub(super) bound_us: Micros,
}

impl Waiting {
    pub(super) fn is_any(&self) -> bool {
        !self.threads.is_empty()
    }

    pub(super) fn follow(&mut self, node: Node, what: &What, now: SimTime) -> Option<Silence> {
        self.usage.follow(node, what, now);
        match what {
            What::Invoke { action: Action::Acquire, .. } => {
                self.threads.push(Waiter { node, began: now, sent_last: now });
                None
            }
            What::Ok { .. } | What::Fail { .. } | What::Info { .. } => {
                let silence = self.sends(node, now);
                self.threads.retain(|one| one.node != node);
                silence
            }
            What::Healed => {
                self.healed = Some(now);
                None
            }
            What::Crashed => {
                self.threads.retain(|one| one.node.machine() != node);
                None
            }
            _ => None,
        }
    }

    pub(super) fn sends(&mut self, node: Node, now: SimTime) -> Option<Silence> {
        let bound_us = self.bound?;
        let by_machine = self.by_machine;
        let sends = |one: &&mut Waiter| {
            one.node == node || by_machine && one.node.machine() == node.machine()
        };
        let (node, since_us) = self
            .threads
            .iter_mut()
            .filter(sends)
            .map(|one| (one.node, std::mem::replace(&mut one.sent_last, now)))
            .min_by_key(|(_, since)| *since)?;
        self.is_long(since_us, now).then_some(Silence { node, since_us, bound_us })
    }

    pub(super) fn since_when(&self) -> Vec<(Node, SimTime)> {
        self.threads.iter().map(|one| (one.node, one.began)).collect()
    }

    fn is_long(&self, since: SimTime, now: SimTime) -> bool {
        let is_long_early = match self.early {
            Some(EarlySilences::All(bound)) => now.since(since) > bound,
            Some(EarlySilences::WhileUnused(bound)) => self.usage.unused_since(since, now) > bound,
            None => false,
        };
        if is_long_early {
            return true;
        }
        let after_healing = self.healed.map(|healed| now.since(since.max(healed)));
        after_healing.zip(self.bound).is_some_and(|(span, bound)| span > bound)
    }

    pub(super) fn end(&mut self, now: SimTime, ahead: bool) -> Vec<Silence> {
        let Some(bound_us) = self.bound else { return Vec::new() };
        let threads = std::mem::take(&mut self.threads).into_iter();
        let silent = threads.filter(|one| !ahead || self.is_long(one.sent_last, now));
        silent.map(|one| Silence { node: one.node, since_us: one.sent_last, bound_us }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Node = Node::Client(1);

    fn waiting() -> Waiting {
        let mut waiting = Waiting { bound: Some(Micros(10)), ..Waiting::default() };
        assert_eq!(waiting.follow(Node::Probe, &What::Healed, SimTime(0)), None);
        let acquires = What::Invoke { operation: 0, action: Action::Acquire };
        assert_eq!(waiting.follow(ONE, &acquires, SimTime(5)), None);
        waiting
    }

    fn granted() -> What {
        let owner = Some("a".to_owned());
        What::Ok { operation: 0, owner, token: None, valid_for_us: None, value: None }
    }

    fn since(silence: Option<Silence>) -> Option<u64> {
        silence.map(|silence| silence.since_us.0)
    }

    #[test]
    fn a_silence_counts_from_what_was_sent_last() {
        assert_eq!(since(waiting().sends(ONE, SimTime(16))), Some(5));
        let mut sent = waiting();
        assert_eq!(since(sent.sends(ONE, SimTime(15))), None);
        assert_eq!(since(sent.sends(ONE, SimTime(26))), Some(15));
    }

    #[test]
    fn what_lies_before_healing_does_not_count() {
        let mut waiting = waiting();
        waiting.follow(Node::Probe, &What::Healed, SimTime(8));
        assert_eq!(since(waiting.sends(ONE, SimTime(18))), None);
        waiting.follow(Node::Probe, &What::Healed, SimTime(20));
        assert_eq!(since(waiting.sends(ONE, SimTime(31))), Some(18), "it began before");
    }

    #[test]
    fn where_a_free_lock_must_be_had_silences_before_healing_are_told() {
        let acquires = What::Invoke { operation: 0, action: Action::Acquire };
        let early = Some(EarlySilences::All(Micros(10)));
        let mut waiting = Waiting { bound: Some(Micros(90)), early, ..Waiting::default() };
        waiting.follow(ONE, &acquires, SimTime(5));
        assert_eq!(since(waiting.sends(ONE, SimTime(15))), None);
        let told = waiting.sends(ONE, SimTime(26)).expect("it is longer");
        assert_eq!((told.since_us, told.bound_us), (SimTime(15), Micros(90)));
    }

    #[test]
    fn by_default_only_silences_while_the_lock_is_unused_are_told_before_healing() {
        const OTHER: Node = Node::Client(2);
        let silence = |free_from, taken_at| {
            let early = Some(EarlySilences::WhileUnused(Micros(10)));
            let mut waiting = Waiting { bound: Some(Micros(90)), early, ..Waiting::default() };
            let invokes = |action| What::Invoke { operation: 0, action };
            waiting.follow(OTHER, &invokes(Action::Acquire), SimTime(0));
            waiting.follow(OTHER, &granted(), SimTime(1));
            waiting.follow(ONE, &invokes(Action::Acquire), SimTime(5));
            waiting.follow(OTHER, &invokes(Action::Release), SimTime(free_from));
            waiting.follow(OTHER, &invokes(Action::Acquire), SimTime(taken_at));
            waiting.follow(OTHER, &granted(), SimTime(taken_at));
            since(waiting.sends(ONE, SimTime(40)))
        };
        assert_eq!(silence(20, 30), None);
        assert_eq!(silence(20, 31), Some(5));
        assert_eq!(silence(30, 40), None);
    }

    #[test]
    fn an_acquire_that_ends_ends_the_silence_and_a_crash_leaves_nobody_waiting() {
        let fails = What::Fail { operation: 0, reason: String::new() };
        let mut refused = waiting();
        assert_eq!(since(refused.follow(ONE, &fails, SimTime(16))), Some(5));
        assert!(!refused.is_any());
        let mut dead = waiting();
        assert_eq!(dead.follow(ONE, &What::Crashed, SimTime(16)), None);
        assert!(!dead.is_any());
    }

    #[test]
    fn at_the_end_short_silences_are_told_only_if_nothing_lies_ahead() {
        assert_eq!(waiting().end(SimTime(7), true), []);
        assert_eq!(waiting().end(SimTime(7), false).len(), 1);
        assert_eq!(waiting().end(SimTime(16), true).len(), 1);
    }
}
