//! Mistakes of locks on ZooKeeper, and of ZooKeeper itself: in the records between client and
//! server.

use super::operator::{Operator, lock, server};
use super::wire::{Heard, Talk};
use fencepost_clients::Coordinator;

/// What is changed. A frame is whole, with its length before it.
pub(super) enum Rule {
    /// A request: its frame and what it is for. Whether it changed.
    Asks(fn(&mut Vec<u8>, i32) -> bool),
    /// A request of this kind is not carried out, but answered as if it were.
    Unsent(i32),
    /// A reply: its frame and what was asked for. Whether it changed.
    Hears(fn(&mut Vec<u8>, i32) -> bool),
    /// What a watch tells is lost.
    NoWatches,
    /// The session lasts for a time to be multiplied by the first and divided by the second number;
    /// the client is told the one that it asked for.
    Timeout(i32, i32),
}

const fn by(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    lock(Coordinator::ZooKeeper, name, about, super::operator::Rule::ZooKeeper(rule))
}

const fn on(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    server(Coordinator::ZooKeeper, name, about, super::operator::Rule::ZooKeeper(rule))
}

const CREATE: i32 = 1;
const DELETE: i32 = 2;
const EXISTS: i32 = 3;
const GET_DATA: i32 = 4;
const GET_CHILDREN: i32 = 8;
const PING: i32 = 11;
const SET_WATCHES: i32 = 101;
const CLOSE: i32 = -11;
/// What stands for the first frame of a connection.
const CONNECT: i32 = i32::MIN;

/// The operators.
pub(super) const TABLE: &[Operator] = &[
    by(
        "ephemeral-dropped",
        "creates nodes that stay",
        Rule::Asks(|frame, kind| kind == CREATE && flag(frame, 3, 2)),
    ),
    by(
        "sequence-dropped",
        "creates nodes without a number",
        Rule::Asks(|frame, kind| kind == CREATE && flag(frame, 3, 1)),
    ),
    by(
        "watch-dropped",
        "leaves no watch behind",
        Rule::Asks(|frame, kind| {
            matches!(kind, EXISTS | GET_DATA | GET_CHILDREN) && without_watch(frame)
        }),
    ),
    by("watches-not-set-again", "sets no watches at another server", Rule::Unsent(SET_WATCHES)),
    by("delete-unsent", "does not give the lock back", Rule::Unsent(DELETE)),
    by(
        "delete-of-wrong-node",
        "deletes another node",
        Rule::Asks(|frame, kind| kind == DELETE && other_path(frame)),
    ),
    by("ping-unsent", "does not tell the server that it lives", Rule::Unsent(PING)),
    by("close-unsent", "does not close its session", Rule::Unsent(CLOSE)),
    by(
        "exists-wrong-node",
        "watches another node",
        Rule::Asks(|frame, kind| matches!(kind, EXISTS | GET_DATA) && other_path(frame)),
    ),
    by(
        "own-node-first",
        "sees nobody in front of it",
        Rule::Hears(|frame, kind| kind == GET_CHILDREN && last_only(frame)),
    ),
    by(
        "first-unseen",
        "does not see the first in the queue",
        Rule::Hears(|frame, kind| kind == GET_CHILDREN && without_first(frame)),
    ),
    by(
        "no-node-unheard",
        "does not hear that its node was gone",
        Rule::Hears(|frame, kind| kind == DELETE && without_error(frame)),
    ),
    by(
        "expiry-unheard",
        "takes an expired session for a lost connection",
        Rule::Hears(|frame, kind| kind != CONNECT && error_is(frame, -112, -4)),
    ),
    by(
        "zk-token-constant",
        "gets the same token each time",
        Rule::Hears(|frame, kind| kind == EXISTS && token(frame, |_| 1)),
    ),
    by(
        "zk-token-coarse",
        "gets a token that several holders share",
        Rule::Hears(|frame, kind| kind == EXISTS && token(frame, |token| token >> 4)),
    ),
    by("session-short", "counts on its session for twice as long as it lasts", Rule::Timeout(1, 2)),
    by("session-long", "asks for a session ten times as long", Rule::Timeout(10, 1)),
    on("watch-lost", "what a watch tells is lost", Rule::NoWatches),
    on("delete-does-nothing", "delete answers and leaves the node", Rule::Unsent(DELETE)),
    on(
        "zk-node-stays",
        "an ephemeral node stays when its session ends",
        Rule::Asks(|frame, kind| kind == CREATE && flag(frame, 3, 2)),
    ),
    on(
        "children-unsorted",
        "a server does not tell of the oldest child",
        Rule::Hears(|frame, kind| kind == GET_CHILDREN && without_first(frame)),
    ),
    on(
        "zxid-constant",
        "a node does not tell when it was created",
        Rule::Hears(|frame, kind| kind == EXISTS && token(frame, |_| 1)),
    ),
];

fn int(frame: &[u8], at: usize) -> Option<i32> {
    frame.get(at..)?.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes))
}

fn put(frame: &mut [u8], at: usize, value: i32) {
    if let Some(spot) = frame.get_mut(at..at + 4) {
        spot.copy_from_slice(&value.to_be_bytes());
    }
}

/// Changes the kind of node that is created, the last number of the request.
fn flag(frame: &mut [u8], from: i32, to: i32) -> bool {
    let at = frame.len() - 4;
    let is_it = int(frame, at) == Some(from);
    if is_it {
        put(frame, at, to);
    }
    is_it
}

fn without_watch(frame: &mut [u8]) -> bool {
    let watch = frame.last_mut().filter(|watch| **watch == 1);
    watch.is_some_and(|watch| {
        *watch = 0;
        true
    })
}

/// Changes the last character of the path.
fn other_path(frame: &mut [u8]) -> bool {
    let length = int(frame, 12).and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    match frame.get_mut(15 + length).filter(|_| length > 1) {
        Some(last) => {
            *last = b'x';
            true
        }
        None => false,
    }
}

/// The names of the children, in order of what follows the last dash.
fn children(frame: &[u8]) -> Option<Vec<Vec<u8>>> {
    let count = int(frame, 20)?;
    let mut at = 24;
    let mut names = Vec::new();
    for _ in 0..count {
        let length = usize::try_from(int(frame, at)?).ok()?;
        names.push(frame.get(at + 4..at + 4 + length)?.to_vec());
        at += 4 + length;
    }
    let number = |name: &[u8]| name[name.len().saturating_sub(10)..].to_vec();
    names.sort_by_key(|name| number(name));
    Some(names)
}

fn with_children(frame: &mut Vec<u8>, names: &[Vec<u8>]) {
    frame.truncate(20);
    frame.extend_from_slice(&(names.len() as i32).to_be_bytes());
    for name in names {
        frame.extend_from_slice(&(name.len() as i32).to_be_bytes());
        frame.extend_from_slice(name);
    }
    let length = frame.len() as i32 - 4;
    put(frame, 0, length);
}

fn without_first(frame: &mut Vec<u8>) -> bool {
    match children(frame) {
        Some(names) if names.len() > 1 => {
            with_children(frame, &names[1..]);
            true
        }
        _ => false,
    }
}

/// Only the last that came, which mostly is the one that asks.
fn last_only(frame: &mut Vec<u8>) -> bool {
    match children(frame) {
        Some(names) if names.len() > 1 => {
            with_children(frame, &names[names.len() - 1..]);
            true
        }
        _ => false,
    }
}

fn error_is(frame: &mut [u8], from: i32, to: i32) -> bool {
    let is_it = int(frame, 16) == Some(from);
    if is_it {
        put(frame, 16, to);
    }
    is_it
}

fn without_error(frame: &mut [u8]) -> bool {
    error_is(frame, -101, 0)
}

fn token(frame: &mut [u8], other: fn(i64) -> i64) -> bool {
    let Some(spot) = frame.get_mut(20..28) else { return false };
    let Some(czxid) = spot.first_chunk::<8>().map(|bytes| i64::from_be_bytes(*bytes)) else {
        return false;
    };
    spot.copy_from_slice(&other(czxid).to_be_bytes());
    other(czxid) != czxid
}

/// A reply that says that a request was carried out, and no more.
fn done(xid: i32) -> Vec<u8> {
    let body: [&[u8]; 4] = [&16_i32.to_be_bytes(), &xid.to_be_bytes(), &[0; 8], &[0; 4]];
    body.concat()
}

/// Whether the bytes are one frame.
fn is_whole(frame: &[u8]) -> bool {
    int(frame, 0).and_then(|length| usize::try_from(length).ok()) == Some(frame.len() - 4)
}

impl Rule {
    pub(super) fn hears(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Heard {
        if !talk.ear.is_client || bytes.len() < 8 || !is_whole(bytes) {
            return Heard::AsItIs;
        }
        let first = talk.ear.heard == 0;
        let kind = if first { CONNECT } else { int(bytes, 8).unwrap_or(CONNECT) };
        let mut frame = bytes.to_vec();
        talk.ear.asked = kind.to_be_bytes().to_vec();
        match self {
            Rule::Asks(rule) if !first => {
                let is_changed = rule(&mut frame, kind);
                Heard::changed(is_changed, frame)
            }
            Rule::Unsent(what) if *what == kind => {
                Heard::Answered(done(int(bytes, 4).unwrap_or_default()))
            }
            Rule::Timeout(times, by) if first => {
                let asked = int(bytes, 16).unwrap_or_default();
                talk.ear.owner = asked.to_be_bytes().to_vec();
                put(&mut frame, 16, asked.saturating_mul(*times) / by);
                Heard::Instead(frame)
            }
            _ => Heard::AsItIs,
        }
    }

    pub(super) fn says(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        if !talk.ear.is_client || bytes.len() < 12 || !is_whole(bytes) {
            return None;
        }
        let kind = int(&talk.ear.asked, 0).unwrap_or(CONNECT);
        let is_watch = kind != CONNECT && int(bytes, 4) == Some(-1);
        let mut frame = bytes.to_vec();
        match self {
            Rule::NoWatches => is_watch.then(Vec::new),
            Rule::Hears(rule) if kind != CONNECT && !is_watch => {
                rule(&mut frame, kind).then_some(frame)
            }
            Rule::Timeout(..) if kind == CONNECT && int(bytes, 8) > Some(0) => {
                put(&mut frame, 8, int(&talk.ear.owner, 0)?);
                Some(frame)
            }
            _ => None,
        }
    }
}
