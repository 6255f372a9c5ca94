//! Reads snapshots from arbitrary bytes (`rdbLoadRioWithLoadingCtx`).

use super::{Origin, RdbError, SavedKey, Snapshot, VERSION, crc64::checksum, kind, opcode};
use crate::data::value::stream::{Stream, StreamId, packed};
use crate::data::value::{End, Hash, List, Set, SortedSet, Value};
use std::collections::BTreeMap;

pub(crate) fn read(bytes: &[u8]) -> Result<Snapshot, RdbError> {
    let mut reader = Reader::new(bytes)?;
    let mut keys = Vec::new();
    while let Some(key) = reader.next_key()? {
        keys.push(key);
    }
    Ok(Snapshot { keys, origin: reader.origin() })
}

fn check_signature(bytes: &[u8]) -> Result<(), RdbError> {
    let digits =
        bytes.strip_prefix(b"REDIS").and_then(|rest| rest.get(..4)).ok_or(RdbError::Signature)?;
    let digits = std::str::from_utf8(digits).map_err(|_| RdbError::Signature)?;
    let version = digits.parse().map_err(|_| RdbError::Signature)?;
    if version == VERSION { Ok(()) } else { Err(RdbError::Version(version)) }
}

enum Length {
    Plain(usize),
    Encoded(u8),
}

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    pub(crate) position: usize,
    db: usize,
    auxiliary: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, RdbError> {
        check_signature(bytes)?;
        Ok(Reader { bytes, position: 9, db: 0, auxiliary: BTreeMap::new() })
    }

    pub(crate) fn next_key(&mut self) -> Result<Option<SavedKey>, RdbError> {
        let mut expires_at_ms = None;
        loop {
            match self.byte()? {
                opcode::EOF => return self.check_sum().map(|()| None),
                opcode::SELECT_DB => self.db = self.length()?,
                opcode::RESIZE_DB => {
                    self.length()?;
                    self.length()?;
                }
                opcode::AUX => {
                    let name = self.string()?;
                    let value = self.string()?;
                    self.auxiliary.insert(name, value);
                }
                opcode::EXPIRE_TIME_MS => expires_at_ms = Some(i64::from_le_bytes(self.array()?)),
                kind => {
                    let key = self.string()?;
                    let value = self.value(kind)?;
                    return Ok(Some(SavedKey { db: self.db, key, value, expires_at_ms }));
                }
            }
        }
    }

    fn check_sum(&mut self) -> Result<(), RdbError> {
        let end = self.position;
        let sum = u64::from_le_bytes(self.array()?);
        // A checksum of 0 means that the writer computed no checksum (`rdbchecksum no`).
        if sum != 0 && sum != checksum(&self.bytes[..end]) {
            return Err(RdbError::Checksum);
        }
        Ok(())
    }

    fn value(&mut self, kind: u8) -> Result<Value, RdbError> {
        match kind {
            kind::STRING => Ok(Value::String(self.string()?)),
            kind::HASH => self.hash(),
            kind::LIST => {
                let mut list = List::default();
                for _ in 0..self.count("list")? {
                    list.push(End::Right, &self.string()?);
                }
                Ok(Value::List(Box::new(list)))
            }
            kind::SET => {
                let mut set = Set::default();
                for _ in 0..self.count("set")? {
                    set.add(&self.string()?);
                }
                Ok(Value::Set(Box::new(set)))
            }
            kind::SORTED_SET => self.sorted_set(),
            kind::STREAM => self.stream()?.ok_or(RdbError::Malformed("stream")),
            kind => Err(RdbError::Kind(kind)),
        }
    }

    fn hash(&mut self) -> Result<Value, RdbError> {
        let mut hash = Hash::default();
        for _ in 0..self.count("hash")? {
            let (field, value) = (self.string()?, self.string()?);
            hash.set(&field, &value);
        }
        Ok(Value::Hash(Box::new(hash)))
    }

    fn sorted_set(&mut self) -> Result<Value, RdbError> {
        let mut set = SortedSet::default();
        for _ in 0..self.count("sorted set")? {
            let member = self.string()?;
            let score = f64::from_le_bytes(self.array()?);
            if score.is_nan() {
                return Err(RdbError::Malformed("score"));
            }
            set.set(&member, score);
        }
        Ok(Value::SortedSet(Box::new(set)))
    }

    /// Returns `None` for a malformed stream, and for a stream with consumer groups.
    fn stream(&mut self) -> Result<Option<Value>, RdbError> {
        let mut all = Vec::new();
        for _ in 0..self.length()? {
            let (id, bytes) = (self.string()?, self.string()?);
            let Ok(id) = <[u8; 16]>::try_from(id) else { return Ok(None) };
            let id = u128::from_be_bytes(id);
            let first = StreamId { ms: (id >> 64) as u64, sequence: id as u64 };
            let Some(entries) = packed::read(first, &bytes) else { return Ok(None) };
            all.extend(entries);
        }
        let length = self.length()?;
        let last = StreamId { ms: self.length()? as u64, sequence: self.length()? as u64 };
        let groups = self.length()?;
        let stream = Stream::restored(all, last);
        let stream = stream.filter(|stream| stream.len() == length && groups == 0);
        Ok(stream.map(|stream| Value::Stream(Box::new(stream))))
    }

    fn count(&mut self, of: &'static str) -> Result<usize, RdbError> {
        self.length()
            .and_then(|count| if count > 0 { Ok(count) } else { Err(RdbError::Malformed(of)) })
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        let text = |name: &str| std::str::from_utf8(self.auxiliary.get(name.as_bytes())?).ok();
        let id = text("repl-id")?.to_owned();
        Some(Origin {
            id,
            offset: text("repl-offset")?.parse().ok()?,
            stream_db: text("repl-stream-db")?.parse().ok()?,
        })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], RdbError> {
        let end = self.position.checked_add(count).ok_or(RdbError::Truncated)?;
        let taken = self.bytes.get(self.position..end).ok_or(RdbError::Truncated)?;
        self.position = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RdbError> {
        self.take(N)?.try_into().map_err(|_| RdbError::Truncated)
    }

    fn byte(&mut self) -> Result<u8, RdbError> {
        Ok(self.array::<1>()?[0])
    }

    fn length(&mut self) -> Result<usize, RdbError> {
        match self.length_or_code()? {
            Length::Plain(length) => Ok(length),
            Length::Encoded(_) => Err(RdbError::Malformed("length")),
        }
    }

    fn length_or_code(&mut self) -> Result<Length, RdbError> {
        let first = self.byte()?;
        let plain = match (first >> 6, first) {
            (0, _) => usize::from(first),
            (1, _) => usize::from(first & 0x3f) << 8 | usize::from(self.byte()?),
            (3, _) => return Ok(Length::Encoded(first & 0x3f)),
            (_, 0x80) => u32::from_be_bytes(self.array()?) as usize,
            (_, 0x81) => usize::try_from(u64::from_be_bytes(self.array()?))
                .map_err(|_| RdbError::Malformed("length"))?,
            _ => return Err(RdbError::Malformed("length")),
        };
        Ok(Length::Plain(plain))
    }

    fn string(&mut self) -> Result<Vec<u8>, RdbError> {
        let number = match self.length_or_code()? {
            Length::Plain(length) => return Ok(self.take(length)?.to_vec()),
            Length::Encoded(0) => i64::from(i8::from_le_bytes(self.array()?)),
            Length::Encoded(1) => i64::from(i16::from_le_bytes(self.array()?)),
            Length::Encoded(2) => i64::from(i32::from_le_bytes(self.array()?)),
            Length::Encoded(_) => return Err(RdbError::Malformed("string")),
        };
        Ok(number.to_string().into_bytes())
    }
}
