//! Checks the times of grants in the timeline against an independent algorithm.

use crate::drawn::{drawn_of, history};
use fencepost::Scenario;
use fencepost_faults::Node;
use fencepost_reports::judge::timeline::{Acquisition, Outcome, Timeline};
use fencepost_reports::{Action, Change, Event, History, What};
use std::rc::Rc;
use std::thread;

const SEEDS: u64 = 200;

const FAMILIES: [&str; 5] = ["all", "failover", "lost-reply", "partition", "client-crash"];

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn every_hand_over_of_every_lock_is_dated_alike_by_two_ways() {
    let workers: Vec<_> = (0..2u64)
        .map(|half| thread::spawn(move || (half..SEEDS).step_by(2).map(compare_seed).sum::<u64>()))
        .collect();
    let compared: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    assert!(compared > 100 * SEEDS, "only {compared} hand-overs were compared");
}

fn compare_seed(seed: u64) -> u64 {
    let scenario = Rc::new(Scenario { cycles: 6, ..Scenario::default() });
    let fault = FAMILIES[seed as usize % FAMILIES.len()];
    let mut compared = 0;
    for client in fencepost_clients::CLIENTS {
        let spec = drawn_of(client, fault, seed + 5_600_000, scenario.clone());
        if spec.validate().is_err() {
            continue;
        }
        compared += compare(&history(&spec), &format!("{} seed {}", client.name, spec.seed));
    }
    compared
}

fn compare(history: &History, run: &str) -> u64 {
    let timeline = Timeline::new(history);
    let mut dates: Vec<Option<usize>> = Vec::new();
    let mut compared = 0;
    for (index, one) in timeline.acquisitions.iter().enumerate() {
        let outer = outer(history, &timeline, index);
        let date = match one.outcome {
            Outcome::Granted => Walk { history, one }.date(outer.and_then(|outer| dates[outer])),
            _ => None,
        };
        dates.push(date);
        if one.outcome == Outcome::Granted {
            let judged = one.grant.as_ref().map(|grant| grant.moment.index);
            assert_eq!(
                judged,
                date,
                "{run}: acquisition {} of {}, entered at event {}",
                one.operation,
                one.process,
                one.completed.unwrap().index
            );
            compared += 1;
        }
    }
    compared
}

fn outer(history: &History, timeline: &Timeline<'_>, index: usize) -> Option<usize> {
    let one = &timeline.acquisitions[index];
    let mut released = 0;
    for (at, event) in history.events[..one.invoked.index].iter().enumerate().rev() {
        match &event.what {
            What::Crashed if event.node == one.process.machine() => return None,
            _ if event.node != one.process => {}
            What::Lost => return None,
            What::Invoke { action: Action::Release, .. } => released += 1,
            What::Ok { operation, .. } => {
                let Some(granted) = timeline.acquisition_of(*operation) else { continue };
                assert_eq!(timeline.acquisitions[granted].completed.unwrap().index, at);
                match released {
                    0 => return Some(granted),
                    _ => released -= 1,
                }
            }
            _ => {}
        }
    }
    None
}

struct Walk<'a> {
    history: &'a History,
    one: &'a Acquisition<'a>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    index: usize,
    stands: bool,
    rank: Rank,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rank {
    Made,
    Written,
    Prolonged,
}

impl Walk<'_> {
    fn date(&self, outer: Option<usize>) -> Option<usize> {
        let open = |met: &Candidate| met.index > self.one.invoked.index;
        let met: Vec<Vec<Candidate>> =
            self.servers().into_iter().map(|server| self.met(server)).collect();
        if outer.is_some() {
            return self.decide(&met, |met| open(met) && met.rank == Rank::Made).or(outer);
        }
        self.decide(&met, |met| open(met) && met.rank != Rank::Prolonged)
            .or_else(|| self.decide(&met, open))
            .or_else(|| self.decide(&met, |met| met.rank != Rank::Prolonged))
    }

    fn servers(&self) -> Vec<Node> {
        let mut servers: Vec<Node> = self.lock_events().map(|(_, event)| event.node).collect();
        servers.sort();
        servers.dedup();
        servers
    }

    fn lock_events(&self) -> impl DoubleEndedIterator<Item = (usize, &Event)> {
        let entered = self.one.completed.unwrap().index;
        let resource = &self.history.header.resource;
        self.history.events[..entered].iter().enumerate().filter(move |(_, event)| {
            matches!(
                &event.what,
                What::Server { key, value: Some(_), .. } if key == resource
            )
        })
    }

    fn decide(
        &self,
        met: &[Vec<Candidate>],
        will_do: impl Fn(&Candidate) -> bool,
    ) -> Option<usize> {
        // Each list is in descending order of time.
        let last = met.iter().filter_map(|met| met.iter().find(|met| will_do(met)));
        let last: Vec<&Candidate> = last.collect();
        let quorum = usize::from(self.history.header.quorum.max(1));
        let place = |standing_only: bool| {
            let fit = last.iter().filter(|met| met.stands || !standing_only);
            let mut places: Vec<usize> = fit.map(|met| met.index).collect();
            places.sort_unstable();
            match quorum {
                1 => places.pop(),
                many => places.get(many - 1).copied(),
            }
        };
        place(true).or_else(|| place(false))
    }

    fn met(&self, server: Node) -> Vec<Candidate> {
        let here: Vec<(usize, &Event)> =
            self.lock_events().filter(|(_, event)| event.node == server).collect();
        let mut found = Vec::new();
        let mut stands = true;
        let mut lowered = 0;
        let mut removed = false;
        for place in (0..here.len()).rev() {
            let (index, event) = here[place];
            let What::Server { change, value: Some(value), by, primary, .. } = &event.what else {
                continue;
            };
            let ours = split(value).0 == split(self.one.owner.unwrap()).0;
            let own = by.is_none_or(|by| by.machine() == self.one.process.machine());
            let before = here[..place].last().map(|(_, event)| *event);
            match change {
                Change::Granted if ours => {
                    let again = before.and_then(|before| standing(before, value));
                    let fresh = again.is_none() || !self.same_process(&here[..place], *by);
                    let lower = !fresh && again.is_some_and(|count| split(value).1 < count);
                    match (lower, own && *primary) {
                        (true, _) => lowered += usize::from(by.is_some()),
                        (false, _) if lowered > 0 && by.is_some() => lowered -= 1,
                        (false, true) if !removed => found.push(Candidate {
                            index,
                            stands,
                            rank: if fresh { Rank::Made } else { Rank::Written },
                        }),
                        _ => {}
                    }
                    if fresh {
                        (stands, removed, lowered) = (false, false, 0);
                    }
                }
                Change::Extended if ours && own && *primary => {
                    let written = here[..place].iter().rev().map(|(_, event)| *event);
                    let mut written = written.filter(|event| is_write(event));
                    let at_once = written.next().is_some_and(|last| last.time_us == event.time_us);
                    let is_ours = self.same_process(&here[..place], *by);
                    if !at_once && !removed && is_ours {
                        found.push(Candidate { index, stands, rank: Rank::Prolonged });
                    }
                }
                Change::Extended | Change::Restored if ours => {}
                Change::Removed if ours => {
                    stands = false;
                    removed = by.is_some_and(|by| by.machine() == self.one.process.machine());
                    lowered = 0;
                }
                _ => (stands, removed, lowered) = (false, false, 0),
            }
        }
        found
    }

    fn same_process(&self, here: &[(usize, &Event)], by: Option<Node>) -> bool {
        let Some(by) = by else { return true };
        let mut writes = here.iter().rev().filter(|(_, event)| is_write(event));
        let made =
            writes.by_ref().find_map(|(index, event)| granted_by(event).map(|of| (index, of)));
        let last = here.iter().rev().find(|(_, event)| is_write(event));
        match (last, made) {
            (Some((_, event)), Some((_, of))) if granted_by(event).is_some() => of == by.machine(),
            (Some((index, event)), _) => {
                let What::Server { value: Some(value), .. } = &event.what else { return true };
                let owner = split(value).0;
                let mut earlier = self.history.events[..*index].iter().rev();
                let of = earlier.find_map(|event| granted_by(event).filter(|_| owns(event, owner)));
                of.is_none_or(|of| of == by.machine())
            }
            _ => true,
        }
    }
}

fn is_write(event: &Event) -> bool {
    matches!(event.what, What::Server { change: Change::Granted | Change::Restored, .. })
}

fn granted_by(event: &Event) -> Option<Node> {
    match &event.what {
        What::Server { change: Change::Granted, by: Some(by), .. } => Some(by.machine()),
        _ => None,
    }
}

fn owns(event: &Event, owner: &str) -> bool {
    matches!(&event.what, What::Server { value: Some(value), .. } if split(value).0 == owner)
}

fn standing(event: &Event, wanted: &str) -> Option<Option<u64>> {
    match &event.what {
        What::Server {
            change: Change::Granted | Change::Extended | Change::Restored,
            value: Some(value),
            ..
        } if split(value).0 == split(wanted).0 => Some(split(value).1),
        _ => None,
    }
}

fn split(value: &str) -> (&str, Option<u64>) {
    let count = value.rsplit('=').next().filter(|count| count.len() < value.len());
    match count.and_then(|count| count.parse().ok()) {
        Some(number) => (&value[..value.rfind('=').unwrap()], Some(number)),
        None => (value, None),
    }
}
