use super::*;

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

#[test]
fn the_fault_that_made_sentinels_promote_a_server_is_a_step() {
    let told = |ended: u64| {
        let story = Story::new().ttl(9_000).event(
            0,
            Node::Redis(1),
            What::Turn { turn: Turn::Follows, about: Some(Node::Redis(1)) },
        );
        let story = story.faulted(1..ended, 1, "partition", &[Node::Redis(1)]);
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
fn the_crash_that_cost_a_release_its_answer_is_a_step() {
    let told = |node: Node| {
        let story = Story::new()
            .takes(1, 1, "a")
            .faulted(3..3, 1, "crash", &[node])
            .leaves(4, 1)
            .info(5, 1);
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
