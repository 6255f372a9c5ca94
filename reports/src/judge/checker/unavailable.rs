//! Checks that a lock that is free, wanted and available is acquired within the header's bound. At
//! a given time, the lock is
//! - *free* if no process is in its critical section and no quorum of servers has a value that
//!   blocks. A value does not block if its process runs but never receives its grant. A lock that
//!   expired blocks until its lock-delay is over.
//! - *wanted* if a process, neither crashed nor paused, has an open acquire or will try again.
//! - *available* if enough servers are neither down nor paused, even if a partition cuts them off.
//!
//! If the bound applies only between faults, the rule skips times with an active fault or failing
//! syncs, and times after all faults, to which the rule `stuck` applies.

use super::Checker;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Acquisition, FaultSpan, KeyEnd, KeySpan, Outcome, Timeline};
use crate::record::history::{Availability, Change, What};
use fencepost_faults::{Impact, Micros, Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker = Checker { name: "unavailable", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "A failover was in progress, the network was partitioned, several processes split the \
          servers among them, the reply to a grant was lost, or the waiting processes were not \
          notified that the lock was free.",
    helps: "A lock that is safe under a partition cannot prevent every such wait. Shorten the time \
            to detect a failed server, and the time that a client waits before it asks again.",
};

type Span = (SimTime, SimTime);

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let Some(rule) = timeline.history.header.availability else { return Vec::new() };
    if !is_unused_for_long(timeline, rule) {
        return Vec::new();
    }
    let wants = waiting_spans(timeline);
    let mut levels = Levels::default();
    taken(timeline).into_iter().for_each(|span| levels.add(span, [1, 0, 0, 0]));
    wants.iter().for_each(|(_, span)| levels.add(*span, [0, 1, 0, 0]));
    down(timeline, rule.servers).into_iter().for_each(|span| levels.add(span, [0, 0, 1, 0]));
    if rule.between_faults {
        for fault in &timeline.faults {
            let until = fault.to.map_or(timeline.end, |to| to.time);
            levels.add((fault.from.time, until), [0, 0, 0, 1]);
        }
        if let Some(failing) = timeline.history.header.sync_fails {
            levels.add((failing.from_us, failing.until_us), [0, 0, 0, 1]);
        }
        if let Some(healed) = timeline.healed {
            levels.add((healed.time, timeline.end), [0, 0, 0, 1]);
        }
    }
    let spare = i32::from(rule.servers) - i32::from(rule.needed);
    let spans = levels.spans_where(|[taken, wants, down, faults]| {
        taken == 0 && wants > 0 && down <= spare && faults == 0
    });
    let too_long =
        spans.into_iter().filter(|((from, until), _)| until.since(*from) > rule.bound_us);
    too_long.map(|(span, [_, _, down, _])| finding(timeline, rule, span, down, &wants)).collect()
}

fn is_unused_for_long(timeline: &Timeline<'_>, rule: Availability) -> bool {
    let end = timeline.end;
    let sections = timeline.sections.iter().map(|section| (section.from.time, section.ends(end)));
    let faults = timeline.faults.iter().filter(|_| rule.between_faults);
    let faults = faults.map(|fault| (fault.from.time, fault.to.map_or(end, |to| to.time)));
    let lasting = sections.chain(faults).filter(|(from, to)| from < to);
    let mut used: Vec<Span> = lasting.chain([(end, end)]).collect();
    used.sort_unstable();
    let mut until = SimTime::ZERO;
    used.into_iter().any(|(from, to)| {
        let unused = from.since(until);
        until = until.max(to);
        unused > rule.bound_us
    })
}

#[derive(Default)]
struct Levels {
    changes: BTreeMap<SimTime, [i32; 4]>,
}

impl Levels {
    fn add(&mut self, (from, until): Span, levels: [i32; 4]) {
        for (at, sign) in [(from, 1), (until.max(from), -1)] {
            let change = self.changes.entry(at).or_default();
            (0..4).for_each(|place| change[place] += sign * levels[place]);
        }
    }

    fn spans_where(&self, holds: impl Fn([i32; 4]) -> bool) -> Vec<(Span, [i32; 4])> {
        let (mut now, mut open, mut spans) = ([0; 4], None, Vec::new());
        for (at, change) in &self.changes {
            (0..4).for_each(|place| now[place] += change[place]);
            match (holds(now), &mut open) {
                (true, None) => open = Some((*at, now)),
                (true, Some((_, highest))) => {
                    (0..4).for_each(|place| highest[place] = highest[place].max(now[place]));
                }
                (false, _) => spans.extend(open.take().map(|(from, most)| ((from, *at), most))),
            }
        }
        spans
    }
}

fn taken(timeline: &Timeline<'_>) -> Vec<Span> {
    let end = timeline.end;
    let sections = timeline.sections.iter().map(|section| (section.from.time, section.ends(end)));
    let mut taken: Vec<Span> = sections.collect();
    let mut standing: BTreeMap<Option<&str>, Levels> = BTreeMap::new();
    for span in &timeline.keys {
        for kept in justified_spans(timeline, span) {
            standing.entry(span.value).or_default().add(kept, [1, 0, 0, 0]);
        }
    }
    let quorum = i32::from(timeline.history.header.quorum.max(1));
    for levels in standing.values() {
        taken.extend(
            levels.spans_where(|[servers, ..]| servers >= quorum).into_iter().map(|it| it.0),
        );
    }
    taken
}

/// Returns the periods in which the value blocks the lock; all, if its process is unknown.
fn justified_spans(timeline: &Timeline<'_>, span: &KeySpan<'_>) -> Vec<Span> {
    let stood = (span.from.time, blocks_until(timeline, span));
    let Some(machine) = span.by.or(span.granted.map(|(by, _)| by)).map(Node::machine) else {
        return vec![stood];
    };
    let entered = timeline.acquisitions.iter().any(|one| {
        one.process.machine() == machine
            && one.outcome == Outcome::Granted
            && timeline.is_lock_of(span, one)
    });
    if entered {
        return vec![stood];
    }
    let events = timeline.history.events.iter();
    let mut died = events.filter(|event| {
        event.node == machine && event.what == What::Crashed && event.time_us >= stood.0
    });
    let dead = died.next().map(|event| (event.time_us, stood.1));
    let frozen = acted(timeline, &[Impact::Freezes], machine).into_iter();
    let away = dead.into_iter().chain(frozen);
    away.map(|(from, to)| (from.max(stood.0), to.min(stood.1)))
        .filter(|(from, to)| from < to)
        .collect()
}

fn blocks_until(timeline: &Timeline<'_>, span: &KeySpan<'_>) -> SimTime {
    let existed_until = timeline.existed_until(span);
    match (span.to, timeline.history.header.lock_delay_us) {
        (Some((_, KeyEnd::Changed { change: Change::Expired, .. })), Some(delay)) => {
            timeline.end.min(existed_until + delay)
        }
        _ => existed_until,
    }
}

fn waiting_spans(timeline: &Timeline<'_>) -> Vec<(Node, Span)> {
    let mut of_each: BTreeMap<Node, Vec<&Acquisition<'_>>> = BTreeMap::new();
    for one in &timeline.acquisitions {
        of_each.entry(one.process).or_default().push(one);
    }
    let mut wants = Vec::new();
    for (process, all) in of_each {
        let mut levels = Levels::default();
        for (place, one) in all.iter().enumerate() {
            let completed = one.completed.map_or(timeline.end, |completed| completed.time);
            let next = all.get(place + 1).filter(|_| one.outcome != Outcome::Granted);
            let until = next.map_or(completed, |next| next.invoked.time.max(completed));
            levels.add((one.invoked.time, until), [1, 0, 0, 0]);
        }
        for span in acted(timeline, &[Impact::Freezes, Impact::Kills], process) {
            levels.add(span, [0, 1, 0, 0]);
        }
        let spans = levels.spans_where(|[asks, is_away, ..]| asks > 0 && is_away == 0);
        wants.extend(spans.into_iter().map(|(span, _)| (process, span)));
    }
    wants
}

fn acted(timeline: &Timeline<'_>, impacts: &[Impact], node: Node) -> Vec<Span> {
    let does = |fault: &&FaultSpan<'_>| impacts.iter().any(|impact| fault.does(*impact, node));
    let until = |fault: &FaultSpan<'_>| fault.to.map_or(timeline.end, |to| to.time);
    let faults = timeline.faults.iter().filter(does);
    faults.map(|fault| (fault.from.time, until(fault))).collect()
}

fn down(timeline: &Timeline<'_>, servers: u16) -> Vec<Span> {
    let of_server = |number| {
        let mut levels = Levels::default();
        for node in [Node::Redis(number), Node::Server(number)] {
            let spans = acted(timeline, &[Impact::Kills, Impact::Freezes], node);
            let stopped = timeline.stopped_by_disks().into_iter();
            let stopped = stopped.filter(|(stopped, _)| *stopped == node).map(|(_, span)| span);
            spans.into_iter().chain(stopped).for_each(|span| levels.add(span, [1, 0, 0, 0]));
        }
        levels.spans_where(|[down, ..]| down > 0).into_iter().map(|(span, _)| span)
    };
    (1..=servers).flat_map(of_server).collect()
}

fn finding(
    timeline: &Timeline<'_>,
    rule: Availability,
    (from, until): Span,
    down: i32,
    wants: &[(Node, Span)],
) -> Finding {
    let meanwhile = wants.iter().filter(|(_, want)| want.0 < until && from < want.1);
    let processes: BTreeSet<Node> = meanwhile.map(|(process, _)| *process).collect();
    let length: Micros = until.since(from);
    let running = i32::from(rule.servers) - down;
    let servers = match (rule.servers, running) {
        (1, _) => "the server ran".to_owned(),
        (all, running) if i32::from(all) == running => format!("all {all} servers ran"),
        (all, running) => format!("at no time fewer than {running} of {all} servers ran"),
    };
    let is_kept = timeline.keys.iter().any(|span| {
        let stood = blocks_until(timeline, span).min(until).since(span.from.time.max(from));
        length.0 < 2 * stood.0
    });
    let free = match timeline.history.header.locks_unseen {
        false if !is_kept => "the lock was free, ",
        _ => "",
    };
    let lock = if free.is_empty() { "the lock" } else { "it" };
    let ended =
        timeline.faults.iter().find(|fault| rule.between_faults && fault.from.time == until);
    let ended = ended.map_or(String::new(), |fault| format!(", when fault {} began", fault.id));
    let asked = timeline.acquisitions.iter().filter(|one| {
        let completed = one.completed.map_or(timeline.end, |completed| completed.time);
        processes.contains(&one.process) && one.invoked.time < until && from < completed
    });
    let mut witness: Vec<usize> = asked.map(|one| one.invoked.index).collect();
    let grants = timeline.acquisitions.iter().filter_map(|one| one.grant.as_ref());
    witness
        .extend(grants.map(|grant| grant.moment).filter(|at| at.time == until).map(|at| at.index));
    let left = timeline.sections.iter().filter_map(|section| section.to);
    let gone = timeline.keys.iter().filter_map(|span| Some(span.to?.0));
    witness.extend(left.chain(gone).filter(|at| at.time == from).map(|at| at.index));
    witness.extend(timeline.history.events.iter().enumerate().filter_map(|(index, event)| {
        let What::Silent { since_us, .. } = event.what else { return None };
        let sleeps = processes.contains(&event.node) && since_us < until && from < event.time_us;
        sleeps.then_some(index)
    }));
    if witness.is_empty() {
        // The processes were waiting between attempts, so their last attempts are the evidence.
        witness = last_attempts(timeline, &processes, until);
    }
    Finding {
        kind: Kind::Unavailable,
        at: from,
        duration: length,
        processes: processes.into_iter().collect(),
        what: format!(
            "No process was in its critical section from {from} to {until}{ended} ({length}; bound \
             {}), although {free}a process wanted {lock} and {servers}{}.",
            rule.bound_us,
            if rule.between_faults { ", and no fault was active" } else { "" },
        ),
        witness: super::sorted(witness),
        clash: None,
    }
}

fn last_attempts(
    timeline: &Timeline<'_>,
    processes: &BTreeSet<Node>,
    until: SimTime,
) -> Vec<usize> {
    let begun = timeline.acquisitions.iter().filter(|one| one.invoked.time < until);
    let last: BTreeMap<Node, usize> = begun.map(|one| (one.process, one.invoked.index)).collect();
    last.into_iter().filter(|(process, _)| processes.contains(process)).map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::history::Turn;
    use crate::record::story::Story;

    #[test]
    fn who_pauses_between_two_attempts_is_evidence_too() {
        let story = Story::new().available_within(8, 1, 1).acquires(1, 1).fails(1, 1);
        let history = story.acquires(20, 1).fails(20, 1).build();
        let found = check(&Timeline::new(&history));
        assert_eq!(found.iter().map(|one| &one.witness[..]).collect::<Vec<_>>(), [[0]]);
    }

    fn found(story: Story) -> Vec<(u64, u64)> {
        let history = story.build();
        let findings = check(&Timeline::new(&history));
        findings.iter().map(|one| (one.at.0 / 1_000, one.duration.0 / 1_000)).collect()
    }

    fn given_back() -> Story {
        let story = Story::new().ttl(100).available_within(10, 1, 1);
        story.takes(1, 1, "a").acquires(2, 2).releases(5, 1).removed(5, "a", 1)
    }

    #[test]
    fn accepts_a_lock_that_is_had_in_time_and_one_of_which_nothing_is_demanded() {
        assert_eq!(found(given_back().grants(14, 2, "b").hears(15, 2, "b").releases(60, 2)), []);
        let undemanded = Story::new().takes(1, 1, "a").acquires(2, 2).releases(5, 1);
        assert_eq!(found(undemanded.grants(90, 2, "b").hears(90, 2, "b")), []);
    }

    #[test]
    fn rejects_a_free_lock_that_is_wanted_and_not_had() {
        let late = given_back().grants(25, 2, "b").hears(26, 2, "b").releases(27, 2);
        assert_eq!(found(late), [(5, 20)]);
        let again = given_back().fails(9, 2).acquires(10, 2).fails(19, 2).acquires(22, 2);
        assert_eq!(found(again.grants(30, 2, "b").hears(30, 2, "b")), [(5, 25)]);
        assert_eq!(found(given_back().starts(40, 3)), [(5, 35)]);
    }

    #[test]
    fn the_fault_that_ends_the_count_is_named() {
        let what = |faulty: bool| {
            let story = given_back().between_faults();
            let pause = &[Node::Client(3)];
            let story = if faulty { story.fault_began(40, 7, "pause", pause) } else { story };
            check(&Timeline::new(&story.starts(60, 3).build()))[0].what.clone()
        };
        let ended =
            "from 5ms to 40ms, when fault 7 began (35ms; bound 10ms), although the lock was";
        assert!(what(true).contains(ended), "{}", what(true));
        assert!(what(false).contains("from 5ms to 60ms (55ms; "), "{}", what(false));
    }

    #[test]
    fn accepts_a_lock_that_is_kept_for_somebody_or_that_nobody_wants() {
        let story = Story::new().ttl(30).available_within(10, 1, 1).takes(1, 1, "a").acquires(2, 2);
        let story = story.crashes(3, 1).expires(31, "a").grants(35, 2, "b").hears(36, 2, "b");
        assert_eq!(found(story.releases(37, 2)), []);
        let story = Story::new().available_within(10, 1, 1).takes(1, 1, "a").releases(3, 1);
        let story = story.removed(3, "a", 1);
        assert_eq!(found(story.takes(90, 2, "b").releases(91, 2)), []);
        let story = Story::new().available_within(10, 1, 1).takes(1, 1, "a").acquires(2, 2);
        let story = story.releases(3, 1).removed(3, "a", 1);
        assert_eq!(found(story.fails(9, 2).starts(90, 3)), []);
    }

    #[test]
    fn a_lock_that_expired_is_taken_until_its_lock_delay_is_over() {
        let story = |granted: u64, delay: Option<u64>| {
            let story = Story::with_sessions().available_within(10, 1, 1);
            let story = delay.map_or(story.clone(), |delay| story.with_lock_delay(delay));
            let story = story.takes(1, 1, "a").acquires(2, 2).crashes(3, 1).expires(20, "a");
            found(story.grants(granted, 2, "b").hears(granted, 2, "b").releases(99, 2))
        };
        assert_eq!(story(80, Some(60)), []);
        assert_eq!(story(95, Some(60)), [(80, 15)]);
        assert_eq!(story(80, None), [(20, 60)]);
    }

    #[test]
    fn a_grant_that_its_process_never_hears_of_is_used_by_nobody() {
        let orphan = || {
            let story = Story::new().ttl(30).available_within(10, 1, 1).grants(1, 1, "a");
            story.acquires(2, 2)
        };
        let served = |story: Story| {
            let story = story.expires(31, "a").grants(32, 2, "b").hears(33, 2, "b");
            found(story.releases(34, 2))
        };
        assert_eq!(served(orphan()), [(1, 31)]);
        assert_eq!(served(orphan().crashes(2, 1)), [], "a lease is what a death costs");
        let heard = Story::new().ttl(30).available_within(10, 1, 1).grants(1, 1, "a");
        assert_eq!(served(heard.hears(2, 1, "a").acquires(2, 2)), []);
    }

    #[test]
    fn a_bound_between_faults_does_not_count_while_one_acts() {
        let between = |until| {
            let story = given_back().between_faults();
            let story = story.faulted(6..until, 1, "partition", &[Node::Client(2)]);
            found(story.grants(40, 2, "b").hears(40, 2, "b").releases(41, 2))
        };
        assert_eq!(between(35), []);
        assert_eq!(between(20), [(20, 20)]);
        let healed = |at| {
            let story = given_back().between_faults().healed(at);
            found(story.grants(40, 2, "b").hears(40, 2, "b").releases(41, 2))
        };
        assert_eq!(healed(12), [], "the rest belongs to the rule of progress");
        assert_eq!(healed(20), [(5, 15)]);
    }

    #[test]
    fn whoever_stands_still_wants_nothing() {
        let story = given_back().faulted(6..40, 1, "pause", &[Node::Client(2)]);
        assert_eq!(found(story.grants(41, 2, "b").hears(42, 2, "b").releases(43, 2)), []);
        let dies = given_back().fault_began(6, 1, "crash", &[Node::Client(2)]).crashes(6, 2);
        let back = dies.fault_ended(40, 1, "crash", Node::Client(2)).starts(40, 2);
        assert_eq!(found(back.takes(42, 2, "b").releases(43, 2)), []);
    }

    #[test]
    fn without_enough_servers_nothing_is_demanded() {
        let dead = |needed, servers| {
            let story = Story::new().ttl(100).available_within(10, needed, servers);
            let story = story.takes(1, 1, "a").acquires(2, 2).releases(5, 1).removed(5, "a", 1);
            let story = story.faulted(5..40, 1, "crash", &[Node::Redis(1)]);
            found(story.grants(42, 2, "b").hears(43, 2, "b").releases(44, 2))
        };
        assert_eq!(dead(1, 1), []);
        assert_eq!(dead(3, 3), []);
        assert_eq!(dead(2, 3), [(5, 37)]);
    }

    #[test]
    fn while_syncs_fail_nothing_is_demanded_between_faults() {
        let story = |between_faults: bool| {
            let story = given_back().syncs_fail(6, 38);
            let story = if between_faults { story.between_faults() } else { story };
            found(story.grants(40, 2, "b").hears(40, 2, "b").releases(41, 2))
        };
        assert_eq!(story(true), []);
        assert_eq!(story(false), [(5, 35)]);
    }

    #[test]
    fn a_server_that_its_disk_stopped_does_not_count() {
        let turn = What::Turn { turn: Turn::DiskFailed, about: None };
        let story = given_back().syncs_fail(6, 38).event(6, Node::Redis(1), turn);
        let story = story.event(6, Node::Redis(1), What::Crashed);
        let story = story.event(38, Node::Redis(1), What::Started);
        assert_eq!(found(story.grants(40, 2, "b").hears(40, 2, "b").releases(41, 2)), []);
    }

    #[test]
    fn of_many_servers_a_quorum_keeps_the_lock() {
        let story = |servers: &[u16]| {
            let story = Story::with_quorum(2).ttl(100).available_within(10, 2, 3).acquires(1, 1);
            let story = servers.iter().fold(story, |story, n| story.grants_at(2, 1, *n, "a"));
            let story = story.hears(3, 1, "a").leaves(4, 1).info(5, 1);
            found(story.acquires(3, 2).starts(60, 3))
        };
        assert_eq!(story(&[1, 2]), []);
        assert_eq!(story(&[1]), [(4, 56)]);
    }
}
