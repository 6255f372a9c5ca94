//! Describes events of a history in words.

mod release;
mod server;

use crate::judge::timeline::is_one_owner;
use crate::record::history::{Access, Action, Change, Event, GivingUp, History, Turn, What};
use fencepost_faults::Node;
use server::server;
pub(crate) use server::{ended_with_membership, is_part_of_grant};
use std::collections::BTreeMap;

pub(crate) fn text(history: &History, event: &Event) -> String {
    match &event.what {
        What::Invoke { operation, .. } if is_inner_release(history, event) => {
            match fails(history, event, *operation) {
                true => "stays in its critical section, but its inner release fails".to_owned(),
                false => {
                    "releases an inner acquisition and stays in its critical section".to_owned()
                }
            }
        }
        What::Invoke { operation, action: Action::Release } => {
            release::leaves(history, event, *operation, depth(history, event) > 0)
        }
        What::Invoke { action, .. } => invoked(action),
        What::Ok { owner: Some(_), token, valid_for_us, .. } => {
            let token = token.map_or(String::new(), |token| format!(", token {token}"));
            let validity =
                valid_for_us.map_or(String::new(), |validity| format!(", valid for {validity}"));
            let again =
                if depth(history, event) > 0 { " again, inside its critical section" } else { "" };
            match granted_and_gone(history, event) {
                true => format!("learns that it was granted the lock{token}{validity}"),
                false => format!("is granted the lock{again}{token}{validity}"),
            }
        }
        What::Ok { value: Some(value), .. } => format!("has read {value}"),
        What::Ok { .. } => "succeeds".to_owned(),
        What::Fail { reason, .. } => format!("fails: {reason}"),
        What::Info { reason, .. } => format!("does not know the outcome: {reason}"),
        What::GivenUp { operation, how } => {
            let what = match action_of(history, *operation) {
                Some(Action::Release) => "release",
                _ => "acquire",
            };
            let granted = granting(history, event, *operation)
                .map_or(String::new(), |server| format!(", which {server} has granted"));
            match how {
                GivingUp::Cancelled => format!("cancels its {what}{granted}"),
                GivingUp::Interrupted => format!("is interrupted during its {what}{granted}"),
            }
        }
        What::About { lock } => format!("switches to the lock {lock:?}"),
        What::Lost => "notices that it lost the lock".to_owned(),
        What::Silent { since_us, ahead: true, .. } => {
            format!("waits and has sent nothing since {since_us}")
        }
        What::Silent { since_us, ahead: false, .. } => {
            format!("waits and has sent nothing since {since_us}; no pending event can wake it")
        }
        What::Crashed => "crashes".to_owned(),
        What::Turn { turn, about } => role_change_text(*turn, *about),
        What::Started => "restarts".to_owned(),
        What::Server { .. } => server(history, event),
        What::Storage { .. } => storage(history, event),
        What::FaultBegan { fault, kind, nodes } => {
            let nodes: Vec<String> = nodes.iter().map(Node::to_string).collect();
            let on =
                if nodes.is_empty() { String::new() } else { format!(" on {}", nodes.join(", ")) };
            format!("fault {fault} begins: {kind}{on}")
        }
        What::FaultEnded { fault, kind } => format!("fault {fault} ends: {kind}"),
        What::Healed => "all faults have ended".to_owned(),
    }
}

pub(crate) fn is_nested(history: &History, event: &Event) -> bool {
    matches!(event.what, What::Ok { owner: Some(_), .. }) && depth(history, event) > 0
}

pub(crate) fn is_inner_release(history: &History, event: &Event) -> bool {
    matches!(event.what, What::Invoke { action: Action::Release, .. }) && depth(history, event) > 1
}

/// Returns the events before `event`. Searches by sequence number instead of by index, because the
/// history of a single lock has gaps in the sequence.
fn before_event<'h>(history: &'h History, event: &Event) -> &'h [Event] {
    let at = history.events.partition_point(|earlier| earlier.sequence < event.sequence);
    &history.events[..at]
}

fn after_event<'h>(history: &'h History, event: &Event) -> &'h [Event] {
    let at = history.events.partition_point(|earlier| earlier.sequence <= event.sequence);
    &history.events[at..]
}

fn fails(history: &History, event: &Event, call: u64) -> bool {
    after_event(history, event)
        .iter()
        .any(|later| matches!(later.what, What::Fail { operation, .. } if operation == call))
}

fn action_of(history: &History, operation: u64) -> Option<&Action> {
    history.events.iter().find_map(|event| match &event.what {
        What::Invoke { operation: invoked, action } if *invoked == operation => Some(action),
        _ => None,
    })
}

fn granting(history: &History, event: &Event, operation: u64) -> Option<Node> {
    let before = before_event(history, event);
    let is_invocation = |earlier: &&Event| matches!(earlier.what, What::Invoke { operation: invoked, .. } if invoked == operation);
    let since = before.iter().rev().take_while(|earlier| !is_invocation(earlier));
    let mut changes = since.filter_map(|earlier| match &earlier.what {
        What::Server { key, change, by: Some(by), .. }
            if *key == history.header.resource && *by == event.node =>
        {
            Some((earlier.node, *change))
        }
        _ => None,
    });
    let (server, change) = changes.next()?;
    let is_acquire = action_of(history, operation) == Some(&Action::Acquire);
    (is_acquire && change == Change::Granted).then_some(server)
}

fn wait_end_text(history: &History, event: &Event, by: Node) -> &'static str {
    let before = before_event(history, event);
    let own = before.iter().rev().filter(|earlier| earlier.node == by);
    let mut deeds = own.filter_map(|earlier| match &earlier.what {
        What::GivenUp { operation, .. } => Some(action_of(history, *operation)),
        What::Invoke { .. } | What::Ok { .. } | What::Crashed => Some(None),
        _ => None,
    });
    match deeds.next().flatten() {
        Some(Action::Acquire) => ", which no longer waits for it",
        _ => "",
    }
}

/// Returns whether the only server that had granted the lock to this process lost it before the
/// process learned of the grant.
fn granted_and_gone(history: &History, event: &Event) -> bool {
    let What::Ok { owner: Some(owner), .. } = &event.what else { return false };
    let header = &history.header;
    if header.quorum > 1 || header.has_queue() {
        return false;
    }
    let mut stands: BTreeMap<Node, bool> = BTreeMap::new();
    for earlier in before_event(history, event) {
        let What::Server { key, change, value: Some(value), .. } = &earlier.what else { continue };
        if *key != header.resource || *change == Change::Extended {
            continue;
        }
        let is_set = matches!(change, Change::Granted | Change::Restored);
        let is_own = is_one_owner(value, owner);
        if is_set && is_own || stands.contains_key(&earlier.node) {
            stands.insert(earlier.node, is_set && is_own);
        }
    }
    !stands.is_empty() && stands.values().all(|stands| !stands)
}

fn role_change_text(turn: Turn, about: Option<Node>) -> String {
    let other = about.map_or_else(|| "another server".to_owned(), |about| about.to_string());
    match turn {
        Turn::Promoted => "becomes a primary".to_owned(),
        Turn::Demoted => format!("becomes a replica of {other}"),
        Turn::Follows => format!("now follows {other}"),
        Turn::TookOver => format!("replaces all its data with that of {other}"),
        Turn::Unaware => {
            format!("is still a primary and does not know that {other} has become one")
        }
        Turn::SubjectivelyDown => format!("considers {other} down"),
        Turn::SubjectivelyUp => format!("considers {other} up again"),
        Turn::ObjectivelyDown => format!("knows that enough Sentinels consider {other} down"),
        Turn::ObjectivelyUp => {
            format!("no longer knows of enough Sentinels that consider {other} down")
        }
        Turn::Names => format!("now names {other} as the primary"),
        Turn::InFlight => format!("is down while its message to {other} is still in transit"),
        Turn::DiskFailed => "stops, because a sync of its disk failed".to_owned(),
        Turn::RefusesWrites => {
            "refuses every write from now on, because its disk failed".to_owned()
        }
        Turn::TakesWrites => "accepts writes again".to_owned(),
        Turn::Unanswered => format!("went down before it answered {other}"),
    }
}

fn depth(history: &History, event: &Event) -> usize {
    let before = before_event(history, event);
    before.iter().fold(0, |depth: usize, earlier| match &earlier.what {
        What::Crashed if earlier.node == event.node.machine() => 0,
        _ if earlier.node != event.node => depth,
        What::Ok { owner: Some(_), .. } => depth + 1,
        What::Invoke { action: Action::Release, .. } => depth.saturating_sub(1),
        What::Lost => 0,
        _ => depth,
    })
}

fn invoked(action: &Action) -> String {
    match action {
        Action::Acquire => "wants the lock".to_owned(),
        Action::Release => "leaves its critical section".to_owned(),
        Action::Extend => "extends its lease".to_owned(),
        Action::Check => "checks whether it still holds the lock".to_owned(),
        Action::Read { .. } => "sends a read to the storage".to_owned(),
        Action::Write { value, based_on, .. } => {
            format!("sends a write of {value} to the storage after reading {based_on}")
        }
    }
}

/// Returns whether the process had stopped waiting for the answer before the storage served the
/// request.
fn is_given_up(history: &History, event: &Event, request: u64) -> bool {
    before_event(history, event)
        .iter()
        .rev()
        .any(|earlier| matches!(earlier.what, What::Info { operation, .. } if operation == request))
}

fn storage(history: &History, event: &Event) -> String {
    let What::Storage { operation, by, access, token, accepted, before, after, based_on, .. } =
        &event.what
    else {
        return String::new();
    };
    let token = token.map_or(String::new(), |token| format!(" with token {token}"));
    match (accepted, access) {
        (false, Access::Read) => format!("rejects a read of {by}{token}"),
        (false, Access::Write) => format!("rejects a write of {by}{token}"),
        (true, Access::Read) if is_given_up(history, event, *operation) => {
            format!("lets {by} read {after}{token}, although {by} no longer waits for it")
        }
        (true, Access::Read) => format!("lets {by} read {after}{token}"),
        (true, Access::Write) => {
            let read = based_on.filter(|read| read != before);
            let lost =
                read.map_or(String::new(), |read| format!(", although {by} had read {read}"));
            format!("accepts {by}'s write{token}: {before} becomes {after}{lost}")
        }
    }
}

#[cfg(test)]
mod tests {
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
        let granted = |story: Story| {
            texts_at(story.server(5, 1, Change::Granted, "a", Some(Node::Client(1))), 5)
        };
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
            let what =
                What::Server { key, change, value, by, primary: true, token: None, lease_us };
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
        let again = copies(held()).redis_crashes(6, 1).redis_starts(7, 1);
        assert_eq!(restored(again), "restarts with the lock of client-2");
        let demoted = What::Turn { turn: Turn::Demoted, about: Some(Node::Redis(2)) };
        assert_eq!(restored(crashed().event(5, Node::Redis(1), demoted)), received);
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
        assert_eq!(ends(12, Keeping::MemberLease), ["expires the lock of client-1"]);
        assert_eq!(ends(5, Keeping::RowByServer), ["expires the lock of client-1"]);
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
}
