//! Client requests, parsed from the gateway's JSON.

mod json;

use bytes::Bytes;
use json::{bytes, choice, int, nullable};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) type Read<T> = Result<T, String>;

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Range {
    #[serde(deserialize_with = "bytes")]
    pub(crate) key: Bytes,
    #[serde(deserialize_with = "bytes", alias = "rangeEnd")]
    pub(crate) range_end: Bytes,
    #[serde(deserialize_with = "int")]
    pub(crate) limit: i64,
    #[serde(deserialize_with = "int")]
    pub(crate) revision: i64,
    #[serde(deserialize_with = "choice::sort_order", alias = "sortOrder")]
    pub(crate) sort_order: i32,
    #[serde(deserialize_with = "choice::sort_target", alias = "sortTarget")]
    pub(crate) sort_target: i32,
    #[serde(deserialize_with = "nullable")]
    pub(crate) serializable: bool,
    #[serde(deserialize_with = "nullable", alias = "keysOnly")]
    pub(crate) keys_only: bool,
    #[serde(deserialize_with = "nullable", alias = "countOnly")]
    pub(crate) count_only: bool,
    #[serde(deserialize_with = "int", alias = "minModRevision")]
    pub(crate) min_mod_revision: i64,
    #[serde(deserialize_with = "int", alias = "maxModRevision")]
    pub(crate) max_mod_revision: i64,
    #[serde(deserialize_with = "int", alias = "minCreateRevision")]
    pub(crate) min_create_revision: i64,
    #[serde(deserialize_with = "int", alias = "maxCreateRevision")]
    pub(crate) max_create_revision: i64,
}

impl Range {
    pub(crate) fn of(key: Bytes) -> Range {
        Range { key, ..Range::default() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Put {
    #[serde(deserialize_with = "bytes")]
    pub(crate) key: Bytes,
    #[serde(deserialize_with = "bytes")]
    pub(crate) value: Bytes,
    #[serde(deserialize_with = "int")]
    pub(crate) lease: i64,
    #[serde(deserialize_with = "nullable", alias = "prevKv")]
    pub(crate) prev_kv: bool,
    #[serde(deserialize_with = "nullable", alias = "ignoreValue")]
    pub(crate) ignore_value: bool,
    #[serde(deserialize_with = "nullable", alias = "ignoreLease")]
    pub(crate) ignore_lease: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct DeleteRange {
    #[serde(deserialize_with = "bytes")]
    pub(crate) key: Bytes,
    #[serde(deserialize_with = "bytes", alias = "rangeEnd")]
    pub(crate) range_end: Bytes,
    #[serde(deserialize_with = "nullable", alias = "prevKv")]
    pub(crate) prev_kv: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Compare {
    #[serde(deserialize_with = "choice::result")]
    pub(crate) result: i32,
    #[serde(deserialize_with = "choice::target")]
    pub(crate) target: i32,
    #[serde(deserialize_with = "bytes")]
    pub(crate) key: Bytes,
    #[serde(deserialize_with = "bytes", alias = "rangeEnd")]
    pub(crate) range_end: Bytes,
    #[serde(deserialize_with = "int")]
    pub(crate) version: i64,
    #[serde(deserialize_with = "int", alias = "createRevision")]
    pub(crate) create_revision: i64,
    #[serde(deserialize_with = "int", alias = "modRevision")]
    pub(crate) mod_revision: i64,
    #[serde(deserialize_with = "bytes")]
    pub(crate) value: Bytes,
    #[serde(deserialize_with = "int")]
    pub(crate) lease: i64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Op {
    #[serde(rename = "request_range", alias = "requestRange")]
    Range(Range),
    #[serde(rename = "request_put", alias = "requestPut")]
    Put(Put),
    #[serde(rename = "request_delete_range", alias = "requestDeleteRange")]
    DeleteRange(DeleteRange),
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Txn {
    pub(crate) compare: Vec<Compare>,
    pub(crate) success: Vec<Op>,
    pub(crate) failure: Vec<Op>,
}

impl Txn {
    fn ops(&self) -> impl Iterator<Item = &Op> {
        self.success.iter().chain(&self.failure)
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.ops().all(|op| matches!(op, Op::Range(_)))
    }

    pub(crate) fn is_serializable(&self) -> bool {
        self.ops().all(|op| matches!(op, Op::Range(range) if range.serializable))
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WatchCreate {
    #[serde(deserialize_with = "bytes")]
    pub(crate) key: Bytes,
    #[serde(deserialize_with = "bytes", alias = "rangeEnd")]
    pub(crate) range_end: Bytes,
    #[serde(deserialize_with = "int", alias = "startRevision")]
    pub(crate) start_revision: i64,
    #[serde(deserialize_with = "nullable", alias = "prevKv")]
    pub(crate) prev_kv: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(crate) enum Watch {
    #[serde(rename = "create_request", alias = "createRequest")]
    Create(WatchCreate),
    #[serde(rename = "cancel_request", alias = "cancelRequest")]
    Cancel(WatchCancel),
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(crate) struct WatchCancel {
    #[serde(deserialize_with = "int", alias = "watchId")]
    pub(crate) watch_id: i64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LeaseRequest {
    #[serde(rename = "ID", deserialize_with = "int")]
    id: i64,
    #[serde(rename = "TTL", deserialize_with = "int")]
    ttl: i64,
    #[serde(deserialize_with = "nullable")]
    keys: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LockRequest {
    #[serde(deserialize_with = "bytes")]
    name: Bytes,
    #[serde(deserialize_with = "int")]
    lease: i64,
    #[serde(deserialize_with = "bytes")]
    key: Bytes,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Range(Range),
    Put(Put),
    DeleteRange(DeleteRange),
    Txn(Txn),
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
    pub(crate) fn read(path: &str, body: &[u8]) -> Option<Read<Call>> {
        Some(match path {
            "/kv/range" => first(body).map(Call::Range),
            "/kv/put" => first(body).map(Call::Put),
            "/kv/deleterange" => first(body).map(Call::DeleteRange),
            "/kv/txn" => first(body).map(Call::Txn),
            "/lease/grant" => {
                first(body).map(|LeaseRequest { id, ttl, .. }| Call::LeaseGrant { id, ttl })
            }
            "/lease/revoke" | "/kv/lease/revoke" => {
                first(body).map(|LeaseRequest { id, .. }| Call::LeaseRevoke(id))
            }
            "/lease/timetolive" | "/kv/lease/timetolive" => {
                first(body).map(|LeaseRequest { id, keys, .. }| Call::LeaseTimeToLive { id, keys })
            }
            "/lease/leases" | "/kv/lease/leases" => Ok(Call::LeaseLeases),
            "/lock/lock" => {
                first(body).map(|LockRequest { name, lease, .. }| Call::Lock { name, lease })
            }
            "/lock/unlock" => first(body).map(|LockRequest { key, .. }| Call::Unlock(key)),
            "/maintenance/status" => Ok(Call::Status),
            "/cluster/member/list" => Ok(Call::MemberList),
            _ => return None,
        })
    }
}

fn first<T: Default + DeserializeOwned>(body: &[u8]) -> Read<T> {
    let first = serde_json::Deserializer::from_slice(body).into_iter().next();
    let message: Option<Option<T>> = first.transpose().map_err(|error| error.to_string())?;
    Ok(message.flatten().unwrap_or_default())
}

pub(crate) fn watches(body: &[u8]) -> impl Iterator<Item = Read<Watch>> {
    stream(body)
}

pub(crate) fn keep_alives(body: &[u8]) -> impl Iterator<Item = Read<i64>> {
    stream(body).map(|read| read.map(|LeaseRequest { id, .. }| id))
}

fn stream<T: DeserializeOwned>(body: &[u8]) -> impl Iterator<Item = Read<T>> {
    let values = serde_json::Deserializer::from_slice(body).into_iter();
    values.map(|read| read.map_err(|error| error.to_string()))
}
