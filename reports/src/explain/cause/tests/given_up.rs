use super::*;

#[test]
fn what_a_call_that_was_given_up_left_behind_is_told_from_what_a_fault_did() {
    let granted = || Story::new().grants(1, 1, "a");
    assert_eq!(cause_of_standstill(granted().cancels(3, 1)), Cause::GivenUpCall);
    let interrupted = granted().gives_up(2, 1, GivingUp::Interrupted);
    assert_eq!(cause_of_standstill(interrupted.clone().info(3, 1)), Cause::GivenUpCall);
    let unheard = loses_reply(granted().info(3, 1), 1, 2);
    assert_eq!(cause_of_standstill(unheard), Cause::LostReply, "nobody gave anything up");
    let taken = || Story::new().takes(1, 1, "a").leaves(3, 1);
    assert_eq!(cause_of_standstill(taken().cancels(4, 1)), Cause::GivenUpCall);
    assert_eq!(cause_of_standstill(taken().info(4, 1)), Cause::LostRelease);
    assert_eq!(cause_of_standstill(granted().cancels(3, 1).crashes(4, 1)), Cause::HolderCrash);
    let in_all_the_same = interrupted.hears(3, 1, "a").leaves(4, 1).info(5, 1);
    assert_eq!(
        cause_of_standstill(in_all_the_same),
        Cause::LostRelease,
        "the acquire was not in vain"
    );
}

#[test]
fn a_lock_that_counts_may_have_been_taken_once_more_than_the_application_knows() {
    let count = |ms, count: &str| {
        let value = format!("a={count}");
        move |story: Story| story.server(ms, 1, Change::Granted, &value, Some(CLIENT))
    };
    let inner = |gives_up: bool| {
        let story = count(4, "2")(Story::new().ttl(900).takes(1, 1, "a=1").acquires(3, 1));
        let story = match gives_up {
            true => story.cancels(5, 1),
            false => loses_reply(story.info(5, 1), 3, 5),
        };
        count(7, "1")(story.leaves(6, 1)).left(8, 1)
    };
    assert_eq!(cause_of_standstill(inner(true)), Cause::GivenUpCall);
    assert_eq!(cause_of_standstill(inner(false)), Cause::LostReply);
}

#[test]
fn a_release_that_was_given_up_may_leave_a_count_unless_it_was_applied_or_answered() {
    let count = |ms, count: &str| {
        let value = format!("a={count}");
        move |story: Story| story.server(ms, 1, Change::Granted, &value, Some(CLIENT))
    };
    let again = |gives_up: bool| {
        let story = Story::new().ttl(900).takes(1, 1, "a=1").leaves(2, 1);
        let story = if gives_up { story.cancels(3, 1) } else { story.info(3, 1) };
        let story = count(5, "2")(story.acquires(4, 1)).hears(6, 1, "a=1").leaves(7, 1);
        count(8, "1")(story).left(9, 1)
    };
    assert_eq!(cause_of_standstill(again(true)), Cause::GivenUpCall, "a release");
    assert_eq!(cause_of_standstill(again(false)), Cause::Unexplained);
    // The release that the application gives up frees the lock, lowers its count or succeeds.
    let harmless = |release: &dyn Fn(Story) -> Story| {
        let story = count(2, "2")(Story::new().ttl(900).takes(1, 1, "a=1")).leaves(3, 1);
        let story = count(7, "2")(release(story).acquires(6, 1)).hears(8, 1, "a=1").leaves(9, 1);
        cause_of_standstill(count(10, "1")(story).left(11, 1))
    };
    let removed = |story: Story| story.removed(4, "a=2", 1).cancels(5, 1);
    assert_eq!(harmless(&removed), Cause::Unexplained);
    assert_eq!(harmless(&|story| count(4, "1")(story).cancels(5, 1)), Cause::Unexplained);
    let succeeds = |story: Story| story.gives_up(4, 1, GivingUp::Interrupted).left(5, 1);
    assert_eq!(harmless(&succeeds), Cause::Unexplained);
    assert_eq!(harmless(&|story| story.cancels(5, 1)), Cause::GivenUpCall);
}

#[test]
fn who_may_still_count_a_call_that_was_given_up_is_in_its_own_way() {
    let story = |gives_up: bool| {
        let story = Story::new().takes(1, 1, "a").leaves(3, 1).removed(4, "a", 1);
        let story = if gives_up { story.cancels(5, 1) } else { story.info(5, 1) };
        let story = story.progress_bound(100).healed(20).acquires(21, 1).fails(130, 1);
        cause(Kind::Stuck, story)
    };
    assert_eq!(story(true), Cause::GivenUpCall);
    assert_eq!(story(false), Cause::Unexplained);
}

#[test]
fn a_lock_of_a_call_that_was_not_given_up_is_not_due_to_the_calls_that_were() {
    let story = |gives_up: bool| {
        let story = Story::new().acquires(0, 2).cancels(0, 2).acquires(0, 1).cancels(1, 1);
        let story = story.takes(2, 1, "b").releases(4, 1).removed(4, "b", 1);
        let story = story.acquires(5, 1).grants(6, 1, "a");
        let story = if gives_up { story.cancels(7, 1) } else { story.info(7, 1) };
        let story = story.expires(12, "a").acquires(12, 2).fails(95, 2).healed(0);
        cause(Kind::Stuck, story.progress_bound(60).runs_out_of_time(99))
    };
    assert_eq!(story(true), Cause::GivenUpCall);
    assert_ne!(story(false), Cause::GivenUpCall);
}

#[test]
fn the_lock_delay_of_a_call_that_was_given_up_blocks_the_probe_too() {
    let story = |delay: u64| {
        let story = Story::with_sessions().with_lock_delay(delay).acquires(1, 1).grants(2, 1, "a");
        let story = story.cancels(3, 1).acquires(4, 1).expires(13, "a");
        story.progress_bound(40).healed(20).probe_acquires(21).probe_fails(70)
    };
    assert_eq!(cause(Kind::Stuck, story(60)), Cause::GivenUpCall);
    let judgement = judge(&story(60).build());
    let said = "The lock of that call remained until its session ended, and then its lock-delay of \
                60ms blocked every process.";
    let summaries: Vec<&str> =
        judgement.violations.iter().map(|one| one.summary.as_str()).collect();
    assert!(summaries.iter().any(|one| one.ends_with(said)), "{summaries:?}");
}
