//! Events in words, and which of them a reader needs to see.

use crate::history::{Access, Action, Change, Event, History, What};
use crate::report::TimelineEntry;
use crate::timeline::{Timeline, creator, is_one_owner};
use crate::violation::Violation;
use fencepost_faults::{Impact, Node};
use std::collections::BTreeSet;

/// How many events are shown around one violation at most; its witness is always shown.
const SHOWN_MAX: usize = 40;

/// The events around every violation: its witness, what its processes, the servers and the storage
/// did meanwhile, and the faults. Who holds the lock at each, and what happens between two of them,
/// comes from the whole history.
pub(crate) fn timeline(whole: &Timeline<'_>, violations: &[Violation]) -> Vec<TimelineEntry> {
    let mut shown: BTreeSet<usize> = BTreeSet::new();
    let mut evidence: BTreeSet<u64> = BTreeSet::new();
    for violation in violations {
        shown.extend(window(whole.history, violation));
        shown.extend(violation.narrative.iter().map(|line| line.event as usize));
        evidence.extend(violation.witness.iter().map(|event| event.sequence));
    }
    let mut before: Option<usize> = None;
    let entries = shown.into_iter().map(|index| {
        let entry = entry(whole, before, index, &evidence);
        before = Some(index);
        entry
    });
    entries.collect()
}

/// The event at `index`, `before` being the one that is shown before it.
fn entry(
    whole: &Timeline<'_>,
    before: Option<usize>,
    index: usize,
    evidence: &BTreeSet<u64>,
) -> TimelineEntry {
    let (history, event) = (whole.history, &whole.history.events[index]);
    let hidden = before.map_or(0, |before| before + 1)..index;
    let began = whole.sections.iter().filter(|section| hidden.contains(&section.from.index));
    let moment = whole.moment(index);
    let mut holding: Vec<Node> = whole
        .sections
        .iter()
        .filter(|section| section.covers(moment))
        .map(|section| section.process)
        .collect();
    holding.sort();
    holding.dedup();
    let stops = whole.faults.iter().filter(|fault| {
        fault.kind.impact() == Impact::Freezes
            && fault.from <= moment
            && fault.to.is_none_or(|to| moment < to)
    });
    let stopped: BTreeSet<Node> = stops.flat_map(|fault| fault.nodes.to_vec()).collect();
    TimelineEntry {
        sequence: event.sequence,
        time_us: event.time_us,
        process: event.node,
        what: event.what.clone(),
        text: text(history, event),
        witness: evidence.contains(&event.sequence),
        left_out: hidden.len() as u64,
        left_out_sections: began.map(|section| section.process).collect(),
        stopped: holding.iter().copied().filter(|node| stopped.contains(&node.machine())).collect(),
        holding,
    }
}

/// The indices of the events to show for one violation.
fn window(history: &History, violation: &Violation) -> BTreeSet<usize> {
    let witness: BTreeSet<u64> = violation.witness.iter().map(|event| event.sequence).collect();
    let (Some(first), Some(last)) = (witness.first(), witness.last()) else {
        return BTreeSet::new();
    };
    let telling = |(index, event): (usize, &Event)| {
        let at = event.sequence;
        let within = *first <= at && at <= *last;
        let convicts = witness.contains(&at);
        let fault = is_fault(event) && (within || (at < *first && acts_on(history, index, *first)));
        (convicts || fault || (within && tells(history, event, violation)))
            .then_some((rank(event, convicts), index))
    };
    let mut chosen: Vec<(u8, usize)> =
        history.events.iter().enumerate().filter_map(telling).collect();
    chosen.sort_by_key(|(rank, index)| {
        (*rank, history.events[*index].time_us.since(violation.at_us), *index)
    });
    chosen.truncate(SHOWN_MAX.max(witness.len()));
    chosen.into_iter().map(|(_, index)| index).collect()
}

/// What goes first when there is not room for everything.
fn rank(event: &Event, convicts: bool) -> u8 {
    match &event.what {
        _ if convicts => 0,
        _ if is_fault(event) => 1,
        What::Crashed | What::Started | What::Lost | What::Healed => 2,
        What::Server { change: Change::Granted | Change::Extended, .. } => 4,
        What::Server { .. } => 3,
        _ => 4,
    }
}

fn is_fault(event: &Event) -> bool {
    matches!(event.what, What::FaultBegan { .. } | What::FaultEnded { .. })
}

/// Whether the fault that begins at `index` still acts at event number `at`.
fn acts_on(history: &History, index: usize, at: u64) -> bool {
    let What::FaultBegan { fault, .. } = &history.events[index].what else { return false };
    let ends = history.events[index..].iter().find(
        |event| matches!(&event.what, What::FaultEnded { fault: ended, .. } if ended == fault),
    );
    ends.is_some_and(|event| event.sequence > at)
}

/// Whether an event between the first and the last witness helps to understand a violation.
fn tells(history: &History, event: &Event, violation: &Violation) -> bool {
    let involved = |node: Node| violation.processes.contains(&node);
    match &event.what {
        What::Crashed
        | What::Started
        | What::Healed
        | What::FaultBegan { .. }
        | What::FaultEnded { .. } => true,
        What::Lost
        | What::Silent { .. }
        | What::Ok { owner: Some(_), .. }
        | What::Invoke { action: Action::Release, .. } => involved(event.node),
        What::Invoke { .. } | What::Ok { .. } | What::Fail { .. } | What::Info { .. } => false,
        What::Server { key, change, primary, .. } => {
            *key == history.header.resource
                && (*primary || !matches!(change, Change::Granted | Change::Removed))
        }
        What::Storage { by, accepted, .. } => involved(*by) || !accepted,
    }
}

/// What an event says, without saying where it happened.
pub(crate) fn text(history: &History, event: &Event) -> String {
    match &event.what {
        What::Invoke { action, .. } => invoked(action),
        What::Ok { owner: Some(_), token, valid_for_us, .. } => {
            let token = token.map_or(String::new(), |token| format!(", token {token}"));
            let validity =
                valid_for_us.map_or(String::new(), |validity| format!(", valid for {validity}"));
            format!("is granted the lock{token}{validity}")
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
    let node = match value.as_deref().and_then(|value| creator(history, value)) {
        Some(creator) => format!("the node of {creator}"),
        None => "a node".to_owned(),
    };
    let asked = by.map_or(String::new(), |by| format!(", asked by {by}"));
    match change {
        Change::Granted => format!("has {node} as the first of the queue"),
        Change::Removed => format!("removes {node}{asked}"),
        Change::Expired => format!("removes {node}, whose session is over"),
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
