//! Finds the commands and phases of each process over time, from the history and the messages.

use fencepost_faults::aim::{Phase, Place, Stretch};
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{Action, Change, Event, History, Trace, What};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Largest number of a command in its phase. All later commands of the phase share it.
const NUMBER_MAX: u32 = 8;

pub(super) fn places(history: &History, trace: &Trace) -> Vec<Place> {
    let mut requests = requests(trace);
    let threads = history.events.iter().map(|event| event.node).filter(|node| is_process(*node));
    let threads: BTreeSet<Node> = threads.collect();
    let of = |thread: Node| {
        let requests = requests.remove(&thread).unwrap_or_default();
        let phase_spans = phase_spans(thread, history, &requests);
        fill(thread.machine(), &phase_spans, &requests)
    };
    threads.into_iter().flat_map(of).collect()
}

fn is_process(node: Node) -> bool {
    matches!(node.machine(), Node::Client(_))
}

struct Request {
    server: Node,
    sent: SimTime,
    arrived: Option<SimTime>,
    answered: Option<SimTime>,
    heard: Option<SimTime>,
}

/// Pairs each request with its reply: the next message back that is sent after the request arrives.
fn requests(trace: &Trace) -> BTreeMap<Node, Vec<Request>> {
    let mut all: BTreeMap<Node, Vec<Request>> = BTreeMap::new();
    let mut open: BTreeMap<(Node, Node), VecDeque<usize>> = BTreeMap::new();
    for message in &trace.messages {
        let (from, to, sent) = (message.from, message.to, message.sent_us);
        if is_process(from) && is_asked(to) {
            let own = all.entry(from).or_default();
            open.entry((from, to)).or_default().push_back(own.len());
            let (answered, heard) = (None, None);
            own.push(Request { server: to, sent, arrived: message.arrived_us, answered, heard });
        } else if is_process(to)
            && let Some(waiting) = open.get_mut(&(to, from))
            && let Some(own) = all.get_mut(&to)
            && let Some(&first) = waiting.front()
            && own[first].arrived.is_some_and(|arrived| arrived <= sent)
        {
            waiting.pop_front();
            (own[first].answered, own[first].heard) = (Some(sent), message.arrived_us);
        }
    }
    all
}

fn is_asked(node: Node) -> bool {
    node.is_server() || node == Node::Storage
}

struct PhaseSpan {
    phase: Phase,
    from: SimTime,
    to: SimTime,
}

fn phase_spans(thread: Node, history: &History, requests: &[Request]) -> Vec<PhaseSpan> {
    let mut tracker = PhaseTracker::default();
    for event in &history.events {
        match &event.what {
            What::Server { change: Change::Granted, by: Some(by), .. } if *by == thread => {
                tracker.granted.insert(event.node, event.time_us);
            }
            _ if event.node == thread => tracker.follow(event, requests),
            // All threads of a machine crash together, but only the first thread records the crash.
            What::Crashed if event.node == thread.machine() => tracker.follow(event, requests),
            _ => {}
        }
    }
    let end = history.events.last().map_or(SimTime::ZERO, |event| event.time_us);
    tracker.enter_phase(Phase::Idle, end);
    tracker.phase_spans
}

struct PhaseTracker {
    phase_spans: Vec<PhaseSpan>,
    phase: Phase,
    since: SimTime,
    held: u32,
    granted: BTreeMap<Node, SimTime>,
}

impl Default for PhaseTracker {
    fn default() -> PhaseTracker {
        let (since, granted) = (SimTime::ZERO, BTreeMap::new());
        PhaseTracker { phase_spans: Vec::new(), phase: Phase::Idle, since, held: 0, granted }
    }
}

impl PhaseTracker {
    fn follow(&mut self, event: &Event, requests: &[Request]) {
        let at = event.time_us;
        match &event.what {
            What::Invoke { action, .. } => {
                self.granted.clear();
                self.enter_phase(phase_of(action), at);
            }
            What::Ok { .. } | What::Fail { .. } | What::Info { .. } => {
                let is_granted = matches!(event.what, What::Ok { .. });
                match self.phase {
                    Phase::Waiting => {
                        self.takes(requests);
                        self.held += u32::from(is_granted);
                    }
                    Phase::Releasing => self.held = self.held.saturating_sub(1),
                    _ => {}
                }
                self.end_request(at);
            }
            What::Lost | What::Crashed => {
                self.held = 0;
                self.end_request(at);
            }
            _ => {}
        }
    }

    fn end_request(&mut self, at: SimTime) {
        self.enter_phase(if self.held > 0 { Phase::Holding } else { Phase::Idle }, at);
    }

    fn takes(&mut self, requests: &[Request]) {
        let grant = self.granted.iter().min_by_key(|(_, at)| **at);
        let Some((server, granted)) = grant else { return };
        let is_it = |ask: &&Request| {
            let arrived = ask.arrived.is_some_and(|arrived| arrived <= *granted);
            ask.server == *server && ask.sent >= self.since && arrived
        };
        if let Some(command) = requests.iter().rev().find(is_it) {
            self.enter_phase(Phase::Taking, command.sent);
        }
    }

    fn enter_phase(&mut self, phase: Phase, at: SimTime) {
        if at > self.since {
            self.phase_spans.push(PhaseSpan { phase: self.phase, from: self.since, to: at });
        }
        (self.phase, self.since) = (phase, at);
    }
}

fn phase_of(action: &Action) -> Phase {
    match action {
        Action::Acquire => Phase::Waiting,
        Action::Release => Phase::Releasing,
        Action::Extend | Action::Check => Phase::Renewing,
        Action::Read { .. } => Phase::Reading,
        Action::Write { .. } => Phase::Writing,
    }
}

fn fill(client: Node, phase_spans: &[PhaseSpan], requests: &[Request]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut rest = requests.iter().peekable();
    let mut has_read = false;
    for spell in phase_spans {
        if matches!(spell.phase, Phase::Waiting | Phase::Holding | Phase::Idle) {
            let stretch = Stretch::Quiet { from: spell.from, to: spell.to };
            places.push(Place { phase: spell.phase, number: 0, client, stretch });
        }
        let mut number = 0;
        while let Some(ask) = rest.next_if(|ask| ask.sent < spell.to) {
            number = NUMBER_MAX.min(number + 1);
            let Request { server, sent, arrived, answered, heard } = *ask;
            let stretch = Stretch::Command { server, sent, arrived, answered, heard };
            let phase = request_phase(spell.phase, server, &mut has_read);
            places.push(Place { phase, number, client, stretch });
        }
        has_read &= spell.phase != Phase::Idle;
    }
    places
}

/// Counts the first storage request in a program's critical section as a read, and later ones as
/// writes.
fn request_phase(phase: Phase, server: Node, has_read: &mut bool) -> Phase {
    match phase {
        Phase::Holding if server == Node::Storage && *has_read => Phase::Writing,
        Phase::Holding if server == Node::Storage => {
            *has_read = true;
            Phase::Reading
        }
        Phase::Holding => Phase::Renewing,
        phase => phase,
    }
}
