//! Mistakes of locks on etcd, and of etcd itself: in the calls of its JSON gateway.

use super::operator::{Operator, lock, server};
use super::wire::{Heard, Talk};
use fencepost_clients::Coordinator;
use serde_json::{Value, json};

/// What is changed.
pub(super) enum Rule {
    /// A call: its path and its body. Whether it changed.
    Asks(fn(&str, &mut Value) -> bool),
    /// A call is not carried out, but answered so: its path and its body.
    Unsent(fn(&str, &Value) -> Option<Value>),
    /// An answer: the path of the call and the answer. Whether it changed.
    Hears(fn(&str, &mut Value) -> bool),
    /// What a watch tells of deletions is lost.
    NoDeletions,
}

const fn by(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    lock(Coordinator::Etcd, name, about, super::operator::Rule::Etcd(rule))
}

const fn on(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    server(Coordinator::Etcd, name, about, super::operator::Rule::Etcd(rule))
}

/// The operators.
pub(super) const TABLE: &[Operator] = &[
    by(
        "lease-not-attached",
        "puts its key without its lease",
        Rule::Asks(|path, body| {
            path == "kv/txn" && without(body, "/success/0/request_put", "lease")
        }),
    ),
    by(
        "create-not-compared",
        "puts its key again if it is there",
        Rule::Asks(|path, body| {
            let is_it = path == "kv/txn" && body["compare"][0].is_object();
            if is_it {
                body["compare"] = json!([]);
            }
            is_it
        }),
    ),
    by(
        "newest-taken-for-owner",
        "takes the newest key for the owner's",
        Rule::Asks(|path, body| {
            let orders = ["success", "failure"]
                .map(|branch| format!("/{branch}/1/request_range/sort_order"));
            let swapped = orders.map(|order| {
                path == "kv/txn" && replaced(body, &order, "ASCEND", json!("DESCEND"))
            });
            swapped.contains(&true)
        }),
    ),
    by(
        "waits-for-too-few",
        "does not wait for the one right in front",
        Rule::Asks(|path, body| {
            let revision = body["max_create_revision"].as_str().and_then(|text| text.parse().ok());
            let is_it = path == "kv/range" && revision.is_some();
            if let Some(revision) = revision.filter(|_| is_it) {
                let revision: i64 = revision;
                body["max_create_revision"] = json!((revision - 1).max(1).to_string());
            }
            is_it
        }),
    ),
    by(
        "waits-for-the-first",
        "waits for the first instead of the one in front",
        Rule::Asks(|path, body| {
            let is_it = path == "kv/range" && body["sort_order"] == "DESCEND";
            if is_it {
                body["sort_order"] = json!("ASCEND");
            }
            is_it
        }),
    ),
    by(
        "nobody-in-front",
        "sees nobody in front of it",
        Rule::Hears(|path, answer| {
            let is_it = path == "kv/range+" && answer["kvs"][0].is_object();
            if is_it {
                answer["kvs"] = json!([]);
            }
            is_it
        }),
    ),
    by(
        "lease-tenth",
        "asks for a lease of a tenth of the time",
        Rule::Asks(|path, body| {
            path == "lease/grant" && ttl(body, |seconds| (seconds / 10).max(1))
        }),
    ),
    by(
        "lease-tenfold",
        "asks for a lease ten times as long",
        Rule::Asks(|path, body| path == "lease/grant" && ttl(body, |seconds| seconds * 10)),
    ),
    by(
        "keepalive-unsent",
        "does not keep its lease alive",
        Rule::Unsent(|path, body| {
            let kept = json!({"result": {"header": {}, "ID": body["ID"], "TTL": "10"}});
            (path == "lease/keepalive").then_some(kept)
        }),
    ),
    by(
        "keepalive-refused-unheard",
        "does not hear that its lease is over",
        Rule::Hears(|path, answer| {
            let Some(result) = answer.get_mut("result").filter(|result| result["ID"].is_string())
            else {
                return false;
            };
            let is_over =
                path == "lease/keepalive" && matches!(result["TTL"].as_str(), None | Some("0"));
            if is_over {
                result["TTL"] = json!("10");
            }
            is_over
        }),
    ),
    by(
        "etcd-delete-unsent",
        "does not delete its key",
        Rule::Unsent(|path, _| {
            (path == "kv/deleterange").then(|| json!({"header": {}, "deleted": "1"}))
        }),
    ),
    by(
        "revoke-unsent",
        "does not end its lease",
        Rule::Unsent(|path, _| (path == "lease/revoke").then(|| json!({"header": {}}))),
    ),
    by(
        "delete-and-revoke-unsent",
        "gives nothing back",
        Rule::Unsent(|path, _| {
            let is_it = matches!(path, "kv/deleterange" | "lease/revoke" | "lock/unlock");
            is_it.then(|| json!({"header": {"revision": "1"}, "deleted": "1"}))
        }),
    ),
    by(
        "unlock-unsent",
        "does not unlock",
        Rule::Unsent(|path, _| {
            (path == "lock/unlock").then(|| json!({"header": {"revision": "1"}}))
        }),
    ),
    by(
        "own-key-not-looked-for",
        "does not look for its own key",
        Rule::Hears(|path, answer| {
            let is_it = path == "kv/range" && answer["kvs"].as_array().is_none_or(Vec::is_empty);
            if is_it {
                answer["kvs"] = json!([{"key": "", "value": ""}]);
            }
            is_it
        }),
    ),
    by(
        "lock-without-lease",
        "locks without a lease",
        Rule::Asks(|path, body| {
            let is_it = path == "lock/lock" && body["lease"].is_string();
            if is_it {
                body["lease"] = json!("0");
            }
            is_it
        }),
    ),
    by(
        "watch-from-now",
        "watches from when the watch begins",
        Rule::Asks(|path, body| {
            path == "watch" && without(body, "/create_request", "start_revision")
        }),
    ),
    by(
        "etcd-token-constant",
        "gets the same token each time",
        Rule::Hears(|path, answer| {
            let revision = answer.pointer_mut("/header/revision").filter(|_| path == "kv/txn");
            revision.is_some_and(|revision| {
                *revision = json!("1");
                true
            })
        }),
    ),
    on(
        "etcd-lease-forgotten",
        "keys stay when their lease ends",
        Rule::Asks(|path, body| {
            path == "kv/txn" && without(body, "/success/0/request_put", "lease")
        }),
    ),
    on("delete-not-told", "a watch does not tell of deletions", Rule::NoDeletions),
    on(
        "lease-ends-early",
        "a lease ends in half of its time",
        Rule::Asks(|path, body| path == "lease/grant" && ttl(body, |seconds| (seconds / 2).max(1))),
    ),
    on(
        "keepalive-ignored",
        "a lease is not kept alive",
        Rule::Unsent(|path, body| {
            let kept = json!({"result": {"header": {}, "ID": body["ID"], "TTL": "10"}});
            (path == "lease/keepalive").then_some(kept)
        }),
    ),
    on(
        "etcd-delete-ignored",
        "deleterange answers and deletes nothing",
        Rule::Unsent(|path, _| {
            (path == "kv/deleterange").then(|| json!({"header": {}, "deleted": "1"}))
        }),
    ),
];

/// Takes a member out of what a pointer names.
fn without(body: &mut Value, pointer: &str, member: &str) -> bool {
    let object = body.pointer_mut(pointer).and_then(Value::as_object_mut);
    object.is_some_and(|object| object.remove(member).is_some())
}

/// Puts another value in the place of a text.
fn replaced(body: &mut Value, pointer: &str, text: &str, other: Value) -> bool {
    match body.pointer_mut(pointer).filter(|value| **value == text) {
        Some(value) => {
            *value = other;
            true
        }
        None => false,
    }
}

fn ttl(body: &mut Value, other: fn(i64) -> i64) -> bool {
    let Some(seconds) = body["TTL"].as_i64() else { return false };
    body["TTL"] = json!(other(seconds));
    other(seconds) != seconds
}

/// The head of a message, its path if it is a request, and its body.
fn parts(bytes: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head, body))
}

fn path_of(head: &str) -> Option<&str> {
    head.strip_prefix("POST /v3/")?.split(' ').next()
}

/// The same head with another body.
fn with_body(head: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let lines = head.split("\r\n").map(|line| match line.to_lowercase() {
        name if name.starts_with("content-length:") => format!("Content-Length: {}", body.len()),
        _ => line.to_owned(),
    });
    let lines: Vec<String> = lines.collect();
    format!("{}\r\n\r\n{body}", lines.join("\r\n")).into_bytes()
}

/// A whole answer.
fn answer(body: &Value) -> Vec<u8> {
    with_body("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0", body)
}

impl Rule {
    pub(super) fn hears(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Heard {
        let Some((head, body)) = parts(bytes).filter(|_| talk.ear.is_client) else {
            return Heard::AsItIs;
        };
        let (Some(path), Ok(mut body)) = (path_of(head), serde_json::from_str::<Value>(body))
        else {
            return Heard::AsItIs;
        };
        // A read of those in front is told from one of the own key.
        let is_of_others = path == "kv/range" && body["max_create_revision"].is_string();
        talk.ear.asked = format!("{path}{}", if is_of_others { "+" } else { "" }).into_bytes();
        match self {
            Rule::Asks(rule) => {
                let is_changed = rule(path, &mut body);
                Heard::changed(is_changed, with_body(head, &body))
            }
            Rule::Unsent(rule) => match rule(path, &body) {
                Some(body) => Heard::Answered(answer(&body)),
                None => Heard::AsItIs,
            },
            _ => Heard::AsItIs,
        }
    }

    pub(super) fn says(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(bytes);
        match self {
            Rule::NoDeletions => {
                let is_told = text.contains("\"type\":\"DELETE\"");
                (is_told && talk.ear.is_client).then(Vec::new)
            }
            Rule::Hears(rule) if talk.ear.is_client => {
                let path = String::from_utf8_lossy(&talk.ear.asked).into_owned();
                let (head, body) = parts(bytes)?;
                let mut body: Value = serde_json::from_str(body).ok()?;
                rule(&path, &mut body).then(|| with_body(head, &body))
            }
            _ => None,
        }
    }
}
