use super::*;
use std::ops::Range;

#[test]
fn a_release_of_another_thread_that_was_not_late_took_one_for_the_other() {
    let thread = CLIENT.for_thread(2);
    let left = |ends: fn(Story) -> Story| {
        let first = ends(Story::new().takes(1, 1, "a").leaves(2, 1))
            .acquires(4, thread)
            .hears(5, thread, "a");
        first.removed(6, "a", 1).takes(7, 2, "b").releases(8, thread).releases(9, 2)
    };
    assert_eq!(overlap(left(|story| story.info(3, 1))), Cause::LostRelease);
    assert_eq!(overlap(left(|story| story.left(3, 1))), Cause::SharedOwner);
    let story = Story::new().takes(1, 1, "a").leaves(2, 1).acquires(4, thread);
    let story = story.hears(5, thread, "a").removed(6, "a", 1).left(7, 1).takes(7, 2, "b");
    assert_eq!(overlap(story.releases(8, thread).releases(9, 2)), Cause::SharedOwner);
}

#[test]
fn a_write_that_was_on_its_way_when_the_lock_changed_hands_is_storage_delay() {
    assert_eq!(cause(Kind::StaleWrite, late_write()), Cause::StorageDelay);
    let delayed = late_write().fault_began(2, 1, "delay", &[CLIENT, Node::Storage]);
    assert_eq!(cause(Kind::StaleWrite, delayed), Cause::StorageDelay);
}

#[test]
fn who_had_the_lock_alone_and_repeats_a_number_computed_it_from_an_older_value() {
    let first = || Story::of_workload("sequence").takes(1, 1, "a").writes(2, 1, 0, 1);
    let alone = first().releases(3, 1).removed(3, "a", 1).takes(5, 2, "b").writes(6, 2, 0, 1);
    assert_eq!(cause(Kind::DuplicateNumber, alone.releases(7, 2)), Cause::OldValue);
    let together = first().expires(4, "a").takes(5, 2, "b").writes(6, 2, 0, 1).releases(7, 2);
    assert_ne!(cause(Kind::DuplicateNumber, together.releases(8, 1)), Cause::OldValue);
    let late = Story::of_workload("sequence").takes(1, 1, "a").releases(4, 1).removed(4, "a", 1);
    let late = late.takes(5, 2, "b").late_write(6, 1, 2, 0, 1).writes(7, 2, 0, 1).releases(8, 2);
    assert_eq!(cause(Kind::DuplicateNumber, late), Cause::StorageDelay);
}

#[test]
fn who_repeats_a_number_that_another_process_took_back_did_not_read_an_older_value() {
    let story = |workload: &str| {
        let story = Story::of_workload(workload).takes(1, 2, "b").reads(2, 2, 0).expires(11, "b");
        let story = story.takes(12, 1, "a").writes(13, 1, 0, 2).releases(14, 1);
        let story = story.removed(14, "a", 1).writes(15, 2, 0, 1).releases(16, 2);
        story.takes(17, 3, "c").reads(18, 3, 1).writes(19, 3, 1, 2).releases(20, 3)
    };
    assert_eq!(cause(Kind::DuplicateNumber, story("sequence")), Cause::HoldTooLong);
    assert_eq!(cause(Kind::RepeatedJob, story("jobs")), Cause::HoldTooLong);
}

#[test]
fn who_overwrites_another_holders_write_or_was_not_alone_did_not_read_an_older_value() {
    let first = |workload: &str| {
        let story = Story::of_workload(workload).takes(1, 1, "a").writes(2, 1, 0, 2);
        story.releases(3, 1).removed(3, "a", 1).takes(5, 2, "b").expires(15, "b")
    };
    let overrun = |story: Story| story.writes(20, 2, 1, 2).releases(21, 2);
    let inside = |workload: &str| overrun(first(workload).takes(16, 3, "c").releases(25, 3));
    assert_ne!(cause(Kind::DuplicateNumber, inside("sequence")), Cause::OldValue);
    assert_ne!(cause(Kind::RepeatedJob, inside("jobs")), Cause::UnrecordedJob);
    let wrote = |workload: &str| {
        let story = first(workload).takes(16, 3, "c").writes(17, 3, 2, 3).releases(18, 3);
        overrun(story.removed(18, "c", 3))
    };
    assert_eq!(cause(Kind::DuplicateNumber, wrote("sequence")), Cause::HoldTooLong);
    assert_eq!(cause(Kind::RepeatedJob, wrote("jobs")), Cause::HoldTooLong);
}

#[test]
fn a_job_whose_record_the_storage_refused_is_unrecorded_and_a_record_is_not_overlooked() {
    let first = Story::of_workload("jobs").takes(1, 1, "a").reads(2, 1, 0);
    let again = |story: Story| {
        let story = story.releases(4, 1).removed(4, "a", 1).takes(5, 2, "b");
        cause(Kind::RepeatedJob, story.writes(7, 2, 0, 1).releases(8, 2))
    };
    assert_eq!(again(first.clone().rejects_write(3, 1, 0, 1)), Cause::UnrecordedJob);
    assert_eq!(again(first.writes(3, 1, 0, 1)), Cause::OldValue);
}

#[test]
fn who_waits_for_the_storage_until_the_lease_is_over_did_not_work_too_long() {
    let waits = |from, until| overrun(20).waits_for_storage(from, until, 1);
    let delayed = |story: Story| story.fault_began(2, 1, "delay", &[CLIENT, Node::Storage]);
    assert_eq!(overlap(delayed(waits(3, 19))), Cause::StorageDelay);
    assert_eq!(overlap(waits(3, 19)), Cause::HoldTooLong, "nothing held it up");
    assert_eq!(overlap(delayed(waits(3, 5))), Cause::HoldTooLong, "it would have been late anyway");
}

#[test]
fn a_pause_between_sending_and_landing_is_a_holder_pause_but_a_clock_fault_of_the_storage_delays_nothing()
 {
    let paused = late_write().faulted(3..4, 1, "pause", &[CLIENT]);
    assert_eq!(cause(Kind::StaleWrite, paused.clone()), Cause::HolderPause);
    let drifting = paused.clone().fault_began(2, 2, "clock-drift", &[Node::Storage]);
    assert_eq!(cause(Kind::StaleWrite, drifting), Cause::HolderPause);
    let delayed = paused.fault_began(2, 2, "delay", &[Node::Storage]);
    assert_eq!(cause(Kind::StaleWrite, delayed), Cause::StorageDelay);
}

#[test]
fn a_write_that_was_sent_late_has_the_cause_of_the_overlap() {
    let story = overrun(20).faulted(5..14, 1, "pause", &[CLIENT]);
    let story = story.reads(13, 2, 0).writes(15, 1, 0, 9);
    assert_eq!(cause(Kind::StaleWrite, story), Cause::HolderPause);
}

#[test]
fn an_update_lost_to_a_late_write_has_its_cause() {
    let story = Story::new()
        .takes(1, 1, "a")
        .reads(2, 1, 0)
        .expires(11, "a")
        .takes(12, 2, "b")
        .reads(13, 2, 0);
    let story = story.writes(14, 1, 0, 1).writes(15, 2, 0, 1).fault_began(3, 1, "pause", &[CLIENT]);
    assert_eq!(
        cause(Kind::LostUpdate, story.fault_ended(13, 1, "pause", CLIENT)),
        Cause::HolderPause
    );
}

#[test]
fn a_foreign_release_has_the_cause_that_let_the_remover_overrun() {
    let story = overrun(20).removed(20, "b", 1).fault_began(5, 1, "pause", &[CLIENT]);
    assert_eq!(
        cause(Kind::ForeignRelease, story.fault_ended(19, 1, "pause", CLIENT)),
        Cause::HolderPause
    );
}

fn late_release(sent: u64) -> Story {
    let story = Story::new().takes(1, 1, "1").leaves(sent, 1).info(sent + 1, 1).expires(11, "1");
    story.takes(12, 2, "1").removed(14, "1", 1).releases(15, 2)
}

#[test]
fn a_release_that_was_held_up_removes_the_lock_of_the_next_holder() {
    assert_eq!(cause(Kind::ForeignRelease, late_release(5)), Cause::LostRelease);
    // Only a pause that contains the change of the lock but not the release's arrival is the cause.
    for (until, expected) in
        [(11, Cause::LostRelease), (13, Cause::HolderPause), (15, Cause::LostRelease)]
    {
        let story = Story::new()
            .takes(1, 1, "1")
            .leaves(5, 1)
            .fault_began(6, 1, "pause", &[CLIENT])
            .expires(11, "1");
        let ends = |story: Story, at| {
            if at == until { story.fault_ended(at, 1, "pause", CLIENT) } else { story }
        };
        let story = ends(story, 11).takes(12, 2, "1");
        let story = ends(story, 13).removed(14, "1", 1);
        assert_eq!(
            cause(Kind::ForeignRelease, ends(story, 15).releases(16, 2)),
            expected,
            "until {until}"
        );
    }
    // A sender that leaves after the lock has changed hands worked for longer than its lease.
    let story =
        Story::new().takes(1, 1, "1").expires(11, "1").takes(12, 2, "1").leaves(13, 1).info(13, 1);
    assert_eq!(
        cause(Kind::ForeignRelease, story.removed(14, "1", 1).releases(15, 2)),
        Cause::HoldTooLong
    );
}

#[test]
fn a_release_that_a_paused_server_executed_afterwards_was_not_delayed_by_the_network() {
    let said = |delays: Option<Node>| {
        let story = Story::new().takes(1, 1, "1").fault_began(3, 1, "pause", &[REDIS]);
        let story = story.leaves(5, 1).info(6, 1).fault_ended(11, 1, "pause", REDIS);
        let story = match delays {
            Some(node) => story.fault_began(4, 2, "delay", &[node, REDIS]),
            None => story,
        };
        let story = story.expires(11, "1").takes(11, 2, "1").removed(12, "1", 1).releases(15, 2);
        let (cause, said) = explained(Kind::ForeignRelease, story);
        assert_eq!(cause, Cause::LostRelease);
        said
    };
    let by_server = "client-1 had sent the release at 5ms, before client-2 was granted the lock, \
                     but redis-1 was paused from 3ms to 11ms and executed it only \
                     afterwards.";
    assert_eq!(said(None), by_server);
    assert_eq!(said(Some(Node::Redis(2))), by_server, "a delay elsewhere");
    let by_network = said(Some(CLIENT));
    assert!(by_network.ends_with("but the network delivered it only afterwards."), "{by_network}");
}

#[test]
fn a_release_of_an_earlier_lock_that_arrives_late_removes_the_next_lock_of_the_same_process() {
    let story = |unheard: bool| {
        let story = Story::new().takes(1, 1, "id").leaves(2, 1);
        let story = if unheard { story.info(3, 1) } else { story.left(3, 1) };
        let story = story
            .removed(3, "id", 1)
            .acquires(4, 1)
            .grants(5, 1, "id")
            .removed(6, "id", 1)
            .hears(7, 1, "id");
        story.takes(8, 2, "other").releases(9, 1).releases(10, 2)
    };
    assert_eq!(overlap(story(true)), Cause::LostRelease);
    assert_eq!(overlap(story(false)), Cause::EarlyRelease, "every release was answered");
    let inside = |unheard: bool, gives_back: bool| {
        let story = Story::new().takes(1, 1, "id").leaves(2, 1);
        let story = if unheard { story.info(3, 1) } else { story.left(3, 1) };
        let story = story.takes(4, 1, "id");
        let story =
            if gives_back { story.acquires(5, 1).hears(6, 1, "id").leaves(7, 1) } else { story };
        let story = story.removed(8, "id", 1);
        let story = if gives_back { story.left(9, 1) } else { story };
        overlap(story.takes(9, 2, "other").releases(10, 1).releases(11, 2))
    };
    assert_eq!(inside(true, false), Cause::LostRelease);
    assert_eq!(inside(false, false), Cause::EarlyRelease, "every release was answered");
    assert_eq!(inside(true, true), Cause::EarlyRelease, "its inner hold was given back");
}

#[test]
fn an_answer_is_misheard_by_a_fault_between_the_two_and_not_by_one_elsewhere() {
    let story = |cut: u16| {
        let story = Story::new().acquires(1, 1).grants(3, 1, "a").fails(5, 1);
        let nodes = [Node::Client(cut), REDIS];
        let story = story.fault_began(2, 1, "partition", &nodes);
        cause(Kind::WrongAnswer, story.fault_ended(6, 1, "partition", REDIS))
    };
    assert_eq!(story(1), Cause::LostReply);
    assert_eq!(story(2), Cause::UnfoundedAnswer);
}

#[test]
fn what_is_told_as_given_back_and_stands_on_without_a_fault_is_the_own_answer_of_the_lock() {
    let told = |story: Story| {
        let story = story.takes(1, 1, "a").leaves(3, 1).left(5, 1).with_recorded_leases();
        cause(Kind::WrongAnswer, story)
    };
    assert_eq!(told(Story::new()), Cause::UnfoundedAnswer);
    let cut = Story::new().fault_began(2, 1, "partition", &[CLIENT, REDIS]);
    assert_eq!(told(cut.fault_ended(6, 1, "partition", REDIS)), Cause::LostRelease);
}

#[test]
fn a_fault_keeps_no_answer_from_a_call_without_length_or_from_a_later_call() {
    let told = |fault: Range<u64>, called: Range<u64>| {
        let story = Story::new().takes(1, 1, "a").faulted(fault, 1, "partition", &[CLIENT, REDIS]);
        let story = story.leaves(called.start, 1).left(called.end, 1);
        cause(Kind::WrongAnswer, story.with_recorded_leases())
    };
    assert_eq!(told(2..6, 3..5), Cause::LostRelease);
    assert_eq!(told(2..6, 4..4), Cause::UnfoundedAnswer, "the call sent nothing");
    assert_eq!(told(2..3, 3..5), Cause::UnfoundedAnswer, "the fault was over");
    let of_masters = |called: Range<u64>| {
        let story = Story::with_quorum(2).acquires(1, 1);
        let story = story.grants_at(1, 1, 1, "a").grants_at(1, 1, 2, "a").hears(1, 1, "a");
        let story = story.faulted(2..6, 1, "pause", &[Node::Client(2)]);
        let story = story.leaves(called.start, 1).left(called.end, 1);
        cause(Kind::WrongAnswer, story.with_recorded_leases())
    };
    assert_eq!(of_masters(4..4), Cause::UnfoundedAnswer);
    assert_eq!(of_masters(3..5), Cause::Unexplained, "a fault was active during the call");
}

#[test]
fn the_release_after_the_one_that_arrived_late_was_sent_after_the_next_grant() {
    let story = Story::new().takes(1, 1, "1").leaves(2, 1).info(3, 1).expires(11, "1");
    let story = story.takes(12, 1, "1").removed(13, "1", 1).takes(14, 2, "1");
    let story = story.leaves(15, 1).removed(16, "1", 1).left(17, 1).releases(18, 2);
    let told = "A release that client-1 had sent at 2ms for an earlier lock arrived late and \
                removed the later lock of client-1. The next release of client-1 then removed the \
                lock of client-2.";
    assert_eq!(explained(Kind::ForeignRelease, story), (Cause::LostRelease, told.to_owned()));
}

#[test]
fn a_grant_or_a_loss_that_no_server_knows_of_is_the_own_answer_of_the_lock() {
    let told = |story: Story| cause(Kind::WrongAnswer, story.with_recorded_leases());
    let lost = || Story::new().takes(1, 1, "a").loses(5, 1);
    assert_eq!(told(lost()), Cause::UnfoundedAnswer);
    let unheard = lost().fault_began(4, 1, "lost-reply", &[CLIENT, REDIS]);
    assert_eq!(told(unheard.fault_ended(5, 1, "lost-reply", REDIS)), Cause::LostReply);
    let few = Story::with_quorum(2).acquires(1, 1).grants_at(2, 1, 1, "a").hears(3, 1, "a");
    assert_eq!(told(few.clone()), Cause::UnfoundedAnswer);
    let cut = few.fault_began(2, 1, "partition", &[CLIENT, Node::Redis(2)]);
    assert_eq!(told(cut), Cause::UnfoundedAnswer, "no fault makes a majority");
}

#[test]
fn who_is_refused_with_its_second_node_has_an_orphan_as_its_first() {
    let twice = |story: Story, client: u16| {
        story.keyed(2, &format!("{KEY}/twice"), Change::Granted, "b", client)
    };
    let refused = |story: Story| cause(Kind::WrongAnswer, story.grants(3, 1, "a").fails(5, 1));
    let asks = || Story::with_sessions().acquires(1, 1);
    assert_eq!(refused(twice(asks(), 1)), Cause::OrphanNode);
    assert_eq!(refused(twice(asks(), 2)), Cause::Unexplained, "another process has two nodes");
    let earlier = twice(Story::with_sessions(), 1).acquires(3, 1);
    assert_eq!(refused(earlier), Cause::Unexplained, "it was another acquire");
}

#[test]
fn a_release_that_arrives_late_is_late_though_an_inner_one_was_answered_meanwhile() {
    let story = |answered: u64| {
        let story = Story::new().ttl(100).takes(1, 1, "a").leaves(2, 1).info(3, 1);
        let story = story.acquires(4, 1).server(5, 1, Change::Extended, "a", Some(CLIENT));
        let story = story.hears(5, 1, "a").acquires(6, 1).hears(6, 1, "a").leaves(7, 1);
        let story = story.left(answered, 1).removed(9, "a", 1).takes(10, 2, "b");
        overlap(story.releases(12, 1).releases(13, 2))
    };
    assert_eq!(story(8), Cause::LostRelease);
    assert_eq!(story(11), Cause::EarlyRelease, "the inner release was still open");
}

#[test]
fn a_release_that_was_sent_again_after_the_server_had_died_is_no_late_message() {
    let story = |dies: bool| {
        let story = Story::new().takes(1, 1, "a").leaves(2, 1);
        let story = match dies {
            true => story.redis_crashes(3, 1).redis_starts(12, 1),
            false => story,
        };
        let story = story.server(11, 1, Change::Expired, "a", None).takes(13, 2, "b");
        cause(Kind::ForeignRelease, story.removed(14, "b", 1).left(15, 1).releases(16, 2))
    };
    assert_eq!(story(true), Cause::ForeignRelease);
    let twice = Story::new().takes(1, 1, "a").leaves(2, 1).removed(3, "a", 1).takes(5, 2, "b");
    let twice = twice.removed(7, "b", 1).left(8, 1).releases(9, 2);
    assert_eq!(cause(Kind::ForeignRelease, twice), Cause::ForeignRelease, "a second command");
    let down = Story::new().takes(1, 1, "a").redis_crashes(2, 1).leaves(3, 1).redis_starts(20, 1);
    let down = down.server(20, 1, Change::Forgotten, "a", None).takes(21, 2, "b");
    let down = down.removed(22, "b", 1).left(23, 1).releases(24, 2);
    assert_eq!(cause(Kind::ForeignRelease, down), Cause::ForeignRelease);
    assert_eq!(story(false), Cause::LostRelease);
}

#[test]
fn a_lease_that_another_process_shortened_is_an_orphan_renewal() {
    let story = |by: u16| {
        let story = Story::new().takes(1, 1, "a").with_recorded_leases();
        let story = story.sets_lease(2, by, Some(3)).expires(5, "a").takes(6, 2, "b");
        overlap(story.releases(7, 1).releases(8, 2))
    };
    assert_eq!(story(3), Cause::OrphanRenewal);
    assert_eq!(story(1), Cause::MissedRenewal, "its own lease had expired");
}

#[test]
fn a_holder_that_removes_its_lock_in_order_to_take_it_again_loses_it_when_another_is_quicker() {
    let story = Story::new().takes(1, 1, "a").removed(6, "a", 1);
    let story = story.server(7, 1, Change::Granted, "a", Some(CLIENT)).removed(12, "a", 1);
    let cause = overlap(story.takes(13, 2, "b").releases(14, 1).releases(15, 2));
    assert_eq!(cause, Cause::EarlyRelease, "its lease had been set again at 7 ms");
}

#[test]
fn a_write_that_its_process_sent_after_its_release_was_not_delayed() {
    let wrote = |sent| {
        let story = Story::new().takes(1, 1, "a").reads(2, 1, 0).releases(4, 1).removed(4, "a", 1);
        story.takes(5, 2, "b").reads(6, 2, 0).late_write(8, 1, sent, 0, 1).releases(9, 2)
    };
    assert_eq!(cause(Kind::StaleWrite, wrote(7)), Cause::EarlyRelease);
    assert_eq!(cause(Kind::StaleWrite, wrote(3)), Cause::StorageDelay, "it was sent in time");
    let judgement = judge(&wrote(7).build());
    let said = "client-1 released its lock at 4ms and sent the write only at 7ms.";
    assert!(judgement.violations.iter().any(|one| one.summary.ends_with(said)));
}

#[test]
fn neither_a_late_answer_nor_a_pause_excuses_a_remover_that_left_in_time() {
    let story = |left: u64, is_paused: bool| {
        let story = Story::new().grants(1, 1, "1");
        let story = if is_paused { story } else { story.hears(4, 1, "1") };
        let story = match is_paused {
            true => {
                let story = story.hears(1, 1, "1").fault_began(2, 1, "pause", &[CLIENT]);
                story.fault_ended(5, 1, "pause", CLIENT)
            }
            false => story,
        };
        let story = if left < 11 { story.leaves(left, 1) } else { story };
        let story = story.expires(11, "1").takes(12, 2, "1");
        let story = if left < 11 { story } else { story.leaves(left, 1) };
        cause(Kind::ForeignRelease, story.removed(14, "1", 1).left(15, 1).releases(16, 2))
    };
    assert_eq!([story(6, false), story(6, true)], [Cause::LostRelease; 2]);
    assert_eq!(story(13, false), Cause::Latency);
    assert_eq!(story(13, true), Cause::HolderPause);
}

#[test]
fn a_sale_too_many_names_the_process_of_the_late_write() {
    let story = Story::of_workload("seckill").takes(1, 1, "a").reads(2, 1, 1).releases(4, 1);
    let story = story.removed(4, "a", 1).takes(5, 2, "b").reads(6, 2, 1);
    let judgement = judge(&story.late_write(7, 1, 3, 1, 0).writes(8, 2, 1, 0).build());
    let mut violations = judgement.violations.iter();
    let oversold = violations.find(|one| one.kind == Kind::Oversold).expect("a sale too many");
    let said = "client-1's write was still in transit to the storage when";
    assert!(oversold.summary.contains(said), "{}", oversold.summary);
}
