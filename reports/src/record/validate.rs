//! Whether a history can have been recorded at all.
//!
//! A history edited by hand is refused with the event at fault named, so that no checker has to
//! doubt what it sees.

use crate::record::history::{Action, Event, FORMAT, History, VERSION, What};
use fencepost_faults::{Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// Why a history cannot have been recorded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidHistory {
    /// It is something else.
    #[error("format '{0}' is not '{FORMAT}'")]
    Format(String),
    /// It is of another version.
    #[error("version {0} of {FORMAT} is unknown: this build reads versions 1 to {VERSION}")]
    Version(u32),
    /// It holds keys of something else than what was locked.
    #[error(
        "event {sequence} is about key '{key}', but the history is of '{resource}': expected keys \
         that begin with that, and for each resource a history of its own"
    )]
    Resource {
        /// Its place among the events, from 0.
        position: usize,
        /// The number that the event claims.
        sequence: u64,
        /// The key.
        key: String,
        /// What was locked.
        resource: String,
    },
    /// One event cannot follow those before it.
    #[error("event {sequence} ({time_us} us, {node}): {problem}")]
    Event {
        /// Its place among the events, from 0.
        position: usize,
        /// The number that the event claims.
        sequence: u64,
        /// The time that it claims, in microseconds.
        time_us: u64,
        /// Where it claims to have happened.
        node: Node,
        /// What is wrong with it.
        problem: String,
    },
}

/// Checks that a history is one that a run can have recorded: the order of time and sequence,
/// operations that are invoked once and completed once by a process that has none other open, and
/// events where they belong.
pub fn validate(history: &History) -> Result<(), InvalidHistory> {
    if history.format != FORMAT {
        return Err(InvalidHistory::Format(history.format.clone()));
    }
    if !(1..=VERSION).contains(&history.version) {
        return Err(InvalidHistory::Version(history.version));
    }
    of_one_resource(history)?;
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
    Ok(())
}

/// What a lock keeps at a server besides its key (a counter, a queue) begins with the name of the
/// resource. Two resources in one history could be taken for one another.
fn of_one_resource(history: &History) -> Result<(), InvalidHistory> {
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
    /// The place of the event at fault, from 0, if it is an event's.
    pub fn position(&self) -> Option<usize> {
        match self {
            InvalidHistory::Event { position, .. } | InvalidHistory::Resource { position, .. } => {
                Some(*position)
            }
            _ => None,
        }
    }
}

/// What an event must fit to.
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
                "its sequence should be {position}: sequences count from 0 without gaps"
            ));
        }
        if event.time_us < self.now {
            return Err(format!(
                "time goes back: the event before it happened at {} us",
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
            What::Silent { .. } => process(event.node, "waits in silence"),
            What::Turn { about, .. } => machine(event.node, "takes a turn")
                .and_then(|()| about.map_or(Ok(()), |about| machine(about, "is part of a turn"))),
            What::Crashed => machine(event.node, "crashes").and_then(|()| self.crash(event.node)),
            What::Started => match self.down.remove(&event.node) {
                true => Ok(()),
                false => Err(format!("{} starts without having crashed", event.node)),
            },
            What::Server { .. } => match event.node {
                node if node.is_server() => Ok(()),
                node => Err(format!("{node} is no server: only redis-N or server-N changes keys")),
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
                true => Err("everything is healed a second time".to_owned()),
            },
        }
    }

    fn invoke(&mut self, node: Node, operation: u64, action: &'h Action) -> Result<(), String> {
        process(node, "invokes operations")?;
        if self.down.contains(&node.machine()) {
            return Err(format!(
                "{node} invokes operation {operation} though it has crashed and not started again"
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
            return Err(format!("operation {operation} is completed though it is not open"));
        }
        self.open.remove(&node);
        Ok(action)
    }

    fn given_up(&self, node: Node, operation: u64) -> Result<(), String> {
        let action = self.actions.get(&operation).map(|(_, action)| *action);
        match (self.open.get(&node) == Some(&operation), action) {
            (true, Some(Action::Acquire | Action::Release)) => Ok(()),
            (true, _) => Err(format!(
                "operation {operation} is given up though it is neither an acquire nor a release"
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
                "operation {operation} states an owner or a token though it is no acquire"
            ));
        }
        Ok(())
    }

    fn crash(&mut self, node: Node) -> Result<(), String> {
        // What the threads of a process had open when it died stays without an outcome.
        self.open.retain(|open, _| open.machine() != node);
        match self.down.insert(node) {
            true => Ok(()),
            false => Err(format!("{node} crashes though it has crashed already")),
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
                    "operation {operation} is {invoker}'s under acquisition {own}, not {by}'s \
                     under {acquisition}"
                )),
            },
            _ => Err(format!("operation {operation} is no read or write that was invoked")),
        }
    }
}

fn process(node: Node, does: &str) -> Result<(), String> {
    match node.is_process() {
        true => Ok(()),
        false => Err(format!(
            "{node} is no process: only client-N and probe {}",
            does.replacen("s ", " ", 1)
        )),
    }
}

fn machine(node: Node, does: &str) -> Result<(), String> {
    match node.machine() == node {
        true => Ok(()),
        false => Err(format!(
            "{node} {does}, but it is a thread: it is {} to which that happens",
            node.machine()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::history::{GivingUp, Turn};
    use crate::record::story::Story;

    fn good() -> History {
        let story = Story::new()
            .takes(1, 1, "a")
            .reads(2, 1, 0)
            .writes(3, 1, 0, 1)
            .releases(4, 1)
            .crashes(5, 1);
        story
            .starts(6, 1)
            .fault_began(7, 1, "pause", &[Node::Client(1)])
            .takes(8, 2, "b")
            .healed(9)
            .build()
    }

    /// What is said of the good history after one edit.
    fn edited(edit: impl FnOnce(&mut Vec<Event>)) -> String {
        let mut history = good();
        edit(&mut history.events);
        validate(&history).expect_err("the edit breaks it").to_string()
    }

    fn renumber(events: &mut [Event]) {
        for (sequence, event) in events.iter_mut().enumerate() {
            event.sequence = sequence as u64;
        }
    }

    fn place(events: &[Event], wanted: fn(&What) -> bool) -> usize {
        events.iter().position(|event| wanted(&event.what)).expect("the event is there")
    }

    #[test]
    fn accepts_what_a_run_records() {
        assert_eq!(validate(&good()), Ok(()));
    }

    #[test]
    fn rejects_another_format_or_version() {
        let other = History { format: "fencepost.sweep".to_owned(), ..good() };
        assert_eq!(
            validate(&other).unwrap_err().to_string(),
            "format 'fencepost.sweep' is not 'fencepost.history'"
        );
        let newer = History { version: VERSION + 1, ..good() };
        assert!(
            validate(&newer)
                .unwrap_err()
                .to_string()
                .starts_with("version 3 of fencepost.history is unknown")
        );
        assert_eq!(validate(&History { version: 1, ..good() }), Ok(()), "it is still read");
    }

    #[test]
    fn rejects_time_that_goes_back() {
        let said = edited(|events| events[4].time_us = SimTime(1));
        assert_eq!(
            said,
            "event 4 (1 us, storage): time goes back: the event before it happened at 2000 us"
        );
    }

    #[test]
    fn rejects_a_gap_in_the_sequence() {
        let said = edited(|events| drop(events.remove(3)));
        assert!(
            said.starts_with("event 4 ") && said.contains("its sequence should be 3"),
            "{said}"
        );
    }

    #[test]
    fn rejects_a_second_open_operation() {
        let said = edited(|events| {
            // The ok of the first acquire is missing.
            events.remove(2);
            renumber(events);
        });
        assert!(
            said.contains("client-1 invokes operation 2 while its operation 1 is open"),
            "{said}"
        );
    }

    #[test]
    fn rejects_a_completion_without_an_invocation() {
        let said = edited(|events| {
            events.remove(0);
            renumber(events);
        });
        assert!(said.contains("operation 1 is completed without having been invoked"), "{said}");
    }

    #[test]
    fn rejects_a_completion_by_somebody_else() {
        let said = edited(|events| events[2].node = Node::Client(2));
        assert!(said.contains("operation 1 of client-1 is completed by client-2"), "{said}");
    }

    #[test]
    fn accepts_an_acquire_and_a_release_that_the_application_gives_up() {
        let story = Story::new().acquires(1, 1).cancels(2, 1).takes(3, 1, "a").leaves(4, 1);
        let story = story.gives_up(5, 1, GivingUp::Interrupted).left(6, 1);
        assert_eq!(validate(&story.build()), Ok(()));
    }

    #[test]
    fn rejects_what_is_given_up_without_being_open_or_a_call_of_the_lock() {
        let said = |operation| {
            let story = Story::new().takes(1, 1, "a").acquires(2, 2);
            let how = GivingUp::Cancelled;
            let history = story.event(3, Node::Client(1), What::GivenUp { operation, how }).build();
            validate(&history).unwrap_err().to_string()
        };
        let closed = said(1);
        assert!(closed.contains("client-1 gives up operation 1, which it does not"), "{closed}");
        assert!(said(2).contains("client-1 gives up operation 2, which it does not"));
        let how = GivingUp::Cancelled;
        let writes = Story::new().takes(1, 1, "a").event(
            2,
            Node::Client(1),
            What::Invoke { operation: 9, action: Action::Check },
        );
        let writes = writes.event(3, Node::Client(1), What::GivenUp { operation: 9, how });
        let said = validate(&writes.build()).unwrap_err().to_string();
        assert!(said.contains("neither an acquire nor a release"), "{said}");
    }

    #[test]
    fn rejects_events_on_nodes_where_they_do_not_belong() {
        let server = edited(|events| events[1].node = Node::Client(1));
        assert!(server.contains("client-1 is no server"), "{server}");
        let process = edited(|events| events[0].node = Node::Redis(1));
        assert!(
            process.contains("redis-1 is no process: only client-N and probe invoke operations"),
            "{process}"
        );
        let storage = edited(|events| {
            let at = place(events, |what| matches!(what, What::Storage { .. }));
            events[at].node = Node::Redis(1);
        });
        assert!(storage.contains("redis-1 is not the storage"), "{storage}");
    }

    #[test]
    fn rejects_a_request_under_an_acquisition_that_was_never_granted() {
        let said = edited(|events| {
            let at = place(events, |what| {
                matches!(what, What::Invoke { action: Action::Read { .. }, .. })
            });
            events[at].what =
                What::Invoke { operation: 2, action: Action::Read { acquisition: 77 } };
        });
        assert!(said.contains("client-1 uses acquisition 77"), "{said}");
    }

    #[test]
    fn rejects_the_dead_that_act() {
        let said = edited(|events| {
            let at = place(events, |what| matches!(what, What::Started));
            events.remove(at);
            let crash = place(events, |what| matches!(what, What::Crashed));
            events[crash].node = Node::Client(2);
            renumber(events);
        });
        assert!(said.contains("client-2 invokes operation 5 though it has crashed"), "{said}");
    }

    #[test]
    fn accepts_turns_of_servers_and_sentinels() {
        let turn = |turn, about| What::Turn { turn, about };
        let story = Story::new()
            .event(1, Node::Sentinel(1), turn(Turn::ObjectivelyDown, Some(Node::Redis(1))))
            .event(2, Node::Redis(2), turn(Turn::Promoted, None))
            .event(3, Node::Redis(1), turn(Turn::Unaware, Some(Node::Redis(2))));
        assert_eq!(validate(&story.build()), Ok(()));
    }

    #[test]
    fn rejects_a_turn_of_a_thread() {
        let thread = Node::Client(1).of_thread(2);
        let story = Story::new().event(1, thread, What::Turn { turn: Turn::Promoted, about: None });
        let said = validate(&story.build()).unwrap_err().to_string();
        assert!(said.contains("client-1.2"), "{said}");
    }

    /// Two threads of one process, each with an operation open when it dies and one after it is
    /// back.
    fn threaded() -> Story {
        let (first, second) = (Node::Client(1), Node::Client(1).of_thread(2));
        let story = Story::new().acquires(1, first).acquires(2, second).crashes(3, 1).starts(4, 1);
        story.acquires(5, second).acquires(5, first)
    }

    #[test]
    fn accepts_threads_that_each_have_an_operation_open_and_lose_it_when_their_process_dies() {
        assert_eq!(validate(&threaded().build()), Ok(()));
    }

    #[test]
    fn rejects_a_thread_that_acts_while_its_process_is_dead() {
        let mut history = threaded().build();
        history.events.remove(3);
        renumber(&mut history.events);
        let said = validate(&history).unwrap_err().to_string();
        assert!(said.contains("client-1.2 invokes operation 3 though it has crashed"), "{said}");
    }

    #[test]
    fn rejects_a_thread_that_dies_alone_or_is_hit_by_a_fault() {
        let second = Node::Client(1).of_thread(2);
        let mut history = threaded().build();
        history.events[2].node = second;
        let said = validate(&history).unwrap_err().to_string();
        assert!(said.contains("client-1.2 crashes, but it is a thread"), "{said}");
        let paused = threaded().fault_began(6, 1, "pause", &[second]).build();
        let said = validate(&paused).unwrap_err().to_string();
        assert!(said.contains("client-1.2 is hit by fault 1, but it is a thread"), "{said}");
    }

    #[test]
    fn rejects_the_end_of_a_fault_that_never_began() {
        let said = edited(|events| {
            let at = place(events, |what| matches!(what, What::FaultBegan { .. }));
            events[at].what =
                What::FaultEnded { fault: 1, kind: fencepost_faults::FaultKind::Pause };
        });
        assert!(said.contains("fault 1 ends without having begun"), "{said}");
    }
}
