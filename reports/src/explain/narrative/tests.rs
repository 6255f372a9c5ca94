mod leases;
mod storage;
mod waits;

use super::*;
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

#[test]
fn a_fault_of_a_process_that_takes_no_part_is_not_told() {
    let told = |process| {
        let story = Story::new().takes(1, 1, "a");
        let story = story.fault_began(2, 1, "lost-reply", &[Node::Redis(1), process]);
        let story = story.fault_ended(3, 1, "lost-reply", process).removed(4, "a", 1);
        let story = story.takes(5, 2, "b").releases(6, 1).releases(7, 2);
        let judgement = judge(&story.build());
        let lines = judgement.violations[0].narrative.iter().map(|line| line.text.clone());
        lines.filter(|text| text.contains("fault 1")).collect::<Vec<String>>()
    };
    assert_eq!(told(Node::Client(1)), ["A reply of redis-1 to client-1 is lost (fault 1)."]);
    assert_eq!(told(Node::Client(3)), [] as [&str; 0]);
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

fn with_faults(faults: &[(u32, u64, u64, &str, &[Node])]) -> Vec<String> {
    let mut story = Story::new().ttl(20).takes(10, 1, "a").expires(30, "a").takes(31, 2, "b");
    for (id, from, to, kind, nodes) in faults {
        story = story.fault_began(*from, *id, kind, nodes);
        story = story.fault_ended(*to, *id, kind, nodes[0]);
    }
    let mut told = told(story.releases(40, 1).releases(41, 2));
    told.retain(|text| text.contains("(fault ") || text.ends_with("resumes."));
    told
}

#[test]
fn the_fault_that_made_sentinels_promote_a_server_is_a_step() {
    let told = |ended: u64| {
        let story = Story::new().ttl(9_000).event(
            0,
            Node::Redis(1),
            What::Turn { turn: Turn::Follows, about: Some(Node::Redis(1)) },
        );
        let story = story.fault_began(1, 1, "partition", &[Node::Redis(1)]);
        let story = story.fault_ended(ended, 1, "partition", Node::Redis(1));
        let promoted = What::Turn { turn: Turn::Promoted, about: None };
        let story = story.event(9_000, Node::Redis(2), promoted);
        let story = story.acquires(9_001, 1).grants_at(9_002, 1, 1, "a").hears(9_003, 1, "a");
        let story = story.acquires(9_004, 2).grants_at(9_005, 2, 2, "b").hears(9_006, 2, "b");
        let told = told(story.releases(9_010, 1).releases(9_011, 2)).join(" ");
        assert!(told.contains("redis-2 becomes a primary."), "{told}");
        told.contains("(fault 1)")
    };
    assert!(told(8_000));
    assert!(!told(3_000), "it had ended long before");
}

#[test]
fn a_partition_and_a_delay_are_told_without_nodes_whose_sides_are_unknown() {
    let [one, server, other] = [Node::Client(1), Node::Redis(1), Node::Redis(2)];
    let cut = |kind: &str, nodes: &[Node]| with_faults(&[(1, 12, 20, kind, nodes)]);
    assert_eq!(
        cut("partition", &[one, server]),
        ["A network partition between client-1 and redis-1 begins (fault 1)."]
    );
    let several: &[Node] = &[one, server, other];
    assert_eq!(cut("partition", several), ["A network partition begins (fault 1)."]);
    assert_eq!(
        cut("delay", &[one, server]),
        ["Some messages between client-1 and redis-1 are delayed (fault 1)."]
    );
    assert_eq!(cut("delay", several), ["Some messages are delayed (fault 1)."]);
}

#[test]
fn a_flush_before_the_first_grant_is_no_step() {
    let told = |ms| {
        let story = Story::new().ttl(20).fault_began(ms, 1, "flush-all", &[Node::Redis(1)]);
        let story = story.takes(10, 1, "a").server(15, 1, Change::Flushed, "a", None);
        told(story.takes(16, 2, "b").releases(20, 1).releases(21, 2)).join(" ")
    };
    assert!(!told(5).contains("(fault 1)"), "{}", told(5));
    assert!(told(15).contains("An operator flushes redis-1 (fault 1)."), "{}", told(15));
}

#[test]
fn a_pause_of_the_holder_is_told_before_other_faults() {
    let [holder, server] = [Node::Client(1), Node::Redis(1)];
    let servers = [server];
    let slow = |id: u32| (id, 15 + u64::from(id), 35, "slow-server", servers.as_slice());
    let told = with_faults(&[
        (1, 12, 33, "pause", &[holder]),
        slow(2),
        slow(3),
        slow(4),
        slow(5),
        slow(6),
    ]);
    assert_eq!(told.first().map(String::as_str), Some("client-1 is paused (fault 1)."));
    assert!(told.contains(&"client-1 resumes.".to_owned()), "{told:?}");
    assert_eq!(told.len(), FAULTS_MAX + 1, "{told:?}");
    assert!(!told.iter().any(|text| text.contains("fault 2")), "the latest remain: {told:?}");
}

#[test]
fn the_clock_of_a_server_without_leases_is_no_step() {
    let steps = |change| {
        let story = Story::new().ttl(20).takes(10, 1, "a");
        let story = story.fault_began(12, 1, "clock-jump", &[Node::Redis(1)]);
        let by = (change == Change::Removed).then_some(Node::Client(2));
        let story = story.server(15, 1, change, "a", by).takes(16, 2, "b");
        let told = told(story.releases(40, 1).releases(41, 2));
        told.iter().filter(|text| text.contains("(fault 1)")).count()
    };
    assert_eq!([steps(Change::Expired), steps(Change::Removed)], [1, 0]);
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
fn a_delay_of_the_holder_is_told_before_crashes_of_servers() {
    let [holder, server] = [Node::Client(1), Node::Redis(1)];
    let (own, servers) = ([holder, server], [server]);
    let crash = |id: u32| (id, 20 + u64::from(id), 29, "crash", servers.as_slice());
    let told = with_faults(&[
        (1, 12, 33, "delay", &own),
        crash(2),
        crash(3),
        crash(4),
        crash(5),
        crash(6),
    ]);
    let delay = "Some messages between client-1 and redis-1 are delayed (fault 1).";
    assert_eq!(told.first().map(String::as_str), Some(delay), "{told:?}");
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
fn a_fault_after_the_second_grant_is_a_step_only_at_the_holder_or_the_storage() {
    let told = |node: Node| {
        let story = Story::new().takes(1, 1, "a").expires(11, "a").takes(12, 2, "b");
        let story = story.fault_began(14, 1, "pause", &[node]);
        told(story.releases(20, 1).releases(21, 2)).join(" ")
    };
    assert!(told(Node::Client(1)).contains("(fault 1)"));
    assert!(!told(Node::Client(2)).contains("(fault 1)"));
    assert!(!told(Node::Redis(1)).contains("(fault 1)"));
}

#[test]
fn a_fault_that_held_up_the_release_that_removed_the_lock_is_a_step() {
    let told = |node: Node| {
        let story = Story::new().takes(1, 3, "c").leaves(2, 3);
        let story = story.fault_began(2, 1, "delay", &[node, Node::Redis(1)]).expires(4, "c");
        let story = story.takes(5, 1, "a").removed(7, "a", 3).takes(8, 2, "b");
        told(story.releases(12, 1).releases(13, 2)).join(" ")
    };
    assert!(told(Node::Client(3)).contains("(fault 1)"), "{}", told(Node::Client(3)));
    assert!(!told(Node::Client(4)).contains("(fault 1)"), "{}", told(Node::Client(4)));
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
fn the_crash_that_cost_a_release_its_answer_is_a_step() {
    let told = |node: Node| {
        let story = Story::new().takes(1, 1, "a").fault_began(3, 1, "crash", &[node]);
        let story = story.fault_ended(3, 1, "crash", node).leaves(4, 1).info(5, 1);
        let story = story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130);
        steps(Kind::Stuck, story).join(" ")
    };
    assert!(
        told(Node::Redis(1)).contains("redis-1 crashes (fault 1)."),
        "{}",
        told(Node::Redis(1))
    );
    assert!(!told(Node::Client(2)).contains("(fault 1)"), "{}", told(Node::Client(2)));
}

#[test]
fn a_flush_that_takes_no_lock_is_no_step() {
    let told = |flushed: bool| {
        let story = Story::new().ttl(20).takes(1, 1, "a");
        let story = story.fault_began(5, 1, "flush-all", &[Node::Redis(1)]);
        let story = match flushed {
            true => story.server(5, 1, Change::Flushed, "a", None),
            false => story.removed(7, "a", 2),
        };
        told(story.takes(8, 2, "b").releases(12, 1).releases(13, 2)).join(" ")
    };
    assert!(told(true).contains("(fault 1)"), "{}", told(true));
    assert!(!told(false).contains("(fault 1)"), "{}", told(false));
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
fn a_fault_of_replication_is_no_step_if_one_server_made_both_grants() {
    let told = |taken_at: u16| {
        let servers = [Node::Redis(1), Node::Redis(2)];
        let story = Story::new().takes(1, 1, "a").fault_began(2, 1, "delay", &servers);
        let story = story.removed(3, "a", 2).acquires(4, 2).grants_at(5, 2, taken_at, "b");
        let story = story.hears(6, 2, "b").releases(8, 1).releases(9, 2);
        told(story.fault_ended(12, 1, "delay", Node::Redis(1))).join(" ")
    };
    assert!(!told(1).contains("(fault 1)"), "{}", told(1));
    assert!(told(2).contains("(fault 1)"), "{}", told(2));
}

#[test]
fn the_fault_of_the_clock_that_ended_the_lock_is_a_step_before_all_others() {
    let server = Node::Redis(1);
    let crash = |id: u32| (id, 2, 3, "lost-reply", &[Node::Client(1), Node::Redis(1)]);
    let mut story = Story::new().ttl(100).takes(1, 1, "a");
    story = story.fault_began(2, 1, "clock-jump", &[server]);
    story = story.fault_ended(2, 1, "clock-jump", server);
    for id in 2..9 {
        let (id, from, to, kind, nodes) = crash(id);
        story = story.fault_began(from, id, kind, nodes).fault_ended(to, id, kind, nodes[0]);
    }
    let story = story.expires(4, "a").takes(5, 2, "b").releases(30, 1).releases(31, 2);
    let told = told(story);
    let stepped = "The wall clock of redis-1 is stepped (fault 1).";
    assert!(told.iter().any(|text| text == stepped), "{told:?}");
}

#[test]
fn a_fault_that_was_over_before_a_late_release_was_sent_is_no_step() {
    let told = |kind: &str, sent: u64| {
        let nodes = [Node::Client(1), Node::Redis(1)];
        let story = Story::new().takes(1, 1, "a").fault_began(2, 1, kind, &nodes);
        let story = story.fault_ended(4, 1, kind, Node::Client(1));
        let story = story.leaves(sent, 1).expires(11, "a").takes(12, 2, "b");
        steps(Kind::ForeignRelease, story.removed(14, "b", 1).left(15, 1).releases(20, 2)).join(" ")
    };
    assert!(told("delay", 3).contains("(fault 1)"), "{}", told("delay", 3));
    assert!(!told("delay", 9).contains("(fault 1)"), "{}", told("delay", 9));
    assert!(told("pause", 9).contains("(fault 1)"), "a pause makes the release late");
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
fn the_clock_of_a_holder_is_no_step_if_its_server_lost_the_lock() {
    let told = |change: Change| {
        let own = [Node::Client(1)];
        let story = Story::new().fault_began(0, 1, "clock-drift", &own).takes(1, 1, "a");
        let story = story.server(3, 1, change, "a", None).takes(4, 2, "b");
        let story = story.releases(8, 1).releases(9, 2);
        told(story.fault_ended(12, 1, "clock-drift", Node::Client(1))).join(" ")
    };
    assert!(!told(Change::Forgotten).contains("(fault 1)"), "{}", told(Change::Forgotten));
    assert!(told(Change::Expired).contains("(fault 1)"), "{}", told(Change::Expired));
}
