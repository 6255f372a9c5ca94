//! The facts of a report that come from one run of a plan.

mod shown;

use crate::explain::literature::Expected;
use crate::judge::finding::Kind;
use crate::judge::timeline::{Outcome, Timeline};
use crate::record::digest::digest;
use crate::record::history::{Action, History, What};
use crate::record::programs::{ProgramReport, Ran};
use crate::summary::report::{Latencies, Latency, StorageTally, TimelineEntry};
use crate::summary::verdict::{Judgement, Verdict, judge_timelines};
use crate::summary::violation::Violation;
use fencepost_faults::{FaultPlan, SimTime};
use std::collections::BTreeMap;

/// Facts about a run that its history does not contain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunContext {
    pub plan: FaultPlan,
    pub messages: u64,
    pub expected: Option<Expected>,
    /// Lengths of leases, critical sections and waits, by scenario key.
    pub lengths: BTreeMap<String, String>,
    pub programs: Vec<ProgramReport>,
    pub ran: Ran,
    /// Reason why the run is inconclusive if it has no findings, such as a failed program.
    pub failure: Option<String>,
    /// Reason why the servers cannot serve the lock, such as a real server's failure. It excuses a
    /// lack of progress.
    pub failed_server: Option<String>,
    pub note: Option<String>,
    pub replay: String,
}

/// [`RunReport`](crate::RunReport) documents the fields of the same names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFacts {
    pub client: String,
    pub fault: String,
    pub verdict: Verdict,
    pub expected: Option<Expected>,
    pub history_digest: String,
    pub virtual_time_us: SimTime,
    pub operations: u64,
    pub acquisitions: u64,
    pub messages: u64,
    pub faults_fired: u32,
    pub faults_began: Vec<u32>,
    pub plan: FaultPlan,
    pub lengths: BTreeMap<String, String>,
    pub latency_us: Latencies,
    pub storage: StorageTally,
    pub violations: Vec<Violation>,
    pub timeline: Vec<TimelineEntry>,
    pub programs: Vec<ProgramReport>,
    pub ran: Ran,
    pub note: Option<String>,
    pub replay: String,
}

fn without_lack_of_progress(mut judgement: Judgement, failed_server: Option<&str>) -> Judgement {
    let Some(reason) = failed_server else { return judgement };
    judgement.violations.retain(|one| !one.kind.is_lack_of_progress());
    if judgement.violations.is_empty() && judgement.verdict == Verdict::Violated {
        judgement.verdict = Verdict::Unknown { reason: reason.to_owned() };
    }
    judgement
}

/// Returns the events around a violation in `found`, and the events of that period in `other`.
pub fn side_by_side(
    violation: &Violation,
    found: &History,
    other: &History,
) -> [Vec<TimelineEntry>; 2] {
    shown::side_by_side(violation, found, other)
}

impl RunFacts {
    pub fn has_failed(&self) -> bool {
        self.programs.iter().any(|life| life.failed)
    }

    pub fn new(history: &History, context: RunContext) -> RunFacts {
        let timeline = Timeline::new(history);
        let locks = history.by_lock();
        let of_locks: Vec<Timeline<'_>> = locks.iter().map(Timeline::new).collect();
        let judgement = match of_locks.is_empty() {
            true => judge_timelines(std::slice::from_ref(&timeline)),
            false => judge_timelines(&of_locks),
        };
        let Judgement { verdict, violations } =
            without_lack_of_progress(judgement, context.failed_server.as_deref());
        let shown = shown::most_relevant(&timeline, &of_locks, &violations);
        let verdict = match (verdict, context.failure) {
            (Verdict::Valid | Verdict::Unknown { .. }, Some(reason)) => Verdict::Unknown { reason },
            (verdict, _) => verdict,
        };
        let count = |wanted: fn(&What) -> bool| {
            history.events.iter().filter(|event| wanted(&event.what)).count() as u64
        };
        let granted = timeline.acquisitions.iter().filter(|one| one.outcome == Outcome::Granted);
        RunFacts {
            client: history.header.client.clone(),
            fault: history.header.fault.to_string(),
            verdict: verdict.clone(),
            expected: context.expected,
            history_digest: digest(history),
            virtual_time_us: timeline.end,
            operations: count(|what| matches!(what, What::Invoke { .. })),
            acquisitions: granted.count() as u64,
            messages: context.messages,
            faults_fired: u32::try_from(timeline.faults.len()).unwrap_or(u32::MAX),
            faults_began: timeline.faults.iter().map(|fault| fault.id).collect(),
            plan: context.plan,
            lengths: context.lengths,
            latency_us: latencies(&timeline),
            storage: tally(&timeline, &violations),
            timeline: match violations.is_empty() {
                false => shown::timeline(shown, &violations),
                true => shown::around_faults(shown),
            },
            violations,
            programs: context.programs,
            ran: context.ran,
            note: context
                .note
                .filter(|note| !matches!(&verdict, Verdict::Unknown { reason } if reason == note)),
            replay: context.replay,
        }
    }
}

fn tally(timeline: &Timeline<'_>, violations: &[Violation]) -> StorageTally {
    let answered = |accepted: bool| {
        timeline.storage.iter().filter(|request| request.accepted == accepted).count()
    };
    let stale = violations.iter().filter(|violation| violation.kind == Kind::StaleWrite);
    StorageTally {
        accepted: answered(true) as u64,
        rejected: answered(false) as u64,
        stale_writes: stale.map(|violation| violation.occurrences).sum(),
    }
}

fn latencies(timeline: &Timeline<'_>) -> Latencies {
    let granted = timeline.acquisitions.iter().filter(|one| one.outcome == Outcome::Granted);
    let acquire =
        granted.filter_map(|one| Some(one.completed?.time.since(one.invoked.time).0)).collect();
    let hold = timeline
        .sections
        .iter()
        .filter_map(|section| Some(section.to?.time.since(section.from.time).0))
        .collect();
    let (acquire, hold) = (Latency::of(acquire), Latency::of(hold));
    Latencies { acquire, hold, release: Latency::of(releases(timeline.history)) }
}

fn releases(history: &History) -> Vec<u64> {
    let mut open: BTreeMap<u64, SimTime> = BTreeMap::new();
    let mut spans = Vec::new();
    for event in &history.events {
        match &event.what {
            What::Invoke { operation, action: Action::Release } => {
                open.insert(*operation, event.time_us);
            }
            What::Ok { operation, .. }
            | What::Fail { operation, .. }
            | What::Info { operation, .. } => {
                spans.extend(open.remove(operation).map(|from| event.time_us.since(from).0));
            }
            _ => {}
        }
    }
    spans
}

impl Latency {
    pub fn of(mut spans: Vec<u64>) -> Option<Latency> {
        spans.sort_unstable();
        let max = *spans.last()?;
        let rank = |percent: usize| spans[(spans.len() * percent).div_ceil(100).max(1) - 1];
        Some(Latency { p50: rank(50), p99: rank(99), max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use crate::samples;

    fn context() -> RunContext {
        let replay = "fencepost replay report.json".to_owned();
        RunContext { messages: 5, replay, ..RunContext::default() }
    }

    fn facts(story: Story) -> RunFacts {
        RunFacts::new(&story.build(), context())
    }

    #[test]
    fn programs_that_failed_leave_nothing_valid_but_what_is_violated_stays() {
        let of = |story: Story| {
            let failure = Some("client-1 exited with status 1".to_owned());
            RunFacts::new(&story.build(), RunContext { failure, ..context() }).verdict
        };
        let reason = "client-1 exited with status 1".to_owned();
        assert_eq!(facts(samples::quiet()).verdict, Verdict::Valid);
        assert_eq!(of(samples::quiet()), Verdict::Unknown { reason: reason.clone() });
        assert!(matches!(facts(samples::lonely()).verdict, Verdict::Unknown { .. }));
        assert_eq!(of(samples::lonely()), Verdict::Unknown { reason });
        assert_eq!(of(samples::paused_holder()), Verdict::Violated);
    }

    #[test]
    fn a_server_that_ended_by_itself_excuses_a_lack_of_progress_and_nothing_else() {
        let stuck = || {
            let story = Story::new().progress_bound(100).takes(1, 1, "a").releases(3, 1).healed(10);
            story.probe_acquires(11).probe_fails(112)
        };
        let of = |story: Story| {
            let failed_server = Some("server-1 exited with status 1".to_owned());
            RunFacts::new(&story.build(), RunContext { failed_server, ..context() })
        };
        let reason = "server-1 exited with status 1".to_owned();
        assert_eq!(facts(stuck()).violations[0].kind, Kind::Stuck);
        assert_eq!(of(stuck()).verdict, Verdict::Unknown { reason });
        assert_eq!(of(stuck()).violations, []);
        assert_eq!(of(samples::paused_holder()).verdict, Verdict::Violated);
    }

    #[test]
    fn percentiles_are_spans_that_were_measured() {
        assert_eq!(Latency::of(vec![]), None);
        assert_eq!(Latency::of(vec![7]), Some(Latency { p50: 7, p99: 7, max: 7 }));
        let hundred = (1..=100).rev().collect();
        assert_eq!(Latency::of(hundred), Some(Latency { p50: 50, p99: 99, max: 100 }));
    }

    #[test]
    fn facts_count_what_the_history_holds() {
        let story = Story::new()
            .acquires(1, 1)
            .grants(2, 1, "a")
            .hears(3, 1, "a")
            .reads(4, 1, 0)
            .writes(5, 1, 0, 1);
        let run = facts(story.releases(9, 1).acquires(10, 2).fails(20, 2));
        assert_eq!((run.operations, run.acquisitions, run.messages), (5, 1, 5));
        assert_eq!(run.latency_us.acquire, Some(Latency { p50: 2_000, p99: 2_000, max: 2_000 }));
        assert_eq!(run.latency_us.hold, Some(Latency { p50: 6_000, p99: 6_000, max: 6_000 }));
        assert_eq!(run.storage, StorageTally { accepted: 2, rejected: 0, stale_writes: 0 });
        assert_eq!(run.timeline.len(), 3, "without faults, what came first");
    }

    #[test]
    fn the_timeline_shows_the_witness_and_leaves_out_the_uninvolved() {
        let story = Story::new()
            .takes(1, 3, "z")
            .releases(2, 3)
            .removed(2, "z", 3)
            .takes(3, 1, "a")
            .expires(13, "a");
        let story =
            story.takes(14, 2, "b").acquires(14, 3).fails(15, 3).releases(16, 1).releases(17, 2);
        let run = facts(story);
        let shown: Vec<String> =
            run.timeline.iter().map(|entry| format!("{} {}", entry.process, entry.text)).collect();
        assert_eq!(
            shown,
            [
                "redis-1 grants the lock to client-1",
                "client-1 is granted the lock",
                "redis-1 expires the lock of client-1",
                "redis-1 grants the lock to client-2",
                "client-2 is granted the lock",
                "client-1 leaves its critical section, but its release finds no lock",
                "client-2 leaves its critical section and releases the lock",
            ]
        );
        let evidence: Vec<bool> = run.timeline.iter().map(|entry| entry.witness).collect();
        assert_eq!(evidence, [true, true, false, true, true, true, true]);
    }

    #[test]
    fn a_hold_inside_a_hold_is_no_entry_and_giving_it_back_is_no_end() {
        let story =
            Story::new().under("pause").takes(0, 1, "a").acquires(100, 1).hears(101, 1, "a");
        let story = story.expires(10_000, "a").takes(10_010, 2, "b");
        let story = story.releases(10_020, 1).releases(10_030, 1).releases(10_040, 2);
        let run = facts(story);
        let shown: Vec<String> =
            run.timeline.iter().map(|entry| format!("{} {}", entry.process, entry.text)).collect();
        assert_eq!(
            shown,
            [
                "redis-1 grants the lock to client-1",
                "client-1 is granted the lock",
                "client-1 is granted the lock again, inside its critical section",
                "redis-1 expires the lock of client-1",
                "redis-1 grants the lock to client-2",
                "client-2 is granted the lock",
                "client-1 releases an inner acquisition and stays in its critical section",
                "client-1 leaves its critical section, but its release finds no lock",
                "client-2 leaves its critical section and releases the lock",
            ]
        );
        let nested: Vec<usize> =
            (0..shown.len()).filter(|index| run.timeline[*index].nested).collect();
        assert_eq!(nested, [2]);
    }
}
