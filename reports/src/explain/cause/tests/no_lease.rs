use super::*;

fn paused(story: Story) -> Story {
    let story = story.fault_began(3, 1, "pause", &[CLIENT]);
    story.fault_ended(25, 1, "pause", CLIENT).takes(20, 2, "b").releases(26, 1).releases(27, 2)
}

fn lost(has_lease: bool, ms: u64, change: Change, by: Option<Node>) -> Cause {
    let story = Story::new().takes(1, 1, "a");
    let story = if has_lease { story.with_recorded_leases() } else { story };
    overlap(paused(story.server(ms, 1, change, "a", by)).runs_out_of_time(100))
}

#[test]
fn a_lock_without_an_expiry_is_lost_by_the_change_that_ended_it_and_not_by_a_lease() {
    for ms in [5, 15] {
        assert_eq!(lost(false, ms, Change::Flushed, None), Cause::Flush);
        assert_eq!(lost(false, ms, Change::Evicted, None), Cause::Eviction);
    }
    let other = Some(Node::Client(3));
    assert_eq!(lost(false, 15, Change::Removed, other), Cause::ForeignRelease);
    assert_eq!(lost(true, 15, Change::Flushed, None), Cause::HolderPause, "its lease had ended");
}

#[test]
fn a_lock_that_processes_take_over_by_its_time_has_a_lease() {
    let of_value = |value: &str| {
        let story = Story::new().takes(1, 1, value).server(15, 1, Change::Flushed, value, None);
        overlap(paused(story).runs_out_of_time(100))
    };
    assert_eq!(of_value("1767225600001"), Cause::HolderPause, "waiters compare milliseconds");
    assert_eq!(of_value("1767225600"), Cause::Flush, "no waiter took it over");
    let removed = |left_alone: bool| {
        let story = match left_alone {
            true => Story::new().takes(1, 4, "1767225599").acquires(2, 3).fails(4_000, 3),
            false => Story::new().takes(1, 4, "1767225599").acquires(3_999, 3).fails(4_000, 3),
        };
        let story = story.releases(4_000, 4).removed(4_000, "1767225599", 4);
        let story = story.takes(4_001, 1, "1767225600").fault_began(4_003, 1, "pause", &[CLIENT]);
        let story = story.removed(4_015, "1767225600", 3).takes(4_020, 2, "1767225601");
        let story = story.fault_ended(4_025, 1, "pause", CLIENT).releases(4_026, 1);
        overlap_of_both(story.releases(4_027, 2).runs_out_of_time(4_100))
    };
    assert_eq!(removed(true), Cause::ForeignRelease, "a waiter did not take an old lock over");
    assert_eq!(removed(false), Cause::HolderPause, "a waiter might have taken it over");
    let taken_over = Story::new().takes(0, 3, "1767225600000").takes(0, 4, "1767225600001");
    let taken_over = taken_over.releases(0, 3).releases(0, 4).removed(0, "1767225600001", 4);
    let story = taken_over.takes(1, 1, "a").server(15, 1, Change::Flushed, "a", None);
    assert_eq!(overlap_of_both(paused(story).runs_out_of_time(100)), Cause::HolderPause);
}

fn overlap_of_both(story: Story) -> Cause {
    let history = story.build();
    let timeline = Timeline::new(&history);
    let mut findings = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline));
    let both = [Node::Client(1), Node::Client(2)];
    let finding = findings.find(|one| one.kind == Kind::Overlap && one.processes == both);
    classify(&timeline, &finding.expect("an overlap"))
}

#[test]
fn of_a_lock_without_an_expiry_no_lease_is_said_to_continue() {
    let said = |has_lease: bool| {
        let story = Story::new().takes(1, 1, "a");
        let story = if has_lease { story.with_recorded_leases() } else { story };
        let story = story.redis_crashes(2, 1).server(3, 1, Change::Forgotten, "a", None);
        let story = story.takes(4, 2, "b").releases(6, 1).releases(7, 2).runs_out_of_time(100);
        overlap_said(Cause::RestartWithoutDelay, story)
    };
    let restarted = "redis-1 restarted without client-1's lock and granted the lock to client-2";
    assert_eq!(said(true), format!("{restarted} before client-1's lease would have ended."));
    assert_eq!(said(false), format!("{restarted}."));
}
