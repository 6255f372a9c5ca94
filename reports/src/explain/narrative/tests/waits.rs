use super::*;
use crate::record::history::Turn;

const REDIS_1: Node = Node::Redis(1);
const REDIS_2: Node = Node::Redis(2);

fn stuck_after(story: Story) -> String {
    let story = story.progress_bound(100).healed(60).probe_acquires(61).probe_fails(170);
    steps(Kind::Stuck, story).join(" ")
}

#[test]
fn of_two_primaries_the_lock_that_remained_is_told_and_not_the_last_grant() {
    let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a");
    let story = story.fault_began(3, 1, "partition", &[REDIS_1]).releases(4, 1).removed(4, "a", 1);
    let promoted = What::Turn { turn: Turn::Promoted, about: None };
    let story = story.event(6, REDIS_2, promoted).takes(7, 1, "b").releases(8, 1);
    let told = stuck_after(story.removed(8, "b", 1).fault_ended(9, 1, "partition", REDIS_1));
    for step in [
        "redis-1 grants the lock to client-1.",
        "redis-2 receives the lock of client-1.",
        "A network partition begins (fault 1).",
        "redis-1 removes the lock of client-1 at its request.",
        "redis-2 becomes a primary.",
    ] {
        assert!(told.contains(step), "{step}: {told}");
    }
    assert_eq!(told.matches("grants the lock").count(), 1, "{told}");
}

#[test]
fn the_failover_that_cost_a_release_its_answer_is_a_step() {
    let told = |kind: &str| {
        let story = Story::new().takes(1, 1, "a").fault_began(3, 1, kind, &[REDIS_1]);
        let demoted = What::Turn { turn: Turn::Demoted, about: Some(REDIS_2) };
        let story = story.event(4, REDIS_1, demoted).leaves(50, 1).info(51, 1);
        stuck_after(story)
    };
    assert!(told("promote").contains("(fault 1)"), "{}", told("promote"));
    assert!(told("promote").contains("redis-1 becomes a replica"), "{}", told("promote"));
    assert!(!told("clock-jump").contains("(fault 1)"), "{}", told("clock-jump"));
}

fn created() -> What {
    What::Server {
        key: "queue".to_owned(),
        change: Change::Granted,
        value: Some("b".to_owned()),
        by: Some(Node::Client(2)),
        primary: true,
        token: None,
        lease_us: None,
    }
}

#[test]
fn the_crash_of_the_server_of_a_waiting_process_cost_it_its_watch() {
    let told = |crashed: u16| {
        let node = Node::Redis(crashed);
        let story = Story::with_sessions().takes(1, 1, "a").acquires(2, 2);
        let story = story.event(3, REDIS_2, created());
        let story = story.faulted(5..5, 1, "crash", &[node]);
        let story = story.releases(8, 1).removed(8, "a", 1).grants(9, 2, "b");
        steps(Kind::Deadlock, story.healed(10).silent(80, 2, 9, false)).join(" ")
    };
    assert!(told(2).contains("redis-2 crashes (fault 1)."), "{}", told(2));
    assert!(!told(3).contains("(fault 1)"), "{}", told(3));
}

#[test]
fn a_takeover_does_not_begin_with_the_remover_s_earlier_lock() {
    let story = Story::new().takes(1, 1, "a").releases(2, 1).removed(2, "a", 1);
    let story = story.takes(5, 2, "b").acquires(20, 1).removed(22, "b", 1).fails(23, 1);
    let told = steps(Kind::ForeignRelease, story.releases(30, 2));
    assert_eq!(
        told,
        [
            "redis-1 grants the lock to client-2 for 10ms.",
            "client-2 is granted the lock.",
            "client-1 wants the lock.",
            "redis-1 removes the lock of client-2 at the request of client-1.",
        ]
    );
}

#[test]
fn the_overlap_that_a_takeover_makes_is_told_with_both_holders() {
    let story = Story::new().ttl(100).takes(1, 1, "a").acquires(2, 2).removed(14, "a", 2);
    let story = story.grants(15, 2, "b").hears(16, 2, "b").releases(20, 1).releases(21, 2);
    let told = steps(Kind::Overlap, story);
    for step in [
        "redis-1 grants the lock to client-1 for 100ms.",
        "redis-1 removes the lock of client-1 at the request of client-2, while client-1 is in \
         its critical section.",
        "redis-1 grants the lock to client-2 for 100ms.",
        "client-2 enters its critical section while client-1 is still in its own.",
    ] {
        assert!(told.iter().any(|line| line == step), "{step}: {told:?}");
    }
}

#[test]
fn a_third_process_with_the_same_owner_value_is_told_between_the_two_grants() {
    let story = Story::kept_as(Keeping::RowByServer).takes(1, 1, "app").acquires(2, 3);
    let story = story
        .grants(3, 3, "app")
        .removed(4, "app", 3)
        .takes(6, 2, "app")
        .releases(8, 1)
        .releases(9, 2);
    let judgement = judge(&story.build());
    let overlaps = judgement.violations.iter().filter(|one| one.kind == Kind::Overlap);
    let lines: Vec<&str> =
        overlaps.flat_map(|one| &one.narrative).map(|line| line.text.as_str()).collect();
    assert!(lines.iter().any(|line| line.contains("to client-3")), "{lines:?}");
}

#[test]
fn a_copy_that_processes_extend_outlives_its_release_by_their_renewals() {
    let cause = |renewals: u64| {
        let story = Story::new().ttl(10).takes(1, 1, "a").replicated(2, 2, "a");
        let story = story.releases(4, 1).removed(4, "a", 1);
        let promoted = What::Turn { turn: Turn::Promoted, about: None };
        let mut story = story.event(6, REDIS_2, promoted).progress_bound(100);
        story = story.healed(60).probe_acquires(61);
        for number in 0..renewals {
            let by = Some(Node::Client(1));
            story = story.server(62 + 5 * number, 2, Change::Extended, "a", by);
        }
        let history = story.probe_fails(170).with_recorded_leases().build();
        judge(&history).violations.iter().find(|one| one.kind == Kind::Stuck).map(|one| one.cause)
    };
    assert_eq!(cause(21), Some(Cause::OrphanRenewal));
    assert_ne!(cause(0), Some(Cause::OrphanRenewal));
}

#[test]
fn a_lock_that_its_process_sets_again_after_the_release_is_an_orphan_renewal() {
    let told = |fault: Option<(&str, Node)>| {
        let story = Story::new().takes(2, 1, "a").releases(4, 1).removed(4, "a", 1);
        let story = match fault {
            Some((kind, node)) => story.fault_began(3, 1, kind, &[node]),
            None => story,
        };
        let story = story.server(6, 1, Change::Granted, "a", Some(Node::Client(1)));
        let story = story.progress_bound(100).healed(60).probe_acquires(61).probe_fails(170);
        let judgement = judge(&story.build());
        let mut found = judgement.violations.into_iter();
        let stuck = found.find(|one| one.kind == Kind::Stuck).expect("a stuck lock");
        (stuck.cause, stuck.summary)
    };
    let (cause, summary) = told(None);
    assert_eq!(cause, Cause::OrphanRenewal, "{summary}");
    let again = "client-1 set the lock again at 6ms, after it had left its critical section.";
    assert!(summary.contains(again), "{summary}");
    let is_renewal = |kind, node| told(Some((kind, node))).0 == Cause::OrphanRenewal;
    assert!(!is_renewal("delay", Node::Client(1)), "the command may have been delayed");
    assert!(is_renewal("delay", Node::Client(2)), "another process sent nothing for client-1");
    assert!(is_renewal("clock-drift", Node::Client(1)), "a clock delays no command");
}

#[test]
fn a_process_that_sets_its_released_lock_again_and_again_renews_it() {
    let found = |again: u64, same: bool, is_delayed: bool| {
        let mut story = Story::new().ttl(10).takes(2, 1, "a").releases(4, 1).removed(4, "a", 1);
        if is_delayed {
            story = story.fault_began(5, 1, "delay", &[Node::Client(1)]);
            story = story.fault_ended(5, 1, "delay", Node::Client(1));
        }
        story = story.acquires(5, 2).progress_bound(100).healed(5);
        for number in 0..again {
            let value = if same { "a".to_owned() } else { number.to_string() };
            let by = Some(Node::Client(1));
            story = story.server(6 + 5 * number, 1, Change::Granted, &value, by);
        }
        let judgement = judge(&story.fails(170, 2).takes(200, 3, "c").releases(201, 3).build());
        let mut found = judgement.violations.into_iter();
        found.find(|one| one.kind == Kind::Stuck).map(|one| (one.cause, one.summary))
    };
    let (cause, summary) = found(33, true, false).unwrap();
    assert_eq!(cause, Cause::OrphanRenewal, "{summary}");
    let again =
        "client-1 set the lock 33 times from 6ms on, after it had left its critical section.";
    assert!(summary.contains(again), "{summary}");
    let is_renewed = |again, same| {
        found(again, same, true).is_some_and(|(cause, _)| cause == Cause::OrphanRenewal)
    };
    assert!(is_renewed(33, true));
    assert!(!is_renewed(3, true), "one delayed command may have set the lock");
    assert!(!is_renewed(33, false), "each value is another lock");
}

#[test]
fn a_stale_lock_is_taken_over_although_an_earlier_release_has_no_answer() {
    let cause = |takes_over: bool, value: &str, taken: u64| {
        let story = Story::new().ttl(200).takes(1, 1, "1767225607").leaves(2, 1).info(3, 1);
        let story = story.removed(4, "1767225607", 1).takes(5, 2, value).acquires(6, 1);
        let story = story.removed(22, value, 1).grants(taken, 1, "1767225629");
        let story = story.hears(taken + 1, 1, "1767225629").releases(99, 2);
        let story = match takes_over {
            true => story.acquires(100, 3).removed(101, "1767225629", 3).fails(102, 3),
            false => story,
        };
        let judgement = judge(&story.build());
        let mut found = judgement.violations.iter();
        found.find(|one| one.kind == Kind::ForeignRelease).map(|one| one.cause)
    };
    let takeover = Some(Cause::StaleTakeover);
    assert_eq!(cause(true, "1767225609", 24), takeover);
    assert_ne!(cause(false, "1767225609", 24), takeover, "this lock takes over no other");
    assert_ne!(cause(true, "1767225609", 80), takeover, "the grant came much later");
    assert_ne!(cause(true, "b", 24), takeover, "no process compares this with a clock");
}

#[test]
fn of_equal_values_the_grant_of_the_copy_is_found_by_its_order() {
    let mut story = Story::new();
    for ms in [1, 11, 21] {
        story = story.takes(ms, 1, "7").releases(ms + 3, 1).removed(ms + 4, "7", 1);
    }
    let copied = |ms| What::Server {
        key: "lock".to_owned(),
        change: if ms == 31 { Change::Removed } else { Change::Granted },
        value: Some("7".to_owned()),
        by: None,
        primary: false,
        token: None,
        lease_us: None,
    };
    for ms in [30, 31, 32] {
        story = story.event(ms, REDIS_2, copied(ms));
    }
    let promoted = What::Turn { turn: Turn::Promoted, about: None };
    let story = story.event(40, REDIS_2, promoted).progress_bound(100).healed(60);
    let judgement = judge(&story.probe_acquires(61).probe_fails(170).build());
    let stuck = judgement.violations.iter().find(|one| one.kind == Kind::Stuck).unwrap();
    let grants: Vec<u64> = stuck
        .narrative
        .iter()
        .filter(|line| line.text.starts_with("redis-1 grants"))
        .map(|line| line.event)
        .collect();
    assert_eq!(grants.len(), 1, "{:?}", stuck.narrative);
    assert_eq!(grants[0], 7, "the second of the three grants: {:?}", stuck.narrative);
}
