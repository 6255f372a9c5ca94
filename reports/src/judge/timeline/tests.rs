//! What a history says once it is digested: who was in its section, what stood where, and which
//! grant an acquisition rests on.

use super::*;
use crate::record::story::Story;
use fencepost_faults::{FaultKind, Micros};

const ONE: Node = Node::Client(1);
const TWO: Node = Node::Client(2);
const REDIS: Node = Node::Redis(1);

/// Looks at the timeline of a story.
fn digested<T>(story: Story, look: impl FnOnce(&Timeline<'_>) -> T) -> T {
    let history = story.build();
    look(&Timeline::new(&history))
}

fn ms(time: SimTime) -> u64 {
    time.0 / 1_000
}

/// Who was in a section, from when to when, and what ended it.
fn sections(story: Story) -> Vec<(Node, u64, Option<u64>, SectionEnd)> {
    let told = |one: &Section| {
        (one.process, ms(one.from.time), one.to.map(|to| ms(to.time)), one.ended_by)
    };
    digested(story, |timeline| timeline.sections.iter().map(told).collect())
}

/// Which value stood at which server, from when to when.
fn keys(story: Story) -> Vec<(Node, String, u64, Option<u64>)> {
    let told = |span: &KeySpan<'_>| {
        let value = span.value.unwrap_or_default().to_owned();
        (span.node, value, ms(span.from.time), span.to.map(|(to, _)| ms(to.time)))
    };
    digested(story, |timeline| timeline.keys.iter().map(told).collect())
}

#[test]
fn a_section_lasts_from_the_ok_until_release_is_invoked() {
    let story = Story::new().acquires(1, 1).grants(2, 1, "a").hears(3, 1, "a").leaves(7, 1);
    assert_eq!(sections(story.left(9, 1)), [(ONE, 3, Some(7), SectionEnd::Release)]);
}

#[test]
fn a_refused_acquire_opens_no_section_and_one_without_an_end_none_either() {
    assert_eq!(sections(Story::new().acquires(1, 1).fails(2, 1).acquires(3, 2)), []);
}

#[test]
fn a_section_that_nothing_ends_is_open() {
    assert_eq!(sections(Story::new().takes(1, 1, "a")), [(ONE, 1, None, SectionEnd::Open)]);
}

#[test]
fn a_lock_that_is_noticed_to_be_lost_ends_the_section_of_its_own_thread_only() {
    let second = ONE.of_thread(2);
    let story = Story::new().takes(1, 1, "a").releases(2, 1).takes(3, second, "b").loses(4, second);
    assert_eq!(
        sections(story),
        [(ONE, 1, Some(2), SectionEnd::Release), (second, 3, Some(4), SectionEnd::Lost)]
    );
}

#[test]
fn a_crash_ends_the_sections_of_all_threads_of_the_process() {
    let second = ONE.of_thread(2);
    let story = Story::new().takes(1, 1, "a").takes(2, second, "a").takes(3, 2, "b").crashes(4, 1);
    assert_eq!(
        sections(story),
        [
            (ONE, 1, Some(4), SectionEnd::Crash),
            (second, 2, Some(4), SectionEnd::Crash),
            (TWO, 3, None, SectionEnd::Open),
        ]
    );
}

#[test]
fn sections_of_one_thread_nest_and_a_release_ends_the_inner_one() {
    let story = Story::new().takes(1, 1, "a").takes(2, 1, "a").releases(5, 1).releases(8, 1);
    digested(story, |timeline| {
        let [outer, inner] = &timeline.sections[..] else { panic!("two sections") };
        assert_eq!((ms(outer.to.unwrap().time), ms(inner.to.unwrap().time)), (8, 5));
        assert!(timeline.is_inner(inner) && !timeline.is_inner(outer));
    });
}

#[test]
fn the_section_of_another_process_is_not_an_inner_one() {
    digested(Story::new().takes(1, 1, "a").takes(2, 2, "b"), |timeline| {
        assert!(timeline.sections.iter().all(|section| !timeline.is_inner(section)));
        let [one, other] = &timeline.sections[..] else { panic!("two sections") };
        assert_eq!(one.shared_with(other, SimTime(10_000)), Micros::from_millis(8));
    });
}

#[test]
fn a_section_covers_its_first_moment_and_not_its_last() {
    digested(Story::new().takes(1, 1, "a").releases(5, 1), |timeline| {
        let section = &timeline.sections[0];
        assert!(section.covers(section.from) && !section.covers(section.to.unwrap()));
        assert_eq!(timeline.section_of(section.acquisition), Some(section));
    });
}

#[test]
fn an_operation_is_found_by_its_number() {
    digested(Story::new().takes(1, 1, "a").releases(5, 1).acquires(6, 2), |timeline| {
        for (index, one) in timeline.acquisitions.iter().enumerate() {
            assert_eq!(timeline.acquisition_of(one.operation), Some(index));
            assert_eq!(timeline.invocation_of(one.operation), Some(one.invoked));
        }
        assert_eq!(timeline.acquisition_of(999), None);
        assert_eq!(timeline.invocation_of(999), None);
    });
}

#[test]
fn acquisitions_are_ordered_by_their_grants_and_not_by_when_their_processes_heard() {
    let story = Story::new().acquires(1, 1).acquires(1, 2).grants(2, 1, "a").expires(12, "a");
    let story = story.grants(13, 2, "b").hears(14, 2, "b").hears(15, 1, "a");
    digested(story, |timeline| {
        let who = |index: usize| timeline.acquisitions[index].process;
        let order: Vec<Node> = timeline.granted_in_order().into_iter().map(who).collect();
        assert_eq!(order, [ONE, TWO]);
        for (a, b) in [(0, 1), (1, 0)] {
            let (first, then) = timeline.in_grant_order(a, b);
            assert_eq!((who(first), who(then)), (ONE, TWO));
        }
    });
}

#[test]
fn of_acquisitions_whose_grants_nobody_told_the_one_that_completed_first_comes_first() {
    let story = Story::new().acquires(1, 1).acquires(2, 2).hears(3, 2, "b").hears(4, 1, "a");
    digested(story, |timeline| {
        let (first, then) = timeline.in_grant_order(0, 1);
        let who = |index: usize| timeline.acquisitions[index].process;
        assert_eq!((who(first), who(then)), (TWO, ONE));
        assert_eq!(timeline.granted_in_order(), [] as [usize; 0], "no server told of a grant");
    });
}

#[test]
fn of_many_servers_the_one_that_makes_the_quorum_decides() {
    let story = Story::with_quorum(3).acquires(1, 1).grants_at(2, 1, 1, "a");
    let story = story.grants_at(3, 1, 2, "a").grants_at(4, 1, 3, "a").grants_at(5, 1, 4, "a");
    digested(story.hears(6, 1, "a"), |timeline| {
        let grant = timeline.acquisitions[0].grant.as_ref().unwrap();
        assert_eq!((grant.node, ms(grant.moment.time)), (Node::Redis(3), 4));
        assert_eq!(grant.servers.len(), 4);
        assert!(grant.created);
    });
}

#[test]
fn fewer_servers_than_the_quorum_grant_nothing() {
    let story =
        Story::with_quorum(3).acquires(1, 1).grants_at(2, 1, 1, "a").grants_at(3, 1, 2, "a");
    digested(story.hears(6, 1, "a"), |timeline| {
        assert_eq!(timeline.acquisitions[0].grant, None);
    });
}

#[test]
fn a_value_stands_until_it_expires_is_removed_or_is_replaced() {
    let story =
        Story::new().takes(1, 1, "a").expires(11, "a").takes(12, 2, "b").removed(13, "b", 2);
    let story = story.grants(14, 1, "c").server(15, 1, Change::Granted, "d", Some(TWO));
    assert_eq!(
        keys(story),
        [
            (REDIS, "a".to_owned(), 1, Some(11)),
            (REDIS, "b".to_owned(), 12, Some(13)),
            (REDIS, "c".to_owned(), 14, Some(15)),
            (REDIS, "d".to_owned(), 15, None),
        ]
    );
}

#[test]
fn how_a_value_went_says_who_asked_for_it() {
    let story = Story::new().takes(1, 1, "a").removed(2, "a", 2).takes(3, 1, "b").takes(4, 2, "c");
    digested(story, |timeline| {
        let how: Vec<KeyEnd> = timeline.keys.iter().filter_map(|span| Some(span.to?.1)).collect();
        let removed = KeyEnd::Changed { change: Change::Removed, by: Some(TWO), primary: true };
        assert_eq!(how, [removed, KeyEnd::Replaced]);
        let (at, _) = timeline.keys[1].to.unwrap();
        assert_eq!(timeline.replacer(at), Some(TWO));
    });
}

#[test]
fn another_key_is_no_span_of_the_lock() {
    let story = Story::new().takes(1, 1, "a").keyed(2, "other", Change::Granted, "x", 2);
    assert_eq!(keys(story.clone()).len(), 1);
    let history = story.build();
    assert_eq!(of_key(&history, "other").len(), 1);
}

#[test]
fn a_copy_says_to_whom_its_original_was_granted() {
    let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").removed(3, "a", 1);
    let story = story.removed_on_replica(4, 2, "a").takes(5, 2, "a").replicated(6, 2, "a");
    digested(story, |timeline| {
        let copies = timeline.keys.iter().filter(|span| span.node == Node::Redis(2));
        let of: Vec<Option<Node>> =
            copies.map(|span| span.granted.map(|(process, _)| process)).collect();
        assert_eq!(of, [Some(ONE), Some(TWO)]);
        assert!(timeline.keys.iter().all(|span| (span.node == REDIS) == span.by.is_some()));
    });
}

#[test]
fn a_server_that_notices_late_that_a_lease_ran_out_did_not_keep_it_longer() {
    let told =
        |story: Story| digested(story, |timeline| ms(timeline.stood_until(&timeline.keys[0])));
    let noticed_late = Story::new().takes(1, 1, "a").expires(50, "a");
    assert_eq!(told(noticed_late.clone()), 11, "the ttl is 10 ms");
    assert_eq!(told(noticed_late.tells_leases_of(Micros::from_millis(20))), 21);
    let removed = Story::new().takes(1, 1, "a").removed(50, "a", 1);
    assert_eq!(told(removed), 50, "a command that removes it has found it");
}

#[test]
fn where_the_clock_of_a_server_was_wrong_what_the_server_told_counts() {
    let story = Story::new().takes(1, 1, "a").expires(50, "a");
    let story =
        story.fault_began(2, 1, "clock-drift", &[REDIS]).fault_ended(40, 1, "clock-drift", REDIS);
    digested(story, |timeline| {
        assert_eq!(ms(timeline.stood_until(&timeline.keys[0])), 50);
    });
}

#[test]
fn a_value_stands_after_it_came_and_before_it_went() {
    digested(Story::new().takes(1, 1, "a").removed(5, "a", 1), |timeline| {
        let span = &timeline.keys[0];
        let (gone, _) = span.to.unwrap();
        assert!(!timeline.stands_at(span, span.from) && !timeline.stands_at(span, gone));
        let between = Moment { time: SimTime(3_000), index: span.from.index + 1 };
        assert!(timeline.stands_at(span, between));
    });
}

#[test]
fn the_lock_of_an_acquisition_goes_where_its_value_goes_first() {
    let story =
        Story::with_quorum(2).acquires(1, 1).grants_at(2, 1, 1, "a").grants_at(3, 1, 2, "a");
    let story = story.hears(4, 1, "a").removed_at(8, 2, "a", 2).removed_at(9, 1, "a", 1);
    digested(story, |timeline| {
        let (at, how) = timeline.gone(&timeline.acquisitions[0]).unwrap();
        assert_eq!(ms(at.time), 8);
        assert!(matches!(how, KeyEnd::Changed { by: Some(TWO), .. }), "{how:?}");
    });
}

#[test]
fn one_value_of_two_processes_is_the_lock_of_the_one_that_was_granted_it() {
    let story = Story::new().takes(1, 1, "same").removed(5, "same", 1).releases(5, 1);
    digested(story.takes(6, 2, "same"), |timeline| {
        let [first, second] = &timeline.keys[..] else { panic!("two spans") };
        let [one, other] = &timeline.acquisitions[..] else { panic!("two acquisitions") };
        assert!(timeline.is_lock_of(first, one) && timeline.is_lock_of(second, other));
        assert!(!timeline.is_lock_of(first, other) && !timeline.is_lock_of(second, one));
    });
}

#[test]
fn the_owner_of_a_value_is_the_one_that_had_it_last_at_that_server() {
    let story = Story::new().takes(1, 1, "v").removed(2, "v", 1).takes(3, 2, "v");
    digested(story, |timeline| {
        let at = |time_ms: u64| Moment { time: SimTime(time_ms * 1_000), index: 999 };
        let owner = |server| timeline.owner_of("v", server, at(9)).map(|(process, _)| process);
        assert_eq!(owner(REDIS), Some(TWO));
        assert_eq!(owner(Node::Redis(2)), Some(TWO), "it never stood there: the last at any");
        assert_eq!(timeline.owner_of("w", REDIS, at(9)), None);
    });
}

#[test]
fn a_count_is_not_part_of_who_an_owner_is() {
    assert!(is_one_owner("a=1", "a=2") && is_one_owner("a", "a=1"));
    assert!(!is_one_owner("a=1", "b=1") && !is_one_owner("ab", "a"));
    assert_eq!(owner_and_count("a=12"), ("a", Some(12)));
    assert_eq!(owner_and_count("a=b"), ("a=b", None));
    assert_eq!(owner_and_count("a="), ("a=", None));
}

#[test]
fn a_fault_without_an_end_acts_on() {
    let story = Story::new().takes(1, 1, "a").fault_began(2, 1, "pause", &[ONE]).healed(9);
    digested(story, |timeline| {
        let [fault] = &timeline.faults[..] else { panic!("one fault") };
        assert_eq!((fault.to, fault.kind), (None, FaultKind::Pause));
        assert_eq!(fault.within(SimTime(5_000), SimTime(8_000)), Micros::from_millis(3));
        assert!(fault.touches(SimTime(8_000), SimTime(8_000)));
        assert!(!fault.touches(SimTime(0), SimTime(1_999)));
        assert_eq!(timeline.healed.map(|healed| ms(healed.time)), Some(9));
    });
}

#[test]
fn a_fault_of_a_machine_is_one_of_all_its_threads() {
    let story = Story::new().fault_began(2, 1, "pause", &[ONE]).fault_ended(4, 1, "pause", ONE);
    digested(story, |timeline| {
        let fault = &timeline.faults[0];
        let thread = ONE.of_thread(3);
        assert!(fault.names(thread) && fault.hits(thread, FaultKind::Pause));
        assert!(fault.does(Impact::Freezes, thread) && !fault.does(Impact::Kills, thread));
        assert!(!fault.names(TWO) && !fault.hits(thread, FaultKind::Crash));
        assert_eq!(fault.to.map(|to| ms(to.time)), Some(4));
    });
}

#[test]
fn a_history_without_events_has_nothing_in_it() {
    digested(Story::new(), |timeline| {
        assert_eq!(timeline.end, SimTime::ZERO);
        assert!(timeline.acquisitions.is_empty() && timeline.sections.is_empty());
        assert!(timeline.keys.is_empty() && timeline.faults.is_empty());
        assert_eq!(timeline.healed, None);
    });
}
