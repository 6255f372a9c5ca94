//! Describes a release by its outcome and by the changes that servers made for the process.

use super::server::{grantee, is_lowered, is_zero};
use super::{after_event, before_event, obstacle};
use crate::judge::timeline::is_one_owner;
use crate::record::history::{Change, Event, History, What};
use crate::record::listed::listed;
use fencepost_faults::Node;
use std::collections::{BTreeMap, BTreeSet};

enum Outcome<'h> {
    Succeeded,
    Failed,
    /// The process does not know the outcome. `None` if no reason was recorded.
    Unknown(Option<&'h str>),
    Crashed,
}

/// Changes that servers made at the process's request before its next operation.
#[derive(Default)]
struct Effects {
    removed_own: bool,
    lowered_at: BTreeSet<Node>,
    removed_of: BTreeSet<Node>,
    is_any: bool,
}

pub(super) fn leaves(history: &History, event: &Event, operation: u64, is_inside: bool) -> String {
    let later = after_event(history, event);
    let effects = effects(history, event, later);
    let is_of_many = history.header.quorum > 1;
    let release = match outcome(event, later, operation) {
        Outcome::Failed => ", but its release fails".to_owned(),
        Outcome::Unknown(reason) if is_of_many => unknown_outcome(reason),
        _ if effects.removed_own => " and releases the lock".to_owned(),
        _ if !effects.lowered_at.is_empty() => {
            let servers = listed(&effects.lowered_at, "and");
            format!(", but its release only lowers the count of its lock at {servers}")
        }
        _ if !effects.removed_of.is_empty() => {
            format!(", but its release removes the lock of {}", listed(&effects.removed_of, "and"))
        }
        Outcome::Succeeded if !effects.is_any && is_gone(history, event) => {
            ", but its release finds no lock".to_owned()
        }
        Outcome::Succeeded => " and releases the lock".to_owned(),
        Outcome::Unknown(reason) => unknown_outcome(reason),
        Outcome::Crashed => " and crashes while it tries to release the lock".to_owned(),
    };
    let leaves = if is_inside { "leaves" } else { "has left" };
    format!("{leaves} its critical section{release}")
}

fn unknown_outcome(reason: Option<&str>) -> String {
    match reason.map(obstacle) {
        Some(reason) => format!(", and does not know the outcome of its release ({reason})"),
        None => " and tries to release the lock".to_owned(),
    }
}

fn outcome<'h>(event: &Event, later: &'h [Event], released: u64) -> Outcome<'h> {
    let ends = later.iter().find_map(|later| match &later.what {
        What::Ok { operation, .. } if *operation == released => Some(Outcome::Succeeded),
        What::Fail { operation, .. } if *operation == released => Some(Outcome::Failed),
        What::Info { operation, reason } if *operation == released => {
            Some(Outcome::Unknown(Some(reason)))
        }
        What::Crashed if later.node == event.node.machine() => Some(Outcome::Crashed),
        _ => None,
    });
    ends.unwrap_or(Outcome::Unknown(None))
}

fn effects(history: &History, event: &Event, later: &[Event]) -> Effects {
    let process = event.node;
    let is_next =
        |later: &&Event| later.node == process && matches!(later.what, What::Invoke { .. });
    let mut effects = Effects::default();
    for change in later.iter().take_while(|later| !is_next(later)) {
        let What::Server { key, change: how, by, .. } = &change.what else { continue };
        if *by != Some(process) || *key != history.header.resource {
            continue;
        }
        effects.is_any = true;
        match how {
            Change::Removed => match grantee(history, change) {
                Some(owner) if owner != process => _ = effects.removed_of.insert(owner),
                _ => effects.removed_own = true,
            },
            Change::Granted if is_lowered(history, change) && !is_zero(change) => {
                effects.lowered_at.insert(change.node);
            }
            _ => {}
        }
    }
    effects
}

/// Returns whether servers had recorded a lock of the process, and each of them had recorded the
/// lock's end before the event.
fn is_gone(history: &History, event: &Event) -> bool {
    let mut written: Vec<(&str, Node)> = Vec::new();
    let mut held: BTreeMap<Node, Option<Node>> = BTreeMap::new();
    let mut had_any = false;
    for earlier in before_event(history, event) {
        let What::Server { key, change, value, by, .. } = &earlier.what else { continue };
        if *key != history.header.resource {
            continue;
        }
        let is_set = match change {
            Change::Extended => continue,
            Change::Granted | Change::Restored => true,
            _ => false,
        };
        let value = value.as_deref().unwrap_or_default();
        let writer = written.iter().find(|(one, _)| is_one_owner(one, value)).map(|(_, by)| *by);
        let owner = by.filter(|_| *change == Change::Granted).or(writer);
        if let Some(by) = by.filter(|_| *change == Change::Granted) {
            written.retain(|(one, _)| !is_one_owner(one, value));
            written.push((value, by));
        }
        had_any |= owner == Some(event.node);
        held.insert(earlier.node, owner.filter(|_| is_set));
    }
    had_any && held.values().all(|owner| *owner != Some(event.node))
}

#[cfg(test)]
mod tests {
    use crate::explain::narrate::text;
    use crate::record::history::{Action, Change, What};
    use crate::record::story::Story;
    use fencepost_faults::Node;

    const CLIENT: Option<Node> = Some(Node::Client(1));

    fn leaving(story: Story) -> String {
        let history = story.build();
        let is_release = |what: &What| matches!(what, What::Invoke { action: Action::Release, .. });
        let mut own = history.events.iter().filter(|event| event.node == Node::Client(1));
        let event = own.find(|event| is_release(&event.what)).expect("a release");
        let text = text(&history, event);
        text.strip_prefix("leaves its critical section").expect("it leaves").to_owned()
    }

    fn held() -> Story {
        Story::new().takes(1, 1, "a")
    }

    #[test]
    fn only_a_release_that_removes_the_lock_is_said_to_release_it() {
        let released = " and releases the lock";
        assert_eq!(leaving(held().leaves(3, 1).removed(4, "a", 1).left(5, 1)), released);
        assert_eq!(leaving(held().leaves(3, 1).removed(4, "a", 1).info(5, 1)), released);
        assert_eq!(leaving(held().releases(3, 1)), released, "the servers recorded nothing");
        let lost = ", and does not know the outcome of its release (the reply was lost)";
        assert_eq!(leaving(held().leaves(3, 1).info(5, 1)), lost);
        let crashed = held().leaves(3, 1).crashes(4, 1);
        assert_eq!(leaving(crashed), " and crashes while it tries to release the lock");
        assert_eq!(leaving(held().leaves(3, 1)), " and tries to release the lock");
    }

    #[test]
    fn a_process_that_noticed_the_loss_had_left_before_its_release() {
        let history = held().loses(3, 1).leaves(5, 1).fails(6, 1).build();
        let is_release = |what: &What| matches!(what, What::Invoke { action: Action::Release, .. });
        let event = history.events.iter().find(|event| is_release(&event.what)).expect("a release");
        let told = text(&history, event);
        assert_eq!(told, "has left its critical section, but its release fails");
    }

    #[test]
    fn a_release_that_fails_or_finds_nothing_releases_nothing() {
        let expired = || held().expires(2, "a");
        assert_eq!(leaving(expired().leaves(3, 1).fails(5, 1)), ", but its release fails");
        assert_eq!(leaving(expired().releases(3, 1)), ", but its release finds no lock");
        let other = expired().takes(2, 2, "b").leaves(3, 1).removed(4, "b", 1);
        assert_eq!(leaving(other.left(5, 1)), ", but its release removes the lock of client-2");
        let at_another = held().replicated(2, 2, "a").expires_at(2, 1, "a").releases(3, 1);
        assert_eq!(leaving(at_another), " and releases the lock", "a copy remains at redis-2");
    }

    #[test]
    fn a_release_that_lowers_a_count_does_not_release_the_lock() {
        let counted = |values: [&str; 3]| {
            let [first, second, after] = values;
            let story =
                Story::new().takes(1, 1, first).server(2, 1, Change::Granted, second, CLIENT);
            story.leaves(3, 1).server(4, 1, Change::Granted, after, CLIENT)
        };
        let lowered = counted(["a=1", "a=2", "a=1"]).left(5, 1);
        assert_eq!(
            leaving(lowered),
            ", but its release only lowers the count of its lock at redis-1"
        );
        let removed = counted(["a=1", "a=1", "a=0"]).removed(4, "a=0", 1).left(5, 1);
        assert_eq!(leaving(removed), " and releases the lock");
    }

    #[test]
    fn a_release_that_only_some_of_several_masters_confirm_is_an_attempt() {
        let held = || Story::with_quorum(2).acquires(1, 1).grants_at(1, 1, 1, "a");
        let held = || held().grants_at(1, 1, 2, "a").hears(1, 1, "a").leaves(3, 1);
        let removed = || held().removed_at(4, 1, "a", 1);
        let lost = ", and does not know the outcome of its release (the reply was lost)";
        assert_eq!(leaving(removed().info(5, 1)), lost);
        assert_eq!(leaving(removed().left(5, 1)), " and releases the lock");
    }
}
