//! Link priorities. They decide latencies and therefore the order of simultaneous messages. The
//! scheme follows Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with
//! Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010), with links instead of threads. At up to
//! [`CHANGES`] random messages, the link of the message gets the lowest priority.

use fencepost_faults::{Seed, Stream, draw};

const CHANGES: usize = 3;
const CHANGE_MAX: u64 = 4_096;

pub(super) struct Priorities {
    nodes: usize,
    places: Vec<usize>,
    sent: u64,
    /// Numbers of the messages at which a link loses its priority, in descending order.
    changes: Vec<u64>,
}

impl Priorities {
    pub(super) fn new(seed: Seed, nodes: usize) -> Priorities {
        let mut rng = seed.stream(Stream::Priorities);
        let links = nodes * nodes.saturating_sub(1) / 2;
        let mut order: Vec<usize> = (0..links).collect();
        for last in (1..links).rev() {
            order.swap(last, draw::uniform(&mut rng, 0..=last as u64) as usize);
        }
        let mut changes: Vec<u64> =
            (0..CHANGES).map(|_| draw::log_uniform(&mut rng, 1..=CHANGE_MAX)).collect();
        changes.sort_unstable_by(|one, other| other.cmp(one));
        Priorities { nodes, places: order, sent: 0, changes }
    }

    pub(super) fn sends(&mut self, from: usize, to: usize, most: u64) -> u64 {
        self.sent += 1;
        let link = self.link(from, to);
        while self.changes.last().is_some_and(|at| *at <= self.sent) {
            self.changes.pop();
            self.lower_priority(link);
        }
        let last = self.places.len().saturating_sub(1).max(1) as u64;
        self.places.get(link).map_or(0, |place| most * *place as u64 / last)
    }

    fn link(&self, from: usize, to: usize) -> usize {
        let (low, high) = (from.min(to), from.max(to));
        low * self.nodes - low * (low + 1) / 2 + high.saturating_sub(low + 1)
    }

    fn lower_priority(&mut self, link: usize) {
        let Some(was) = self.places.get(link).copied() else { return };
        for place in &mut self.places {
            *place -= usize::from(*place > was);
        }
        self.places[link] = self.places.len() - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_has_a_place_of_its_own_whichever_end_sends() {
        let mut priorities = Priorities::new(Seed(7), 6);
        priorities.changes.clear();
        let mut seen: Vec<u64> = Vec::new();
        for low in 0..6 {
            for high in low + 1..6 {
                let there = priorities.sends(low, high, 14);
                assert_eq!(priorities.sends(high, low, 14), there);
                seen.push(there);
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..15).collect::<Vec<u64>>());
    }

    #[test]
    fn the_link_that_sends_at_a_change_falls_behind_all_others() {
        let mut priorities = Priorities::new(Seed(7), 4);
        priorities.changes = vec![2];
        let first = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b)));
        let (a, b) = first.min_by_key(|(a, b)| priorities.places[priorities.link(*a, *b)]).unwrap();
        assert_eq!(priorities.sends(a, b, 5), 0, "it is the first");
        assert_eq!(priorities.sends(a, b, 5), 5, "and then the last");
        let mut places = priorities.places.clone();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn seeds_draw_different_orders_and_the_same_seed_the_same() {
        let order = |seed| Priorities::new(Seed(seed), 6).places;
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
