//! Snapshots in Redis's RDB format, version 10 (`rdbSaveRio`, `rdbLoadRioWithLoadingCtx` in rdb.c).
//! The reader accepts the writer's encodings and the stream nodes of real servers, but no other
//! packed encodings.

mod crc64;
mod reader;
mod writer;

use crate::data::value::Value;

pub(crate) use reader::{Reader, read};
pub(crate) use writer::{About, write};

const VERSION: u32 = 10;

mod opcode {
    pub(super) const AUX: u8 = 250;
    pub(super) const RESIZE_DB: u8 = 251;
    pub(super) const EXPIRE_TIME_MS: u8 = 252;
    pub(super) const SELECT_DB: u8 = 254;
    pub(super) const EOF: u8 = 255;
}

mod kind {
    pub(super) const STRING: u8 = 0;
    pub(super) const LIST: u8 = 1;
    pub(super) const SET: u8 = 2;
    pub(super) const HASH: u8 = 4;
    pub(super) const SORTED_SET: u8 = 5;
    pub(super) const STREAM: u8 = 15;
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) id: String,
    pub(crate) offset: u64,
    pub(crate) stream_db: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SavedKey {
    pub(crate) db: usize,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Value,
    pub(crate) expires_at_ms: Option<i64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) keys: Vec<SavedKey>,
    pub(crate) origin: Option<Origin>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RdbError {
    #[error("the snapshot has the wrong signature: expected REDIS and four digits")]
    Signature,
    #[error("the snapshot has version {0}: expected {VERSION}")]
    Version(u32),
    #[error("the snapshot is truncated: expected more data")]
    Truncated,
    #[error(
        "the checksum of the snapshot does not match its content: the file was damaged or edited"
    )]
    Checksum,
    #[error("the snapshot has a key in database {0}, which this server does not have")]
    Database(usize),
    #[error("the snapshot has the unknown type or opcode {0}")]
    Kind(u8),
    #[error("the snapshot has a malformed {0}")]
    Malformed(&'static str),
}

#[cfg(test)]
mod tests;
