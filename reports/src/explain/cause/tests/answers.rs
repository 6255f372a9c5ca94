use super::*;

fn heard_late(granted: u16, kind: &str) -> Cause {
    let servers =
        |story| (1..=granted).fold(story, |story: Story, n| story.grants_at(2, 1, n, "a"));
    let story = servers(Story::with_quorum(2).acquires(1, 1));
    let story = story.faulted(3..13, 1, kind, &[CLIENT, REDIS]);
    let story = (1..=granted).fold(story, |story, n| story.expires_at(12, n, "a"));
    cause(Kind::WrongAnswer, story.hears(14, 1, "a"))
}

#[test]
fn a_grant_that_is_heard_of_after_its_lease_was_held_up_by_the_fault_between() {
    assert_eq!(heard_late(2, "partition"), Cause::Partition);
    assert_eq!(heard_late(2, "lost-reply"), Cause::LostReply);
    assert_eq!(heard_late(2, "delay"), Cause::Latency);
    assert_eq!(heard_late(1, "partition"), Cause::UnfoundedAnswer, "no fault makes a majority");
}

#[test]
fn a_validity_counted_from_a_late_answer_is_late_and_a_made_up_one_is_not() {
    let valid = |ms| {
        let story = Story::new().acquires(1, 1).grants(2, 1, "a");
        let story = story.fault_began(3, 1, "partition", &[CLIENT, REDIS]);
        let story =
            story.fault_ended(200, 1, "partition", CLIENT).ttl(1_000).with_recorded_leases();
        cause(Kind::WrongAnswer, story.hears_validity(201, 1, "a", ms))
    };
    assert_eq!([valid(1_000), valid(3_000)], [Cause::Partition, Cause::UnfoundedAnswer]);
}

#[test]
fn whoever_enters_without_a_grant_was_told_so_by_the_locks_own_code() {
    let both = |story: Story| {
        let story = story.acquires(1, 1).hears(2, 1, "a").acquires(3, 2).hears(4, 2, "b");
        overlap(story.releases(6, 1).releases(7, 2))
    };
    assert_eq!(both(Story::new()), Cause::UnfoundedAnswer, "no server was asked");
    let before = Story::new().takes(0, 3, "c").releases(0, 3).removed(0, "c", 3);
    assert_eq!(both(before), Cause::UnfoundedAnswer, "the lock is this one");
}

#[test]
fn whoever_enters_without_a_quorum_was_told_so_by_the_locks_own_code() {
    let story = |servers: u16| {
        let story = Story::with_quorum(2).acquires(1, 1).acquires(1, 2);
        let story = (3 - servers..=2).fold(story, |story, n| story.grants_at(2, 1, n, "a"));
        let story = story.hears(3, 1, "a").grants_at(4, 2, 3, "b");
        let story = if servers == 1 { story.grants_at(4, 2, 1, "b") } else { story };
        overlap(story.hears(5, 2, "b").releases(6, 1).releases(7, 2))
    };
    assert_eq!([story(1), story(2)], [Cause::UnfoundedAnswer; 2]);
}

#[test]
fn a_holder_that_leaves_within_a_validity_that_no_server_supported_was_misled() {
    let left = |validity, at| {
        let story = Story::new().ttl(10).acquires(1, 1).grants(2, 1, "a");
        let story = story.hears_validity(3, 1, "a", validity).with_recorded_leases();
        overlap(story.expires(12, "a").takes(13, 2, "b").releases(at, 1).releases(99, 2))
    };
    assert_eq!(left(200, 80), Cause::UnfoundedAnswer);
    assert_eq!(left(200, 240), Cause::HoldTooLong, "it stayed beyond that, too");
    assert_eq!(left(9, 80), Cause::HoldTooLong);
}

#[test]
fn a_confirmed_release_is_confirmed_even_by_the_last_event() {
    let story = Story::new().progress_bound(100).healed(0).acquires(1, 2).takes(2, 1, "a");
    let story = story.leaves(5, 1).left(6, 1).runs_out_of_time(500);
    assert_eq!(cause(Kind::Stuck, story), Cause::UnfoundedAnswer);
}

#[test]
fn the_thread_with_an_open_release_removed_the_lock_of_another() {
    let [one, two] = [Node::Client(1), CLIENT.for_thread(2)];
    let story = Story::new().takes(1, one, "a").acquires(1, two).hears(2, two, "a");
    let story = story.leaves(3, one).removed(4, "a", 1).left(5, one).takes(6, 2, "b");
    let told = overlap(story.releases(8, two).releases(9, 2));
    assert_eq!(told, Cause::SharedOwner);
}

#[test]
fn a_process_that_finds_its_own_value_of_another_process_shares_it() {
    let entered = |owner: &str| {
        let story = Story::new().takes(1, 1, "app").acquires(2, 2).hears(3, 2, owner);
        story.releases(5, 1).removed(5, "app", 1).releases(6, 2).takes(7, 2, "app").releases(8, 2)
    };
    assert_eq!(overlap(entered("app")), Cause::SharedOwner);
    assert_eq!(overlap(entered("another")), Cause::UnfoundedAnswer);
    let judgement = judge(&entered("another").build());
    let told = |kind: Kind| {
        let mut violations = judgement.violations.iter();
        violations.find(|one| one.kind == kind).map_or("", |one| one.summary.as_str())
    };
    let said = "redis-1 had the lock of client-1, with the same value that client-2 writes.";
    assert!(told(Kind::Overlap).ends_with(said), "{}", told(Kind::Overlap));
    let said = "client-2 was told that it got the lock, but no server had granted it.";
    assert!(told(Kind::WrongAnswer).starts_with(said), "{}", told(Kind::WrongAnswer));
}

#[test]
fn a_release_that_lowers_a_count_is_explained_by_the_answer_that_raised_it() {
    let counted =
        |story: Story, ms, count: &str| story.server(ms, 1, Change::Granted, count, Some(CLIENT));
    let story = |fault: Option<&str>| {
        let story = counted(Story::new().acquires(1, 1), 2, "a=1");
        let story = match fault {
            Some(kind) => story
                .fault_began(3, 1, kind, &[CLIENT, REDIS])
                .fault_ended(5, 1, kind, REDIS)
                .fault_began(9, 2, kind, &[CLIENT, REDIS]),
            None => story,
        };
        let story = counted(story, 6, "a=2").hears(7, 1, "a=1");
        counted(story.leaves(10, 1), 11, "a=1").left(12, 1).expires(16, "a=1")
    };
    assert_eq!(cause(Kind::WrongAnswer, story(Some("partition"))), Cause::LostReply);
    assert_eq!(cause(Kind::WrongAnswer, story(Some("delay"))), Cause::Latency);
    assert_eq!(cause(Kind::WrongAnswer, story(None)), Cause::UnfoundedAnswer);
    let judgement = judge(&story(Some("delay")).build());
    let said = "redis-1 still counted an earlier acquire of client-1. A release only lowers the \
                count by one, so the lock remained there.";
    assert!(judgement.violations.iter().any(|one| one.summary.ends_with(said)));
}

#[test]
fn a_late_release_that_removes_the_next_lock_of_its_process_is_a_lost_release() {
    let story = |removed: bool| {
        let story = Story::with_quorum(2)
            .acquires(1, 1)
            .grants_at(1, 1, 1, "a")
            .grants_at(1, 1, 2, "a")
            .hears(1, 1, "a")
            .leaves(2, 1)
            .info(3, 1);
        let story = story.fault_began(2, 1, "partition", &[CLIENT, REDIS]);
        let story = story.removed_at(4, 1, "a", 1).removed_at(4, 2, "a", 1).acquires(5, 1);
        let story = story.grants_at(6, 1, 1, "a").grants_at(6, 1, 2, "a");
        let story = match removed {
            true => story.removed_at(7, 1, "a", 1),
            false => story.expires_at(17, 1, "a").expires_at(17, 2, "a"),
        };
        story.fault_ended(7, 1, "partition", REDIS).hears(18, 1, "a")
    };
    assert_eq!(cause(Kind::WrongAnswer, story(true)), Cause::LostRelease);
    assert_eq!(cause(Kind::WrongAnswer, story(false)), Cause::Partition);
    let judgement = judge(&story(true).build());
    let said = "client-1 had itself removed its lock at redis-1 at 7ms";
    let summaries: Vec<&str> =
        judgement.violations.iter().map(|one| one.summary.as_str()).collect();
    assert!(summaries.iter().any(|one| one.contains(said)), "{summaries:?}");
}

#[test]
fn a_value_that_arrives_during_the_next_acquire_makes_the_answer_of_its_own_acquire_wrong() {
    let servers = [1, 2, 3].map(Node::Redis);
    let cut = [&[CLIENT], &servers[..]].concat();
    let story = Story::with_quorum(2).acquires(1, 1).grants_at(2, 1, 3, "a");
    let story = story.fault_began(2, 1, "partition", &cut).fault_ended(5, 1, "partition", CLIENT);
    let story = story.removed_at(3, 3, "a", 1).fails(4, 1).acquires(6, 1);
    let story = story.fault_began(6, 2, "pause", &[Node::Client(2)]);
    let story = story.grants_at(7, 1, 3, "b").grants_at(8, 1, 1, "a").grants_at(8, 1, 2, "a");
    let story = story.removed_at(9, 3, "b", 1).fails(10, 1);
    assert_eq!(cause(Kind::WrongAnswer, story.clone()), Cause::LostReply);
    let judgement = judge(&story.build());
    let summary = &judgement.violations[0].summary;
    let told = "client-1 was told at 4ms that it did not get the lock, but redis-1 and redis-2 held \
                the value that client-1 had written.";
    assert!(summary.starts_with(told), "{summary}");
}
