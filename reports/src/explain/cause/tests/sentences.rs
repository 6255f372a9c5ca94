use super::*;
use crate::record::history::{History, SlowAnswers};
use crate::samples;
use fencepost_faults::SimTime;

fn said(timeline: &Timeline<'_>, finding: &Finding) -> String {
    let line = |cause: &Cause| format!("{cause}: {}", cause.sentence(timeline, finding));
    Cause::ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn of_waiting(kind: Kind) -> Finding {
    let (at, duration, processes) = (SimTime(0), Micros::ZERO, Vec::new());
    Finding { kind, at, duration, processes, what: String::new(), witness: vec![0], clash: None }
}

#[test]
fn of_two_that_stood_against_each_other() {
    let history = samples::paused_holder().build();
    let timeline = Timeline::new(&history);
    insta::assert_snapshot!(said(&timeline, &finding_of(&timeline, Kind::Overlap)));
}

#[test]
fn of_a_lock_that_nobody_gets() {
    let history = Story::new().takes(1, 1, "a").build();
    insta::assert_snapshot!(said(&Timeline::new(&history), &of_waiting(Kind::Stuck)));
}

#[test]
fn of_split_votes_with_answers_that_can_miss_the_timeout() {
    let mut history = Story::with_quorum(2).takes(1, 1, "a").build();
    let ends_with = |history: &History, end: &str| {
        let finding = of_waiting(Kind::Stuck);
        Cause::Interleaving.sentence(&Timeline::new(history), &finding).ends_with(end)
    };
    assert!(ends_with(&history, "so none got a majority."));
    let millis = Micros::from_millis;
    let slow = SlowAnswers { round_trip_us: millis(100), waits_us: millis(50) };
    history.header.slow_answers = Some(slow);
    let said = "In this run, an answer can take 100ms, but a process waits only 50ms for it.";
    assert!(ends_with(&history, said));
}

#[test]
fn of_a_lock_that_is_kept_and_of_a_wrong_answer_other_words_are_said() {
    let history = Story::new().takes(1, 1, "a").build();
    let timeline = Timeline::new(&history);
    let stuck = of_waiting(Kind::Stuck);
    for kind in [Kind::HeldForever, Kind::WrongAnswer] {
        let finding = of_waiting(kind);
        let other: Vec<&str> = Cause::ALL
            .iter()
            .filter(|one| one.sentence(&timeline, &finding) != one.sentence(&timeline, &stuck))
            .map(|cause| cause.name())
            .collect();
        let own: &[&str] = match kind {
            Kind::HeldForever => &["holder-pause", "hold-too-long"],
            _ => &[
                "lost-reply", "lost-release", "latency", "orphan-node", "partition",
                "unfounded-answer",
            ],
        };
        assert_eq!(other, own, "{kind}");
    }
}

#[test]
fn of_a_lock_that_outlasts_the_bound_it_is_not_said_that_it_never_expires() {
    let story = Story::new().ttl(15).held_bound(10).takes(1, 1, "a").expires(16, "a");
    let history = story.releases(30, 1).build();
    let judgement = judge(&history);
    let held = judgement.violations.iter().find(|one| one.kind == Kind::HeldForever).unwrap();
    insta::assert_snapshot!(held.summary, @"client-1 held the lock for 15ms, longer than the bound of 10ms. At the bound, the holder was still in its critical section, and its lock had not expired.");
}

#[test]
fn of_a_wait_no_removal_after_its_end_is_told() {
    let story = Story::new().acquires(1, 1).grants(2, 1, "a").removed(3, "a", 1).grants(4, 1, "a");
    let history = story.hears(5, 1, "a").build();
    let told = |kind: Kind| {
        let finding = Finding { witness: vec![history.events.len() - 1], ..of_waiting(kind) };
        Cause::LostRelease.sentence(&Timeline::new(&history), &finding)
    };
    assert!(told(Kind::WrongAnswer).starts_with("client-1 had itself removed its lock"));
    assert!(!told(Kind::Stuck).contains("had itself removed"), "{}", told(Kind::Stuck));
}

#[test]
fn a_lock_of_a_session_does_not_stand_on_by_itself() {
    let cause = Cause::LostRelease;
    let said = |story: Story| {
        let history = story.takes(1, 1, "a").build();
        cause.sentence(&Timeline::new(&history), &of_waiting(Kind::Stuck))
    };
    assert!(said(Story::with_sessions()).ends_with("it lives as long as its session."));
    assert!(said(Story::with_leases()).ends_with("it lives as long as its lease."));
    assert!(said(Story::new()).ends_with("and its lock remained."));
}

#[test]
fn every_meaning_is_sentences_and_no_two_causes_have_the_same() {
    let mut seen = Vec::new();
    for cause in Cause::ALL {
        let meaning = cause.meaning();
        for said in [cause.what(), meaning.how, meaning.helps] {
            assert!(said.ends_with('.'), "{cause}: {said}");
            assert!(!said.contains("  "), "{cause}: {said}");
        }
        assert!(!seen.contains(&cause.what()), "{cause}: {}", cause.what());
        seen.push(cause.what());
    }
}

#[test]
fn of_a_request_that_was_lost_after_the_grant_no_reply_is_said_to_be_lost() {
    let said = |lost_ms| {
        let nodes = [CLIENT, REDIS];
        let story = Story::new().fault_began(lost_ms, 1, "lost-request", &nodes).acquires(1, 1);
        let story = story.grants(2, 1, "a").info(5, 1).healed(20).runs_out_of_time(130);
        let finding = Finding {
            at: SimTime(20_000),
            duration: Micros::from_millis(110),
            ..of_waiting(Kind::Stuck)
        };
        Cause::LostReply.sentence(&Timeline::new(&story.build()), &finding)
    };
    assert_eq!(
        said(3),
        "A command of client-1 to redis-1 was lost in transit, and an earlier change by \
         client-1 remained there."
    );
    assert!(said(0).starts_with("A server had executed a command"), "{}", said(0));
}

#[test]
fn of_a_lock_that_never_got_its_expiry_it_is_said_that_it_has_none() {
    let said = |expires: bool| {
        let first = Story::new().takes(1, 3, "c").releases(2, 3).removed(2, "c", 3);
        let story = first.with_recorded_leases().acquires(3, 1).grants(4, 1, "a");
        let story = if expires { story.with_recorded_leases() } else { story };
        let history = story.info(6, 1).healed(20).runs_out_of_time(130).build();
        let finding = Finding {
            at: SimTime(20_000),
            duration: Micros::from_millis(110),
            ..of_waiting(Kind::Stuck)
        };
        Cause::LostReply.sentence(&Timeline::new(&history), &finding)
    };
    assert_eq!(
        said(false),
        "redis-1 granted the lock to client-1 without an expiry, and no later command set one. \
         client-1 does not know the outcome of that acquire, so it did not release the lock."
    );
    assert!(said(true).starts_with("A server had executed a command"), "{}", said(true));
}

#[test]
fn of_a_count_that_one_release_did_not_end_it_is_said_whose_it_is() {
    let said = |last: &str| {
        let by = Some(CLIENT);
        let sent_twice = Story::new().acquires(1, 1).grants(2, 1, "a=1");
        let sent_twice = sent_twice.server(3, 1, Change::Granted, "a=2", by).hears(4, 1, "a=2");
        let story = sent_twice.leaves(6, 1).server(7, 1, Change::Granted, last, by).left(8, 1);
        let history = story.healed(20).runs_out_of_time(130).build();
        let finding = Finding {
            at: SimTime(20_000),
            duration: Micros::from_millis(110),
            ..of_waiting(Kind::Stuck)
        };
        Cause::LostReply.sentence(&Timeline::new(&history), &finding)
    };
    assert_eq!(
        said("a=1"),
        "redis-1 still counted an earlier acquire of client-1. A release only lowers the count by \
         one, so the lock remained there."
    );
    assert!(said("b=1").starts_with("A server had executed a command"), "{}", said("b=1"));
}

#[test]
fn a_missed_renewal_says_for_how_long_no_server_was_a_primary() {
    let said = |demoted: Option<u64>| {
        let turn = |turn| What::Turn { turn, about: None };
        let story = Story::new().takes(1, 1, "a").server(3, 1, Change::Extended, "a", Some(CLIENT));
        let story = match demoted {
            Some(at) => story.event(at, REDIS, turn(Turn::Demoted)),
            None => story,
        };
        let story = story.event(12, REDIS, turn(Turn::Promoted)).expires(13, "a").takes(14, 2, "b");
        overlap_said(Cause::MissedRenewal, story.releases(30, 1).releases(31, 2))
    };
    assert!(said(Some(4)).ends_with(" No server was a primary for 8ms of that time."));
    assert!(said(None).ends_with(" took effect."));
}

fn told(kind: Kind, story: Story) -> String {
    let judgement = judge(&story.build());
    let found = judgement.violations.iter().find(|violation| violation.kind == kind);
    found.expect("such a violation").summary.clone()
}

#[test]
fn a_process_that_others_preceded_did_not_get_the_lock_of_an_ended_session() {
    let story = |others: bool| {
        let story = Story::with_sessions().takes(1, 1, "a").reads(2, 1, 0).expires(4, "a");
        let story = match others {
            true => story.takes(5, 3, "c").releases(6, 3).removed(6, "c", 3),
            false => story,
        };
        let story = story.takes(7, 2, "b").reads(7, 2, 0).writes(8, 2, 0, 1).writes(9, 1, 0, 1);
        told(Kind::LostUpdate, story.releases(10, 1).releases(11, 2))
    };
    let next = "deleted its node while client-1 was in its critical section, so client-2 became \
                first in the queue.";
    assert!(story(false).ends_with(next), "{}", story(false));
    let later = "so other processes could get the lock.";
    assert!(story(true).ends_with(later), "{}", story(true));
}

#[test]
fn a_process_that_was_first_without_entering_is_named_between_the_two_holders() {
    let story = Story::with_sessions().takes(1, 1, "a").expires(4, "a");
    let story = story.acquires(4, 3).grants(4, 3, "c").expires(6, "c").takes(7, 2, "b");
    let said = told(Kind::Overlap, story.releases(10, 1).releases(11, 2));
    assert!(
        said.ends_with("so client-3 became first in the queue, and client-2 after it."),
        "{said}"
    );
}

#[test]
fn a_lock_that_passed_through_a_third_process_did_not_pass_from_the_first_to_the_last() {
    let story = |others: bool| {
        let story = Story::new().takes(1, 1, "a").releases(4, 1).removed(4, "a", 1);
        let story = match others {
            true => story.takes(5, 3, "c").releases(6, 3).removed(6, "c", 3),
            false => story,
        };
        let story = story.takes(7, 2, "b").reads(8, 2, 0).late_write(9, 1, 3, 0, 1);
        told(Kind::StaleWrite, story.releases(11, 2))
    };
    let next = "when the lock passed from client-1 to client-2.";
    assert!(story(false).ends_with(next), "{}", story(false));
    let later = "The write was still in transit to the storage when client-2 was granted the lock.";
    assert!(story(true).ends_with(later), "{}", story(true));
}

#[test]
fn a_lock_without_a_lease_is_not_granted_before_a_lease_has_ended() {
    let sentence = |story: Story| {
        let story = story.takes(1, 1, "a").takes(2, 2, "b").releases(3, 1).releases(4, 2);
        overlap_said(Cause::RestartWithoutDelay, story)
    };
    let with = sentence(Story::new());
    assert!(with.ends_with("to client-2 before client-1's lease would have ended."), "{with}");
    let without = sentence(Story::kept_as(Keeping::Connection));
    assert!(without.ends_with("and granted the lock to client-2."), "{without}");
}

#[test]
fn a_grantor_without_its_role_has_no_other_primary() {
    let sentence = |story: Story| {
        let story = story.takes(1, 1, "a").takes(2, 2, "b").releases(3, 1).releases(4, 2);
        overlap_said(Cause::AsyncReplicationLoss, story)
    };
    let members = sentence(Story::kept_as(Keeping::MemberLease));
    assert_eq!(members, "redis-1 discarded its grant when it ceased to be the grantor.");
    let redis = sentence(Story::new());
    assert!(redis.ends_with("when it resynchronised with another primary."), "{redis}");
}

#[test]
fn a_waiter_whose_session_ended_had_no_turn() {
    let story = |expires: bool| {
        let story = Story::with_sessions().healed(0).acquires(1, 1).grants(2, 1, "a");
        let story = if expires { story.expires(9, "a") } else { story };
        told(Kind::Deadlock, story.silent(40, 1, 2, false))
    };
    let gone = "client-1 kept waiting although the servers had ended its session and deleted its \
                node: no watch notified it.";
    assert!(story(true).ends_with(gone), "{}", story(true));
    assert!(story(false).contains("although it was its turn"), "{}", story(false));
}

#[test]
fn the_process_that_replaced_the_value_is_named_even_if_another_entered() {
    let story = |replacer: u16| {
        let by = Some(Node::Client(replacer));
        let story = Story::new().acquires(1, 2).acquires(1, 3).takes(2, 1, "a");
        let story = story.server(3, 1, Change::Granted, "b", by).hears(4, 2, "b");
        overlap_said(Cause::Interleaving, story.releases(8, 1).releases(9, 2))
    };
    assert!(story(2).starts_with("The steps of client-1 and client-2 interleaved"));
    assert!(story(3).starts_with("The steps of client-1 and client-3 interleaved"));
}

#[test]
fn who_asks_for_the_lock_after_another_has_it_does_not_interleave_with_it() {
    let story = |asked_ms: u64| {
        let asks =
            |story: Story, ms: u64| if ms == asked_ms { story.acquires(ms, 2) } else { story };
        let story = asks(asks(Story::new(), 1).takes(2, 1, "a"), 4);
        let story = story.grants(5, 2, "b").hears(6, 2, "b");
        overlap_said(Cause::Interleaving, story.releases(8, 1).releases(9, 2))
    };
    assert_eq!(
        story(4),
        "client-2 asked for the lock after client-1 had acquired it. redis-1 granted it to client-2 \
         although redis-1 still had the lock of client-1; no fault was needed."
    );
    let interleaved = "The steps of client-1 and client-2 interleaved; no fault was needed.";
    assert_eq!(story(1), interleaved);
}

#[test]
fn a_connection_that_ended_before_the_holder_entered_did_not_end_in_its_critical_section() {
    let story = |entered_ms: u64| {
        let story = Story::kept_as(Keeping::Connection).acquires(1, 1).grants(1, 1, "a");
        let story = match entered_ms < 4 {
            true => story.hears(entered_ms, 1, "a").expires(4, "a").takes(5, 2, "b"),
            false => story.expires(4, "a").takes(5, 2, "b").hears(entered_ms, 1, "a"),
        };
        overlap_said(Cause::ConnectionLost, story.releases(8, 1).releases(9, 2))
    };
    assert!(story(2).contains("while client-1 was in its critical section"), "{}", story(2));
    assert!(story(6).contains("before client-1 entered its critical section"), "{}", story(6));
}

#[test]
fn a_server_that_executes_commands_of_a_process_is_not_separated_from_it() {
    let story = |answers: bool| {
        let story = Story::new().takes(1, 1, "a").server(3, 1, Change::Extended, "a", Some(CLIENT));
        let story = story.fault_began(4, 1, "partition", &[REDIS, CLIENT, Node::Redis(2)]);
        let by = Some(CLIENT);
        let story = if answers { story.server(5, 1, Change::Extended, "a", by) } else { story };
        let story = story.fault_ended(9, 1, "partition", REDIS);
        let story = story.expires(15, "a").takes(16, 2, "b");
        overlap_said(Cause::MissedRenewal, story.releases(30, 1).releases(31, 2))
    };
    assert!(
        story(false).contains("A partition separated client-1 and redis-1"),
        "{}",
        story(false)
    );
    assert!(!story(true).contains("separated"), "{}", story(true));
}

#[test]
fn a_write_that_was_sent_after_the_loss_is_told_so() {
    let story = |expired_ms| {
        let nodes = [Node::Client(1), Node::Storage];
        let story = Story::new().takes(1, 1, "a").fault_began(2, 1, "delay", &nodes);
        let story = story.expires(expired_ms, "a").takes(13, 2, "b").reads(14, 2, 0);
        told(Kind::StaleWrite, story.late_write(15, 1, 12, 0, 1).releases(17, 1).releases(18, 2))
    };
    let after = "client-1 sent the write 1ms after its lock was gone. It was still in transit";
    assert!(story(11).contains(after), "{}", story(11));
    assert!(!story(13).contains("sent the write"), "{}", story(13));
}

#[test]
fn a_process_that_removes_a_lock_as_it_acquires_is_named() {
    let story = || {
        let story = Story::new().takes(1, 1, "a").crashes(2, 1);
        let story = story.acquires(13, 2).acquires(13, 3).removed(14, "a", 2);
        let story = story.grants(15, 2, "b").hears(16, 2, "b").removed(17, "b", 3);
        story.grants(18, 3, "c").hears(19, 3, "c").releases(20, 2).releases(21, 3)
    };
    let overlap = told(Kind::Overlap, story());
    let removed = "While acquiring the lock, client-3 removed client-2's lock.";
    assert!(overlap.ends_with(removed), "{overlap}");
    let foreign = told(Kind::ForeignRelease, story());
    assert!(foreign.starts_with("client-2 removed the lock of client-1 "), "{foreign}");
    assert!(foreign.ends_with(". client-2 did so while acquiring the lock."), "{foreign}");
}

#[test]
fn a_grant_after_the_end_of_the_lease_is_not_said_to_be_within_it() {
    let said = |ms: u64| {
        let story = Story::new().ttl(10).takes(1, 1, "a").takes(ms, 2, "b");
        overlap_said(Cause::RestartWithoutDelay, story.releases(30, 1).releases(31, 2))
    };
    assert!(said(8).ends_with(" before client-1's lease would have ended."), "{}", said(8));
    assert!(said(20).ends_with(" granted the lock to client-2."), "{}", said(20));
}

#[test]
fn the_third_process_that_took_over_or_removed_the_row_is_named() {
    let said = |story: Story| {
        let story = story.takes(6, 2, "app").releases(8, 1).releases(9, 2);
        overlap_said(Cause::SharedClientId, story)
    };
    let held = || Story::kept_as(Keeping::RowByServer).takes(1, 1, "app").acquires(2, 3);
    let took_over = said(held().grants(3, 3, "app").removed(4, "app", 3));
    let third = "client-3, which has the client id of client-1, ";
    assert_eq!(took_over, format!("{third}took over the row of client-1 at 3ms."));
    let removed = said(held().removed(3, "app", 3));
    assert_eq!(removed, format!("{third}removed the row of client-1 at 3ms."));
    let alone = said(Story::kept_as(Keeping::RowByServer).takes(1, 1, "app"));
    assert!(alone.starts_with("client-1 and client-2 share a client id"), "{alone}");
}

#[test]
fn a_remover_with_the_same_owner_value_is_said_to_have_it() {
    let said = |owner: &str| {
        let story = Story::new().takes(1, 3, owner).releases(2, 3).removed(2, owner, 3);
        let story = story.takes(3, 1, "1").removed(5, "1", 3).takes(6, 2, "2");
        overlap_said(Cause::ForeignRelease, story.releases(8, 1).releases(9, 2))
    };
    let removed = "client-3 had removed the lock of client-1 at 5ms.";
    assert_eq!(said("9"), removed);
    assert_eq!(said("1"), format!("{removed} Both processes use the owner value \"1\"."));
}

#[test]
fn a_release_without_a_confirmation_is_told_with_its_process_and_the_end_of_its_node() {
    let said = |removed: bool| {
        let story = Story::with_sessions().progress_bound(100).takes(1, 1, "a").leaves(5, 1);
        let story = story.info(6, 1).healed(10).probe_acquires(11);
        let story = if removed { story.expires(120, "a") } else { story };
        told(Kind::Stuck, story.probe_fails(130))
    };
    let tried = "client-1 tried to release the lock at 5ms and got no confirmation. Its node \
                 remained";
    let because = ", because it lives as long as its session.";
    assert!(said(false).ends_with(&format!("{tried}{because}")), "{}", said(false));
    assert!(said(true).ends_with(&format!("{tried} until 120ms{because}")), "{}", said(true));
}

#[test]
fn a_lease_that_was_extended_is_said_to_have_been_set_later() {
    let said = |extended: bool| {
        let by = Some(Node::Client(1));
        let story = Story::new().ttl(10).takes(1, 1, "a");
        let story = match extended {
            true => story.server(8, 1, Change::Extended, "a", by),
            false => story,
        };
        let story = story.with_recorded_leases_of(Micros::from_millis(10)).takes(9, 2, "b");
        overlap_said(Cause::RestartWithoutDelay, story.releases(30, 1).releases(31, 2))
    };
    assert!(said(false).ends_with(" before client-1's lease would have ended."), "{}", said(false));
    let set = " before client-1's lease, last set at 8ms, would have ended.";
    assert!(said(true).ends_with(set), "{}", said(true));
}

#[test]
fn a_write_that_was_sent_after_the_later_grant_was_not_in_transit_then() {
    let said = |sent: u64| {
        let story = Story::new().ttl(10).takes(1, 1, "a").reads(2, 1, 0).expires(12, "a");
        let story = story.takes(13, 2, "b").reads(14, 2, 0).late_write(20, 1, sent, 0, 1);
        let story = story.releases(30, 1).releases(31, 2);
        sentence(Cause::StorageDelay, Kind::StaleWrite, story)
    };
    assert!(said(11).contains("in transit"), "{}", said(11));
    let waited = "client-1 waited for the storage.";
    assert!(said(18).starts_with(waited) && !said(18).contains("transit"), "{}", said(18));
}

#[test]
fn of_several_releases_without_an_answer_no_time_is_told() {
    let said = |several: bool| {
        let story = Story::new().takes(1, 1, "a").leaves(2, 1).info(3, 1);
        let story = match several {
            true => story.takes(4, 1, "a").leaves(5, 1).info(6, 1),
            false => story,
        };
        let story = story.takes(7, 1, "a").removed(9, "a", 1).takes(10, 2, "b");
        overlap_said(Cause::LostRelease, story.releases(20, 1).releases(21, 2))
    };
    let one = "A release that client-1 had sent at 2ms for an earlier lock arrived late";
    assert!(said(false).starts_with(one), "{}", said(false));
    let any = "A release that client-1 had sent earlier, and that had no answer, arrived late";
    assert!(said(true).starts_with(any), "{}", said(true));
}

#[test]
fn of_an_answer_that_was_late_it_is_said_how_much_of_the_lease_had_passed() {
    let said = |heard: u64| {
        let story = Story::new().ttl(100).acquires(1, 1).grants(1, 1, "a").hears(heard, 1, "a");
        let story = story.expires(101, "a").takes(102, 2, "b");
        overlap_said(Cause::Latency, story.releases(103, 1).releases(104, 2))
    };
    let late = "client-1 received the answer to its acquire so late that";
    assert_eq!(said(21), format!("{late} 20ms of its 100ms lease had passed."));
    assert_eq!(said(61), format!("{late} most of the lease had passed."));
}
