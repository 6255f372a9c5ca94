//! Rejects histories that break the assumptions of the checkers.

use crate::record::history::{Action, Event, FORMAT, History, VERSION, What};
use fencepost_faults::{Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidHistory {
    #[error("format '{0}': expected '{FORMAT}'")]
    Format(String),
    #[error("version {0} of {FORMAT} is unknown: this build reads versions 1 to {VERSION}")]
    Version(u32),
    #[error(
        "event {sequence} is about key '{key}', but the resource of the history is '{resource}': \
         expected only keys that begin with '{resource}', and a separate history for each resource"
    )]
    Resource { position: usize, sequence: u64, key: String, resource: String },
    #[error("the run ended at {ended_us} us, before its last event at {last_us} us")]
    Ended { ended_us: u64, last_us: u64 },
    #[error("event {sequence} ({time_us} us, {node}): {problem}")]
    Event { position: usize, sequence: u64, time_us: u64, node: Node, problem: String },
}

pub fn validate(history: &History) -> Result<(), InvalidHistory> {
    if history.format != FORMAT {
        return Err(InvalidHistory::Format(history.format.clone()));
    }
    if !(1..=VERSION).contains(&history.version) {
        return Err(InvalidHistory::Version(history.version));
    }
    check_resource(history)?;
    let mut past = Past::default();
    for (position, event) in history.events.iter().enumerate() {
        past.admit(position, event).map_err(|problem| InvalidHistory::Event {
            position,
            sequence: event.sequence,
            time_us: event.time_us.as_micros(),
            node: event.node,
            problem,
        })?;
    }
    let last_us = past.now.as_micros();
    match history.ended.map(|ended| ended.at_us.as_micros()) {
        Some(ended_us) if ended_us < last_us => Err(InvalidHistory::Ended { ended_us, last_us }),
        _ => Ok(()),
    }
}

fn check_resource(history: &History) -> Result<(), InvalidHistory> {
    let resource = &history.header.resource;
    for (position, event) in history.events.iter().enumerate() {
        if let What::Server { key, .. } = &event.what
            && !key.starts_with(resource.as_str())
        {
            let (sequence, key, resource) = (event.sequence, key.clone(), resource.clone());
            return Err(InvalidHistory::Resource { position, sequence, key, resource });
        }
    }
    Ok(())
}

impl InvalidHistory {
    pub fn position(&self) -> Option<usize> {
        match self {
            InvalidHistory::Event { position, .. } | InvalidHistory::Resource { position, .. } => {
                Some(*position)
            }
            _ => None,
        }
    }
}

#[derive(Default)]
struct Past<'h> {
    now: SimTime,
    actions: BTreeMap<u64, (Node, &'h Action)>,
    open: BTreeMap<Node, u64>,
    granted: BTreeMap<u64, Node>,
    down: BTreeSet<Node>,
    faults: BTreeSet<u32>,
    healed: bool,
}

impl<'h> Past<'h> {
    fn admit(&mut self, position: usize, event: &'h Event) -> Result<(), String> {
        if event.sequence != position as u64 {
            return Err(format!(
                "expected sequence {position}: sequences count from 0 without gaps"
            ));
        }
        if event.time_us < self.now {
            return Err(format!(
                "time goes back: the previous event happened at {} us",
                self.now.as_micros()
            ));
        }
        self.now = event.time_us;
        match &event.what {
            What::Invoke { operation, action } => self.invoke(event.node, *operation, action),
            What::Ok { operation, owner, token, .. } => {
                let granted = owner.is_some() || token.is_some();
                self.complete(event.node, *operation)
                    .and_then(|action| self.granted(event.node, *operation, action, granted))
            }
            What::Fail { operation, .. } | What::Info { operation, .. } => {
                self.complete(event.node, *operation).map(|_| ())
            }
            What::GivenUp { operation, .. } => self.given_up(event.node, *operation),
            What::Lost => process(event.node, "notices a loss"),
            What::About { .. } => process(event.node, "switches to a lock"),
            What::Silent { .. } => process(event.node, "waits in silence"),
            What::Turn { about, .. } => machine(event.node, "takes a turn")
                .and_then(|()| about.map_or(Ok(()), |about| machine(about, "is part of a turn"))),
            What::Crashed => machine(event.node, "crashes").and_then(|()| self.crash(event.node)),
            What::Started => match self.down.remove(&event.node) {
                true => Ok(()),
                false => Err(format!("{} restarts without having crashed", event.node)),
            },
            What::Server { .. } => match event.node {
                node if node.is_server() => Ok(()),
                node => {
                    Err(format!("{node} is not a server: only redis-N and server-N change keys"))
                }
            },
            What::Storage { operation, by, acquisition, .. } => {
                self.storage(event.node, *operation, *by, *acquisition)
            }
            What::FaultBegan { fault, nodes, .. } => match self.faults.insert(*fault) {
                true => nodes
                    .iter()
                    .try_for_each(|node| machine(*node, &format!("is hit by fault {fault}"))),
                false => Err(format!("fault {fault} begins a second time")),
            },
            What::FaultEnded { fault, .. } => match self.faults.contains(fault) {
                true => Ok(()),
                false => Err(format!("fault {fault} ends without having begun")),
            },
            What::Healed => match std::mem::replace(&mut self.healed, true) {
                false => Ok(()),
                true => Err("all faults have ended a second time".to_owned()),
            },
        }
    }

    fn invoke(&mut self, node: Node, operation: u64, action: &'h Action) -> Result<(), String> {
        process(node, "invokes operations")?;
        if self.down.contains(&node.machine()) {
            return Err(format!(
                "{node} invokes operation {operation} although it has crashed and not restarted"
            ));
        }
        if let Some(open) = self.open.get(&node) {
            return Err(format!(
                "{node} invokes operation {operation} while its operation {open} is open"
            ));
        }
        if self.actions.contains_key(&operation) {
            return Err(format!("operation {operation} is invoked a second time"));
        }
        if let Action::Read { acquisition } | Action::Write { acquisition, .. } = action
            && self.granted.get(acquisition) != Some(&node)
        {
            return Err(format!(
                "{node} uses acquisition {acquisition}, which it was not granted before"
            ));
        }
        self.actions.insert(operation, (node, action));
        self.open.insert(node, operation);
        Ok(())
    }

    fn complete(&mut self, node: Node, operation: u64) -> Result<&'h Action, String> {
        let Some((invoker, action)) = self.actions.get(&operation).copied() else {
            return Err(format!("operation {operation} is completed without having been invoked"));
        };
        if invoker != node {
            return Err(format!("operation {operation} of {invoker} is completed by {node}"));
        }
        if self.open.get(&node) != Some(&operation) {
            return Err(format!("operation {operation} is completed although it is not open"));
        }
        self.open.remove(&node);
        Ok(action)
    }

    fn given_up(&self, node: Node, operation: u64) -> Result<(), String> {
        let action = self.actions.get(&operation).map(|(_, action)| *action);
        match (self.open.get(&node) == Some(&operation), action) {
            (true, Some(Action::Acquire | Action::Release)) => Ok(()),
            (true, _) => Err(format!(
                "operation {operation} is given up although it is neither an acquire nor a release"
            )),
            (false, _) => {
                Err(format!("{node} gives up operation {operation}, which it does not have open"))
            }
        }
    }

    fn granted(
        &mut self,
        node: Node,
        operation: u64,
        action: &Action,
        states_grant: bool,
    ) -> Result<(), String> {
        if *action == Action::Acquire {
            self.granted.insert(operation, node);
        } else if states_grant {
            return Err(format!(
                "operation {operation} has an owner or a token although it is not an acquire"
            ));
        }
        Ok(())
    }

    fn crash(&mut self, node: Node) -> Result<(), String> {
        self.open.retain(|open, _| open.machine() != node);
        match self.down.insert(node) {
            true => Ok(()),
            false => Err(format!("{node} crashes although it has already crashed")),
        }
    }

    fn storage(
        &self,
        node: Node,
        operation: u64,
        by: Node,
        acquisition: u64,
    ) -> Result<(), String> {
        if node != Node::Storage {
            return Err(format!("{node} is not the storage"));
        }
        match self.actions.get(&operation) {
            Some((
                invoker,
                Action::Read { acquisition: own } | Action::Write { acquisition: own, .. },
            )) => match *invoker == by && *own == acquisition {
                true => Ok(()),
                false => Err(format!(
                    "operation {operation} belongs to {invoker} and acquisition {own}, not to {by} \
                     and acquisition {acquisition}"
                )),
            },
            _ => Err(format!("operation {operation} is not an invoked read or write")),
        }
    }
}

fn process(node: Node, does: &str) -> Result<(), String> {
    match node.is_process() {
        true => Ok(()),
        false => Err(format!(
            "{node} is not a process: only client-N and probe {}",
            does.replacen("s ", " ", 1)
        )),
    }
}

fn machine(node: Node, does: &str) -> Result<(), String> {
    match node.machine() == node {
        true => Ok(()),
        false => Err(format!("{node} {does}, but it is a thread: expected {}", node.machine())),
    }
}

#[cfg(test)]
mod tests;
