use super::*;
use crate::record::history::Keeping;
use crate::record::story::{KEY, Story};
use fencepost_faults::Micros;

fn texts_at(story: Story, ms: u64) -> Vec<String> {
    let history = story.build();
    let events = history.events.iter().filter(|event| event.time_us.0 == ms * 1_000);
    events.map(|event| text(&history, event)).collect()
}

#[test]
fn a_read_that_is_served_after_its_process_gave_up_says_so() {
    let story = Story::new().takes(1, 1, "a").late_read(8, 1, 2, 3).reads(9, 1, 3);
    assert_eq!(
        texts_at(story.clone(), 8),
        ["lets client-1 read 3, although client-1 no longer waits for it"]
    );
    assert_eq!(texts_at(story, 9)[1], "lets client-1 read 3");
}

#[test]
fn a_call_that_is_given_up_is_told_with_what_a_server_had_done_for_it() {
    let asked = || Story::new().acquires(1, 1);
    assert_eq!(texts_at(asked().cancels(3, 1), 3)[0], "cancels its acquire");
    let granted = asked().grants(2, 1, "a");
    assert_eq!(
        texts_at(granted.clone().cancels(3, 1), 3)[0],
        "cancels its acquire, which redis-1 has granted"
    );
    let interrupted = granted.removed(2, "a", 1).gives_up(3, 1, GivingUp::Interrupted);
    assert_eq!(texts_at(interrupted, 3), ["is interrupted during its acquire"]);
    let leaves = Story::new().takes(1, 1, "a").leaves(2, 1).cancels(3, 1);
    assert_eq!(texts_at(leaves, 3)[0], "cancels its release");
}

#[test]
fn a_grant_that_nobody_waits_for_is_told_as_one() {
    let granted =
        |story: Story| texts_at(story.server(5, 1, Change::Granted, "a", Some(Node::Client(1))), 5);
    let asked = || Story::new().acquires(1, 1);
    assert_eq!(granted(asked()), ["grants the lock to client-1"]);
    assert_eq!(
        granted(asked().cancels(3, 1)),
        ["grants the lock to client-1, which no longer waits for it"]
    );
    assert_eq!(granted(asked().cancels(3, 1).acquires(4, 1)), ["grants the lock to client-1"]);
}

#[test]
fn a_time_to_live_of_the_granting_script_extends_nothing() {
    let extends = |ms| {
        let by = Some(Node::Client(1));
        let story = Story::new().takes(1, 1, "a").server(ms, 1, Change::Extended, "a", by);
        texts_at(story, ms).pop()
    };
    let text = |verb| Some(format!("{verb} the lock of client-1 at its request"));
    assert_eq!([extends(1), extends(5)], [text("sets the expiry of"), text("extends")]);
}

#[test]
fn the_first_expiry_of_a_grant_without_one_extends_nothing() {
    let set = |story: Story, ms, change, lease_ms: Option<u64>| {
        let lease_us = lease_ms.map(Micros::from_millis);
        let (key, value) = (KEY.to_owned(), Some("a".to_owned()));
        let by = Some(Node::Client(1));
        let what = What::Server { key, change, value, by, primary: true, token: None, lease_us };
        story.event(ms, Node::Redis(1), what)
    };
    let granted = |lease_ms| set(Story::new(), 1, Change::Granted, lease_ms);
    let sets = |story, ms| set(story, ms, Change::Extended, Some(10));
    let text = |verb| vec![format!("{verb} the lock of client-1 at its request")];
    assert_eq!(texts_at(sets(granted(None), 5), 5), text("sets the expiry of"));
    assert_eq!(texts_at(sets(granted(Some(10)), 5), 5), text("extends"));
    assert_eq!(texts_at(sets(sets(granted(None), 5), 8), 8), text("extends"));
}

#[test]
fn a_lock_from_another_server_is_not_restored_by_a_restart() {
    let restored = |story: Story| {
        texts_at(story.server(9, 1, Change::Restored, "a", None), 9).pop().expect("a text")
    };
    let held = || Story::new().takes(1, 2, "a");
    let crashed = || held().redis_crashes(3, 1).redis_starts(4, 1);
    let copies = |story: Story| {
        let took_over = What::Turn { turn: Turn::TookOver, about: Some(Node::Redis(2)) };
        story.event(5, Node::Redis(1), took_over)
    };
    assert_eq!(restored(crashed()), "restarts with the lock of client-2");
    let received = "receives the lock of client-2 with the data of redis-2";
    assert_eq!(restored(copies(held())), received);
    assert_eq!(restored(copies(crashed())), received);
    let again = copies(held()).redis_crashes(6, 1).redis_starts(9, 1);
    assert_eq!(restored(again), "restarts with the lock of client-2");
    let demoted = What::Turn { turn: Turn::Demoted, about: Some(Node::Redis(2)) };
    assert_eq!(restored(crashed().event(5, Node::Redis(1), demoted.clone())), received);
    let replica = held().event(2, Node::Redis(1), demoted.clone()).redis_crashes(3, 1);
    assert_eq!(restored(replica.clone().redis_starts(4, 1)), received, "after it had started");
    assert_eq!(restored(replica.redis_starts(9, 1)), "restarts with the lock of client-2");
    let unknown = "receives the lock of client-2 with the data of another server";
    assert_eq!(restored(held()), unknown, "redis-1 was never down");
}

#[test]
fn a_value_that_its_process_sets_again_outside_an_acquire_is_a_renewal() {
    let sets = |client: u16, value: &str| {
        let story = Story::new().takes(1, 1, "a");
        texts_at(story.server(5, 1, Change::Granted, value, Some(Node::Client(client))), 5)
    };
    assert_eq!(sets(1, "a"), ["sets the lock of client-1 again at its request"]);
    assert_eq!(sets(1, "b"), ["grants the lock to client-1"]);
    let nested = Story::new().takes(1, 1, "a").acquires(4, 1).grants(5, 1, "a");
    assert_eq!(texts_at(nested, 5), ["grants the lock to client-1"]);
}

#[test]
fn a_process_that_ends_without_a_fault_exits_and_does_not_crash() {
    let ends = |story: Story| {
        let crashed = story.takes(1, 1, "a").event(5, Node::Client(1), What::Crashed);
        texts_at(crashed.runs_out_of_time(9), 5)
    };
    assert_eq!(ends(Story::new()), ["exits"]);
    let killed = ends(Story::new().fault_began(5, 1, "crash", &[Node::Client(1)]));
    assert!(killed.contains(&"crashes".to_owned()), "{killed:?}");
}

#[test]
fn a_resynchronisation_with_the_same_primary_names_it() {
    let took_over = What::Turn { turn: Turn::TookOver, about: Some(Node::Redis(2)) };
    let story = Story::new().takes(1, 1, "a").server(5, 1, Change::Discarded, "a", None);
    let told = texts_at(story.event(5, Node::Redis(1), took_over), 5);
    assert_eq!(
        told[0],
        "discards the lock of client-1, because it replaces its data with that of redis-2"
    );
}

#[test]
fn a_member_loses_its_lock_with_its_membership_before_its_lease_is_over() {
    let ends = |at: u64, keeping: Keeping| {
        let story = Story::kept_as(keeping).ttl(10).takes(1, 1, "a").expires(at, "a");
        texts_at(story.with_recorded_leases(), at)
    };
    assert_eq!(
        ends(5, Keeping::MemberLease),
        ["removes the lock of client-1, whose membership has ended"]
    );
    assert_eq!(ends(10, Keeping::MemberLease), ["expires the lock of client-1"], "it is rounded");
    assert_eq!(ends(12, Keeping::MemberLease), ["expires the lock of client-1"]);
    assert_eq!(ends(5, Keeping::RowByServer), ["expires the lock of client-1"]);
    let story = Story::kept_as(Keeping::MemberLease).ttl(10).takes(1, 1, "a");
    let stepped = story.fault_began(4, 1, "clock-jump", &[Node::Redis(1)]).expires(5, "a");
    assert_eq!(texts_at(stepped.with_recorded_leases(), 5), ["expires the lock of client-1"]);
}

#[test]
fn a_node_that_other_servers_keep_has_a_session_that_has_not_ended() {
    let removes = |returns: bool| {
        let story = Story::with_sessions().takes(1, 1, "a").expires_at(5, 1, "a");
        let story = if returns { story.replicated(7, 2, "a") } else { story };
        texts_at(story, 5)
    };
    assert_eq!(removes(false), ["removes the node of client-1, whose session has ended"]);
    assert_eq!(
        removes(true),
        ["removes its copy of the node of client-1, which other servers keep"]
    );
}

#[test]
fn an_inner_release_that_fails_says_so() {
    let inner = Story::new().takes(1, 1, "a").acquires(3, 1).hears(4, 1, "a").leaves(5, 1);
    assert_eq!(
        texts_at(inner.clone().left(6, 1), 5),
        ["releases an inner acquisition and stays in its critical section"]
    );
    assert_eq!(
        texts_at(inner.fails(6, 1), 5),
        ["stays in its critical section, but its inner release fails"]
    );
}

#[test]
fn a_command_that_ends_a_lease_earlier_shortens_it() {
    let by = Some(Node::Client(1));
    let story = |second: u64| {
        let story = Story::new().ttl(10).takes(1, 1, "a").with_recorded_leases();
        let set = |at| story.clone().server(at, 1, Change::Extended, "a", by);
        let mut set = set(3).build();
        let last = set.events.last_mut().unwrap();
        if let What::Server { lease_us, .. } = &mut last.what {
            *lease_us = Some(Micros::from_millis(second));
        }
        text(&set, set.events.last().unwrap())
    };
    assert_eq!(story(4), "shortens the lease of the lock of client-1 to 4ms at its request");
    assert_eq!(story(10), "extends the lock of client-1 at its request");
}

#[test]
fn a_member_that_is_no_longer_the_grantor_follows_no_primary() {
    let discards = |story: Story| {
        let story = story.takes(1, 1, "a").server(5, 1, Change::Discarded, "a", None);
        texts_at(story, 5)
    };
    assert_eq!(
        discards(Story::kept_as(Keeping::MemberLease)),
        ["discards the lock of client-1, because it is no longer the grantor"]
    );
    assert_eq!(
        discards(Story::new()),
        ["discards the lock of client-1, because it replaces its data with that of another \
             server"]
    );
}

#[test]
fn a_count_that_is_lowered_is_no_grant() {
    let counts = |values: [&str; 2]| {
        let [before, now] = values;
        let by = Some(Node::Client(1));
        let story = Story::new().takes(1, 1, before).server(2, 1, Change::Granted, now, by);
        texts_at(story, 2).remove(0)
    };
    assert_eq!(
        counts(["a=2", "a=1"]),
        "decrements the count of client-1, which still has the lock"
    );
    assert_eq!(counts(["a=1", "a=0"]), "decrements the count of client-1 to 0");
    assert_eq!(counts(["a=1", "a=2"]), "grants the lock to client-1 once more");
    assert_eq!(counts(["b=2", "a=1"]), "grants the lock to client-1");
}

#[test]
fn a_process_that_learns_of_a_lock_that_is_gone_is_not_granted_it_then() {
    let told = |story: Story| texts_at(story.hears(9, 1, "a"), 9).remove(0);
    let granted = || Story::new().acquires(1, 1).grants(2, 1, "a");
    assert_eq!(told(granted()), "is granted the lock");
    let learns = "learns that it was granted the lock";
    assert_eq!(told(granted().expires(5, "a")), learns);
    assert_eq!(told(granted().expires(5, "a").grants(6, 2, "b")), learns);
    let copied = granted().replicated(3, 2, "a").expires(5, "a");
    assert_eq!(told(copied), "is granted the lock", "redis-2 still has it");
    let queued = || Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
    assert_eq!(told(queued()), "is granted the lock");
    assert_eq!(told(queued().expires(5, "a")), learns);
    let nested = queued().hears(3, 1, "a").acquires(4, 1);
    let again = "is told that it has the lock again, inside its critical section";
    assert_eq!(told(nested.clone().expires(5, "a")), again);
    assert_eq!(told(nested), "is granted the lock again, inside its critical section");
}

#[test]
fn a_value_that_a_losing_process_writes_grants_nothing() {
    let wrote = |story: Story| story.server(3, 1, Change::Granted, "6", Some(Node::Client(2)));
    let wrote = || wrote(Story::new().takes(1, 1, "5").acquires(2, 2));
    let lost = || wrote().fails(4, 2).leaves(5, 1).removed(6, "6", 1).left(7, 1);
    let overwrites = "overwrites the value of the lock of client-1 at the request of client-2";
    assert_eq!(texts_at(lost(), 3), [overwrites]);
    assert_eq!(texts_at(lost(), 5), ["leaves its critical section and releases the lock"]);
    assert_eq!(texts_at(lost(), 6), ["removes the lock of client-1 at its request"]);
    let later = wrote().expires(4, "6").grants(5, 2, "7").hears(6, 2, "7");
    assert_eq!(texts_at(later, 3), [overwrites]);
    let won = || wrote().hears(4, 2, "6");
    assert_eq!(texts_at(won(), 3), ["grants the lock to client-2"]);
    let removed = texts_at(won().leaves(5, 1).removed(6, "6", 1), 6);
    assert_eq!(removed, ["removes the lock of client-2 at the request of client-1"]);
}

#[test]
fn a_copy_of_a_lowered_count_is_no_lock_received() {
    let copies = |value: &str| {
        let story = Story::new().takes(1, 1, "a=1").replicated(2, 2, "a=2");
        texts_at(story.replicated(3, 2, value), 3).remove(0)
    };
    assert_eq!(copies("a=0"), "copies the decrement of the count of client-1 to 0");
    assert_eq!(
        copies("a=1"),
        "copies the decrement of the count of client-1, which still has the lock"
    );
    assert_eq!(copies("a=3"), "receives the lock of client-1");
}

#[test]
fn a_lock_that_its_owner_has_replaced_by_another_is_an_earlier_one() {
    let story = Story::new().takes(1, 1, "a").releases(3, 1).takes(4, 1, "b");
    let expires = |owner: &str| texts_at(story.clone().expires_at(9, 2, owner), 9).remove(0);
    assert_eq!(expires("a"), "expires an earlier lock of client-1");
    assert_eq!(expires("b"), "expires the lock of client-1");
}

#[test]
fn an_extension_that_sets_the_value_again_replaces_the_lock_of_another_process() {
    let sets = |story: Story| {
        let by = Some(Node::Client(1));
        texts_at(story.server(9, 1, Change::Granted, "a", by), 9).remove(0)
    };
    let held = || Story::new().takes(1, 1, "a").expires(3, "a");
    assert_eq!(sets(held()), "sets the lock of client-1 again at its request");
    let replaces = "replaces the lock of client-2 with the lock of client-1 at its request";
    assert_eq!(sets(held().takes(4, 2, "b")), replaces);
}

#[test]
fn a_value_that_a_loser_writes_once_more_leaves_the_lock_to_the_winner() {
    let by = Some(Node::Client(2));
    let story = Story::new().acquires(1, 2).takes(2, 1, "7");
    let story = story.server(3, 1, Change::Granted, "7", by).fails(4, 2);
    let again = "overwrites the value of the lock of client-1 with the same value at the request \
                 of client-2";
    assert_eq!(texts_at(story.clone(), 3), [again]);
    let removed = texts_at(story.leaves(5, 1).removed(6, "7", 1).left(7, 1), 6);
    assert_eq!(removed, ["removes the lock of client-1 at its request"]);
}

#[test]
fn of_equal_values_the_copied_server_says_whose_lock_it_is() {
    let turn = |story: Story, ms, turn| {
        story.event(ms, Node::Redis(1), What::Turn { turn, about: Some(Node::Redis(2)) })
    };
    let story = Story::new().takes(1, 1, "1").replicated(2, 2, "1").takes(4, 3, "1");
    let story = turn(story, 6, Turn::Demoted).server(7, 1, Change::Restored, "1", None);
    let received = "receives the lock of client-1 with the data of redis-2";
    assert_eq!(texts_at(story, 7), [received]);
}
