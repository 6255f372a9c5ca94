use super::{after_event, before_event, wait_end_text};
use crate::explain::evidence::GRANULARITY;
use crate::judge::timeline::{creator, is_lower_count, is_one_owner};
use crate::record::history::{Action, Change, Event, History, Turn, What};
use fencepost_faults::{FaultKind, Micros, Node};
use std::collections::BTreeSet;

pub(super) fn server(history: &History, event: &Event) -> String {
    let What::Server { key, change, by, primary, .. } = &event.what else { return String::new() };
    if history.header.has_queue() && *key == history.header.resource {
        return queue(history, event);
    }
    let lock = match *key == history.header.resource {
        true => "the lock".to_owned(),
        false => format!("key {key}"),
    };
    // A token counter belongs to no process, so its changes name no owner.
    let owner = grantee(history, event).filter(|_| !history.header.is_token_counter(key));
    let whose = match (change, owner) {
        (Change::Granted, _) | (_, None) => lock,
        (_, Some(owner)) if is_earlier(history, event, owner) => {
            format!("an earlier lock of {owner}")
        }
        (_, Some(owner)) => format!("{lock} of {owner}"),
    };
    let asked = request_suffix(*by, owner);
    match (change, by, primary) {
        (Change::Granted, Some(by), _) => granted(history, event, *by, &whose),
        (Change::Granted, None, _) => copied(history, event, &whose),
        (Change::Extended, ..) if is_part_of_grant(history, event) => {
            format!("sets the expiry of {whose}{asked}")
        }
        (Change::Extended, ..) => match shortened(history, event) {
            Some(lease) => format!("shortens the lease of {whose} to {lease}{asked}"),
            None => format!("extends {whose}{asked}"),
        },
        (Change::Removed, ..) => format!("removes {whose}{asked}"),
        (Change::Expired, ..) if ended_with_membership(history, event) => {
            format!("removes {whose}, whose membership has ended")
        }
        (Change::Expired, ..) => format!("expires {whose}"),
        (Change::Evicted, ..) => format!("evicts {whose} to free memory"),
        (Change::Flushed, ..) => format!("loses {whose} in a flush{asked}"),
        (Change::Discarded, ..) => match history.header.has_members() {
            true => format!("discards {whose}, because it is no longer the grantor"),
            false => {
                let source = source(history, event);
                let source = source.map_or("another server".to_owned(), |node| node.to_string());
                format!("discards {whose}, because it replaces its data with that of {source}")
            }
        },
        (Change::Forgotten, ..) => format!("restarts without {whose}"),
        (Change::Restored, ..) => match copied_from(history, event) {
            Some(Some(source)) => format!("receives {whose} with the data of {source}"),
            Some(None) => format!("receives {whose} with the data of another server"),
            None => format!("restarts with {whose}"),
        },
    }
}

fn granted(history: &History, event: &Event, by: Node, lock: &str) -> String {
    if is_lowered(history, event) {
        return match is_zero(event) {
            true => format!("decrements the count of {by} to 0"),
            false => format!("decrements the count of {by}, which still has {lock}"),
        };
    }
    let standing = standing_owner(history, event);
    if is_overwrite(history, event) {
        let whose = standing.map_or(lock.to_owned(), |owner| format!("the lock of {owner}"));
        let same = match previous_value(history, event) == written(event) {
            true => " with the same value",
            false => "",
        };
        return format!("overwrites the value of {whose}{same} at the request of {by}");
    }
    if is_renewal(history, event) {
        return match standing.filter(|standing| *standing != by) {
            Some(standing) => {
                format!("replaces the lock of {standing} with the lock of {by} at its request")
            }
            None => format!("sets {lock} of {by} again at its request"),
        };
    }
    let again = if is_raised(history, event) { " once more" } else { "" };
    format!("grants {lock} to {by}{again}{}", wait_end_text(history, event, by))
}

/// Returns whether the owner learned that this value was its lock, and later got another lock.
fn is_earlier(history: &History, event: &Event, owner: Node) -> bool {
    let What::Server { key, change, value: Some(value), .. } = &event.what else { return false };
    if matches!(change, Change::Granted | Change::Extended | Change::Restored) {
        return false;
    }
    let is_own = |told: &str| is_one_owner(told, value);
    let before = before_event(history, event);
    let mut latest = before.iter().rev().filter_map(|one| match &one.what {
        What::Server { key: same, change: Change::Granted, value: Some(set), .. }
            if same == key && is_own(set) =>
        {
            Some(true)
        }
        What::Ok { owner: Some(told), .. } if one.node == owner => Some(is_own(told)),
        _ => None,
    });
    let was_told = |one: &Event| match &one.what {
        What::Ok { owner: Some(told), .. } => one.node == owner && is_own(told),
        _ => false,
    };
    latest.next() == Some(false) && before.iter().any(was_told)
}

/// Returns the lease that the event sets, if it ends before the previous lease would have ended.
fn shortened(history: &History, event: &Event) -> Option<Micros> {
    let What::Server { key, lease_us: Some(lease), .. } = &event.what else { return None };
    let mut before = before_event(history, event).iter().rev();
    let ended = before.find_map(|earlier| match &earlier.what {
        What::Server {
            key: same, change: Change::Granted | Change::Extended, lease_us, ..
        } if same == key && earlier.node == event.node => {
            Some(lease_us.map(|lease| earlier.time_us + lease))
        }
        _ => None,
    });
    (event.time_us + *lease < ended??).then_some(*lease)
}

/// Returns whether a grantor freed a lock before its lease was over, such as when a member leaves.
/// Returns `false` if a clock fault on the grantor may have ended the lease.
pub(crate) fn ended_with_membership(history: &History, event: &Event) -> bool {
    let What::Server { key, change: Change::Expired, .. } = &event.what else { return false };
    let is_bent = |earlier: &Event| match &earlier.what {
        What::FaultBegan { kind: FaultKind::ClockJump | FaultKind::ClockDrift, nodes, .. } => {
            nodes.contains(&event.node)
        }
        _ => false,
    };
    if before_event(history, event).iter().any(is_bent) {
        return false;
    }
    let mut before = before_event(history, event).iter().rev();
    let lease = before.find_map(|earlier| match &earlier.what {
        What::Server {
            key: same, change: Change::Granted | Change::Extended, lease_us, ..
        } if same == key && earlier.node == event.node => Some(earlier.time_us + (*lease_us)?),
        _ => None,
    });
    history.header.has_members() && lease.is_some_and(|ends| event.time_us + GRANULARITY < ends)
}

fn copied(history: &History, event: &Event, lock: &str) -> String {
    let Some(owner) = grantee(history, event) else { return format!("receives {lock}") };
    match (is_lowered(history, event), is_zero(event)) {
        (true, true) => format!("copies the decrement of the count of {owner} to 0"),
        (true, false) => {
            format!("copies the decrement of the count of {owner}, which still has {lock}")
        }
        (false, _) => format!("receives {lock} of {owner}"),
    }
}

/// Returns the source of this server's data: `None` if the server loaded its own data in a restart,
/// and `Some(None)` if the history does not name the source. A restarted replica has its own data
/// at first, and later its primary's data. A server that was never down must have copied its locks.
fn copied_from(history: &History, event: &Event) -> Option<Option<Node>> {
    let before = before_event(history, event);
    let own = before.iter().rev().filter(|one| one.node == event.node);
    let mut origins = own.filter_map(|earlier| match earlier.what {
        What::Started if earlier.time_us < event.time_us => {
            Some(followed(before, event.node).map(Some))
        }
        What::Crashed | What::Started => Some(None),
        // A demotion also counts, because the first copy of another server's data is not recorded.
        What::Turn { turn: Turn::TookOver | Turn::Demoted, about } => Some(Some(about)),
        _ => None,
    });
    origins.next().unwrap_or(Some(None))
}

/// Returns the server whose data this server copied at the time of the event.
fn source(history: &History, event: &Event) -> Option<Node> {
    let (before, after) = (before_event(history, event), after_event(history, event));
    let earlier = before.iter().rev().take_while(|one| one.time_us == event.time_us);
    let mut here = earlier.chain(after.iter().take_while(|one| one.time_us == event.time_us));
    here.find_map(|one| match one.what {
        What::Turn { turn: Turn::TookOver, about } if one.node == event.node => about,
        _ => None,
    })
}

/// Returns whether a process set its value again outside an acquire, even after losing the lock.
fn is_renewal(history: &History, event: &Event) -> bool {
    let What::Server { by: Some(by), .. } = &event.what else { return false };
    let before = before_event(history, event);
    let mut acquires = BTreeSet::new();
    for earlier in before.iter().filter(|earlier| earlier.node.machine() == by.machine()) {
        match &earlier.what {
            What::Invoke { operation, action: Action::Acquire } => {
                acquires.insert(*operation);
            }
            What::Ok { operation, .. } | What::Fail { operation, .. } => {
                acquires.remove(operation);
            }
            _ => {}
        }
    }
    // An acquire without a definite outcome may have set the value.
    acquires.is_empty() && grantee(history, event) == Some(*by) && !is_raised(history, event)
}

fn standing_owner(history: &History, event: &Event) -> Option<Node> {
    owner_before(history, event, previous_value(history, event)?)
}

fn request_suffix(by: Option<Node>, owner: Option<Node>) -> String {
    match by {
        None => String::new(),
        Some(by) if owner == Some(by) => " at its request".to_owned(),
        Some(by) => format!(" at the request of {by}"),
    }
}

pub(super) fn is_lowered(history: &History, event: &Event) -> bool {
    let now = written(event);
    previous_value(history, event).zip(now).is_some_and(|(before, now)| is_lower_count(before, now))
}

pub(super) fn is_zero(event: &Event) -> bool {
    written(event).is_some_and(|value| value.ends_with("=0"))
}

fn is_raised(history: &History, event: &Event) -> bool {
    let now = written(event);
    previous_value(history, event).zip(now).is_some_and(|(before, now)| is_lower_count(now, before))
}

/// Returns whether an acquire replaced the value of another owner or process without getting the
/// lock with its own value, like the GETSET of a losing process.
fn is_overwrite(history: &History, event: &Event) -> bool {
    let What::Server { key, change: Change::Granted, value: Some(value), by: Some(by), .. } =
        &event.what
    else {
        return false;
    };
    let header = &history.header;
    let is_value = header.kept_as.is_none() && header.quorum <= 1 && *key == header.resource;
    let replaces = |standing: &str| {
        !is_one_owner(standing, value) || owner_before(history, event, standing) != Some(*by)
    };
    is_value
        && previous_value(history, event).is_some_and(replaces)
        && ended_without(history, event, *by, value)
}

/// Returns whether the open acquire of the process failed, or got the lock with another value.
fn ended_without(history: &History, event: &Event, by: Node, value: &str) -> bool {
    let own = before_event(history, event).iter().rev().filter(|earlier| earlier.node == by);
    let mut invoked = own.filter_map(|earlier| match &earlier.what {
        What::Invoke { operation, action } => Some((*operation, action)),
        _ => None,
    });
    let Some((acquire, Action::Acquire)) = invoked.next() else { return false };
    after_event(history, event).iter().any(|later| match &later.what {
        What::Ok { operation, owner: Some(owner), .. } => *operation == acquire && owner != value,
        What::Fail { operation, .. } => *operation == acquire,
        _ => false,
    })
}

fn written(event: &Event) -> Option<&str> {
    match &event.what {
        What::Server { value, .. } => value.as_deref(),
        _ => None,
    }
}

fn previous_value<'h>(history: &'h History, event: &Event) -> Option<&'h str> {
    let What::Server { key, .. } = &event.what else { return None };
    let before = before_event(history, event);
    let stood = before.iter().rev().find_map(|earlier| match &earlier.what {
        What::Server { key: same, change, value, .. }
            if same == key && earlier.node == event.node && *change != Change::Extended =>
        {
            let stands = matches!(change, Change::Granted | Change::Restored);
            Some(value.as_deref().filter(|_| stands))
        }
        _ => None,
    });
    stood.flatten()
}

/// Returns whether the command also granted the lock, changed its count or set its first expiry.
pub(crate) fn is_part_of_grant(history: &History, event: &Event) -> bool {
    completes_a_grant(history, event) || sets_the_first_expiry(history, event)
}

fn completes_a_grant(history: &History, event: &Event) -> bool {
    let What::Server { key, by, .. } = &event.what else { return false };
    let before = before_event(history, event);
    let mut here = before.iter().rev().take_while(|earlier| earlier.time_us == event.time_us);
    here.any(|earlier| match &earlier.what {
        What::Server { key: same, change: Change::Granted, by: asked, .. } => {
            same == key && asked == by && earlier.node == event.node
        }
        _ => false,
    })
}

fn sets_the_first_expiry(history: &History, event: &Event) -> bool {
    let What::Server { key, lease_us: Some(_), .. } = &event.what else { return false };
    let mut earlier =
        before_event(history, event).iter().rev().filter_map(|earlier| match &earlier.what {
            What::Server { key: same, change, lease_us, .. }
                if same == key && earlier.node == event.node =>
            {
                Some((*change, *lease_us))
            }
            _ => None,
        });
    earlier.next() == Some((Change::Granted, None))
}

fn queue(history: &History, event: &Event) -> String {
    let What::Server { change, value, by, .. } = &event.what else { return String::new() };
    let (node, session) = history.header.place();
    let creator = value.as_deref().and_then(|value| creator(history, value));
    let (node, head) = match creator {
        Some(creator) => (format!("the {node} of {creator}"), format!("{creator}'s {node}")),
        None => (format!("a {node}"), format!("a {node}")),
    };
    let asked = request_suffix(*by, creator);
    match change {
        Change::Granted => format!("now has {head} at the head of the queue"),
        Change::Removed => format!("removes {node}{asked}"),
        Change::Expired if is_kept_elsewhere(history, event) => {
            format!("removes its copy of {node}, which other servers keep")
        }
        Change::Expired => format!("removes {node}, whose {session} has ended"),
        Change::Discarded => format!("discards {node} to follow the leader"),
        Change::Restored if by.is_some() || copied_from(history, event).is_some() => {
            format!("has {head} at the head of the queue again")
        }
        Change::Restored => format!("restarts with {head} at the head of the queue"),
        Change::Forgotten => format!("restarts without {node}"),
        Change::Extended | Change::Evicted | Change::Flushed => format!("changes {node}"),
    }
}

/// Returns whether a server recorded the node again later. A server that is cut off from the others
/// may end a session that they keep.
fn is_kept_elsewhere(history: &History, event: &Event) -> bool {
    let What::Server { value: node @ Some(_), .. } = &event.what else { return false };
    after_event(history, event).iter().any(|later| match &later.what {
        What::Server { change: Change::Granted | Change::Restored, value, .. } => value == node,
        _ => false,
    })
}

/// Returns the process that last wrote the event's value, preferably at this server or its primary,
/// because some locks always write the same value. If the write replaced another owner's value
/// without getting the lock, returns that owner instead.
pub(super) fn grantee(history: &History, event: &Event) -> Option<Node> {
    let What::Server { value: Some(value), .. } = &event.what else { return None };
    owner_before(history, event, value)
}

fn owner_before(history: &History, event: &Event, value: &str) -> Option<Node> {
    let What::Server { key, .. } = &event.what else { return None };
    let before = before_event(history, event);
    let wrote = |earlier: &&Event| match &earlier.what {
        What::Server { key: other, change, value: Some(written), .. } => {
            let write = matches!(change, Change::Granted | Change::Restored);
            write && other == key && is_one_owner(written, value)
        }
        _ => false,
    };
    let writes = || before.iter().rev().filter(wrote);
    let is_asked = |one: &&Event| matches!(one.what, What::Server { by: Some(_), .. });
    let (change, by) = match &event.what {
        What::Server { change, by, .. } => (*change, *by),
        _ => return None,
    };
    let copied = match change {
        Change::Restored => copied_from(history, event).flatten(),
        _ => None,
    };
    let is_copy = change == Change::Granted && by.is_none();
    let here = copied.or_else(|| (!is_copy).then_some(event.node));
    let write = here.and_then(|node| writes().find(|one| one.node == node));
    if let Some(copy) = write.filter(|one| !is_asked(one)) {
        return grantee(history, copy);
    }
    let primary = followed(before, event.node);
    let at_primary = || writes().filter(is_asked).find(|one| Some(one.node) == primary);
    let write = write.or_else(at_primary).or_else(|| writes().find(is_asked))?;
    owner_of_write(history, write)
}

fn followed(before: &[Event], node: Node) -> Option<Node> {
    let mut turns = before.iter().rev().filter(|one| one.node == node);
    turns.find_map(|one| match one.what {
        What::Turn { turn: Turn::Follows | Turn::TookOver | Turn::Demoted, about } => Some(about),
        What::Turn { turn: Turn::Promoted, .. } => Some(None),
        _ => None,
    })?
}

fn owner_of_write(history: &History, write: &Event) -> Option<Node> {
    match (&write.what, previous_value(history, write)) {
        (_, Some(standing)) if is_overwrite(history, write) => {
            owner_before(history, write, standing)
        }
        (What::Server { by, .. }, _) => *by,
        _ => None,
    }
}
