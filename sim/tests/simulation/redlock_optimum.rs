//! Compares minimal runs of Redlock with the shortest path to two holders in a model that follows
//! the Specl project's `showcase/redlock.specl`. A client asks the masters one after the other.
//! Once true time has reached the end of a lease, a separate step may expire the lock at one
//! master. For three masters, two clients and a ttl of 3, Specl reports a violation "in 15 steps",
//! which are 15 states and therefore 14 transitions.

use crate::drawn::{drawn, history};
use fencepost::Scenario;
use fencepost::diagnosis::{Target, minimise};
use fencepost::setup::scenario::Servers;
use fencepost_reports::judge::timeline::{Acquisition, KeyEnd, KeySpan, Timeline};
use fencepost_reports::{Cause, Change, Kind, judge};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

const TIME_MAX: u8 = 8;
const TTL: u8 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Asking { next: usize, since: u8, granted: usize },
    Holding,
    Released,
}

#[derive(Clone)]
struct Model {
    time: u8,
    clients: [(u8, Phase); 2],
    masters: Vec<Option<(usize, u8)>>,
}

impl Model {
    fn new(masters: usize) -> Model {
        Model { time: 0, clients: [(0, Phase::Idle); 2], masters: vec![None; masters] }
    }

    fn key(&self) -> u128 {
        let pack = |key: u128, (bits, value): (u32, usize)| key << bits | value as u128;
        let mut key = pack(0, (4, self.time.into()));
        for (clock, phase) in self.clients {
            let (kind, next, since, granted) = match phase {
                Phase::Idle => (0, 0, 0, 0),
                Phase::Asking { next, since, granted } => (1, next, since, granted),
                Phase::Holding => (2, 0, 0, 0),
                Phase::Released => (3, 0, 0, 0),
            };
            let parts = [(4, clock.into()), (2, kind), (3, next), (4, since.into()), (3, granted)];
            key = parts.into_iter().fold(key, pack);
        }
        let held = |held: &Option<(usize, u8)>| {
            held.map_or((0, 0), |(holder, end)| (holder + 1, end.into()))
        };
        self.masters
            .iter()
            .map(held)
            .fold(key, |key, (holder, end)| pack(pack(key, (2, holder)), (4, end)))
    }

    fn is_broken(&self) -> bool {
        self.clients.iter().all(|(_, phase)| *phase == Phase::Holding)
    }

    fn next(&self, time_max: u8) -> Vec<Model> {
        let mut all = Vec::new();
        if self.time < time_max {
            all.push(Model { time: self.time + 1, ..self.clone() });
        }
        let over = |held: &Option<(usize, u8)>| held.is_some_and(|(_, end)| self.time >= end);
        let expired = (0..self.masters.len()).filter(|index| over(&self.masters[*index]));
        all.extend(expired.map(|index| self.with(|model| model.masters[index] = None)));
        for client in 0..2 {
            if self.clients[client].0 < self.time {
                all.push(self.with(|model| model.clients[client].0 += 1));
            }
            all.extend(self.step_of(client));
        }
        all
    }

    fn step_of(&self, client: usize) -> Option<Model> {
        let (clock, phase) = self.clients[client];
        let enter = |phase: Phase| move |model: &mut Model| model.clients[client].1 = phase;
        match phase {
            Phase::Idle => {
                Some(self.with(enter(Phase::Asking { next: 0, since: clock, granted: 0 })))
            }
            Phase::Asking { next, since, granted } if next < self.masters.len() => match self
                .masters[next]
            {
                None => Some(self.with(|model| {
                    model.masters[next] = Some((client, model.time + TTL));
                    model.clients[client].1 =
                        Phase::Asking { next: next + 1, since, granted: granted + 1 };
                })),
                Some(_) => Some(self.with(enter(Phase::Asking { next: next + 1, since, granted }))),
            },
            Phase::Asking { since, granted, .. } => {
                let won = granted > self.masters.len() / 2 && clock - since < TTL;
                Some(if won {
                    self.with(enter(Phase::Holding))
                } else {
                    self.freed_by(client, Phase::Idle)
                })
            }
            Phase::Holding => Some(self.freed_by(client, Phase::Released)),
            Phase::Released => None,
        }
    }

    fn freed_by(&self, client: usize, phase: Phase) -> Model {
        self.with(|model| {
            let own =
                |held: &&mut Option<(usize, u8)>| held.is_some_and(|(holder, _)| holder == client);
            model.masters.iter_mut().filter(own).for_each(|held| *held = None);
            model.clients[client].1 = phase;
        })
    }

    fn with(&self, change: impl FnOnce(&mut Model)) -> Model {
        let mut model = self.clone();
        change(&mut model);
        model
    }
}

fn shortest(masters: usize, time_max: u8) -> Option<u32> {
    let mut seen = BTreeSet::from([Model::new(masters).key()]);
    let mut queue = VecDeque::from([(0, Model::new(masters))]);
    while let Some((steps, model)) = queue.pop_front() {
        if model.is_broken() {
            return Some(steps);
        }
        for next in model.next(time_max) {
            if seen.insert(next.key()) {
                queue.push_back((steps + 1, next));
            }
        }
    }
    None
}

#[test]
fn the_shortest_way_to_two_holders_has_14_transitions_with_3_masters_and_18_with_5() {
    assert_eq!(shortest(3, TIME_MAX), Some(14));
    assert_eq!(shortest(5, TTL + 1), Some(18));
}

#[test]
#[ignore = "takes a minute"]
fn more_time_makes_no_shorter_way_with_5_masters() {
    assert_eq!(shortest(5, TIME_MAX), Some(18));
}

#[test]
fn a_master_that_never_forgets_in_time_lets_nobody_else_in() {
    // The leases end after the modelled time, so no lock expires and no path leads to two holders.
    let mut model = Model::new(3);
    model.masters = vec![Some((0, TIME_MAX + 1)); 3];
    model.clients[0].1 = Phase::Holding;
    let mut seen = BTreeSet::from([model.key()]);
    let mut queue = VecDeque::from([model]);
    while let Some(model) = queue.pop_front() {
        assert!(!model.is_broken());
        let kept =
            model.next(TIME_MAX).into_iter().filter(|next| next.clients[0].1 == Phase::Holding);
        queue.extend(kept.filter(|next| seen.insert(next.key())).collect::<Vec<_>>());
    }
    assert!(seen.len() > 10);
}

fn forgetting(masters: u16) -> usize {
    let scenario = Rc::new(Scenario {
        servers: Servers { masters, ..Servers::default() },
        ..Scenario::default()
    });
    let target = Target { kind: Kind::Overlap, cause: Cause::HolderPause };
    let draw = |seed| drawn("redlock", "pause", seed, scenario.clone());
    let found = (0..200).map(draw).find(|spec| target.is_shown_by(spec)).unwrap();
    let history = history(&minimise(&found, target).unwrap().spec);
    let violations = judge(&history).violations;
    let overlap =
        violations.iter().find(|one| (one.kind, one.cause) == (target.kind, target.cause)).unwrap();
    let timeline = Timeline::new(&history);
    let acquired = |process| {
        let until = |one: &&Acquisition<'_>| {
            one.process == process
                && one.owner.is_some()
                && one.completed.unwrap().time <= overlap.at_us
        };
        timeline.acquisitions.iter().rfind(until).unwrap()
    };
    let (holder, taker) = (acquired(overlap.processes[0]), acquired(overlap.processes[1]));
    let expired = |key: &&KeySpan<'_>| {
        key.value == holder.owner
            && matches!(
                key.to,
                Some((at, KeyEnd::Changed { change: Change::Expired, .. }))
                    if Some(at) < taker.completed
            )
    };
    timeline.keys.iter().filter(expired).count()
}

/// In a run, a lease expires at all masters together; in the model, possibly at one alone.
#[test]
fn a_minimal_run_is_longer_than_the_optimum_by_the_masters_that_forget_besides_one() {
    for (masters, optimum) in [(3, 14), (5, 18)] {
        let forgetting = forgetting(masters);
        let transitions = 2 + 2 * usize::from(masters) + 2 + usize::from(TTL) + forgetting;
        assert_eq!(forgetting, usize::from(masters));
        assert_eq!(transitions, optimum + forgetting - 1);
    }
}
