use super::resp::{Call, Scripts};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Default)]
pub(crate) struct Marks {
    altered: Rc<Cell<u64>>,
    pub(crate) scripts: RefCell<Scripts>,
    pub(crate) grants: RefCell<BTreeMap<Vec<u8>, u16>>,
}

impl Marks {
    pub(crate) fn counted_by(altered: Rc<Cell<u64>>) -> Marks {
        Marks { altered, ..Marks::default() }
    }

    pub(crate) fn alter(&self) {
        self.altered.set(self.altered.get() + 1);
    }
}

#[derive(Default)]
pub(crate) struct Peer {
    pub(crate) is_client: bool,
    pub(crate) heard: u64,
    pub(crate) call: Call,
    pub(crate) owner: Vec<u8>,
    pub(crate) asked: Vec<u8>,
}

pub(crate) struct Exchange<'t> {
    pub(crate) peer: &'t mut Peer,
    pub(crate) marks: &'t Marks,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    AsItIs,
    Instead(Vec<u8>),
    Answered(Vec<u8>),
}

impl Heard {
    pub(crate) fn changed(is_changed: bool, bytes: Vec<u8>) -> Heard {
        if is_changed { Heard::Instead(bytes) } else { Heard::AsItIs }
    }
}

/// Replaces texts in place, and pads with spaces so that length fields stay valid.
pub(crate) fn edited(bytes: &[u8], edits: &[(&str, &str)]) -> Heard {
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
