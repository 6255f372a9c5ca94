use super::*;

#[test]
fn the_clock_of_the_process_that_replaced_the_value_counts_and_not_that_of_a_later_one() {
    let story = |stepped: u16| {
        let story = Story::new().fault_began(1, 1, "clock-jump", &[Node::Client(stepped)]);
        let story = story.takes(2, 1, "a").takes(4, 3, "c").releases(5, 3).removed(5, "c", 3);
        let history = story.takes(6, 2, "b").releases(8, 1).releases(9, 2).build();
        let timeline = Timeline::new(&history);
        let mut findings = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline));
        let both = [Node::Client(1), Node::Client(2)];
        let finding = findings.find(|one| one.kind == Kind::Overlap && one.processes == both);
        classify(&timeline, &finding.expect("an overlap"))
    };
    assert_eq!(story(3), Cause::ClockJump);
    assert_eq!(story(1), Cause::ClockJump);
    assert_eq!(story(2), Cause::Interleaving, "it found the lock free");
}

#[test]
fn a_fast_clock_that_replaces_the_value_of_a_loser_is_a_clock_jump() {
    let story = |stepped: u16| {
        let hit = [Node::Client(stepped)];
        let story = Story::new().ttl(10_000).acquires(1, 2).takes(2, 1, "a").acquires(3, 3);
        let story = story.fault_began(3, 1, "clock-jump", &hit);
        let story = story.server(4, 1, Change::Granted, "b", Some(Node::Client(2)));
        let story = story.grants(5, 3, "c").hears(6, 3, "c");
        overlap(story.releases(8, 1).releases(9, 3))
    };
    assert_eq!(story(3), Cause::ClockJump, "the process that replaced the value");
    assert_eq!(story(2), Cause::ClockJump, "the process that wrote the value");
    assert_eq!(story(1), Cause::Interleaving, "its value had been overwritten");
}

#[test]
fn a_key_that_ran_out_early_did_so_by_the_clock_of_its_server() {
    let expired = || early(|story| story.expires(3, "a"));
    assert_eq!(overlap(expired().fault_began(2, 1, "clock-jump", &[REDIS])), Cause::ClockJump);
    let drifts = |expired_ms: u64| {
        let story = Story::new().takes(1, 1, "a").fault_began(2, 1, "clock-drift", &[REDIS]);
        let story = story.expires(expired_ms, "a").takes(8, 2, "b");
        overlap(story.releases(9, 1).releases(9, 2))
    };
    assert_eq!(drifts(7), Cause::ClockDrift);
    assert_eq!(drifts(5), Cause::Unexplained, "no clock runs at twice the rate");
    let both = expired().fault_began(2, 1, "clock-drift", &[REDIS]).fault_began(
        2,
        2,
        "clock-jump",
        &[REDIS],
    );
    assert_eq!(overlap(both), Cause::ClockJump);
}

#[test]
fn a_lease_that_another_process_overwrites_at_once_ended_by_no_drift_and_no_rounding() {
    let server = Node::Server(1);
    let race = |taken_ms: u64, drifting: &[Node], at_server: bool| {
        let story = Story::new().ttl(10_000).takes(1, 1, "a").takes(taken_ms, 2, "b");
        let story = match drifting {
            [] => story,
            nodes => story.fault_began(0, 1, "clock-drift", nodes),
        };
        let story = story.with_recorded_leases_of(Micros::from_millis(9_500));
        let story = if at_server { story.at_servers() } else { story };
        overlap(story.releases(taken_ms + 10, 1).releases(taken_ms + 11, 2))
    };
    for at_server in [false, true] {
        let drifting = if at_server { server } else { REDIS };
        assert_eq!(race(4, &[], at_server), Cause::Interleaving);
        assert_eq!(race(4, &[drifting], at_server), Cause::Interleaving);
        assert_eq!(race(4, &[CLIENT], at_server), Cause::Interleaving, "it compares no clock");
    }
    assert_eq!(race(8_000, &[REDIS], false), Cause::ClockDrift, "the lease may have ended");
    assert_eq!(race(9_000, &[], true), Cause::CoarseExpiry, "the lease may have ended");
}

#[test]
fn a_clock_that_jumped_before_the_lease_or_elsewhere_does_not_count() {
    let expired = || early(|story| story.expires(3, "a"));
    assert_eq!(overlap(expired().fault_began(0, 1, "clock-jump", &[REDIS])), Cause::Unexplained);
    assert_eq!(
        overlap(expired().fault_began(2, 1, "clock-jump", &[Node::Redis(2)])),
        Cause::Unexplained
    );
}

#[test]
fn of_several_clocks_that_were_stepped_the_one_that_ended_the_lock_is_named() {
    let said = |redis_ms| {
        let story = Story::new().fault_began(1, 1, "clock-jump", &[Node::Client(2)]);
        let story = story.fault_began(redis_ms, 2, "clock-jump", &[REDIS]).takes(3, 1, "a");
        let story = story.takes(5, 2, "b").releases(6, 1).releases(7, 2);
        explained(Kind::Overlap, story)
    };
    let by = |clock| {
        let said = format!("The clock of {clock}, so the lock of client-1 expired too early.");
        (Cause::ClockJump, said)
    };
    assert_eq!(said(2), by("client-2 was stepped at 1ms (fault 1)"));
    assert_eq!(said(4), by("redis-1 was stepped at 4ms (fault 2)"));
}

#[test]
fn a_server_that_compared_the_time_of_a_stepped_clock_is_named() {
    let said = |expired_at: u16| {
        let story = Story::new().faulted(0..0, 1, "clock-jump", &[Node::Redis(1)]).ttl(100);
        let story = story.takes(1, 1, "a").replicated(2, 2, "a");
        let story = story.expires_at(4, expired_at, "a").acquires(5, 2);
        let story = story.grants_at(6, 2, expired_at, "b").hears(7, 2, "b");
        overlap_said(Cause::ClockJump, story.releases(30, 1).releases(31, 2))
    };
    assert!(said(2).contains("redis-2 compared the end of the lease"), "{}", said(2));
    assert!(said(1).contains("(fault 1), so the lock of client-1"), "{}", said(1));
}

#[test]
fn of_several_masters_all_clocks_that_the_later_quorum_needed_are_named() {
    let said = |steps: &[u16]| {
        let mut story = Story::with_quorum(2).ttl(100).acquires(1, 1);
        for redis in [1, 2, 3] {
            story = story.grants_at(2, 1, redis, "a");
        }
        story = story.hears(3, 1, "a");
        for redis in steps {
            let server = Node::Redis(*redis);
            let id = u32::from(*redis);
            story = story.fault_began(4, id, "clock-jump", &[server]);
            story = story.fault_ended(4, id, "clock-jump", server).expires_at(5, *redis, "a");
        }
        story = story.acquires(6, 2).grants_at(7, 2, 1, "b").grants_at(8, 2, 2, "b");
        let story = story.hears(9, 2, "b").releases(30, 1).releases(31, 2);
        overlap_said(Cause::ClockJump, story)
    };
    let both = "The clocks of redis-1 and redis-2 were stepped (faults 1, 2), so";
    assert!(said(&[1, 2]).starts_with(both), "{}", said(&[1, 2]));
    assert!(said(&[1, 2, 3]).starts_with(both), "{}", said(&[1, 2, 3]));
    let one = "The clock of redis-1 was stepped at 4ms (fault 1), so";
    assert!(said(&[1]).starts_with(one), "{}", said(&[1]));
}

#[test]
fn of_a_time_in_the_value_the_clock_that_a_process_compared_it_with_is_named() {
    let said = |cause: Cause, kind: &str, has_lease: bool| {
        let story = Story::new().ttl(10_000).takes(1, 1, "1767225600001:a");
        let story = story.fault_began(2, 1, kind, &[Node::Client(2)]);
        let story = story.fault_began(3, 2, kind, &[REDIS]).takes(8_000, 2, "1767225608000:b");
        let story = if has_lease { story.with_recorded_leases() } else { story };
        overlap_said(cause, story.releases(9_000, 1).releases(9_001, 2))
    };
    assert_eq!(
        said(Cause::ClockDrift, "clock-drift", false),
        "The clock of client-2 ran at the wrong rate from 2ms (fault 1), so the lease of client-1 \
         expired earlier by the clock of client-2 than by the clock of client-1."
    );
    assert_eq!(
        said(Cause::ClockJump, "clock-jump", false),
        "The clock of client-2 was stepped at 2ms (fault 1), so client-2 replaced the lock of \
         client-1 too early."
    );
    let at_server = said(Cause::ClockDrift, "clock-drift", true);
    assert!(at_server.ends_with("by the server's clock than by the holder's."), "{at_server}");
}

#[test]
fn a_fast_clock_does_not_excuse_a_holder_that_stays_beyond_the_correct_end_of_its_lease() {
    let left = |story: Story, left_ms: u64| {
        let story = story.takes(1, 1, "a").fault_began(2, 1, "clock-drift", &[REDIS]);
        let story = story.expires(8, "a").takes(8, 2, "b");
        overlap(story.releases(left_ms, 1).releases(99, 2))
    };
    assert_eq!(left(Story::new(), 10), Cause::ClockDrift);
    assert_eq!(left(Story::new(), 13), Cause::HoldTooLong);
    assert_eq!(left(Story::new().renewing(), 13), Cause::ClockDrift, "it would have renewed it");
    let wrote = |at_ms: u64| {
        let story = Story::new().takes(1, 1, "a").fault_began(2, 1, "clock-drift", &[REDIS]);
        let story = story.expires(8, "a").takes(8, 2, "b").writes(9, 2, 0, 1);
        let story = story.writes(at_ms, 1, 0, 2).releases(14, 1).releases(99, 2);
        cause(Kind::StaleWrite, story)
    };
    assert_eq!(wrote(10), Cause::ClockDrift, "a correct clock allows the write");
    assert_eq!(wrote(13), Cause::HoldTooLong);
}

#[test]
fn a_time_from_the_server_ends_a_lock_by_the_clock_of_the_server_only() {
    let story = |values: [&str; 2], hit: Node| {
        let story = Story::new().ttl(10_000).takes(1, 3, "1767225600001");
        let story = story.releases(1, 3).removed(1, "1767225600001", 3);
        let steps = |story: Story| story.fault_began(3, 1, "clock-jump", &[hit]);
        let [held, taken] = values;
        let story = match held {
            "1767225600002" => steps(story.takes(2, 1, held)),
            _ => steps(story).takes(4, 1, held),
        };
        story.takes(4_000, 2, taken).releases(5_000, 1).releases(5_001, 2)
    };
    let [right, ahead] = ["1767225604000", "1767225611000"];
    let stepped = story(["1767225600002", ahead], REDIS);
    assert_eq!(overlap(stepped.clone()), Cause::ClockJump);
    assert_eq!(
        overlap_said(Cause::ClockJump, stepped),
        "The clock of redis-1 was stepped at 3ms (fault 1), so the lock of client-1 expired too \
         early."
    );
    let by_processes = |hit| overlap(story(["1767225600002", right], hit));
    assert_eq!(by_processes(REDIS), Cause::Interleaving, "no process asked the server");
    assert_eq!(by_processes(Node::Client(2)), Cause::ClockJump);
    let before = story(["1767225607004", ahead], REDIS);
    assert_eq!(overlap(before), Cause::Interleaving, "the step came before both times");
}
