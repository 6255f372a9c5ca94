use super::operator::{Operator, constructors};
use super::rule::zookeeper::*;

constructors!(
    ZooKeeper,
    by = lock(ZooKeeper: Rule),
    asks = lock(ZooKeeper(Asks): fn(&mut Vec<u8>, i32) -> bool),
    hears = lock(ZooKeeper(Hears): fn(&mut Vec<u8>, i32) -> bool),
    on = server(ZooKeeper: Rule),
);

pub(crate) const TABLE: &[Operator] = &[
    asks("ephemeral-dropped", "creates persistent nodes", |frame, kind| {
        kind == CREATE && flag(frame, 3, 2)
    }),
    asks("sequence-dropped", "creates nodes without a sequence number", |frame, kind| {
        kind == CREATE && flag(frame, 3, 1)
    }),
    asks("watch-dropped", "sets no watch", |frame, kind| {
        matches!(kind, EXISTS | GET_DATA | GET_CHILDREN) && without_watch(frame)
    }),
    by(
        "watches-not-set-again",
        "does not set its watches again on another server",
        Rule::Unsent(SET_WATCHES),
    ),
    by("delete-unsent", "does not release the lock", Rule::Unsent(DELETE)),
    asks("delete-of-wrong-node", "deletes a different node", |frame, kind| {
        kind == DELETE && other_path(frame)
    }),
    by("ping-unsent", "sends no keep-alive", Rule::Unsent(PING)),
    by("close-unsent", "does not close its session", Rule::Unsent(CLOSE)),
    asks("exists-wrong-node", "watches a different node", |frame, kind| {
        matches!(kind, EXISTS | GET_DATA) && other_path(frame)
    }),
    hears("own-node-first", "sees no one before it in the queue", |frame, kind| {
        kind == GET_CHILDREN && last_only(frame)
    }),
    hears("first-unseen", "does not see the first node of the queue", |frame, kind| {
        kind == GET_CHILDREN && without_first(frame)
    }),
    hears("no-node-unheard", "does not notice that its node is gone", |frame, kind| {
        kind == DELETE && without_error(frame)
    }),
    hears("expiry-unheard", "treats an expired session as a lost connection", |frame, kind| {
        kind != CONNECT && error_is(frame, -112, -4)
    }),
    hears("zk-token-constant", "gets the same token each time", |frame, kind| {
        kind == EXISTS && token(frame, |_| 1)
    }),
    hears("zk-token-coarse", "gets a token that several holders share", |frame, kind| {
        kind == EXISTS && token(frame, |token| token >> 4)
    }),
    by("session-short", "relies on its session for twice its timeout", Rule::Timeout(1, 2)),
    by("session-long", "requests a session timeout ten times as long", Rule::Timeout(10, 1)),
    on("watch-lost", "the server's watch events are lost", Rule::NoWatches),
    on("delete-does-nothing", "delete answers but keeps the node", Rule::Unsent(DELETE)),
    on(
        "zk-node-stays",
        "an ephemeral node stays after its session ends",
        Rule::Asks(|frame, kind| kind == CREATE && flag(frame, 3, 2)),
    ),
    on(
        "children-unsorted",
        "a server does not list the oldest child",
        Rule::Hears(|frame, kind| kind == GET_CHILDREN && without_first(frame)),
    ),
    on(
        "zxid-constant",
        "a node does not report its creation zxid",
        Rule::Hears(|frame, kind| kind == EXISTS && token(frame, |_| 1)),
    ),
];

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
