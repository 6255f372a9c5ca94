//! Snapshots in Redis's RDB format: version 10 (Redis 7.0) written, and versions 1 to 12 read for
//! the types that exist here.
//!
//! Layout: `REDIS0010`, auxiliary fields, then for each database a selector and its keys, an end
//! mark, and a CRC-64 (rdb.c, `rdbSaveRio` and `rdbLoadRioWithLoadingCtx`).

mod collections;
mod crc64;
mod listed;
mod lzf;
mod reader;
mod writer;

use crate::data::value::Value;

pub(crate) use reader::{Reader, read};
pub(crate) use writer::{About, write};

/// The version that is written.
const VERSION: u32 = 10;
/// The newest version that is read: later ones differ in types that are refused by their code.
const VERSION_MAX: u32 = 12;

/// What precedes keys, by its first byte (`RDB_OPCODE_*`).
mod opcode {
    pub(super) const FUNCTION2: u8 = 245;
    pub(super) const MODULE_AUX: u8 = 247;
    pub(super) const IDLE: u8 = 248;
    pub(super) const FREQ: u8 = 249;
    pub(super) const AUX: u8 = 250;
    pub(super) const RESIZE_DB: u8 = 251;
    pub(super) const EXPIRE_TIME_MS: u8 = 252;
    pub(super) const EXPIRE_TIME: u8 = 253;
    pub(super) const SELECT_DB: u8 = 254;
    pub(super) const EOF: u8 = 255;
}

/// How a value is kept (`RDB_TYPE_*`).
mod kind {
    pub(super) const STRING: u8 = 0;
    pub(super) const LIST: u8 = 1;
    pub(super) const SET: u8 = 2;
    pub(super) const SORTED_SET_TEXT: u8 = 3;
    pub(super) const HASH: u8 = 4;
    pub(super) const SORTED_SET: u8 = 5;
    pub(super) const LIST_ZIPLIST: u8 = 10;
    pub(super) const SET_INTEGERS: u8 = 11;
    pub(super) const SORTED_SET_ZIPLIST: u8 = 12;
    pub(super) const HASH_ZIPLIST: u8 = 13;
    pub(super) const LIST_QUICKLIST: u8 = 14;
    pub(super) const HASH_LISTPACK: u8 = 16;
    pub(super) const SORTED_SET_LISTPACK: u8 = 17;
    pub(super) const LIST_QUICKLIST_2: u8 = 18;
    pub(super) const SET_LISTPACK: u8 = 20;
}

/// Where in a replication history a snapshot was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// The replication id.
    pub(crate) id: String,
    /// How much of the stream the snapshot holds.
    pub(crate) offset: u64,
    /// The database that the stream had selected.
    pub(crate) stream_db: usize,
}

/// A key out of a snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SavedKey {
    /// Its database.
    pub(crate) db: usize,
    /// The key.
    pub(crate) key: Vec<u8>,
    /// What it holds.
    pub(crate) value: Value,
    /// When it ends, in wall-clock milliseconds; `None` is never.
    pub(crate) expires_at_ms: Option<i64>,
}

/// What a snapshot holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Snapshot {
    /// Its keys, in their order.
    pub(crate) keys: Vec<SavedKey>,
    /// Where in a replication history it was taken, if that is known.
    pub(crate) origin: Option<Origin>,
}

/// Why bytes are no snapshot that can be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RdbError {
    /// The first bytes are not `REDIS` and four digits.
    #[error("wrong signature: a snapshot begins with REDIS and four digits")]
    Signature,
    /// The version is unknown.
    #[error("version {0} is unknown: 1 to {VERSION_MAX} can be read")]
    Version(u32),
    /// The bytes end before the end mark.
    #[error("the snapshot ends early")]
    Truncated,
    /// The checksum is not that of the bytes.
    #[error("the checksum is wrong")]
    Checksum,
    /// A key is in a database that the server does not have.
    #[error("there is a key in database {0}, which is not configured")]
    Database(usize),
    /// A type or an opcode is unknown.
    #[error("unknown type or opcode {0}")]
    Kind(u8),
    /// A length, a number or a packed list makes no sense.
    #[error("malformed {0}")]
    Malformed(&'static str),
}

#[cfg(test)]
mod tests;
