//! Locks on etcd, and their client, which uses the JSON gateway. Sources: etcd 3.4.23 and 3.5.0. As
//! in `etcdctl lock`, each acquisition opens its own [`session`]. A lock's keys are below the
//! resource's name, each named after its lease.

pub mod gateway;
pub mod http;
pub mod keys;
pub mod mutex;
pub mod server_lock;
pub mod session;

use crate::lock::{FencingToken, Lease};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

fn to_base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// Reads a number. The gateway may send numbers as strings, and omits zeros.
fn number(value: &Value) -> i64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_i64()).unwrap_or(0)
}

pub(crate) fn name_of(lease: i64) -> String {
    format!("{lease:x}")
}

fn lease_of(resource: &str, lease: i64, token: Option<FencingToken>) -> Lease {
    let owner = name_of(lease).into();
    Lease { resource: resource.to_owned(), owner, token, valid_until: None }
}
