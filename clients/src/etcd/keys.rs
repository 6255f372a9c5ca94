//! The queue of a lock's contenders: one key per contender below a common prefix, attached to the
//! contender's lease. Source: etcd 3.5.0, `client/v3/concurrency/mutex.go` and `key.go`
//! (`waitDeletes`).

use super::gateway::{Failure, Gateway};
use super::{number, to_base64};
use crate::env::Monotonic;
use serde_json::{Value, json};

pub struct Place {
    pub revision: i64,
    pub is_first: bool,
}

pub async fn enter(
    gateway: &Gateway,
    (prefix, key): (&str, &str),
    lease: i64,
    deadline: Monotonic,
) -> Result<Place, Failure> {
    let entered =
        gateway.non_repeatable("kv/txn", &enter_request(prefix, key, lease), deadline).await?;
    let first = |at: usize| {
        let range = &entered["responses"][at]["response_range"];
        number(&range["kvs"][0]["create_revision"])
    };
    let revision = if entered["succeeded"] == true {
        number(&entered["header"]["revision"])
    } else {
        first(0)
    };
    let owner = first(1);
    Ok(Place { revision, is_first: owner == 0 || owner == revision })
}

/// Returns the cluster's revision and, if there is one, the last key created before `revision`.
pub async fn last_key_before(
    gateway: &Gateway,
    prefix: &str,
    revision: i64,
    deadline: Monotonic,
) -> Result<Option<(String, i64)>, Failure> {
    let before =
        gateway.repeatable("kv/range", &last_key_request(prefix, revision), deadline).await?;
    let last = before["kvs"][0]["key"].as_str().and_then(from_base64);
    Ok(last.map(|key| (key, number(&before["header"]["revision"]))))
}

pub async fn exists(gateway: &Gateway, key: &str, deadline: Monotonic) -> Result<bool, Failure> {
    let found = gateway.repeatable("kv/range", &json!({"key": to_base64(key)}), deadline).await?;
    Ok(!found["kvs"][0].is_null())
}

pub async fn delete(gateway: &Gateway, key: &str) -> Result<bool, Failure> {
    let deleted = gateway.call("kv/deleterange", &json!({"key": to_base64(key)})).await?;
    Ok(number(&deleted["deleted"]) > 0)
}

fn enter_request(prefix: &str, key: &str, lease: i64) -> Value {
    let own = to_base64(key);
    let compare = json!({
        "key": own, "target": "CREATE", "result": "EQUAL", "create_revision": "0",
    });
    let owner = json!({"request_range": {
        "key": to_base64(prefix), "range_end": to_base64(end_of(prefix)),
        "limit": "1", "sort_order": "ASCEND", "sort_target": "CREATE",
    }});
    let put = json!({"request_put": {"key": own, "lease": lease.to_string()}});
    let get = json!({"request_range": {"key": own}});
    json!({"compare": [compare], "success": [put, owner], "failure": [get, owner]})
}

/// Builds the request that clientv3's options `WithLastCreate` and `WithMaxCreateRev` produce.
fn last_key_request(prefix: &str, revision: i64) -> Value {
    json!({
        "key": to_base64(prefix), "range_end": to_base64(end_of(prefix)), "limit": "1",
        "sort_order": "DESCEND", "sort_target": "CREATE",
        "max_create_revision": (revision - 1).to_string(),
    })
}

/// Returns the end of the range of keys that begin with `prefix`, which must end in a slash.
fn end_of(prefix: &str) -> String {
    format!("{}0", prefix.strip_suffix('/').unwrap_or(prefix))
}

fn from_base64(text: &str) -> Option<String> {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
    String::from_utf8(bytes).ok()
}
