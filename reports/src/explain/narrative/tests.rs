mod faults;
mod leases;
mod storage;
mod waits;

use super::*;
use crate::explain::cause::classify;
use crate::judge::checker::CHECKERS;
use crate::judge::finding::Kind;
use crate::record::history::{Change, Keeping};
use crate::record::story::Story;
use crate::samples;
use crate::summary::verdict::judge;
use fencepost_faults::{Micros, Node};
use std::collections::BTreeSet;

#[test]
fn a_paused_holder_is_told_of_step_by_step() {
    let judgement = judge(&samples::paused_holder().build());
    let told: Vec<&str> =
        judgement.violations[0].narrative.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        told,
        [
            "redis-1 grants the lock to client-1 for 10s.",
            "client-1 enters its critical section.",
            "client-1 is paused (fault 1).",
            "redis-1 expires the lock of client-1, while client-1 is in its critical \
             section.",
            "redis-1 grants the lock to client-2 for 10s.",
            "client-2 enters its critical section while client-1 is still in its own.",
            "client-1 resumes.",
            "client-1 leaves its critical section, 2.015s after its lease had expired.",
            "client-2 leaves its critical section and releases the lock.",
        ]
    );
}

fn told(story: Story) -> Vec<String> {
    steps(Kind::Overlap, story)
}

fn steps(kind: Kind, story: Story) -> Vec<String> {
    let judgement = judge(&story.build());
    let found = judgement.violations.iter().find(|violation| violation.kind == kind);
    let narrative = &found.expect("such a violation").narrative;
    narrative.iter().map(|line| line.text.clone()).collect()
}

#[test]
fn a_lagging_replica_that_repeats_an_earlier_removal_removes_no_later_lock() {
    let story = |removed_ms| {
        let story = Story::new().ttl(100).takes(1, 1, "a").releases(2, 1).removed(2, "a", 1);
        let story = story.takes(3, 1, "a").replicated(4, 2, "a").removed_on_replica(5, 2, "a");
        let story = story.removed(removed_ms, "a", 2).takes(7, 2, "b");
        told(story.releases(20, 1).releases(21, 2))
    };
    let at_replica =
        |told: Vec<String>| told.iter().filter(|text| text.starts_with("redis-2 removes")).count();
    assert_eq!(at_replica(story(6)), 0, "redis-1 still had the lock");
    assert_eq!(at_replica(story(4)), 1, "the replica followed its primary");
}

#[test]
fn replicas_that_repeat_the_removal_of_an_earlier_lock_do_not_vouch_for_each_other() {
    let story = Story::new().ttl(100).takes(1, 1, "a").replicated(1, 2, "a").replicated(1, 3, "a");
    let story = story.releases(2, 1).removed(2, "a", 1);
    let story = story.removed_on_replica(2, 2, "a").removed_on_replica(2, 3, "a");
    let story = story.takes(3, 1, "a").releases(4, 1).removed(4, "a", 1).takes(5, 1, "a");
    let story = story.replicated(6, 2, "a").removed_on_replica(7, 2, "a");
    let story = story.replicated(8, 3, "a").removed_on_replica(9, 3, "a");
    let told = told(story.removed(11, "a", 2).takes(12, 2, "b").releases(20, 1).releases(21, 2));
    let removes = |text: &&String| text.contains(" removes the lock of client-1");
    let removals: Vec<&String> = told.iter().filter(removes).collect();
    assert!(matches!(removals[..], [one] if one.starts_with("redis-1")), "{removals:?}");
}

#[test]
fn a_holder_that_enters_late_enters_while_the_next_one_is_inside() {
    let story = Story::new().acquires(1, 1).grants(2, 1, "a").expires(12, "a").takes(13, 2, "b");
    let told = told(story.hears(14, 1, "a").releases(16, 1).releases(17, 2));
    let enters: Vec<&str> = told
        .iter()
        .filter(|text| text.contains("enters its critical section"))
        .map(String::as_str)
        .collect();
    assert_eq!(
        enters,
        [
            "client-2 enters its critical section.",
            "client-1 enters its critical section while client-2 is still in its own.",
        ]
    );
}

#[test]
fn of_a_session_no_lease_is_told() {
    let story = Story::with_sessions().takes(1, 1, "a").expires(14, "a").takes(15, 2, "b");
    let judgement = judge(&story.releases(19, 1).releases(20, 2).build());
    let told: Vec<&str> =
        judgement.violations[0].narrative.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        told,
        [
            "client-1 becomes first in the queue at redis-1.",
            "client-1 enters its critical section.",
            "redis-1 removes the node of client-1, whose session has ended, while client-1 is \
             in its critical section.",
            "client-2 becomes first in the queue at redis-1.",
            "client-2 enters its critical section while client-1 is still in its own.",
            "client-1 leaves its critical section, 5ms after its node was gone.",
            "client-2 leaves its critical section and releases the lock.",
        ]
    );
}

#[test]
fn of_a_lock_that_nobody_gets_the_last_grant_and_its_end_are_told() {
    let story = Story::new().takes(1, 1, "a").releases(3, 1).removed(4, "a", 1);
    let story = story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130);
    let judgement = judge(&story.build());
    let told: Vec<&str> =
        judgement.violations[0].narrative.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(told[0], "redis-1 grants the lock to client-1.");
    assert_eq!(told[1], "client-1 leaves its critical section and releases the lock.");
    assert_eq!(told[2], "redis-1 removes the lock of client-1 at its request.");
}

#[test]
fn every_sentence_rests_on_an_event_that_names_whom_it_names() {
    for story in [samples::paused_holder(), samples::failover()] {
        let history = story.build();
        for violation in judge(&history).violations {
            assert!(
                (1..=LINES_MAX).contains(&violation.narrative.len()),
                "{}",
                violation.narrative.len()
            );
            for line in &violation.narrative {
                let event = &history.events[line.event as usize];
                let is_nemesis = matches!(
                    event.what,
                    What::FaultBegan { .. } | What::FaultEnded { .. } | What::Healed
                );
                assert!(
                    is_nemesis || line.text.starts_with(&event.node.to_string()),
                    "{} rests on {event:?}",
                    line.text
                );
            }
            assert!(violation.narrative.is_sorted_by_key(|line| line.event));
        }
    }
}

#[test]
fn the_recorded_lease_is_told_and_not_the_requested_one() {
    let first = |lease_us: u64| {
        let story = Story::new().ttl(10_000).takes(1, 1, "a").expires(5, "a").takes(6, 2, "b");
        let story = story.with_recorded_leases_of(Micros(lease_us)).at_servers();
        judge(&story.releases(7, 1).releases(8, 2).build()).violations[0].narrative[0].clone()
    };
    let said = |lease: &str| format!("server-1 grants the lock to client-1{lease}.");
    assert_eq!(first(29_700_000).text, said(" for 29.7s"));
    assert_eq!(first(9_990_000).text, said(" for 9.99s"), "a message took the rest");
    assert_eq!(first(0).text, said(", whose lease is already over"));
}

#[test]
fn a_new_grant_that_an_inner_release_removed_is_told() {
    let by = Some(Node::Client(1));
    let story = Story::new().takes(1, 1, "a").expires(12, "a").acquires(13, 1);
    let story = story.server(14, 1, Change::Granted, "a=1", by).hears(15, 1, "a").leaves(16, 1);
    let story = story.server(17, 1, Change::Granted, "a=0", by).removed(17, "a=0", 1);
    let story = story.left(18, 1).takes(19, 2, "b");
    let judgement = judge(&story.releases(20, 1).releases(21, 2).build());
    let told: Vec<&str> =
        judgement.violations[0].narrative.iter().map(|line| line.text.as_str()).collect();
    let granted = told.iter().position(|text| *text == "redis-1 grants the lock to client-1.");
    let removed = told.iter().position(|text| text.starts_with("redis-1 removes the lock"));
    assert!(granted.is_some() && granted < removed, "{told:?}");
}

#[test]
fn a_renewal_by_a_process_outside_its_critical_section_is_a_step() {
    let renews = |granted: Option<&str>| {
        let story = Story::new().takes(1, 1, "a").releases(3, 1).progress_bound(100).healed(20);
        let story = story.probe_acquires(21).acquires(22, 3);
        let by = Some(Node::Client(3));
        let story = match granted {
            Some(value) => story.server(80, 1, Change::Granted, value, by),
            None => story,
        };
        let story = story.server(80, 1, Change::Extended, "a", by);
        let told = steps(Kind::Stuck, story.fails(120, 3).probe_fails(130));
        told.iter().filter(|text| text.starts_with("redis-1 extends the lock")).count()
    };
    assert_eq!(renews(None), 1);
    assert_eq!(renews(Some("c")), 0, "its acquire set the expiry");
}

#[test]
fn the_last_lock_is_that_of_the_primary_and_not_its_copy() {
    let told = |copies: bool| {
        let story = Story::new().takes(1, 1, "a").releases(3, 1).removed(4, "a", 1);
        let story = match copies {
            true => story.replicated(5, 2, "a").removed_on_replica(6, 2, "a"),
            false => story.replicated(5, 2, "a"),
        };
        let story = story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130);
        steps(Kind::Stuck, story).join(" ")
    };
    assert!(told(true).contains("redis-1 grants the lock to client-1."), "{}", told(true));
    assert!(!told(true).contains("redis-2"), "{}", told(true));
    assert!(told(false).contains("redis-2 receives the lock"), "a copy remains: {}", told(false));
}

#[test]
fn of_a_queue_the_first_removal_is_told_and_the_others_if_there_is_room() {
    let story = Story::with_sessions().takes(1, 1, "a").replicated(2, 2, "a");
    let story = story.expires_at(13, 1, "a").expires_at(14, 2, "a").takes(15, 2, "b");
    let told = told(story.releases(19, 1).releases(20, 2));
    let removed = |server: &str, end: &str| {
        let removal =
            format!("{server} removes the node of client-1, whose session has ended{end}");
        told.contains(&removal)
    };
    assert!(removed("redis-1", ", while client-1 is in its critical section."), "{told:?}");
    assert!(removed("redis-2", "."), "{told:?}");
}

#[test]
fn the_end_of_the_session_of_a_waiter_is_a_step() {
    let removals = |expires: bool| {
        let story = Story::with_sessions().healed(0).acquires(1, 1).grants(2, 1, "a");
        let story = if expires { story.expires(9, "a") } else { story };
        let told = steps(
            Kind::Deadlock,
            story.takes(20, 2, "b").releases(21, 2).removed(21, "b", 2).silent(40, 1, 2, false),
        );
        told.iter().filter(|text| text.contains("whose session has ended")).count()
    };
    assert_eq!(removals(true), 1);
    assert_eq!(removals(false), 0);
}

#[test]
fn of_several_masters_those_are_told_whose_grants_completed_the_second_quorum() {
    let servers = || [1, 2, 3].into_iter();
    let granted = |story: Story, ms, client, owner| {
        let story = servers().fold(story.acquires(ms, client), |story, redis| {
            story.grants_at(ms + u64::from(redis), client, redis, owner)
        });
        story.hears(ms + 4, client, owner)
    };
    let story = granted(Story::with_quorum(2), 1, 1, "a");
    let story = servers().fold(story, |story, redis| {
        let node = Node::Redis(redis);
        let story = story.fault_began(10, redis.into(), "power-loss", &[node]);
        let story = story.redis_crashes(10, redis).redis_starts(10, redis);
        story.server(10, redis, Change::Forgotten, "a", None)
    });
    let told = told(granted(story, 11, 2, "b").releases(20, 1).releases(21, 2)).join(" ");
    for redis in [1, 2] {
        assert!(told.contains(&format!("redis-{redis} loses power")), "{told}");
        assert!(told.contains(&format!("redis-{redis} restarts without the lock")), "{told}");
    }
    assert!(!told.contains("redis-3 loses power"), "{told}");
}

#[test]
fn a_nested_acquisition_is_not_told_as_an_entry() {
    let story = Story::new().takes(1, 1, "a").acquires(3, 1).hears(4, 1, "a").releases(5, 1);
    let story = story.expires(11, "a").takes(12, 2, "b").releases(20, 1).releases(21, 2);
    let judgement = judge(&story.build());
    let lines = judgement.violations.iter().flat_map(|violation| &violation.narrative);
    let enters = lines.filter(|line| line.text.starts_with("client-1 enters"));
    let events: BTreeSet<u64> = enters.map(|line| line.event).collect();
    assert!(events.is_subset(&BTreeSet::from([2])), "only event 2 is an entry: {events:?}");
}

#[test]
fn the_process_whose_acquire_left_the_lock_is_told_not_to_know_the_outcome() {
    let story = Story::new().acquires(1, 1).grants(2, 1, "a").info(5, 1);
    let story = story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130);
    let told = steps(Kind::Stuck, story).join(" ");
    assert!(told.contains("client-1 does not know the outcome"), "{told}");
}

#[test]
fn the_inner_release_that_removed_the_lock_is_a_step() {
    let story = Story::new().takes(1, 1, "a").acquires(3, 1).hears(4, 1, "a").leaves(5, 1);
    let story = story.removed(6, "a", 1).left(7, 1).takes(8, 2, "b");
    let told = told(story.releases(12, 1).releases(13, 2));
    let inner = "client-1 releases an inner acquisition and stays in its critical section.";
    assert!(told.iter().any(|text| text == inner), "{told:?}");
}

#[test]
fn of_several_masters_the_first_that_expired_the_lock_is_named() {
    let story = Story::with_quorum(2).ttl(10).acquires(1, 1).grants_at(2, 1, 1, "a");
    let story = story.grants_at(3, 1, 2, "a").hears(4, 1, "a").expires_at(12, 1, "a");
    let story = story.acquires(12, 2).grants_at(13, 2, 1, "b").grants_at(14, 2, 3, "b");
    let told = told(story.hears(15, 2, "b").releases(20, 1).releases(21, 2)).join(" ");
    let late = "client-1 leaves its critical section, 8ms after its lock had expired at redis-1.";
    assert!(told.contains(late), "{told}");
}

#[test]
fn the_lost_counter_of_tokens_is_a_step() {
    let story = Story::new().with_tokens().takes_with_token(1, 1, "a", 5).releases(2, 1);
    let lost = What::Server {
        key: "lock:token".to_owned(),
        change: Change::Forgotten,
        value: Some("5".to_owned()),
        by: None,
        primary: true,
        token: None,
        lease_us: None,
    };
    let story = story.event(3, Node::Redis(1), lost).takes_with_token(4, 2, "b", 1);
    let told = steps(Kind::TokenRegression, story.releases(5, 2));
    let forgets = "redis-1 restarts without key lock:token.";
    assert!(told.iter().any(|text| text == forgets), "{told:?}");
}

#[test]
fn a_third_process_that_a_sentence_names_occurs_in_its_story() {
    let story = Story::new().acquires(0, 2).acquires(0, 3).takes(1, 1, "a").takes(3, 3, "c");
    let story = story.releases(4, 3).removed(4, "c", 3).takes(6, 2, "b");
    let history = story.releases(8, 1).releases(9, 2).build();
    let timeline = Timeline::new(&history);
    let mut findings = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline));
    let both = [Node::Client(1), Node::Client(2)];
    let finding = findings.find(|one| one.kind == Kind::Overlap && one.processes == both);
    let finding = finding.expect("an overlap");
    let cause = classify(&timeline, &finding);
    let said = cause.sentence(&timeline, &finding);
    assert!(said.starts_with("The steps of client-1 and client-3 interleaved"), "{said}");
    let told: Vec<String> =
        narrative(&timeline, &finding, cause).into_iter().map(|line| line.text).collect();
    assert!(told.iter().any(|text| text == "redis-1 grants the lock to client-3."), "{told:?}");
    assert!(told.iter().any(|text| text.starts_with("redis-1 removes the lock of client-3")));
}
