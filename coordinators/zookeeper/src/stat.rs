//! What a node says of itself.

use crate::jute::{Read, Reader, Writer};

/// The owner of nodes that go once their last child has gone.
pub(crate) const CONTAINER_OWNER: i64 = i64::MIN;

/// What is kept of a node beside its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) czxid: i64,
    pub(crate) mzxid: i64,
    pub(crate) ctime_ms: i64,
    pub(crate) mtime_ms: i64,
    pub(crate) version: i32,
    /// How many children were ever created. Clients are shown how often the children changed.
    pub(crate) created: i32,
    pub(crate) aversion: i32,
    /// A session, [`CONTAINER_OWNER`], or 0.
    pub(crate) owner: i64,
    pub(crate) pzxid: i64,
}

/// What a client is told of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stat {
    pub(crate) kept: Kept,
    pub(crate) data_length: i32,
    pub(crate) children: i32,
}

impl Kept {
    /// Of a node that comes to be.
    pub(crate) fn new(zxid: i64, time_ms: i64, owner: i64) -> Kept {
        Kept {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: time_ms,
            mtime_ms: time_ms,
            owner,
            ..Kept::default()
        }
    }

    /// Whether the node belongs to a session.
    pub(crate) fn is_ephemeral(&self) -> bool {
        self.owner != 0 && self.owner != CONTAINER_OWNER
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.long(self.czxid).long(self.mzxid).long(self.ctime_ms).long(self.mtime_ms);
        writer.int(self.version).int(self.created).int(self.aversion);
        writer.long(self.owner).long(self.pzxid);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Kept> {
        Ok(Kept {
            czxid: reader.long()?,
            mzxid: reader.long()?,
            ctime_ms: reader.long()?,
            mtime_ms: reader.long()?,
            version: reader.int()?,
            created: reader.int()?,
            aversion: reader.int()?,
            owner: reader.long()?,
            pzxid: reader.long()?,
        })
    }
}

impl Stat {
    /// As clients read it. Every creation and every removal of a child counts one in `cversion`;
    /// the owner is told of what belongs to a session only.
    pub(crate) fn write(&self, writer: &mut Writer) {
        let Stat { kept, data_length, children } = self;
        writer.long(kept.czxid).long(kept.mzxid).long(kept.ctime_ms).long(kept.mtime_ms);
        let changes = kept.created.wrapping_mul(2).wrapping_sub(*children);
        writer.int(kept.version).int(changes).int(kept.aversion);
        writer.long(if kept.is_ephemeral() { kept.owner } else { 0 });
        writer.int(*data_length).int(*children).long(kept.pzxid);
    }
}
