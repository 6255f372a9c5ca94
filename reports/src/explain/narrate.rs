//! Events in words.

use crate::judge::timeline::{creator, is_one_owner};
use crate::record::history::{Access, Action, Change, Event, History, Turn, What};
use fencepost_faults::Node;

/// What an event says, without saying where it happened.
pub(crate) fn text(history: &History, event: &Event) -> String {
    match &event.what {
        What::Invoke { action: Action::Release, .. } if depth(history, event) > 1 => {
            "gives back an inner hold and stays in its section".to_owned()
        }
        What::Invoke { action, .. } => invoked(action),
        What::Ok { owner: Some(_), token, valid_for_us, .. } => {
            let token = token.map_or(String::new(), |token| format!(", token {token}"));
            let validity =
                valid_for_us.map_or(String::new(), |validity| format!(", valid for {validity}"));
            let again = if depth(history, event) > 0 { " again, inside its section" } else { "" };
            format!("is granted the lock{again}{token}{validity}")
        }
        What::Ok { value: Some(value), .. } => format!("has read {value}"),
        What::Ok { .. } => "succeeds".to_owned(),
        What::Fail { reason, .. } => format!("fails: {reason}"),
        What::Info { reason, .. } => format!("does not know the outcome: {reason}"),
        What::Lost => "notices that it lost the lock".to_owned(),
        What::Silent { since_us, ahead: true, .. } => {
            format!("waits, and has sent nothing since {since_us}")
        }
        What::Silent { since_us, ahead: false, .. } => {
            format!("waits, has sent nothing since {since_us}, and nothing ahead could wake it")
        }
        What::Crashed => "crashes".to_owned(),
        What::Turn { turn, about } => turned(*turn, *about),
        What::Started => "starts again".to_owned(),
        What::Server { .. } => server(history, event),
        What::Storage { .. } => storage(&event.what),
        What::FaultBegan { fault, kind, nodes } => {
            let nodes: Vec<String> = nodes.iter().map(Node::to_string).collect();
            let on =
                if nodes.is_empty() { String::new() } else { format!(" on {}", nodes.join(", ")) };
            format!("fault {fault} begins: {kind}{on}")
        }
        What::FaultEnded { fault, kind } => format!("fault {fault} ends: {kind}"),
        What::Healed => "everything is healed".to_owned(),
    }
}

fn turned(turn: Turn, about: Option<Node>) -> String {
    let other = about.map_or_else(|| "another server".to_owned(), |about| about.to_string());
    match turn {
        Turn::Promoted => "becomes a primary".to_owned(),
        Turn::Demoted => format!("becomes a replica of {other}"),
        Turn::Follows => format!("follows {other} from now on"),
        Turn::TookOver => format!("replaces all its data by that of {other}"),
        Turn::Unaware => {
            format!("is still a primary, and does not know that {other} has become one")
        }
        Turn::SubjectivelyDown => format!("finds {other} down"),
        Turn::SubjectivelyUp => format!("finds {other} up again"),
        Turn::ObjectivelyDown => format!("knows that enough Sentinels find {other} down"),
        Turn::ObjectivelyUp => {
            format!("no longer knows of enough Sentinels that find {other} down")
        }
        Turn::Names => format!("names {other} as the primary from now on"),
        Turn::InFlight => format!("is dead while its message to {other} is still on its way"),
        Turn::Unanswered => format!("has died before it answered {other}"),
    }
}

/// How many sections the event's thread was in when it came to it: those of one thread nest.
fn depth(history: &History, event: &Event) -> usize {
    let before = &history.events[..history.events.len().min(event.sequence as usize)];
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
        Action::Release => "leaves its section and releases".to_owned(),
        Action::Extend => "extends its lease".to_owned(),
        Action::Check => "looks whether the lock is still its own".to_owned(),
        Action::Read { .. } => "reads".to_owned(),
        Action::Write { value, based_on, .. } => format!("writes {value}, based on {based_on}"),
    }
}

fn server(history: &History, event: &Event) -> String {
    let What::Server { key, change, by, primary, .. } = &event.what else { return String::new() };
    if history.header.lives_with_session && *key == history.header.resource {
        return queue(history, event);
    }
    let lock = match *key == history.header.resource {
        true => "the lock".to_owned(),
        false => format!("key {key}"),
    };
    let whose = match (change, grantee(history, event)) {
        (Change::Granted, _) | (_, None) => lock,
        (_, Some(owner)) => format!("{lock} of {owner}"),
    };
    let asked = by.map_or(String::new(), |by| format!(", asked by {by}"));
    match (change, by, primary) {
        (Change::Granted, Some(by), _) => format!("grants {whose} to {by}"),
        (Change::Granted, None, _) => {
            let owner = grantee(history, event);
            format!(
                "receives {whose}{}",
                owner.map_or(String::new(), |owner| format!(" of {owner}"))
            )
        }
        (Change::Extended, ..) => format!("extends {whose}{asked}"),
        (Change::Removed, ..) => format!("removes {whose}{asked}"),
        (Change::Expired, ..) => format!("expires {whose}"),
        (Change::Evicted, ..) => format!("evicts {whose} to free memory"),
        (Change::Flushed, ..) => format!("is flushed of {whose}{asked}"),
        (Change::Discarded, ..) => format!("discards {whose} to follow another primary"),
        (Change::Forgotten, ..) => format!("comes back without {whose}"),
        (Change::Restored, ..) => format!("comes back with {whose}"),
    }
}

/// What a server says of the first node of the queue.
fn queue(history: &History, event: &Event) -> String {
    let What::Server { change, value, by, .. } = &event.what else { return String::new() };
    let (node, session) = history.header.place();
    let node = match value.as_deref().and_then(|value| creator(history, value)) {
        Some(creator) => format!("the {node} of {creator}"),
        None => format!("a {node}"),
    };
    let asked = by.map_or(String::new(), |by| format!(", asked by {by}"));
    match change {
        Change::Granted => format!("has {node} as the first of the queue"),
        Change::Removed => format!("removes {node}{asked}"),
        Change::Expired => format!("removes {node}, whose {session} is over"),
        Change::Discarded => format!("discards {node} to follow the leader"),
        Change::Restored if by.is_some() => format!("has {node}, the first of the queue, back"),
        Change::Restored => format!("comes back with {node} as the first of the queue"),
        Change::Forgotten => format!("comes back without {node}"),
        Change::Extended | Change::Evicted | Change::Flushed => format!("changes {node}"),
    }
}

/// The process whose lock an event of a server speaks of: the one that what stood there was granted
/// to, at that server or at the one that it follows. The value alone does not tell, for many locks
/// write the same for all.
fn grantee(history: &History, event: &Event) -> Option<Node> {
    let What::Server { key, value: Some(value), .. } = &event.what else { return None };
    let before = &history.events[..history.events.len().min(event.sequence as usize)];
    let wrote = |earlier: &Event| match &earlier.what {
        What::Server { key: other, change, value: Some(written), by, .. }
            if other == key && is_one_owner(written, value) =>
        {
            let write = matches!(change, Change::Granted | Change::Restored);
            write.then_some((earlier.node, *by))
        }
        _ => None,
    };
    let is_copy = matches!(event.what, What::Server { change: Change::Granted, by: None, .. });
    let here = before.iter().rposition(|earlier| {
        !is_copy && wrote(earlier).is_some_and(|(node, _)| node == event.node)
    });
    let granted = here.and_then(|index| wrote(&before[index])?.1);
    let elsewhere = before[..here.unwrap_or(before.len())].iter().rev();
    granted.or_else(|| elsewhere.filter_map(wrote).find_map(|(_, by)| by))
}

fn storage(what: &What) -> String {
    let What::Storage { by, access, token, accepted, before, after, based_on, .. } = what else {
        return String::new();
    };
    let token = token.map_or(String::new(), |token| format!(" with token {token}"));
    match (accepted, access) {
        (false, Access::Read) => format!("rejects a read of {by}{token}"),
        (false, Access::Write) => format!("rejects a write of {by}{token}"),
        (true, Access::Read) => format!("lets {by} read {after}{token}"),
        (true, Access::Write) => {
            let read = based_on.filter(|read| read != before);
            let lost = read.map_or(String::new(), |read| format!(", though {by} had read {read}"));
            format!("accepts {by}'s write{token}: {before} becomes {after}{lost}")
        }
    }
}
