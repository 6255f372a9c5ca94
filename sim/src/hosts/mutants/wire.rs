//! What passes between a client and a server, as operators see it.

use super::resp::Call;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// What all servers of a run remember together of the mistake that is planted.
#[derive(Default)]
pub(crate) struct Marks {
    altered: Cell<u64>,
    /// Scripts by their digests, as clients sent them.
    pub(super) scripts: RefCell<BTreeMap<Vec<u8>, String>>,
    /// How many servers granted a lock to which value.
    pub(super) grants: RefCell<BTreeMap<Vec<u8>, u16>>,
}

impl Marks {
    /// How often the mistake was made.
    pub(crate) fn altered(&self) -> u64 {
        self.altered.get()
    }

    /// It was made once more.
    pub(super) fn alter(&self) {
        self.altered.set(self.altered.get() + 1);
    }
}

/// What is known of one connection.
#[derive(Default)]
pub(super) struct Ear {
    /// Whether a process is at the other end, not a server.
    pub(super) is_client: bool,
    /// How much came before.
    pub(super) heard: u64,
    /// The latest command, of a client of Redis or of the storage.
    pub(super) call: Call,
    /// The value by which the client marked a lock.
    pub(super) owner: Vec<u8>,
    /// What it asked last, of other servers than Redis.
    pub(super) asked: Vec<u8>,
}

/// One connection, and what all share.
pub(super) struct Talk<'t> {
    pub(super) ear: &'t mut Ear,
    pub(super) marks: &'t Marks,
}

/// What becomes of what a client sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// The server hears it.
    AsItIs,
    /// The server hears this.
    Instead(Vec<u8>),
    /// The server does not hear of it; the client is answered this.
    Answered(Vec<u8>),
}

impl Heard {
    /// These bytes, if they differ.
    pub(super) fn changed(is_changed: bool, bytes: Vec<u8>) -> Heard {
        if is_changed { Heard::Instead(bytes) } else { Heard::AsItIs }
    }
}

/// Replaces texts by others that are no longer, filled up with spaces, so that every length stays.
pub(super) fn edited(bytes: &[u8], edits: &[(&str, &str)]) -> Heard {
    let mut out = bytes.to_vec();
    let mut is_changed = false;
    for (from, to) in edits {
        let (from, to) = (from.as_bytes(), to.as_bytes());
        assert!(to.len() <= from.len(), "{to:?} is longer than {from:?}");
        let mut at = 0;
        while let Some(found) = out[at..].windows(from.len()).position(|window| window == from) {
            at += found;
            let filled = to.iter().copied().chain(std::iter::repeat(b' '));
            let spot = &mut out[at..at + from.len()];
            spot.iter_mut().zip(filled).for_each(|(byte, new)| *byte = new);
            at += from.len();
            is_changed = true;
        }
    }
    Heard::changed(is_changed, out)
}
