//! Call errors, as in `api/v3rpc/rpctypes/error.go` and grpc-gateway's `HTTPStatusFromCode`.

use crate::quote::quote;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Refusal {
    EmptyKey,
    KeyNotFound,
    ValueProvided,
    LeaseProvided,
    TooManyOps,
    DuplicateKey,
    FutureRevision,
    LeaseNotFound,
    LeaseExists,
    LeaseTtlTooLarge,
    RequestTooLarge,
    NoLeader,
    LeaderChanged,
    Timeout,
    TimeoutLeaderFailed,
    TimeoutConnectionLost,
    DeadlineExceeded,
    SessionExpired,
    /// An error of the server-side lock. Clients receive it with the code Unknown.
    Unknown(Box<Refusal>),
}

impl Refusal {
    pub(crate) fn text(&self) -> String {
        let text = match self {
            Refusal::EmptyKey => "etcdserver: key is not provided",
            Refusal::KeyNotFound => "etcdserver: key not found",
            Refusal::ValueProvided => "etcdserver: value is provided",
            Refusal::LeaseProvided => "etcdserver: lease is provided",
            Refusal::TooManyOps => "etcdserver: too many operations in txn request",
            Refusal::DuplicateKey => "etcdserver: duplicate key given in txn request",
            Refusal::FutureRevision => "etcdserver: mvcc: required revision is a future revision",
            Refusal::LeaseNotFound => "etcdserver: requested lease not found",
            Refusal::LeaseExists => "etcdserver: lease already exists",
            Refusal::LeaseTtlTooLarge => "etcdserver: too large lease TTL",
            Refusal::RequestTooLarge => "etcdserver: request is too large",
            Refusal::NoLeader => "etcdserver: no leader",
            Refusal::LeaderChanged => "etcdserver: leader changed",
            Refusal::Timeout => "etcdserver: request timed out",
            Refusal::TimeoutLeaderFailed => {
                "etcdserver: request timed out, possibly due to previous leader failure"
            }
            Refusal::TimeoutConnectionLost => {
                "etcdserver: request timed out, possibly due to connection lost"
            }
            Refusal::DeadlineExceeded => "context deadline exceeded",
            Refusal::SessionExpired => "mutex: session is expired",
            Refusal::Unknown(inner) => return inner.text(),
        };
        text.to_owned()
    }

    fn code(&self) -> u16 {
        match self {
            Refusal::EmptyKey
            | Refusal::KeyNotFound
            | Refusal::ValueProvided
            | Refusal::LeaseProvided
            | Refusal::TooManyOps
            | Refusal::DuplicateKey
            | Refusal::RequestTooLarge => 3,
            Refusal::LeaseNotFound => 5,
            Refusal::LeaseExists => 9,
            Refusal::FutureRevision | Refusal::LeaseTtlTooLarge => 11,
            Refusal::NoLeader
            | Refusal::LeaderChanged
            | Refusal::Timeout
            | Refusal::TimeoutLeaderFailed
            | Refusal::TimeoutConnectionLost => 14,
            Refusal::DeadlineExceeded | Refusal::SessionExpired | Refusal::Unknown(_) => 2,
        }
    }

    pub(crate) fn status(&self) -> u16 {
        match self.code() {
            3 | 11 => 400,
            5 => 404,
            9 => 412,
            14 => 503,
            _ => 500,
        }
    }

    pub(crate) fn stream_item(&self) -> String {
        let (code, status, text) = (self.code(), self.status(), quote(&self.text()));
        let reason = crate::http::reason(status);
        format!(
            "{{\"error\":{{\"grpc_code\":{code},\"http_code\":{status},\"message\":{text},\
             \"http_status\":\"{reason}\"}}}}"
        )
    }

    pub(crate) fn body(&self) -> String {
        body(&self.text(), self.code())
    }
}

pub(crate) fn body(text: &str, code: u16) -> String {
    let text = quote(text);
    format!("{{\"error\":{text},\"message\":{text},\"code\":{code}}}")
}
