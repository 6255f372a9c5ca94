use crate::jute::Writer;
use serde::{Deserialize, Serialize};

/// `ephemeralOwner` of container nodes, which the server deletes after their last child is gone.
pub(crate) const CONTAINER_OWNER: i64 = i64::MIN;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredStat {
    pub(crate) czxid: i64,
    pub(crate) mzxid: i64,
    pub(crate) ctime_ms: i64,
    pub(crate) mtime_ms: i64,
    pub(crate) version: i32,
    /// Number of children ever created (the stored `cversion`).
    pub(crate) created: i32,
    pub(crate) owner: i64,
    pub(crate) pzxid: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stat {
    pub(crate) kept: StoredStat,
    pub(crate) data_length: i32,
    pub(crate) children: i32,
}

impl StoredStat {
    pub(crate) fn new(zxid: i64, time_ms: i64, owner: i64) -> StoredStat {
        StoredStat {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: time_ms,
            mtime_ms: time_ms,
            owner,
            ..StoredStat::default()
        }
    }

    pub(crate) fn is_ephemeral(&self) -> bool {
        self.owner != 0 && self.owner != CONTAINER_OWNER
    }
}

impl Stat {
    /// Writes the stat for clients, where `cversion` counts child changes.
    pub(crate) fn write(&self, writer: &mut Writer) {
        let Stat { kept, data_length, children } = self;
        writer.long(kept.czxid).long(kept.mzxid).long(kept.ctime_ms).long(kept.mtime_ms);
        let changes = kept.created.wrapping_mul(2).wrapping_sub(*children);
        writer.int(kept.version).int(changes).int(0);
        writer.long(if kept.is_ephemeral() { kept.owner } else { 0 });
        writer.int(*data_length).int(*children).long(kept.pzxid);
    }
}
