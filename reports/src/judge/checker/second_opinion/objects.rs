//! Passes the calls and returns of a history to stateright's [`LinearizabilityTester`].
//!
//! - An acquire with an unknown outcome never returns. A failed acquire did not happen.
//! - A release, a noticed loss or a crash calls *leave*. After a crash or an unknown outcome,
//!   *leave* never returns.
//! - A thread has at most one open call, so after an unknown outcome the process continues as
//!   another thread.
//! - If one section ends when another begins, *leave* comes first. Empty sections are ignored.

use super::models::{Op, OwnerAware, Ret};
use crate::record::history::{Action, Change, History, What};
use fencepost_faults::{Node, SimTime};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use std::collections::BTreeMap;

type Thread = (Node, u32);

type At = (SimTime, usize);

struct Span {
    thread: Thread,
    op: Op,
    call: At,
    ret: Option<(At, Ret)>,
}

pub(super) fn lock<Model>(history: &History) -> bool
where
    Model: SequentialSpec<Op = Op, Ret = Ret> + Clone + Default,
{
    let mut reader = Reader::default();
    for (place, event) in history.events.iter().enumerate() {
        reader.read((event.time_us, place), event.node, &event.what);
    }
    let end = history.events.last().map_or(SimTime::ZERO, |event| event.time_us);
    is_consistent(Model::default(), &reader.into_spans(end))
}

pub(super) fn tokens_at_grants<Model>(history: &History) -> bool
where
    Model: SequentialSpec<Op = Op, Ret = Ret> + Clone + Default,
{
    let granted = history.events.iter().filter_map(|event| match &event.what {
        What::Server { change: Change::Granted, value: Some(value), .. } => Some(value.as_str()),
        _ => None,
    });
    let heard = |owner: &str| {
        history.events.iter().find_map(|event| match &event.what {
            What::Ok { owner: Some(known), token: Some(token), .. } if known == owner => {
                Some(*token)
            }
            _ => None,
        })
    };
    let mut model = Model::default();
    model.is_valid_history(granted.filter_map(heard).map(|token| (Op::Issue, Ret::Token(token))))
}

pub(super) fn tokens_of_acquires<Model>(history: &History) -> bool
where
    Model: SequentialSpec<Op = Op, Ret = Ret> + Clone + Default,
{
    let mut open: BTreeMap<u64, At> = BTreeMap::new();
    let mut spans = Vec::new();
    for (place, event) in history.events.iter().enumerate() {
        let at = (event.time_us, place);
        match &event.what {
            What::Invoke { operation, action: Action::Acquire } => {
                open.insert(*operation, at);
            }
            What::Ok { operation, token: Some(token), .. } => {
                let call = open[operation];
                let (thread, ret) = ((event.node, 0), Some((at, Ret::Token(*token))));
                spans.push(Span { thread, op: Op::Issue, call, ret });
            }
            _ => {}
        }
    }
    is_consistent(Model::default(), &spans)
}

pub(super) fn server_key(history: &History) -> bool {
    let op = |what: &What| match what {
        What::Server { change: Change::Granted, by: Some(by), .. } => Some(Op::Enter(*by)),
        What::Server { change: Change::Removed, by: Some(by), .. } => Some(Op::Leave(*by, 1)),
        What::Server { change: Change::Expired, .. } => Some(Op::Expire),
        _ => None,
    };
    let ops = history.events.iter().filter_map(|event| Some((event.node, op(&event.what)?)));
    let mut tester = LinearizabilityTester::new(OwnerAware::default());
    for (server, op) in ops {
        tester.on_invret(server, op, Ret::Done).expect("the server does one thing at a time");
    }
    tester.is_consistent()
}

#[derive(Default)]
struct Process {
    threads: u32,
    acquiring: Option<(u64, At)>,
    sections: Vec<(Thread, At, At)>,
    releasing: Option<(u64, Option<usize>)>,
}

#[derive(Default)]
struct Reader {
    processes: BTreeMap<Node, Process>,
    spans: Vec<Span>,
}

impl Reader {
    fn read(&mut self, now: At, node: Node, what: &What) {
        match what {
            What::Invoke { operation, action: Action::Acquire } => {
                self.process(node).acquiring = Some((*operation, now));
            }
            What::Invoke { operation, action: Action::Release } => {
                let thread = (node, self.process(node).threads);
                let place = self.leave(now, thread, 1, None);
                self.process(node).releasing = Some((*operation, place));
            }
            What::Ok { operation, .. } => self.completed(now, node, *operation, true),
            What::Fail { operation, .. } => self.completed(now, node, *operation, false),
            What::Info { .. } => self.unknown(node),
            // A loss is not an operation of the process, so another thread of the model executes
            // *leave*.
            What::Lost => {
                self.leave(now, (node, u32::MAX), usize::MAX, Some((now, Ret::Done)));
            }
            What::Crashed => {
                self.unknown(node);
                let thread = (node, self.process(node).threads);
                self.leave(now, thread, usize::MAX, None);
                self.process(node).threads += 1;
            }
            _ => {}
        }
    }

    fn process(&mut self, node: Node) -> &mut Process {
        self.processes.entry(node).or_default()
    }

    fn completed(&mut self, now: At, node: Node, operation: u64, ok: bool) {
        let process = self.process(node);
        if let Some((_, call)) = process.acquiring.take_if(|(open, _)| *open == operation)
            && ok
        {
            let thread = (node, process.threads);
            process.sections.push((thread, call, now));
        }
        if let Some((_, Some(place))) = process.releasing.take_if(|(open, _)| *open == operation) {
            self.spans[place].ret = Some((now, Ret::Done));
        }
    }

    fn unknown(&mut self, node: Node) {
        let process = self.process(node);
        let thread = (node, process.threads);
        process.threads += 1;
        process.releasing = None;
        let acquiring = process.acquiring.take();
        self.spans.extend(acquiring.map(|(_, call)| Span {
            thread,
            op: Op::Enter(node),
            call,
            ret: None,
        }));
    }

    fn leave(
        &mut self,
        now: At,
        thread: Thread,
        count: usize,
        ret: Option<(At, Ret)>,
    ) -> Option<usize> {
        let sections = &mut self.process(thread.0).sections;
        let left = sections.split_off(sections.len().saturating_sub(count));
        let real: Vec<_> = left.into_iter().filter(|(_, _, from)| from.0 < now.0).collect();
        let count = real.len();
        self.spans.extend(real.into_iter().map(entered));
        (count > 0).then(|| {
            self.spans.push(Span { thread, op: Op::Leave(thread.0, count), call: now, ret });
            self.spans.len() - 1
        })
    }

    fn into_spans(mut self, end: SimTime) -> Vec<Span> {
        for process in self.processes.into_values() {
            self.spans.extend(
                process.sections.into_iter().filter(|(_, _, from)| from.0 < end).map(entered),
            );
        }
        self.spans
    }
}

fn entered((thread, call, ok): (Thread, At, At)) -> Span {
    Span { thread, op: Op::Enter(thread.0), call, ret: Some((ok, Ret::Done)) }
}

fn is_consistent<Model>(model: Model, spans: &[Span]) -> bool
where
    Model: SequentialSpec<Op = Op, Ret = Ret> + Clone,
{
    let mut steps = Vec::new();
    for span in spans {
        let enters = !matches!(span.op, Op::Leave(..));
        let rank = |at: At| (at.0, enters, at.1);
        steps.push((rank(span.call), None, span));
        steps.extend(span.ret.map(|(at, ret)| (rank(at), Some(ret), span)));
    }
    steps.sort_by_key(|(rank, ..)| *rank);
    let mut tester = LinearizabilityTester::new(model);
    for (_, ret, span) in steps {
        match ret {
            Some(ret) => tester.on_return(span.thread, ret),
            None => tester.on_invoke(span.thread, span.op),
        }
        .expect("a thread has one operation at a time");
    }
    tester.is_consistent()
}
