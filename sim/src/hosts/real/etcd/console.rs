use super::grpc;
use crate::hosts::real::console::{Channel, Console, ConsoleReply, ConsoleRequest};
use crate::hosts::real::http::{Answers, post};
use crate::hosts::real::judged::{Key, Owner, Reading, Role};
use crate::hosts::real::kind::Part;
use crate::hosts::real::work::{Work, next_message};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use fencepost_machine::wording::Wording;
use fencepost_machine::{ConnectionId, KeyChange};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;

const WATCH: Channel = 0;
const CALLS: Channel = 1;
const ALL: &str = "\"key\":\"AA==\",\"range_end\":\"AA==\"";
/// `LOCK_PREFIX` of the Python library etcd3gw.
const GATEWAY_PREFIX: &str = "/locks/";
const ENDING: &[&str] =
    &["/kv/deleterange", "/lease/revoke", "/lock/unlock", "delete_range", "deleteRange"];
const ENDING_CALLS: &[&str] = &["/DeleteRange ", "/LeaseRevoke ", "/Unlock "];
/// Maximum number of bytes of recent gRPC calls to keep for each connection.
const KEPT_CALLS: usize = 16 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Closed,
    Reads,
    OpensWatch,
    Watches,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct StoredKey {
    value: Bytes,
    created: u64,
    lease: String,
    by: Option<ConnectionId>,
}

pub(super) struct EtcdConsole {
    part: Part,
    stage: Stage,
    watch: Answers,
    calls: Answers,
    asks_leader: bool,
    is_changed: bool,
    revision: u64,
    keys: BTreeMap<String, StoredKey>,
    gone: BTreeMap<String, StoredKey>,
    requests: BTreeMap<ConnectionId, Vec<u8>>,
    grpc: BTreeMap<ConnectionId, grpc::Connection>,
}

impl EtcdConsole {
    pub(super) fn of(part: &Part) -> EtcdConsole {
        EtcdConsole {
            part: part.clone(),
            stage: Stage::Closed,
            watch: Answers::default(),
            calls: Answers::default(),
            asks_leader: false,
            is_changed: false,
            revision: 0,
            keys: BTreeMap::new(),
            gone: BTreeMap::new(),
            requests: BTreeMap::new(),
            grpc: BTreeMap::new(),
        }
    }

    fn ask_for_leader(&mut self) -> Vec<ConsoleRequest> {
        self.asks_leader = true;
        vec![ConsoleRequest::Send(CALLS, post("/v3/maintenance/status", "{}"))]
    }

    fn answered(&mut self, body: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        let Ok(answer) = serde_json::from_slice::<Value>(body) else {
            return (Vec::new(), Vec::new());
        };
        match self.stage {
            Stage::Reads => {
                self.revision = number(&answer["header"]["revision"]);
                self.keys.clear();
                for kv in answer["kvs"].as_array().into_iter().flatten() {
                    self.note_put(kv);
                }
                self.stage = Stage::OpensWatch;
                (vec![ConsoleRequest::Open(WATCH)], Vec::new())
            }
            _ if self.asks_leader => {
                self.asks_leader = false;
                if std::mem::take(&mut self.is_changed) {
                    return (self.ask_for_leader(), Vec::new());
                }
                let leads = number(&answer["leader"]) == number(&answer["header"]["member_id"]);
                let reading = Reading { keys: self.heads(), role: Role::Member { leads } };
                (Vec::new(), vec![ConsoleReply::Reading(Some(reading))])
            }
            _ => (Vec::new(), Vec::new()),
        }
    }

    fn watched(&mut self, piece: &[u8]) -> Vec<ConsoleRequest> {
        let mut has_changed = false;
        for line in piece.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(told) = serde_json::from_slice::<Value>(line) else { continue };
            let result = &told["result"];
            if result["created"] == true {
                self.stage = Stage::Watches;
            }
            for event in result["events"].as_array().into_iter().flatten() {
                has_changed = true;
                match event["type"].as_str() {
                    Some("DELETE") => self.note_deletion(&event["kv"]),
                    _ => self.note_put(&event["kv"]),
                }
            }
        }
        match has_changed && self.asks_leader {
            true => self.is_changed = true,
            false if has_changed => return self.ask_for_leader(),
            false => {}
        }
        Vec::new()
    }

    fn note_put(&mut self, kv: &Value) {
        let Some(key) = decoded(&kv["key"]) else { return };
        let created = number(&kv["create_revision"]);
        let by = match self.keys.get(&key) {
            Some(known) if known.created == created => known.by,
            _ => self.last_request_naming(&key),
        };
        let lease = kv["lease"].as_str().unwrap_or_default().to_owned();
        let value = Bytes::from(decoded(&kv["value"]).unwrap_or_default());
        self.keys.insert(key, StoredKey { value, created, lease, by });
    }

    fn note_deletion(&mut self, kv: &Value) {
        let Some(key) = decoded(&kv["key"]) else { return };
        if let Some(kept) = self.keys.remove(&key) {
            self.gone.insert(key, kept);
        }
    }

    fn last_request_naming(&self, key: &str) -> Option<ConnectionId> {
        let lease = key.rsplit('/').next().and_then(|hex| i64::from_str_radix(hex, 16).ok());
        let names = [STANDARD.encode(key), key.to_owned()].into_iter();
        let names: Vec<String> = names.chain(lease.map(|lease| lease.to_string())).collect();
        let mut requests = self.requests.iter();
        let found = requests.find(|(_, request)| names.iter().any(|name| has(request, name)));
        found.map(|(connection, _)| *connection)
    }

    fn calls_by_grpc(&mut self, by: ConnectionId, bytes: &[u8]) -> bool {
        let connection = self.grpc.entry(by).or_default();
        for call in connection.receive(bytes) {
            if ENDING_CALLS.iter().any(|path| has(&call, path)) {
                self.part.world.note_request(self.part.node, by, &call);
            }
            let kept = self.requests.entry(by).or_default();
            kept.extend(call);
            kept.drain(..kept.len().saturating_sub(KEPT_CALLS));
        }
        connection.is_open()
    }

    fn lock_of(&self, key: &str) -> Option<String> {
        let prefix = self.part.prefix();
        if let Some(lock) = key.strip_prefix(GATEWAY_PREFIX) {
            return lock.starts_with(&prefix).then(|| lock.to_owned());
        }
        let (lock, _) = key.rsplit_once('/')?;
        lock.starts_with(&prefix).then(|| lock.to_owned())
    }

    fn heads(&self) -> Vec<Key> {
        let mut heads: BTreeMap<String, (&String, &StoredKey)> = BTreeMap::new();
        for (key, kept) in &self.keys {
            let Some(lock) = self.lock_of(key) else { continue };
            let is_first = heads.get(&lock).is_none_or(|(_, head)| kept.created < head.created);
            if is_first {
                heads.insert(lock, (key, kept));
            }
        }
        let key = |(lock, (key, kept)): (String, (&String, &StoredKey))| Key {
            value: match key.starts_with(GATEWAY_PREFIX) {
                true => kept.value.clone(),
                false => Bytes::from(key[lock.len() + 1..].to_owned()),
            },
            name: Bytes::from(lock),
            version: kept.created,
            token: Some(kept.created),
            owner: Owner::Connection(kept.by),
            ..Key::default()
        };
        heads.into_iter().map(key).collect()
    }
}

impl Console for EtcdConsole {
    fn is_ready(&self) -> bool {
        self.stage == Stage::Watches
    }

    fn channels_to_open(&mut self) -> Vec<ConsoleRequest> {
        match self.stage {
            Stage::Closed => vec![ConsoleRequest::Open(CALLS)],
            _ => Vec::new(),
        }
    }

    fn opened(&mut self, channel: Channel) -> Vec<ConsoleRequest> {
        if channel == CALLS {
            self.stage = Stage::Reads;
            let body = format!("{{{ALL},\"serializable\":true}}");
            return vec![ConsoleRequest::Send(CALLS, post("/v3/kv/range", &body))];
        }
        let from = self.revision + 1;
        let body = format!("{{\"create_request\":{{{ALL},\"start_revision\":\"{from}\"}}}}");
        vec![ConsoleRequest::Send(WATCH, post("/v3/watch", &body))]
    }

    fn closed(&mut self, _: Channel) -> Vec<ConsoleReply> {
        self.stage = Stage::Closed;
        (self.watch, self.calls) = (Answers::default(), Answers::default());
        (self.asks_leader, self.is_changed) = (false, false);
        Vec::new()
    }

    fn read(&mut self) -> Vec<ConsoleRequest> {
        self.ask_for_leader()
    }

    fn is_waiting(&self) -> bool {
        self.asks_leader
    }

    fn receive(
        &mut self,
        channel: Channel,
        bytes: &[u8],
    ) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        let (mut asks, mut heard) = (Vec::new(), Vec::new());
        if channel == WATCH {
            self.watch.receive(bytes);
            while let Some(piece) = self.watch.next() {
                asks.extend(self.watched(&piece));
            }
        } else {
            self.calls.receive(bytes);
            while let Some(body) = self.calls.next() {
                let (more, told) = self.answered(&body);
                asks.extend(more);
                heard.extend(told);
            }
        }
        (asks, heard)
    }

    fn next_work(&mut self, by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
        match next_message(by, buffer, is_raw)? {
            Work::Command { by, bytes, .. } => {
                if ENDING.iter().any(|path| has(&bytes, path)) {
                    self.part.world.note_request(self.part.node, by, &bytes);
                }
                if !self.calls_by_grpc(by, &bytes) {
                    self.requests.insert(by, bytes.clone());
                }
                Some(Work::Command { by, bytes, cause: None })
            }
            Work::Raw { by, bytes, .. } => Some(Work::Raw { by, bytes, changes: false }),
            other => Some(other),
        }
    }

    fn note_peer(&mut self, connection: ConnectionId, _: SocketAddrV4) {
        self.requests.remove(&connection);
        self.grpc.remove(&connection);
    }

    fn removal_of(
        &self,
        before: &Key,
        _: Option<&Key>,
    ) -> Option<(KeyChange, Option<ConnectionId>)> {
        let name = String::from_utf8_lossy(&before.name);
        let value = String::from_utf8_lossy(&before.value);
        let held = [format!("{name}/{value}"), format!("{GATEWAY_PREFIX}{name}")];
        let kept = held.iter().find_map(|key| Some((key, self.gone.get(key)?)));
        let Some((key, kept)) = kept else { return Some((KeyChange::Expired, None)) };
        // etcd3gw grants a lock under the same key each time, but with another value.
        let name = match key.starts_with(GATEWAY_PREFIX) {
            true => value.into_owned(),
            false => key.clone(),
        };
        let names = [STANDARD.encode(&name), name, format!("\"{}\"", kept.lease)];
        let asked = self.part.world.last_requester(&names);
        Some(match asked {
            None => (KeyChange::Expired, None),
            Some((node, by)) => (KeyChange::Removed, (node == self.part.node).then_some(by)),
        })
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |bytes| bytes.starts_with(b"POST /v3/lease/keepalive ")
    }

    fn wording(&self) -> Wording {
        grpc::wording
    }
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn number(value: &Value) -> u64 {
    let text = value.as_str().map(str::to_owned).unwrap_or_else(|| value.to_string());
    text.parse().unwrap_or(0)
}

fn decoded(value: &Value) -> Option<String> {
    let bytes = STANDARD.decode(value.as_str()?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::real::etcd::KIND;
    use fencepost_faults::Node;

    const BY: ConnectionId = ConnectionId(5);

    fn console() -> EtcdConsole {
        let part = Part::for_tests(&KIND, Node::Server(1));
        EtcdConsole { stage: Stage::Watches, ..EtcdConsole::of(&part) }
    }

    fn event(kind: &str, key: &str, created: u64) -> Vec<u8> {
        let key = STANDARD.encode(key);
        format!(
            "{{\"result\":{{\"events\":[{{{kind}\"kv\":{{\"key\":\"{key}\",\
             \"create_revision\":\"{created}\",\"lease\":\"11\"}}}}]}}}}\n"
        )
        .into_bytes()
    }

    fn asks(console: &mut EtcdConsole, path: &str, text: &str) {
        let request = post(path, text);
        console.next_work(BY, &mut BytesMut::from(&request[..]), false);
    }

    #[test]
    fn the_first_key_holds_the_lock_for_the_connection_that_asked_for_it() {
        let mut console = console();
        asks(&mut console, "/v3/kv/txn", &format!("{{\"key\":\"{}\"}}", STANDARD.encode("lock/b")));
        assert_eq!(console.watched(&event("", "lock/b", 7)).len(), 1, "asks who leads");
        console.watched(&event("", "lock/a", 9));
        let [head] = &console.heads()[..] else { panic!() };
        assert_eq!((&head.name[..], &head.value[..]), (&b"lock"[..], &b"b"[..]));
        assert_eq!((head.owner, head.token), (Owner::Connection(Some(BY)), Some(7)));
    }

    #[test]
    fn a_key_that_nobody_asked_to_delete_has_expired() {
        let mut console = console();
        console.watched(&event("", "lock/b", 7));
        let before = console.heads().remove(0);
        console.watched(&event("\"type\":\"DELETE\",", "lock/b", 7));
        assert_eq!(console.removal_of(&before, None), Some((KeyChange::Expired, None)));
        asks(&mut console, "/v3/lease/revoke", "{\"ID\":\"11\"}");
        assert_eq!(console.removal_of(&before, None), Some((KeyChange::Removed, Some(BY))));
    }
}
