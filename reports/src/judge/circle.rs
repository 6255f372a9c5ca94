//! Finds processes that wait for each other's locks until the end of the run.

use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::{Acquisition, Outcome, Section, Timeline};
use fencepost_faults::{Node, SimTime};

struct Link {
    process: Node,
    wanted: usize,
    since: SimTime,
    entered: usize,
}

pub(crate) fn circles(timelines: &[Timeline<'_>]) -> Vec<(usize, Finding)> {
    let links: Vec<Option<Link>> = (0..timelines.len()).map(|held| link(timelines, held)).collect();
    let mut found = Vec::new();
    for first in 0..links.len() {
        let mut circle = circle(&links, first);
        if !circle.is_empty() && circle.iter().min() == Some(&first) {
            rotate_to_closing(&links, &mut circle);
            found.extend(finding(timelines, &links, &circle).map(|finding| (circle[0], finding)));
        }
    }
    found
}

fn rotate_to_closing(links: &[Option<Link>], circle: &mut [usize]) {
    let since = |lock: &usize| links[*lock].as_ref().map(|link| link.since);
    let closing = (0..circle.len()).max_by_key(|place| since(&circle[*place]));
    circle.rotate_left(closing.map_or(0, |place| (place + 1) % circle.len()));
}

fn circle(links: &[Option<Link>], first: usize) -> Vec<usize> {
    let mut circle = vec![first];
    loop {
        let last = circle[circle.len() - 1];
        match links[last].as_ref().map(|link| link.wanted) {
            Some(next) if next == first => return circle,
            Some(next) if !circle.contains(&next) => circle.push(next),
            _ => return Vec::new(),
        }
    }
}

fn link(timelines: &[Timeline<'_>], held: usize) -> Option<Link> {
    let section = timelines[held].sections.iter().rev().find(|section| section.to.is_none())?;
    let process = section.process.machine();
    let mut asked: Vec<(SimTime, usize, &Acquisition<'_>)> = Vec::new();
    for (lock, timeline) in timelines.iter().enumerate() {
        let own = timeline.acquisitions.iter().filter(|one| one.process.machine() == process);
        asked.extend(own.map(|one| (one.invoked.time, lock, one)));
    }
    asked.sort_by_key(|(at, _, one)| (*at, one.operation));
    let (_, wanted, _) = *asked.last()?;
    let in_vain = |(_, lock, one): &&(SimTime, usize, &Acquisition<'_>)| {
        *lock == wanted && one.outcome != Outcome::Granted
    };
    let (asks, ..) = asked.iter().rev().take_while(in_vain).last()?;
    let since = section.from.time.max(*asks);
    let is_idle = |section: &&Section| section.to.is_none_or(|to| to.time <= since);
    let sections = timelines.iter().flat_map(|timeline| &timeline.sections);
    let mut own = sections.filter(|section| section.process.machine() == process);
    let waits = wanted != held && own.all(|section| is_idle(&section));
    waits.then_some(Link { process, wanted, since, entered: section.from.index })
}

fn finding(
    timelines: &[Timeline<'_>],
    links: &[Option<Link>],
    circle: &[usize],
) -> Option<Finding> {
    let (first, last) = (*circle.first()?, *circle.last()?);
    let timeline = &timelines[first];
    let own = |lock: &usize| Some((*lock, links[*lock].as_ref()?));
    let links: Vec<(usize, &Link)> = circle.iter().filter_map(own).collect();
    let closed = links.iter().map(|(_, link)| link.since).max()?;
    let (at, end) = (closed.max(timeline.healed?.time), timeline.end);
    let (duration, bound) = (end.since(at), timeline.history.header.progress_bound_us);
    let name = |lock: usize| &timelines[lock].history.header.resource;
    let waits = |(held, link): &(usize, &Link)| {
        format!("{} held {} and waited for {}", link.process, name(*held), name(link.wanted))
    };
    let waits: Vec<String> = links.iter().map(waits).collect();
    let what = format!(
        "From {at} to the end of the run at {end} ({duration}; bound {bound}), {}.",
        waits.join(", and ")
    );
    let waiter = links.iter().find(|(held, _)| *held == last)?.1.process;
    let asks = timeline.acquisitions.iter().rev().find(|one| one.process.machine() == waiter)?;
    let mut witness = vec![links.first()?.1.entered, asks.invoked.index];
    witness.sort_unstable();
    let processes = links.iter().map(|(_, link)| link.process).collect();
    let kind = Kind::Stuck;
    (duration >= bound).then_some(Finding {
        kind,
        at,
        duration,
        processes,
        what,
        witness,
        clash: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn story() -> Story {
        Story::new().progress_bound(50).healed(0)
    }

    fn found(locks: [Story; 2]) -> Vec<(usize, Finding)> {
        let histories = locks.map(|story| story.runs_out_of_time(100).build());
        circles(&histories.iter().map(Timeline::new).collect::<Vec<_>>())
    }

    #[test]
    fn two_that_hold_what_the_other_wants_to_the_end_are_stuck() {
        let first = story().takes(1, 1, "a").acquires(4, 2);
        let second = story().takes(2, 2, "b").acquires(3, 1);
        let found = found([first, second]);
        assert_eq!(found.len(), 1, "{found:?}");
        let (lock, finding) = &found[0];
        assert_eq!((*lock, finding.kind, finding.at.0), (0, Kind::Stuck, 4_000));
        assert_eq!(finding.processes, [Node::Client(1), Node::Client(2)]);
    }

    #[test]
    fn attempts_that_are_refused_again_and_again_are_waits() {
        let first = story().takes(1, 1, "a").acquires(4, 2).fails(9, 2).acquires(10, 2);
        let second = story().takes(2, 2, "b").acquires(3, 1).fails(8, 1);
        assert_eq!(found([first, second]).len(), 1);
    }

    #[test]
    fn who_gives_up_its_lock_or_is_granted_the_other_closes_no_circle() {
        let second = || story().takes(2, 2, "b").acquires(3, 1);
        let waits = || story().takes(1, 1, "a").acquires(4, 2);
        let releases = waits().releases(60, 1);
        assert!(found([releases, second()]).is_empty());
        let granted = story().takes(2, 2, "b").releases(20, 2).takes(21, 1, "b");
        assert!(found([waits(), granted]).is_empty());
        let one_waits = story().takes(2, 2, "b");
        assert!(found([waits(), one_waits]).is_empty(), "the other works on");
        let late = story().takes(2, 2, "b").acquires(60, 1);
        assert!(found([waits(), late]).is_empty(), "for less than the bound");
    }

    #[test]
    fn who_works_under_a_third_lock_does_not_wait() {
        let first = story().takes(1, 1, "a").acquires(4, 2);
        let second = story().takes(2, 2, "b").acquires(3, 1);
        let third = story().takes(50, 1, "c").releases(90, 1);
        let histories = [first, second, third].map(|story| story.runs_out_of_time(100).build());
        let timelines: Vec<Timeline<'_>> = histories.iter().map(Timeline::new).collect();
        assert!(circles(&timelines).is_empty());
    }
}
