//! What clients ask for, read from the gateway's JSON. The fields of a message are read in the
//! order in which the protocol declares them: the first that is wrong is the one that is complained
//! of.

mod nested;

use crate::json::{Choice, Fields};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A message, or what is wrong with it in Go's words.
pub(crate) type Read<T> = Result<T, String>;

/// How deep transactions may be nested: any deeper one has too many operations for the server.
const NEST_MAX: u32 = 130;

const SORT_ORDER: Choice =
    Choice { name: "etcdserverpb.RangeRequest_SortOrder", members: &["NONE", "ASCEND", "DESCEND"] };
const SORT_TARGET: Choice = Choice {
    name: "etcdserverpb.RangeRequest_SortTarget",
    members: &["KEY", "VERSION", "CREATE", "MOD", "VALUE"],
};
const COMPARE_RESULT: Choice = Choice {
    name: "etcdserverpb.Compare_CompareResult",
    members: &["EQUAL", "GREATER", "LESS", "NOT_EQUAL"],
};
const COMPARE_TARGET: Choice = Choice {
    name: "etcdserverpb.Compare_CompareTarget",
    members: &["VERSION", "CREATE", "MOD", "VALUE", "LEASE"],
};
const FILTER: Choice =
    Choice { name: "etcdserverpb.WatchCreateRequest_FilterType", members: &["NOPUT", "NODELETE"] };

/// `RangeRequest`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) key: Bytes,
    pub(crate) range_end: Bytes,
    pub(crate) limit: i64,
    pub(crate) revision: i64,
    pub(crate) sort_order: i32,
    pub(crate) sort_target: i32,
    pub(crate) serializable: bool,
    pub(crate) keys_only: bool,
    pub(crate) count_only: bool,
    pub(crate) min_mod_revision: i64,
    pub(crate) max_mod_revision: i64,
    pub(crate) min_create_revision: i64,
    pub(crate) max_create_revision: i64,
}

impl Range {
    pub(crate) fn read(value: &[u8]) -> Read<Range> {
        let fields = Fields::of(value)?;
        Ok(Range {
            key: fields.bytes("key")?.into(),
            range_end: fields.bytes("range_end")?.into(),
            limit: fields.int("limit")?,
            revision: fields.int("revision")?,
            sort_order: fields.choice("sort_order", &SORT_ORDER)?,
            sort_target: fields.choice("sort_target", &SORT_TARGET)?,
            serializable: fields.bool("serializable")?,
            keys_only: fields.bool("keys_only")?,
            count_only: fields.bool("count_only")?,
            min_mod_revision: fields.int("min_mod_revision")?,
            max_mod_revision: fields.int("max_mod_revision")?,
            min_create_revision: fields.int("min_create_revision")?,
            max_create_revision: fields.int("max_create_revision")?,
        })
    }

    /// A read of one key.
    pub(crate) fn of(key: Bytes) -> Range {
        Range { key, ..Range::default() }
    }
}

/// `PutRequest`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Put {
    pub(crate) key: Bytes,
    pub(crate) value: Bytes,
    pub(crate) lease: i64,
    pub(crate) prev_kv: bool,
    pub(crate) ignore_value: bool,
    pub(crate) ignore_lease: bool,
}

impl Put {
    pub(crate) fn read(value: &[u8]) -> Read<Put> {
        let fields = Fields::of(value)?;
        Ok(Put {
            key: fields.bytes("key")?.into(),
            value: fields.bytes("value")?.into(),
            lease: fields.int("lease")?,
            prev_kv: fields.bool("prev_kv")?,
            ignore_value: fields.bool("ignore_value")?,
            ignore_lease: fields.bool("ignore_lease")?,
        })
    }
}

/// `DeleteRangeRequest`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DeleteRange {
    pub(crate) key: Bytes,
    pub(crate) range_end: Bytes,
    pub(crate) prev_kv: bool,
}

impl DeleteRange {
    pub(crate) fn read(value: &[u8]) -> Read<DeleteRange> {
        let fields = Fields::of(value)?;
        Ok(DeleteRange {
            key: fields.bytes("key")?.into(),
            range_end: fields.bytes("range_end")?.into(),
            prev_kv: fields.bool("prev_kv")?,
        })
    }
}

/// What a comparison looks at, and with what it compares it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum With {
    Nothing,
    Version(i64),
    Create(i64),
    Mod(i64),
    Value(Bytes),
    Lease(i64),
}

/// `Compare`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Compare {
    pub(crate) result: i32,
    pub(crate) target: i32,
    pub(crate) key: Bytes,
    pub(crate) range_end: Bytes,
    pub(crate) with: With,
}

impl Compare {
    fn read(value: &[u8]) -> Read<Compare> {
        let fields = Fields::of(value)?;
        let result = fields.choice("result", &COMPARE_RESULT)?;
        let target = fields.choice("target", &COMPARE_TARGET)?;
        let key = fields.bytes("key")?.into();
        let range_end = fields.bytes("range_end")?.into();
        let has = |name| fields.message(name).is_some();
        let with = if has("version") {
            With::Version(fields.int("version")?)
        } else if has("create_revision") {
            With::Create(fields.int("create_revision")?)
        } else if has("mod_revision") {
            With::Mod(fields.int("mod_revision")?)
        } else if has("value") {
            With::Value(fields.bytes("value")?.into())
        } else if has("lease") {
            With::Lease(fields.int("lease")?)
        } else {
            With::Nothing
        };
        Ok(Compare { result, target, key, range_end, with })
    }
}

/// `RequestOp`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Op {
    /// Names no operation.
    Empty,
    Range(Range),
    Put(Put),
    DeleteRange(DeleteRange),
    Txn(#[serde(with = "nested")] Txn),
}

impl Op {
    fn read(value: &[u8], depth: u32) -> Read<Op> {
        let fields = Fields::of(value)?;
        if let Some(range) = fields.message("request_range") {
            Range::read(range).map(Op::Range)
        } else if let Some(put) = fields.message("request_put") {
            Put::read(put).map(Op::Put)
        } else if let Some(delete) = fields.message("request_delete_range") {
            DeleteRange::read(delete).map(Op::DeleteRange)
        } else if let Some(txn) = fields.message("request_txn") {
            Txn::read_nested(txn, depth + 1).map(Op::Txn)
        } else {
            Ok(Op::Empty)
        }
    }
}

/// `TxnRequest`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Txn {
    pub(crate) compare: Vec<Compare>,
    pub(crate) success: Vec<Op>,
    pub(crate) failure: Vec<Op>,
}

impl Txn {
    pub(crate) fn read(value: &[u8]) -> Read<Txn> {
        Txn::read_nested(value, 0)
    }

    fn read_nested(value: &[u8], depth: u32) -> Read<Txn> {
        if depth > NEST_MAX {
            return Ok(Txn::default());
        }
        let fields = Fields::of(value)?;
        let ops = |name| -> Read<Vec<Op>> {
            fields.list(name)?.into_iter().map(|op| Op::read(op, depth)).collect()
        };
        Ok(Txn {
            compare: fields.list("compare")?.into_iter().map(Compare::read).collect::<Read<_>>()?,
            success: ops("success")?,
            failure: ops("failure")?,
        })
    }

    fn ops(&self) -> impl Iterator<Item = &Op> {
        self.success.iter().chain(&self.failure)
    }

    /// Whether it changes nothing, whichever way it goes.
    pub(crate) fn is_read_only(&self) -> bool {
        self.ops().all(|op| matches!(op, Op::Range(_)))
    }

    /// Whether all that it reads may be stale.
    pub(crate) fn is_serializable(&self) -> bool {
        self.ops().all(|op| matches!(op, Op::Range(range) if range.serializable))
    }

    /// What a member carries out whose clients did not ask for it: without the reads, except those
    /// of transactions within. So one that is refused for a revision that was compacted is refused
    /// by the member that was asked, and the others make its changes (`removeNeedlessRangeReqs`).
    pub(crate) fn without_reads(&self) -> Txn {
        let changes = |ops: &[Op]| -> Vec<Op> {
            ops.iter().filter(|op| !matches!(op, Op::Range(_))).cloned().collect()
        };
        let compare = self.compare.clone();
        Txn { compare, success: changes(&self.success), failure: changes(&self.failure) }
    }
}

/// `WatchCreateRequest`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct WatchCreate {
    pub(crate) key: Bytes,
    pub(crate) range_end: Bytes,
    pub(crate) start_revision: i64,
    pub(crate) progress_notify: bool,
    pub(crate) no_put: bool,
    pub(crate) no_delete: bool,
    pub(crate) prev_kv: bool,
    pub(crate) watch_id: i64,
}

/// `WatchRequest`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Watch {
    Empty,
    Create(WatchCreate),
    Cancel(i64),
    Progress,
}

impl Watch {
    pub(crate) fn read(value: &[u8]) -> Read<Watch> {
        let fields = Fields::of(value)?;
        if let Some(create) = fields.message("create_request") {
            return WatchCreate::read(create).map(Watch::Create);
        }
        if let Some(cancel) = fields.message("cancel_request") {
            return Fields::of(cancel)?.int("watch_id").map(Watch::Cancel);
        }
        match fields.message("progress_request") {
            Some(progress) => Fields::of(progress).map(|_| Watch::Progress),
            None => Ok(Watch::Empty),
        }
    }
}

impl WatchCreate {
    fn read(value: &[u8]) -> Read<WatchCreate> {
        let fields = Fields::of(value)?;
        let (key, range_end) = (fields.bytes("key")?.into(), fields.bytes("range_end")?.into());
        let start_revision = fields.int("start_revision")?;
        let progress_notify = fields.bool("progress_notify")?;
        let filters = fields.list("filters")?.into_iter().map(|filter| FILTER.read(filter));
        let filters = filters.collect::<Read<Vec<i32>>>()?;
        Ok(WatchCreate {
            key,
            range_end,
            start_revision,
            progress_notify,
            no_put: filters.contains(&0),
            no_delete: filters.contains(&1),
            prev_kv: fields.bool("prev_kv")?,
            watch_id: fields.int("watch_id")?,
        })
    }
}

/// What a client can call that answers once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Range(Range),
    Put(Put),
    DeleteRange(DeleteRange),
    Txn(Txn),
    Compact(i64),
    LeaseGrant { id: i64, ttl: i64 },
    LeaseRevoke(i64),
    LeaseTimeToLive { id: i64, keys: bool },
    LeaseLeases,
    Lock { name: Bytes, lease: i64 },
    Unlock(Bytes),
    Status,
    MemberList,
}

impl Call {
    /// What the path below `/v3` and the body ask for; none if there is no such call.
    pub(crate) fn read(path: &str, value: &[u8]) -> Option<Read<Call>> {
        Some(match path {
            "/kv/range" => Range::read(value).map(Call::Range),
            "/kv/put" => Put::read(value).map(Call::Put),
            "/kv/deleterange" => DeleteRange::read(value).map(Call::DeleteRange),
            "/kv/txn" => Txn::read(value).map(Call::Txn),
            "/kv/compaction" => compaction(value),
            "/lease/grant" => lease_grant(value),
            "/lease/revoke" | "/kv/lease/revoke" => lease_revoke(value),
            "/lease/timetolive" | "/kv/lease/timetolive" => lease_time_to_live(value),
            "/lease/leases" | "/kv/lease/leases" => Fields::of(value).map(|_| Call::LeaseLeases),
            "/lock/lock" => lock(value),
            "/lock/unlock" => unlock(value),
            "/maintenance/status" => Fields::of(value).map(|_| Call::Status),
            "/cluster/member/list" => Fields::of(value).map(|_| Call::MemberList),
            _ => return None,
        })
    }
}

fn compaction(value: &[u8]) -> Read<Call> {
    let fields = Fields::of(value)?;
    let revision = fields.int("revision")?;
    fields.bool("physical")?;
    Ok(Call::Compact(revision))
}

fn lease_grant(value: &[u8]) -> Read<Call> {
    let fields = Fields::of(value)?;
    Ok(Call::LeaseGrant { ttl: fields.int("TTL")?, id: fields.int("ID")? })
}

fn lease_revoke(value: &[u8]) -> Read<Call> {
    Ok(Call::LeaseRevoke(Fields::of(value)?.int("ID")?))
}

fn lease_time_to_live(value: &[u8]) -> Read<Call> {
    let fields = Fields::of(value)?;
    Ok(Call::LeaseTimeToLive { id: fields.int("ID")?, keys: fields.bool("keys")? })
}

fn lock(value: &[u8]) -> Read<Call> {
    let fields = Fields::of(value)?;
    Ok(Call::Lock { name: fields.bytes("name")?.into(), lease: fields.int("lease")? })
}

fn unlock(value: &[u8]) -> Read<Call> {
    Ok(Call::Unlock(Fields::of(value)?.bytes("key")?.into()))
}

/// The lease that a request of a stream wants kept alive.
pub(crate) fn keep_alive(value: &[u8]) -> Read<i64> {
    Fields::of(value)?.int("ID")
}
