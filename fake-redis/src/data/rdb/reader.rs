//! Reads snapshots (`rdbLoadRioWithLoadingCtx`) from arbitrary bytes.

use super::{
    Origin, RdbError, SavedKey, Snapshot, VERSION_MAX, crc64::checksum, kind, listed, lzf, opcode,
};
use crate::data::value::{Hash, Value};
use std::collections::BTreeMap;

/// Reads a whole snapshot.
pub(crate) fn read(bytes: &[u8]) -> Result<Snapshot, RdbError> {
    let mut reader = Reader::new(bytes)?;
    let mut keys = Vec::new();
    while let Some(key) = reader.next_key()? {
        keys.push(key);
    }
    Ok(Snapshot { keys, origin: reader.origin() })
}

fn signature(bytes: &[u8]) -> Result<u32, RdbError> {
    let digits =
        bytes.strip_prefix(b"REDIS").and_then(|rest| rest.get(..4)).ok_or(RdbError::Signature)?;
    let digits = std::str::from_utf8(digits).map_err(|_| RdbError::Signature)?;
    let version = digits.parse().map_err(|_| RdbError::Signature)?;
    if (1..=VERSION_MAX).contains(&version) { Ok(version) } else { Err(RdbError::Version(version)) }
}

enum Length {
    Plain(usize),
    Encoded(u8),
}

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    version: u32,
    db: usize,
    auxiliary: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl<'a> Reader<'a> {
    /// Reads only the version.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, RdbError> {
        let version = signature(bytes)?;
        Ok(Reader { bytes, position: 9, version, db: 0, auxiliary: BTreeMap::new() })
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Reads the next key; `None` at the end, after checking the checksum.
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
                opcode::EXPIRE_TIME => {
                    expires_at_ms = Some(i64::from(i32::from_le_bytes(self.array()?)) * 1_000)
                }
                opcode::FREQ => self.position += 1,
                opcode::IDLE => {
                    self.length()?;
                }
                opcode::FUNCTION2 => {
                    self.string()?;
                }
                code @ opcode::MODULE_AUX => return Err(RdbError::Kind(code)),
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
        if self.version < 5 {
            return Ok(());
        }
        let sum = u64::from_le_bytes(self.array()?);
        // 0 means that the checksum was disabled (`rdbchecksum no`).
        if sum != 0 && sum != checksum(&self.bytes[..end]) {
            return Err(RdbError::Checksum);
        }
        Ok(())
    }

    fn value(&mut self, kind: u8) -> Result<Value, RdbError> {
        match kind {
            kind::STRING => Ok(Value::String(self.string()?)),
            kind::HASH => {
                let count = self.length()?;
                let elements = (0..count.saturating_mul(2))
                    .map(|_| self.string())
                    .collect::<Result<_, _>>()?;
                hash(elements)
            }
            kind::HASH_LISTPACK => hash(listed::listpack(&self.string()?)?),
            kind::HASH_ZIPLIST => hash(listed::ziplist(&self.string()?)?),
            kind => self.collection(kind),
        }
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

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], RdbError> {
        let end = self.position.checked_add(count).ok_or(RdbError::Truncated)?;
        let taken = self.bytes.get(self.position..end).ok_or(RdbError::Truncated)?;
        self.position = end;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], RdbError> {
        self.take(N)?.try_into().map_err(|_| RdbError::Truncated)
    }

    pub(super) fn byte(&mut self) -> Result<u8, RdbError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn length(&mut self) -> Result<usize, RdbError> {
        match self.length_or_code()? {
            Length::Plain(length) => Ok(length),
            Length::Encoded(_) => Err(RdbError::Malformed("length")),
        }
    }

    /// `rdbLoadLenByRef`.
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

    /// `rdbGenericLoadStringObject`.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, RdbError> {
        let number = match self.length_or_code()? {
            Length::Plain(length) => return Ok(self.take(length)?.to_vec()),
            Length::Encoded(0) => i64::from(i8::from_le_bytes(self.array()?)),
            Length::Encoded(1) => i64::from(i16::from_le_bytes(self.array()?)),
            Length::Encoded(2) => i64::from(i32::from_le_bytes(self.array()?)),
            Length::Encoded(3) => {
                let (packed, length) = (self.length()?, self.length()?);
                return lzf::unpack(self.take(packed)?, length)
                    .ok_or(RdbError::Malformed("packed string"));
            }
            Length::Encoded(_) => return Err(RdbError::Malformed("string")),
        };
        Ok(number.to_string().into_bytes())
    }
}

fn hash(elements: Vec<Vec<u8>>) -> Result<Value, RdbError> {
    if elements.is_empty() || !elements.len().is_multiple_of(2) {
        return Err(RdbError::Malformed("hash"));
    }
    let mut hash = Hash::default();
    for pair in elements.chunks_exact(2) {
        hash.set(&pair[0], &pair[1]);
    }
    Ok(Value::Hash(Box::new(hash)))
}
