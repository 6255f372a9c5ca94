//! Describes events of a history in words.

mod release;
mod server;
#[cfg(test)]
mod tests;

use crate::judge::timeline::is_one_owner;
use crate::record::history::{Access, Action, Change, Event, GivingUp, History, Turn, What};
use fencepost_faults::{FaultKind, Impact, Node};
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
            let is_nested = depth(history, event) > 0;
            let granted = match (granted_and_gone(history, event), is_nested) {
                (true, false) => "learns that it was granted the lock",
                (true, true) => "is told that it has the lock again, inside its critical section",
                (false, false) => "is granted the lock",
                (false, true) => "is granted the lock again, inside its critical section",
            };
            format!("{granted}{token}{validity}")
        }
        What::Ok { value: Some(value), .. } => format!("has read {value}"),
        What::Ok { .. } => "succeeds".to_owned(),
        What::Fail { operation, reason } => match action_of(history, *operation) {
            Some(Action::Acquire) => format!("does not get the lock: {reason}"),
            _ => format!("fails: {reason}"),
        },
        What::Info { operation, reason } => {
            let call = action_of(history, *operation).map_or("call", noun);
            format!("does not know the outcome of its {call} ({})", obstacle(reason))
        }
        What::GivenUp { operation, how } => {
            let what = action_of(history, *operation).map_or("acquire", noun);
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
        What::Crashed => crashes(history, event).to_owned(),
        What::Turn { turn, about } => role_change_text(*turn, *about),
        What::Started => "restarts".to_owned(),
        What::Server { .. } => server(history, event),
        What::Storage { .. } => storage(history, event),
        What::FaultBegan { fault, kind, nodes } => {
            format!("fault {fault} begins: {kind}{}", place(*kind, nodes))
        }
        What::FaultEnded { fault, kind } => format!("fault {fault} ends: {kind}"),
        What::Healed => match has_faults(history) {
            true => "all faults have ended".to_owned(),
            false => "the run has no faults".to_owned(),
        },
    }
}

fn place(kind: FaultKind, nodes: &[Node]) -> String {
    let names: Vec<String> = nodes.iter().map(Node::to_string).collect();
    let between = match kind.impact() {
        Impact::HoldsUpMessages | Impact::LosesReply | Impact::LosesRequest => " between ",
        _ => " on ",
    };
    match &names[..] {
        [] => String::new(),
        [one] => format!(" on {one}"),
        [first @ .., last] => format!("{between}{} and {last}", first.join(", ")),
    }
}

/// Returns how the process or machine stopped, as a verb.
pub(crate) fn crashes(history: &History, event: &Event) -> &'static str {
    match ends_by_itself(history, event) {
        _ if loses_power(history, event) => "loses power",
        true => "exits",
        false => "crashes",
    }
}

fn loses_power(history: &History, event: &Event) -> bool {
    is_hit_then(history, event, |kind| kind == FaultKind::PowerLoss)
}

/// Returns whether a process of a complete history ended without a fault: its program exited, or
/// its thread died.
fn ends_by_itself(history: &History, event: &Event) -> bool {
    let is_complete = history.ended.is_some() && event.node.is_process();
    is_complete && !is_hit_then(history, event, |_| true)
}

/// Returns whether a fault that satisfies `is_such` begins on the event's node at the event's time.
fn is_hit_then(history: &History, event: &Event, is_such: impl Fn(FaultKind) -> bool) -> bool {
    let (before, after) = (before_event(history, event), after_event(history, event));
    let earlier = before.iter().rev().take_while(|one| one.time_us == event.time_us);
    let mut here = earlier.chain(after.iter().take_while(|one| one.time_us == event.time_us));
    here.any(|one| match &one.what {
        What::FaultBegan { kind, nodes, .. } => is_such(*kind) && nodes.contains(&event.node),
        _ => false,
    })
}

fn has_faults(history: &History) -> bool {
    history.events.iter().any(|event| matches!(event.what, What::FaultBegan { .. }))
}

/// Returns why a process did not learn the outcome of its call. Removes the prefix with which
/// clients name the possible outcomes.
fn obstacle(reason: &str) -> &str {
    let reason = reason.strip_prefix("released or expired: ").unwrap_or(reason);
    reason.strip_prefix("not released: ").unwrap_or(reason)
}

pub(crate) fn is_nested(history: &History, event: &Event) -> bool {
    matches!(event.what, What::Ok { owner: Some(_), .. }) && depth(history, event) > 0
}

pub(crate) fn is_inner_release(history: &History, event: &Event) -> bool {
    matches!(event.what, What::Invoke { action: Action::Release, .. }) && depth(history, event) > 1
}

/// Returns the events before `event`. Uses sequence numbers, because one lock's history has gaps.
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

/// Returns whether every server that had this lock lost it before the process learned of the grant.
/// Returns `false` for a lock that needs a quorum.
fn granted_and_gone(history: &History, event: &Event) -> bool {
    let What::Ok { owner: Some(owner), .. } = &event.what else { return false };
    let header = &history.header;
    if header.quorum > 1 {
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
        Turn::ObjectivelyDown => {
            format!("considers {other} objectively down (a quorum of Sentinels agrees)")
        }
        Turn::ObjectivelyUp => format!("no longer considers {other} objectively down"),
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

fn noun(action: &Action) -> &'static str {
    match action {
        Action::Extend => "extension",
        other => other.name(),
    }
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

/// Returns whether the process had stopped waiting before the storage served the request.
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
