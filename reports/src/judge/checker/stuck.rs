//! Checks that after all faults, some process acquires a wanted free lock within the header's bound
//! and before the processes run out of attempts. The probe, a process that runs only for this
//! check, also tries to acquire the lock. The bound counts only time in which the lock is free.

use super::held_forever::lease_kept_until;
use super::{Checker, deadlock};
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Acquisition, Moment, Outcome, Section, SectionEnd, Timeline};
use fencepost_faults::{Micros, Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECKER: Checker = Checker { name: "stuck", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The key has no expiry and its owner is gone, or processes wait for a message that never \
          arrives.",
    helps: "Set the expiry in the command that takes the lock, and let waiters also poll.",
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// The run ended before all faults had ended, so the rule does not apply.
    NotDemanded,
    Made,
    Stuck(Vec<Finding>),
    /// No process tried for long enough to show a lack of progress.
    Unjudged,
}

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let Progress::Stuck(mut findings) = progress(timeline) else { return Vec::new() };
    // The rule `deadlock` reports waits that last until the end, if no event was pending then.
    if !deadlock::check(timeline).is_empty() {
        findings.retain(|one| one.at + one.duration < timeline.end);
    }
    findings
}

pub(crate) fn progress(timeline: &Timeline<'_>) -> Progress {
    let Some(healed) = timeline.healed else { return Progress::NotDemanded };
    let bound = timeline.history.header.progress_bound_us;
    let (gaps, is_kept) = gaps(timeline, healed);
    let waits: Vec<Waiting<'_, '_>> = gaps
        .iter()
        .map(|gap| Waiting { timeline, free_from: gap.from, entered: gap.entered, healed })
        .collect();
    let late = |wait: &&Waiting<'_, '_>| {
        wait.entered.is_none_or(|entered| wait.free_from + bound < entered.time)
    };
    let stuck =
        waits.iter().filter(late).filter(|wait| wait.longest() >= bound || wait.is_used_up());
    let findings: Vec<Finding> = stuck.map(|wait| wait.finding(bound)).collect();
    if !findings.is_empty() {
        return Progress::Stuck(findings);
    }
    let entered = timeline.sections.iter().find(|section| healed < section.from);
    let in_time = waits.first().is_none_or(|wait| wait.entered.is_some() && !late(&wait));
    match is_kept || (entered.is_some() && in_time) {
        true => Progress::Made,
        false => Progress::Unjudged,
    }
}

struct Gap {
    from: SimTime,
    entered: Option<Moment>,
}

fn gaps(timeline: &Timeline<'_>, healed: Moment) -> (Vec<Gap>, bool) {
    let mut gaps = Vec::new();
    let mut free_from = healed.time;
    for section in &timeline.sections {
        if free_from < section.from.time && healed < section.from {
            gaps.push(Gap { from: free_from, entered: Some(section.from) });
        }
        match kept(timeline, section, healed) {
            None => return (gaps, true),
            Some(until) => free_from = free_from.max(until),
        }
    }
    gaps.push(Gap { from: free_from, entered: None });
    (gaps, false)
}

fn kept(timeline: &Timeline<'_>, section: &Section, healed: Moment) -> Option<SimTime> {
    if section.to.is_some_and(|to| to < healed) {
        return section.to.map(|to| to.time);
    }
    let until = lease_kept_until(timeline, section, healed.time.max(section.from.time));
    (until < timeline.end || section.to.is_some()).then_some(until)
}

struct Waiting<'t, 'h> {
    timeline: &'t Timeline<'h>,
    healed: Moment,
    free_from: SimTime,
    entered: Option<Moment>,
}

impl Waiting<'_, '_> {
    fn attempts(&self) -> impl Iterator<Item = &Acquisition<'_>> {
        let all = self.timeline.acquisitions.iter();
        all.filter(|one| {
            one.completed.is_none_or(|end| self.healed < end && self.free_from <= end.time)
        })
        .filter(|one| self.entered.is_none_or(|entered| one.invoked < entered))
    }

    fn end_of(&self, attempt: &Acquisition<'_>) -> SimTime {
        attempt.completed.or(self.entered).map_or(self.timeline.end, |end| end.time)
    }

    fn longest(&self) -> Micros {
        let mut wanted: BTreeMap<Node, (SimTime, SimTime)> = BTreeMap::new();
        for attempt in self.attempts() {
            let (from, to) = (attempt.invoked.time.max(self.free_from), self.end_of(attempt));
            let span = wanted.entry(attempt.process).or_insert((from, to));
            *span = (span.0.min(from), span.1.max(to));
        }
        wanted.values().map(|(from, to)| to.since(*from)).max().unwrap_or_default()
    }

    /// Returns `true` if at least two processes tried at least twice each, and every attempt was
    /// refused although no value had a quorum. Attempts within the bound after faults do not count.
    fn is_used_up(&self) -> bool {
        let settled = match self.timeline.faults.is_empty() {
            true => self.free_from,
            false => {
                let bound = self.timeline.history.header.progress_bound_us;
                self.free_from.max(self.healed.time + bound)
            }
        };
        let tried: Vec<&Acquisition<'_>> =
            self.attempts().filter(|one| settled <= one.invoked.time).collect();
        let mut times: BTreeMap<Node, usize> = BTreeMap::new();
        for one in &tried {
            *times.entry(one.process).or_default() += 1;
        }
        let in_vain =
            |one: &&Acquisition<'_>| one.outcome == Outcome::Refused && !self.is_taken_during(one);
        self.entered.is_none()
            && times.values().filter(|times| **times >= 2).count() >= 2
            && tried.iter().all(in_vain)
    }

    fn is_taken_during(&self, attempt: &Acquisition<'_>) -> bool {
        let mut servers: BTreeMap<Option<&str>, BTreeSet<Node>> = BTreeMap::new();
        let until = self.end_of(attempt);
        let stood = self.timeline.keys.iter().filter(|span| {
            span.from.time <= until
                && span.to.is_none_or(|(to, _)| attempt.invoked < to)
                && attempt.invoked.time <= self.timeline.existed_until(span)
        });
        for span in stood {
            servers.entry(span.value).or_default().insert(span.node);
        }
        let quorum = usize::from(self.timeline.history.header.quorum.max(1));
        servers.values().any(|servers| servers.len() >= quorum)
    }

    /// Returns the last critical section to end before `from`, with its end. Returns `None` if a
    /// critical section that began before `from` lasted until then.
    fn last_section_before(&self, from: SimTime) -> Option<(&Section, SimTime)> {
        let begun = self.timeline.sections.iter().filter(|section| section.from.time < from);
        let ends: Option<Vec<(&Section, SimTime)>> =
            begun.map(|section| Some((section, section.to?.time))).collect();
        let last = ends?.into_iter().max_by_key(|(_, left)| *left)?;
        (last.1 < from).then_some(last)
    }

    fn finding(&self, bound: Micros) -> Finding {
        let until = self.entered.map_or(self.timeline.end, |at| at.time);
        let duration = until.since(self.free_from);
        let from = self.free_from;
        let until = match self.entered {
            Some(entered) => entered.time.to_string(),
            None => format!("the end of the run at {until}"),
        };
        let although = match self.timeline.faults.is_empty() {
            true => "no fault acted",
            false => "all faults had ended",
        };
        let since = self.last_section_before(from).map_or(String::new(), |(last, left)| {
            let ended = match last.ended_by {
                SectionEnd::Crash => "had crashed",
                _ => "had left it",
            };
            format!(" The last process in a critical section, {}, {ended} at {left}.", last.process)
        });
        let what = match duration >= bound {
            true => format!(
                "No process entered its critical section from {from} to {until} ({duration}; bound \
                 {bound}), although {although}.{since}"
            ),
            false => format!(
                "No process entered its critical section from {from} to {until} ({duration}), \
                 although {although}, and every process that wanted the lock used up its \
                 attempts."
            ),
        };
        let mut processes: Vec<Node> = self.attempts().map(|attempt| attempt.process).collect();
        processes.sort();
        processes.dedup();
        let mut witness = vec![self.healed.index];
        witness.extend(self.attempts().map(|attempt| attempt.invoked.index));
        witness.extend(self.attempts().filter_map(|attempt| Some(attempt.completed?.index)));
        let (kind, at) = (Kind::Stuck, self.free_from);
        let witness = super::sorted(witness);
        Finding { kind, at, duration, processes, what, witness, clash: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn healed() -> Story {
        Story::new().progress_bound(100).takes(1, 1, "a").releases(3, 1).healed(10)
    }

    fn stuck(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn a_death_that_ends_the_attempts_of_two_threads_is_one_event() {
        let thread = Node::Client(2).for_thread(2);
        let story = healed().probe_acquires(11).acquires(12, 2).acquires(12, thread);
        let found = stuck(story.crashes(20, 2).starts(21, 2).probe_fails(112));
        assert_eq!(found.len(), 1);
        let witness = &found[0].witness;
        assert!(witness.windows(2).all(|pair| pair[0] < pair[1]), "{witness:?}");
    }

    #[test]
    fn accepts_a_probe_that_gets_in_within_the_bound() {
        assert_eq!(stuck(healed().probe_acquires(11).probe_ok(90, "p").probe_releases(95)), []);
    }

    #[test]
    fn accepts_that_somebody_else_gets_in() {
        assert_eq!(stuck(healed().probe_acquires(11).takes(50, 2, "b").probe_fails(112)), []);
    }

    #[test]
    fn accepts_a_holder_who_keeps_the_lock() {
        let story = Story::new()
            .progress_bound(100)
            .takes(1, 1, "a")
            .healed(10)
            .probe_acquires(11)
            .probe_fails(112);
        assert_eq!(stuck(story), []);
    }

    #[test]
    fn rejects_a_refusal_after_the_lock_of_one_that_never_leaves_has_expired() {
        let story = Story::new().progress_bound(100).takes(1, 1, "a").healed(10).expires(15, "a");
        let found = stuck(story.probe_acquires(16).probe_fails(120));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].at.0, 11_000, "the lock is free since its lease had expired");
    }

    #[test]
    fn accepts_a_bound_that_began_again_when_the_last_holder_left() {
        let story = Story::new()
            .progress_bound(100)
            .takes(1, 1, "a")
            .healed(10)
            .probe_acquires(11)
            .releases(80, 1);
        assert_eq!(stuck(story.probe_ok(150, "p")), []);
    }

    #[test]
    fn accepts_silence_when_nobody_wants_the_lock() {
        assert_eq!(stuck(healed().loses(500, 2)), []);
    }

    #[test]
    fn a_probe_that_gives_up_early_decides_nothing() {
        let history = healed().probe_acquires(11).probe_fails(40).loses(500, 2).build();
        assert_eq!(progress(&Timeline::new(&history)), Progress::Unjudged);
    }

    #[test]
    fn attempts_of_one_process_count_together() {
        let story = healed().probe_acquires(11).probe_fails(60).probe_acquires(61).probe_fails(112);
        assert_eq!(stuck(story).len(), 1);
    }

    #[test]
    fn an_attempt_that_ended_in_a_crash_waits_no_longer() {
        assert_eq!(stuck(healed().acquires(11, 2).crashes(12, 2).loses(500, 1)), []);
    }

    #[test]
    fn rejects_a_later_time_in_which_nobody_gets_in_though_somebody_did_at_first() {
        let story = || healed().takes(20, 2, "b").releases(22, 2).removed(22, "b", 2);
        assert_eq!(stuck(story().acquires(30, 3).fails(131, 3)).len(), 1);
        assert_eq!(stuck(story().acquires(30, 3).takes(90, 1, "c").fails(131, 3)), []);
    }

    #[test]
    fn rejects_each_time_in_which_nobody_gets_in() {
        let served = |ms, client, owner| {
            move |story: Story| -> Story {
                story.takes(ms, client, owner).releases(ms + 1, client).removed(
                    ms + 1,
                    owner,
                    client,
                )
            }
        };
        let story = healed().acquires(20, 2).fails(130, 2);
        let story = served(140, 3, "c")(story).acquires(150, 2).fails(260, 2);
        let story = served(270, 3, "d")(story);
        let spans: Vec<(u64, u64)> = stuck(story.clone())
            .iter()
            .map(|one| (one.at.0 / 1_000, one.duration.0 / 1_000))
            .collect();
        assert_eq!(spans, [(10, 130), (141, 129)]);
        let hangs = story.acquires(280, 2).silent(400, 2, 280, false);
        assert_eq!(stuck(hangs).len(), 2, "the last one is told as a deadlock");
    }

    #[test]
    fn names_the_last_holder_if_it_had_left_before() {
        let what = |story: Story| stuck(story.probe_acquires(11).probe_fails(112))[0].what.clone();
        let left = " The last process in a critical section, client-1, had left it at 3ms.";
        assert!(what(healed()).ends_with(left), "{}", what(healed()));
        let later = Story::new().progress_bound(100).takes(1, 1, "a").healed(10).releases(11, 1);
        assert!(!what(later.clone()).contains("the last"), "{}", what(later));
        let dead = Story::new().ttl(1).progress_bound(100).takes(1, 1, "a").crashes(3, 1);
        let dead = what(dead.expires(4, "a").healed(10));
        assert!(
            dead.ends_with(
                " The last process in a critical section, client-1, had crashed at 3ms."
            ),
            "{dead}"
        );
    }

    #[test]
    fn says_whether_it_lasts_to_the_end() {
        let what = |story: Story| stuck(story)[0].what.clone();
        let over = what(healed().acquires(20, 2).fails(130, 2).takes(140, 3, "c").releases(141, 3));
        assert!(
            over.starts_with("No process entered its critical section from 10ms to 140ms (130ms; "),
            "{over}"
        );
        let lasts = what(healed().probe_acquires(11).probe_fails(112));
        assert!(lasts.contains(" from 10ms to the end of the run at 112ms ("), "{lasts}");
    }

    #[test]
    fn rejects_processes_that_use_up_their_attempts_on_a_free_lock() {
        let tie = |times: u64| {
            let mut story = Story::with_quorum(2).progress_bound(1_000).healed(0);
            for ms in (1..=times).map(|round| round * 10) {
                for client in 1..=2 {
                    story = story.grants_at(ms, client, client, &format!("{client}-{ms}"));
                    story = story.removed_at(ms + 2, client, &format!("{client}-{ms}"), client);
                    story = story.fails(ms + 3, client);
                }
            }
            story
        };
        assert_eq!(stuck(tie(2)).len(), 1);
        assert_eq!(stuck(tie(1)), [], "one attempt each tells nothing");
        let taken = tie(2).acquires(40, 3).grants_at(41, 3, 1, "c").grants_at(42, 3, 2, "c");
        assert_eq!(stuck(taken.hears(43, 3, "c")), [], "somebody got in");
    }

    #[test]
    fn accepts_a_history_that_was_never_healed() {
        assert_eq!(stuck(Story::new().progress_bound(100).acquires(1, 1).fails(900, 1)), []);
    }

    #[test]
    fn rejects_a_probe_that_is_refused_to_the_end() {
        let found = stuck(healed().probe_acquires(11).probe_fails(112));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].at.0, found[0].duration.0), (10_000, 102_000));
    }

    #[test]
    fn rejects_a_probe_that_waits_until_the_history_ends() {
        assert_eq!(stuck(healed().probe_acquires(11).loses(200, 1)).len(), 1);
    }

    #[test]
    fn rejects_a_probe_that_gets_in_too_late() {
        let found = stuck(healed().probe_acquires(11).probe_ok(150, "p"));
        assert_eq!(found[0].duration.0, 140_000);
    }
}
