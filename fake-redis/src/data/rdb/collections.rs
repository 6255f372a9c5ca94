//! Lists, sets and sorted sets in the encodings of Redis 2.0 to 7.2 (`rdbLoadObject`).

use super::reader::Reader;
use super::{RdbError, kind, listed};
use crate::data::value::{End, List, Set, SortedSet, Value};

/// A quicklist element of 7.0 stored outside a listpack (`QUICKLIST_NODE_CONTAINER_PLAIN`).
const PLAIN: usize = 1;

impl Reader<'_> {
    pub(super) fn collection(&mut self, kind: u8) -> Result<Value, RdbError> {
        match kind {
            kind::LIST => list(self.strings()?),
            kind::LIST_ZIPLIST => list(listed::ziplist(&self.string()?)?),
            kind::LIST_QUICKLIST | kind::LIST_QUICKLIST_2 => self.quicklist(kind),
            kind::SET => set(self.strings()?),
            kind::SET_INTEGERS => set(integers(&self.string()?)?),
            kind::SET_LISTPACK => set(listed::listpack(&self.string()?)?),
            kind::SORTED_SET | kind::SORTED_SET_TEXT => self.sorted_set(kind),
            kind::SORTED_SET_ZIPLIST => scored(&listed::ziplist(&self.string()?)?),
            kind::SORTED_SET_LISTPACK => scored(&listed::listpack(&self.string()?)?),
            kind => Err(RdbError::Kind(kind)),
        }
    }

    fn strings(&mut self) -> Result<Vec<Vec<u8>>, RdbError> {
        let count = self.length()?;
        (0..count).map(|_| self.string()).collect()
    }

    fn quicklist(&mut self, kind: u8) -> Result<Value, RdbError> {
        let mut elements = Vec::new();
        for _ in 0..self.length()? {
            let is_plain = kind == kind::LIST_QUICKLIST_2 && self.length()? == PLAIN;
            let node = self.string()?;
            match kind {
                _ if is_plain => elements.push(node),
                kind::LIST_QUICKLIST => elements.append(&mut listed::ziplist(&node)?),
                _ => elements.append(&mut listed::listpack(&node)?),
            }
        }
        list(elements)
    }

    fn sorted_set(&mut self, kind: u8) -> Result<Value, RdbError> {
        let mut set = SortedSet::default();
        for _ in 0..self.length()? {
            let member = self.string()?;
            let score = if kind == kind::SORTED_SET {
                f64::from_le_bytes(self.array()?)
            } else {
                self.score_text()?
            };
            add_scored(&mut set, &member, score)?;
        }
        Ok(Value::SortedSet(Box::new(set)))
    }

    /// `rdbLoadDoubleValue`: a length and digits, or one of three special lengths.
    fn score_text(&mut self) -> Result<f64, RdbError> {
        match self.byte()? {
            255 => Ok(f64::NEG_INFINITY),
            254 => Ok(f64::INFINITY),
            253 => Err(RdbError::Malformed("score")),
            length => score(self.take(usize::from(length))?),
        }
    }
}

fn score(text: &[u8]) -> Result<f64, RdbError> {
    crate::data::number::parse_double(text).ok_or(RdbError::Malformed("score"))
}

fn add_scored(set: &mut SortedSet, member: &[u8], score: f64) -> Result<(), RdbError> {
    if score.is_nan() {
        return Err(RdbError::Malformed("score"));
    }
    set.set(member, score);
    Ok(())
}

fn scored(elements: &[Vec<u8>]) -> Result<Value, RdbError> {
    let mut set = SortedSet::default();
    for pair in elements.chunks(2) {
        let [member, text] = pair else { return Err(RdbError::Malformed("sorted set")) };
        add_scored(&mut set, member, score(text)?)?;
    }
    Ok(Value::SortedSet(Box::new(set)))
}

fn list(elements: Vec<Vec<u8>>) -> Result<Value, RdbError> {
    let mut list = List::default();
    elements.iter().for_each(|element| list.push(End::Right, element));
    if list.len() == 0 { Err(RdbError::Malformed("list")) } else { Ok(Value::List(Box::new(list))) }
}

fn set(members: Vec<Vec<u8>>) -> Result<Value, RdbError> {
    let mut set = Set::default();
    members.iter().for_each(|member| _ = set.add(member));
    if set.len() == 0 { Err(RdbError::Malformed("set")) } else { Ok(Value::Set(Box::new(set))) }
}

/// An intset: the width and number of its integers (4 bytes each), then the integers (intset.h).
fn integers(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RdbError> {
    const BAD: RdbError = RdbError::Malformed("set of integers");
    let width = bytes.first().filter(|width| matches!(width, 2 | 4 | 8)).copied().ok_or(BAD)?;
    let integers = bytes.get(8..).ok_or(BAD)?.chunks_exact(usize::from(width));
    let text = |bytes: &[u8]| {
        let mut whole = [if bytes[bytes.len() - 1] & 0x80 == 0 { 0 } else { 0xff }; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        itoa::Buffer::new().format(i64::from_le_bytes(whole)).as_bytes().to_vec()
    };
    Ok(integers.map(text).collect())
}
