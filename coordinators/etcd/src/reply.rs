//! Encodes answers in the gateway's JSON: omits zero values, and quotes 64-bit numbers.

use crate::config::{CLUSTER_ID, member_id};
use crate::mvcc::{Event, Found, KeyValue};
use crate::quote::quote;
use crate::state::Outcome;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

pub(crate) struct Message(String);

impl Message {
    pub(crate) fn new() -> Message {
        Message("{".to_owned())
    }

    fn name(&mut self, name: &str) {
        let comma = if self.0.len() > 1 { "," } else { "" };
        let _ = write!(self.0, "{comma}\"{name}\":");
    }

    pub(crate) fn int(mut self, name: &str, value: i64) -> Message {
        if value != 0 {
            self.name(name);
            let _ = write!(self.0, "\"{value}\"");
        }
        self
    }

    pub(crate) fn number(mut self, name: &str, value: u64) -> Message {
        if value != 0 {
            self.name(name);
            let _ = write!(self.0, "\"{value}\"");
        }
        self
    }

    pub(crate) fn bool(mut self, name: &str, value: bool) -> Message {
        if value {
            self.name(name);
            self.0.push_str("true");
        }
        self
    }

    pub(crate) fn text(mut self, name: &str, value: &str) -> Message {
        if !value.is_empty() {
            self.name(name);
            self.0.push_str(&quote(value));
        }
        self
    }

    pub(crate) fn bytes(mut self, name: &str, value: &[u8]) -> Message {
        if !value.is_empty() {
            self.name(name);
            let _ = write!(self.0, "\"{}\"", STANDARD.encode(value));
        }
        self
    }

    pub(crate) fn message(mut self, name: &str, value: Message) -> Message {
        self.name(name);
        self.0.push_str(&value.end());
        self
    }

    pub(crate) fn list(mut self, name: &str, values: Vec<String>) -> Message {
        if !values.is_empty() {
            self.name(name);
            let _ = write!(self.0, "[{}]", values.join(","));
        }
        self
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Responder {
    pub(crate) member: u8,
    pub(crate) term: u64,
}

impl Responder {
    pub(crate) fn header(self, revision: i64) -> Message {
        Message::new()
            .number("cluster_id", CLUSTER_ID)
            .number("member_id", member_id(self.member))
            .int("revision", revision)
            .number("raft_term", self.term)
    }

    pub(crate) fn outcome(self, outcome: &Outcome) -> String {
        let header = self.header(outcome.revision());
        fill(Message::new().message("header", header), outcome).end()
    }
}

fn key_value(kv: &KeyValue) -> Message {
    Message::new()
        .bytes("key", &kv.key)
        .int("create_revision", kv.create_revision)
        .int("mod_revision", kv.mod_revision)
        .int("version", kv.version)
        .bytes("value", &kv.value)
        .int("lease", kv.lease)
}

fn key_values(kvs: &[KeyValue]) -> Vec<String> {
    kvs.iter().map(|kv| key_value(kv).end()).collect()
}

fn fill(message: Message, outcome: &Outcome) -> Message {
    match outcome {
        Outcome::Range(Found { kvs, count, more, .. }) => {
            message.list("kvs", key_values(kvs)).bool("more", *more).int("count", *count)
        }
        Outcome::Put { before, .. } => match before {
            Some(kv) => message.message("prev_kv", key_value(kv)),
            None => message,
        },
        Outcome::DeleteRange { deleted, before, .. } => {
            message.int("deleted", *deleted).list("prev_kvs", key_values(before))
        }
        Outcome::Txn { is_success, outcomes, .. } => {
            let responses = outcomes.iter().map(response).collect();
            message.bool("succeeded", *is_success).list("responses", responses)
        }
        Outcome::Header { .. } => message,
        Outcome::LeaseGrant { id, ttl, .. } => message.int("ID", *id).int("TTL", *ttl),
    }
}

fn response(outcome: &Outcome) -> String {
    let name = match outcome {
        Outcome::Range(_) => "response_range",
        Outcome::Put { .. } => "response_put",
        Outcome::DeleteRange { .. } => "response_delete_range",
        _ => "response_txn",
    };
    let header = Message::new().int("revision", outcome.revision());
    Message::new().message(name, fill(Message::new().message("header", header), outcome)).end()
}

pub(crate) fn event(event: &Event, before: Option<&KeyValue>) -> String {
    let message = Message::new();
    let message = if event.is_put { message } else { message.text("type", "DELETE") };
    let message = message.message("kv", key_value(&event.kv));
    match before {
        Some(before) => message.message("prev_kv", key_value(before)).end(),
        None => message.end(),
    }
}

pub(crate) fn result(message: Message) -> String {
    Message::new().message("result", message).end()
}
