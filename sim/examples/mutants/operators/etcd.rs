use super::operator::{Operator, constructors};
use super::rule::etcd::Rule;
use serde_json::{Value, json};

constructors!(
    Etcd,
    asks = lock(Etcd(Asks): fn(&str, &mut Value) -> bool),
    unsent = lock(Etcd(Unsent): fn(&str, &Value) -> Option<Value>),
    hears = lock(Etcd(Hears): fn(&str, &mut Value) -> bool),
    on = server(Etcd: Rule),
);

pub(crate) const TABLE: &[Operator] = &[
    asks("lease-not-attached", "puts its key without its lease", |path, body| {
        path == "kv/txn" && without(body, "/success/0/request_put", "lease")
    }),
    asks("create-not-compared", "puts its key even if it exists", |path, body| {
        let is_it = path == "kv/txn" && body["compare"][0].is_object();
        if is_it {
            body["compare"] = json!([]);
        }
        is_it
    }),
    asks("newest-taken-for-owner", "treats the newest key as the owner's", |path, body| {
        let orders =
            ["success", "failure"].map(|branch| format!("/{branch}/1/request_range/sort_order"));
        let swapped = orders
            .map(|order| path == "kv/txn" && replaced(body, &order, "ASCEND", json!("DESCEND")));
        swapped.contains(&true)
    }),
    asks("waits-for-too-few", "does not wait for the key just before its own", |path, body| {
        let revision = body["max_create_revision"].as_str().and_then(|text| text.parse().ok());
        let is_it = path == "kv/range" && revision.is_some();
        if let Some(revision) = revision.filter(|_| is_it) {
            let revision: i64 = revision;
            body["max_create_revision"] = json!((revision - 1).max(1).to_string());
        }
        is_it
    }),
    asks(
        "waits-for-the-first",
        "waits for the first key instead of the one before its own",
        |path, body| {
            let is_it = path == "kv/range" && body["sort_order"] == "DESCEND";
            if is_it {
                body["sort_order"] = json!("ASCEND");
            }
            is_it
        },
    ),
    hears("nobody-in-front", "sees no one before it in the queue", |path, answer| {
        let is_it = path == "kv/range+" && answer["kvs"][0].is_object();
        if is_it {
            answer["kvs"] = json!([]);
        }
        is_it
    }),
    asks("lease-tenth", "requests a lease of a tenth of the ttl", |path, body| {
        path == "lease/grant" && ttl(body, |seconds| (seconds / 10).max(1))
    }),
    asks("lease-tenfold", "requests a lease of ten times the ttl", |path, body| {
        path == "lease/grant" && ttl(body, |seconds| seconds * 10)
    }),
    unsent("keepalive-unsent", "does not keep its lease alive", |path, body| {
        let kept = json!({"result": {"header": {}, "ID": body["ID"], "TTL": "10"}});
        (path == "lease/keepalive").then_some(kept)
    }),
    hears(
        "keepalive-refused-unheard",
        "does not notice that its lease has ended",
        |path, answer| {
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
        },
    ),
    unsent("etcd-delete-unsent", "does not delete its key", |path, _| {
        (path == "kv/deleterange").then(|| json!({"header": {}, "deleted": "1"}))
    }),
    unsent("revoke-unsent", "does not revoke its lease", |path, _| {
        (path == "lease/revoke").then(|| json!({"header": {}}))
    }),
    unsent(
        "delete-and-revoke-unsent",
        "neither deletes its key nor revokes its lease",
        |path, _| {
            let is_it = matches!(path, "kv/deleterange" | "lease/revoke" | "lock/unlock");
            is_it.then(|| json!({"header": {"revision": "1"}, "deleted": "1"}))
        },
    ),
    unsent("unlock-unsent", "does not unlock", |path, _| {
        (path == "lock/unlock").then(|| json!({"header": {"revision": "1"}}))
    }),
    hears("own-key-not-looked-for", "does not check its own key", |path, answer| {
        let is_it = path == "kv/range" && answer["kvs"].as_array().is_none_or(Vec::is_empty);
        if is_it {
            answer["kvs"] = json!([{"key": "", "value": ""}]);
        }
        is_it
    }),
    asks("lock-without-lease", "locks without a lease", |path, body| {
        let is_it = path == "lock/lock" && body["lease"].is_string();
        if is_it {
            body["lease"] = json!("0");
        }
        is_it
    }),
    asks(
        "watch-from-now",
        "watches from the current revision instead of the one it read",
        |path, body| path == "watch" && without(body, "/create_request", "start_revision"),
    ),
    hears("etcd-token-constant", "gets the same token each time", |path, answer| {
        let revision = answer.pointer_mut("/header/revision").filter(|_| path == "kv/txn");
        revision.is_some_and(|revision| {
            *revision = json!("1");
            true
        })
    }),
    on(
        "etcd-lease-forgotten",
        "keys stay after their lease ends",
        Rule::Asks(|path, body| {
            path == "kv/txn" && without(body, "/success/0/request_put", "lease")
        }),
    ),
    on("delete-not-told", "a watch does not report deletions", Rule::NoDeletions),
    on(
        "lease-ends-early",
        "a lease ends after half of its ttl",
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
        "deleterange answers but deletes nothing",
        Rule::Unsent(|path, _| {
            (path == "kv/deleterange").then(|| json!({"header": {}, "deleted": "1"}))
        }),
    ),
];

fn without(body: &mut Value, pointer: &str, member: &str) -> bool {
    let object = body.pointer_mut(pointer).and_then(Value::as_object_mut);
    object.is_some_and(|object| object.remove(member).is_some())
}

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
