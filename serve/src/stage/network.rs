use super::event::{Flow, Message, Place};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

#[derive(Default)]
pub(super) struct Network {
    cuts: Vec<(u32, Place, Place)>,
    delays: Vec<Delay>,
    arrivals: BTreeMap<Flow, u64>,
    held: Vec<Message>,
    drawn: u64,
}

struct Delay {
    id: u32,
    from: Vec<Place>,
    to: Vec<Place>,
    extra_us: RangeInclusive<u64>,
}

impl Network {
    pub(super) fn cut(&mut self, id: u32, from: &[Place], to: &[Place]) {
        let pairs = from.iter().flat_map(|from| to.iter().map(move |to| (id, *from, *to)));
        self.cuts.extend(pairs.filter(|(_, from, to)| from != to));
    }

    pub(super) fn heal(&mut self, id: u32) -> Vec<Message> {
        self.cuts.retain(|(of, ..)| *of != id);
        let held = std::mem::take(&mut self.held);
        let is_cut = |message: &Message| self.is_cut(message.from, message.to);
        let (still, free) = held.into_iter().partition(is_cut);
        self.held = still;
        free
    }

    pub(super) fn pass(&mut self, message: Message) -> Option<Message> {
        if !self.cuts.is_empty() && self.is_cut(message.from, message.to) {
            self.held.push(message);
            return None;
        }
        Some(message)
    }

    fn is_cut(&self, from: Place, to: Place) -> bool {
        self.cuts.iter().any(|(_, of, at)| (*of, *at) == (from, to))
    }

    pub(super) fn has_cut(&self, id: u32) -> bool {
        self.cuts.iter().any(|(of, ..)| *of == id)
    }

    pub(super) fn delay(
        &mut self,
        id: u32,
        (from, to): (&[Place], &[Place]),
        extra_us: RangeInclusive<u64>,
    ) {
        self.delays.push(Delay { id, from: from.to_vec(), to: to.to_vec(), extra_us });
    }

    pub(super) fn remove_delay(&mut self, id: u32, now_us: u64) {
        self.delays.retain(|delay| delay.id != id);
        self.arrivals.retain(|_, at_us| *at_us > now_us);
    }

    pub(super) fn arrival_us(&mut self, message: &Message, now_us: u64) -> u64 {
        if self.delays.is_empty() && self.arrivals.is_empty() {
            return now_us;
        }
        let Message { from, to, .. } = message;
        let mut at_us = now_us;
        for delay in self.delays.iter().filter(|delay| from != to && delay.acts_on(*from, *to)) {
            self.drawn += 1;
            at_us = at_us.saturating_add(drawn(&delay.extra_us, self.drawn));
        }
        let flow = message.content.flow();
        let last = self.arrivals.get(&flow).copied().unwrap_or(0);
        let at_us = at_us.max(last);
        if at_us > now_us {
            self.arrivals.insert(flow, at_us);
        }
        at_us
    }
}

impl Delay {
    fn acts_on(&self, from: Place, to: Place) -> bool {
        self.from.contains(&from) && self.to.contains(&to)
    }
}

/// Draws a delay with SplitMix64, in microseconds.
fn drawn(range: &RangeInclusive<u64>, counter: u64) -> u64 {
    let mut bits = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let width = range.end().saturating_sub(*range.start()).saturating_add(1);
    range.start().saturating_add((bits ^ (bits >> 31)) % width)
}

#[cfg(test)]
mod tests {
    use super::super::event::Content;
    use super::*;

    fn data(outside: u64) -> Message {
        let content = Content::Left { outside };
        Message { from: Place::Outside, to: Place::Server(0), content }
    }

    #[test]
    fn a_delayed_message_is_not_overtaken_by_the_next_of_its_connection() {
        let mut network = Network::default();
        network.delay(1, (&[Place::Outside], &[Place::Server(0)]), 500..=500);
        assert_eq!(network.arrival_us(&data(7), 100), 600);
        network.remove_delay(1, 100);
        assert_eq!(network.arrival_us(&data(7), 200), 600);
        assert_eq!(network.arrival_us(&data(8), 200), 200);
        assert_eq!(network.arrival_us(&data(7), 700), 700);
    }

    #[test]
    fn two_cuts_of_a_link_must_both_heal() {
        let mut network = Network::default();
        let (outside, server) = ([Place::Outside], [Place::Server(0)]);
        network.cut(1, &outside, &server);
        network.cut(2, &outside, &server);
        assert!(network.pass(data(7)).is_none());
        assert!(network.heal(1).is_empty());
        assert_eq!(network.heal(2).len(), 1);
        assert!(network.pass(data(7)).is_some());
    }
}
