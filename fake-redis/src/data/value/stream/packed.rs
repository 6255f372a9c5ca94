//! The listpack of a stream node (listpack.c; "Every stream item inside the listpack", t_stream.c).

use super::{Entry, Pairs, StreamId};
use crate::data::number::parse_integer;

const HEADER: usize = 6;
const END: u8 = 0xff;
const REMOVED: i64 = 1;
const SAME_FIELDS: i64 = 2;

pub(crate) fn write(entries: &[&Entry]) -> Vec<u8> {
    let Some(first) = entries.first() else { return Vec::new() };
    let mut list = Elements::default();
    list.integer(entries.len() as i64);
    list.integer(0);
    list.integer(first.pairs.len() as i64);
    first.pairs.iter().for_each(|(field, _)| list.text(field));
    list.integer(0);
    entries.iter().for_each(|entry| list.entry(first, entry));
    let mut out = ((HEADER + list.bytes.len() + 1) as u32).to_le_bytes().to_vec();
    out.extend_from_slice(&list.count.min(0xffff).to_le_bytes()[..2]);
    out.append(&mut list.bytes);
    out.push(END);
    out
}

#[derive(Default)]
struct Elements {
    bytes: Vec<u8>,
    count: u32,
}

impl Elements {
    fn entry(&mut self, first: &Entry, entry: &Entry) {
        let fields =
            |pairs: &Pairs| pairs.iter().map(|(field, _)| field.clone()).collect::<Vec<_>>();
        let is_same = fields(&first.pairs) == fields(&entry.pairs);
        self.integer(if is_same { SAME_FIELDS } else { 0 });
        self.integer(entry.id.ms.wrapping_sub(first.id.ms) as i64);
        self.integer(entry.id.sequence.wrapping_sub(first.id.sequence) as i64);
        let before = self.count - 3;
        if !is_same {
            self.integer(entry.pairs.len() as i64);
        }
        for (field, value) in &entry.pairs {
            if !is_same {
                self.text(field);
            }
            self.text(value);
        }
        self.integer(i64::from(self.count - before));
    }

    fn text(&mut self, text: &[u8]) {
        if let Some(integer) = parse_integer(text) {
            return self.integer(integer);
        }
        let start = self.bytes.len();
        match text.len() {
            length @ 0..=0x3f => self.bytes.push(0x80 | length as u8),
            length @ 0x40..=0xfff => {
                self.bytes.extend_from_slice(&(0xe000 | length as u16).to_be_bytes());
            }
            length => {
                self.bytes.push(0xf0);
                self.bytes.extend_from_slice(&(length as u32).to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(text);
        self.close(start);
    }

    fn integer(&mut self, value: i64) {
        let start = self.bytes.len();
        let wide = value.to_le_bytes();
        match value {
            0..=127 => self.bytes.push(value as u8),
            -4_096..=4_095 => {
                self.bytes.extend_from_slice(&(0xc000 | value as u16 & 0x1fff).to_be_bytes());
            }
            -0x8000..=0x7fff => self.wide(0xf1, &wide[..2]),
            -0x80_0000..=0x7f_ffff => self.wide(0xf2, &wide[..3]),
            -0x8000_0000..=0x7fff_ffff => self.wide(0xf3, &wide[..4]),
            _ => self.wide(0xf4, &wide),
        }
        self.close(start);
    }

    fn wide(&mut self, kind: u8, bytes: &[u8]) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends the element's length in groups of 7 bits, for reading backward (`lpEncodeBacklen`).
    fn close(&mut self, start: usize) {
        let length = self.bytes.len() - start;
        let places = backward_length(length);
        for place in (0..places).rev() {
            let more = if place == places - 1 { 0 } else { 0x80 };
            self.bytes.push((length >> (7 * place)) as u8 & 0x7f | more);
        }
        self.count += 1;
    }
}

fn backward_length(length: usize) -> usize {
    match length {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}

/// Reads a node's entries, except removed ones. Returns `None` for a malformed node.
pub(crate) fn read(first: StreamId, bytes: &[u8]) -> Option<Vec<Entry>> {
    let (head, body) = bytes.split_at_checked(HEADER)?;
    let total = u32::from_le_bytes(head[..4].try_into().ok()?);
    let body = body.strip_suffix(&[END]).filter(|_| total as usize == bytes.len())?;
    let mut elements = Elements::read(body)?.into_iter();
    let mut integer = {
        let elements = &mut elements;
        move || parse_integer(&elements.next()?)
    };
    let (count, removed, fields) = (integer()?, integer()?, integer()?);
    let total = usize::try_from(count.checked_add(removed)?).ok()?;
    let fields = usize::try_from(fields).ok()?;
    let shared: Vec<Box<[u8]>> = elements.by_ref().take(fields).collect();
    if shared.len() < fields || elements.next()?.as_ref() != b"0" {
        return None;
    }
    let mut entries = Vec::new();
    for _ in 0..total {
        entries.extend(read_entry(first, &shared, &mut elements)?);
    }
    (elements.next().is_none() && entries.len() as i64 == count).then_some(entries)
}

fn read_entry(
    first: StreamId,
    shared: &[Box<[u8]>],
    elements: &mut impl Iterator<Item = Box<[u8]>>,
) -> Option<Option<Entry>> {
    let mut integer = || parse_integer(&elements.next()?);
    let (flags, ms, sequence) = (integer()?, integer()?, integer()?);
    let id = StreamId {
        ms: first.ms.wrapping_add(ms as u64),
        sequence: first.sequence.wrapping_add(sequence as u64),
    };
    let mut pairs = Pairs::new();
    if flags & SAME_FIELDS != 0 {
        for field in shared {
            pairs.push((field.clone(), elements.next()?));
        }
    } else {
        for _ in 0..parse_integer(&elements.next()?)? {
            pairs.push((elements.next()?, elements.next()?));
        }
    }
    elements.next()?;
    Some((flags & REMOVED == 0).then_some(Entry { id, pairs }))
}

impl Elements {
    fn read(mut body: &[u8]) -> Option<Vec<Box<[u8]>>> {
        let mut elements = Vec::new();
        while let [kind, rest @ ..] = body {
            let (head, text, number) = match *kind {
                value @ 0..=0x7f => (1, 0, Some(i64::from(value))),
                0x80..=0xbf => (1, usize::from(kind & 0x3f), None),
                0xc0..=0xdf => {
                    let bits = u16::from(kind & 0x1f) << 8 | u16::from(*rest.first()?);
                    (2, 0, Some(i64::from((bits << 3) as i16 >> 3)))
                }
                0xe0..=0xef => {
                    (2, usize::from(kind & 0xf) << 8 | usize::from(*rest.first()?), None)
                }
                0xf0 => (5, u32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize, None),
                0xf1..=0xf4 => {
                    let width = [2, 3, 4, 8][usize::from(kind - 0xf1)];
                    (1 + width, 0, Some(signed(rest.get(..width)?)))
                }
                _ => return None,
            };
            let length = head + text;
            let content = body.get(head..length)?;
            elements.push(match number {
                Some(number) => number.to_string().into_bytes().into(),
                None => content.into(),
            });
            body = body.get(length + backward_length(length)..)?;
        }
        Some(elements)
    }
}

fn signed(bytes: &[u8]) -> i64 {
    let sign = if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
    let mut wide = [sign; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}
