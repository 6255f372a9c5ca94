use super::work::next_work;
use crate::hosts::real::console::{Channel, Console, ConsoleReply, ConsoleRequest};
use crate::hosts::real::judged::{Key, Reading, Role, Trigger};
use crate::hosts::real::kind::Part;
use crate::hosts::real::work::Work;
use bytes::{Bytes, BytesMut};
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{ConnectionId, KeyChange, Notice, OperatorAction};
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::types::BytesFrame;
use std::collections::VecDeque;

/// Expiries are in milliseconds of the server's wall clock; negative without an expiry.
const READ_KEYS: &str = "\
local all = {}
local keys = redis.call('KEYS', ARGV[1])
table.sort(keys)
for i, key in ipairs(keys) do
  local kind, held = redis.call('TYPE', key).ok, ''
  if kind == 'string' then held = redis.call('GET', key)
  elseif kind == 'hash' then held = redis.call('HGETALL', key)
  elseif kind == 'list' then held = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then held = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then held = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
  local expires = EXPIRY
  all[i] = {key, kind, expires, held}
end
return all";

const EXPIRY: &str = "redis.call('PEXPIRETIME', key)";
const EXPIRY_BEFORE: &str = "redis.call('PTTL', key)
  if expires > 0 then
    local now = redis.call('TIME')
    expires = expires + now[1] * 1000 + math.floor(now[2] / 1000)
  end";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Any,
    Role,
    Writes,
    Keys,
}

pub(super) struct RedisConsole {
    part: Part,
    is_open: bool,
    received: BytesMut,
    awaited: VecDeque<Awaited>,
    role: Option<Role>,
    read: Option<Role>,
    refuses_writes: bool,
    habits: ServerOptions,
}

#[derive(Default)]
struct ServerOptions {
    has_scripts: bool,
    has_stopped_logging: bool,
    writes_alone: bool,
    closes_idle: bool,
}

impl RedisConsole {
    pub(super) fn of(part: &Part) -> RedisConsole {
        RedisConsole {
            part: part.clone(),
            is_open: false,
            received: BytesMut::new(),
            awaited: VecDeque::new(),
            role: None,
            read: None,
            refuses_writes: false,
            habits: ServerOptions::default(),
        }
    }

    fn commands(&mut self, commands: &[String]) -> Vec<u8> {
        self.awaited.extend(commands.iter().map(|_| Awaited::Any));
        let words = |command: &String| -> Vec<Vec<u8>> {
            command.split(' ').map(|word| word.as_bytes().to_vec()).collect()
        };
        let typed = commands.iter().map(|command| {
            let words = words(command);
            command_of(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())
        });
        typed.flatten().collect()
    }

    fn question(&mut self) -> Vec<u8> {
        self.awaited.push_back(Awaited::Role);
        let is_since_7 = self.part.binary.is_at_least(7, 0);
        let expiry = if is_since_7 { EXPIRY } else { EXPIRY_BEFORE };
        let script = READ_KEYS.replace("EXPIRY", expiry);
        let command = if is_since_7 { "EVAL_RO" } else { "EVAL" };
        let prefix = self.part.tap_prefix.clone().unwrap_or_default();
        let pattern = [pattern(&prefix).as_slice(), b"*"].concat();
        let mut bytes = command_of(&[b"ROLE"]);
        if self.part.disk_fails {
            self.awaited.push_back(Awaited::Writes);
            bytes.extend(command_of(&[b"INFO", b"persistence"]));
        }
        self.awaited.push_back(Awaited::Keys);
        bytes.extend(command_of(&[command.as_bytes(), script.as_bytes(), b"0", &pattern]));
        bytes
    }

    fn host_at(&self, address: &str) -> String {
        self.part.host_at(address)
    }
}

impl Console for RedisConsole {
    fn is_ready(&self) -> bool {
        self.is_open
    }

    fn channels_to_open(&mut self) -> Vec<ConsoleRequest> {
        vec![ConsoleRequest::Open(0)]
    }

    fn opened(&mut self, _: Channel) -> Vec<ConsoleRequest> {
        self.is_open = true;
        match self.part.is_sentinel() {
            true => vec![ConsoleRequest::Send(0, command_of(&[b"PSUBSCRIBE", b"*"]))],
            false => Vec::new(),
        }
    }

    fn closed(&mut self, _: Channel) -> Vec<ConsoleReply> {
        self.is_open = false;
        self.received.clear();
        self.awaited.clear();
        self.role = None;
        Vec::new()
    }

    fn read(&mut self) -> Vec<ConsoleRequest> {
        vec![ConsoleRequest::Send(0, self.question())]
    }

    fn is_waiting(&self) -> bool {
        !self.awaited.is_empty()
    }

    fn receive(&mut self, _: Channel, bytes: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        self.received.extend_from_slice(bytes);
        let mut heard = Vec::new();
        while let Ok(Some((frame, ..))) = decode_bytes_mut(&mut self.received) {
            match self.awaited.pop_front() {
                None => {
                    heard.extend(notice(&frame, |at| self.host_at(at)).map(ConsoleReply::Notice));
                }
                Some(Awaited::Any) => {}
                Some(Awaited::Role) => self.role = role(&frame, |at| self.host_at(at)),
                Some(Awaited::Writes) => {
                    let refused = refuses_writes(&frame, self.part.has_log);
                    if let Some(refused) = refused.filter(|now| *now != self.refuses_writes) {
                        self.refuses_writes = refused;
                        heard.push(ConsoleReply::Notice(Notice::Writes { refused }));
                    }
                }
                Some(Awaited::Keys) => {
                    let (keys, role) = (keys(&frame), self.role.take());
                    self.read.clone_from(&role);
                    let reading = keys.zip(role).map(|(keys, role)| Reading { keys, role });
                    heard.push(ConsoleReply::Reading(reading));
                }
            }
        }
        (Vec::new(), heard)
    }

    fn expires_by_wall(&self) -> bool {
        true
    }

    fn next_work(&mut self, by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
        let work = next_work(by, buffer, is_raw)?;
        if let Work::Command { cause: Some(_), bytes, .. } = &work {
            self.habits.has_scripts |= bytes.windows(4).any(|word| word == b"EVAL");
        }
        Some(work)
    }

    fn supports(&self, action: OperatorAction) -> bool {
        let habits = &self.habits;
        match action {
            OperatorAction::FlushAll | OperatorAction::Evict | OperatorAction::Follow { .. } => {
                true
            }
            OperatorAction::Promote => false,
            OperatorAction::ForgetScripts => habits.has_scripts,
            OperatorAction::CloseConnections => true,
            OperatorAction::HandOver => {
                let has_replicas = matches!(self.read, Some(Role::Primary { replicas: 1.. }));
                has_replicas && self.part.binary.is_at_least(6, 2)
            }
            OperatorAction::StopLogging => self.part.has_log && !habits.has_stopped_logging,
            OperatorAction::WriteAlone => self.part.min_replicas > 0 && !habits.writes_alone,
            OperatorAction::CloseIdle => !habits.closes_idle,
        }
    }

    fn operate(&mut self, action: OperatorAction) -> (Vec<ConsoleRequest>, Trigger) {
        let address = |server: u16| {
            let host = format!("redis-{server}");
            self.part.address(&host).map_or(host, |address| address.to_string())
        };
        let typed = typed(action, address);
        match action {
            OperatorAction::StopLogging => self.habits.has_stopped_logging = true,
            OperatorAction::WriteAlone => self.habits.writes_alone = true,
            OperatorAction::CloseIdle => self.habits.closes_idle = true,
            OperatorAction::ForgetScripts => self.habits.has_scripts = false,
            _ => {}
        }
        let cleared = match action {
            OperatorAction::FlushAll => Some(KeyChange::Flushed),
            OperatorAction::Evict => Some(KeyChange::Evicted),
            _ => None,
        };
        (vec![ConsoleRequest::Send(0, self.commands(&typed))], Trigger::Operator(cleared))
    }

    fn is_replication_request(&self, bytes: &[u8]) -> bool {
        super::work::is_replication_request(bytes)
    }

    fn wording(&self) -> Wording {
        wording::resp
    }
}

pub(crate) fn typed(action: OperatorAction, address: impl Fn(u16) -> String) -> Vec<String> {
    let typed = |commands: &[&str]| commands.iter().map(|one| (*one).to_owned()).collect();
    match action {
        OperatorAction::FlushAll => typed(&["FLUSHALL"]),
        OperatorAction::Evict => typed(&[
            "CONFIG SET maxmemory-policy volatile-lru",
            "CONFIG SET maxmemory 1",
            "PING",
            "CONFIG SET maxmemory 0",
            "CONFIG SET maxmemory-policy noeviction",
        ]),
        OperatorAction::Promote => typed(&["REPLICAOF NO ONE"]),
        OperatorAction::ForgetScripts => typed(&["SCRIPT FLUSH"]),
        OperatorAction::CloseConnections => {
            typed(&["CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub"])
        }
        OperatorAction::HandOver => typed(&["FAILOVER"]),
        OperatorAction::Follow { server } => vec![format!("REPLICAOF {} 6379", address(server))],
        OperatorAction::StopLogging => typed(&["CONFIG SET appendonly no"]),
        OperatorAction::WriteAlone => typed(&["CONFIG SET min-replicas-to-write 0"]),
        OperatorAction::CloseIdle => typed(&["CONFIG SET timeout 1"]),
    }
}

fn command_of(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n", word.len()).bytes());
        bytes.extend_from_slice(word);
        bytes.extend(b"\r\n");
    }
    bytes
}

fn pattern(prefix: &Bytes) -> Vec<u8> {
    let special = |byte: &u8| b"*?[]\\^".contains(byte);
    prefix
        .iter()
        .flat_map(|byte| special(byte).then_some(b'\\').into_iter().chain([*byte]))
        .collect()
}

fn text(frame: &BytesFrame) -> Option<String> {
    match frame {
        BytesFrame::SimpleString(bytes) | BytesFrame::BulkString(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => None,
    }
}

fn items(frame: &BytesFrame) -> Option<&[BytesFrame]> {
    match frame {
        BytesFrame::Array(items) => Some(items),
        _ => None,
    }
}

fn role(frame: &BytesFrame, host_at: impl Fn(&str) -> String) -> Option<Role> {
    let items = items(frame)?;
    match text(items.first()?)?.as_str() {
        "master" => {
            let replicas = items.get(2).and_then(self::items).map_or(0, <[_]>::len);
            Some(Role::Primary { replicas })
        }
        "slave" => Some(Role::Replica {
            of: host_at(&text(items.get(1)?)?),
            is_syncing: text(items.get(3)?)? == "sync",
            is_in_step: text(items.get(3)?)? == "connected",
        }),
        _ => None,
    }
}

/// Mimics `writeCommandsDeniedByDiskError` of Redis's server.c.
fn refuses_writes(frame: &BytesFrame, has_log: bool) -> Option<bool> {
    let text = text(frame)?;
    let status = if has_log { "aof_last_write_status:" } else { "rdb_last_bgsave_status:" };
    let status = text.lines().find_map(|line| line.strip_prefix(status))?;
    Some(status.trim() == "err")
}

fn keys(frame: &BytesFrame) -> Option<Vec<Key>> {
    let key = |frame: &BytesFrame| -> Option<Key> {
        let [name, kind, BytesFrame::Integer(expires), held] = items(frame)? else { return None };
        let BytesFrame::BulkString(name) = name else { return None };
        Some(Key {
            name: name.clone(),
            value: rendered(&text(kind)?, held),
            expires_at_ms: (*expires >= 0).then_some(*expires),
            ..Key::default()
        })
    };
    items(frame)?.iter().map(key).collect()
}

/// Renders a value: a string unchanged, `field=value` pairs of a hash, `member=score` pairs of a
/// sorted set, or other items, separated by spaces.
fn rendered(kind: &str, held: &BytesFrame) -> Bytes {
    let BytesFrame::Array(items) = held else {
        return match held {
            BytesFrame::BulkString(bytes) => bytes.clone(),
            _ => Bytes::new(),
        };
    };
    let bytes = |frame: &BytesFrame| match frame {
        BytesFrame::BulkString(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    };
    let mut all: Vec<Vec<u8>> = items.iter().map(bytes).collect();
    match kind {
        "hash" | "zset" => {
            let pairs = all.chunks(2).map(|pair| pair.join(&b'='));
            Bytes::from(pairs.collect::<Vec<_>>().join(&b' '))
        }
        "set" => {
            all.sort();
            Bytes::from(all.join(&b' '))
        }
        _ => Bytes::from(all.join(&b' ')),
    }
}

fn notice(frame: &BytesFrame, host_at: impl Fn(&str) -> String) -> Option<Notice> {
    let items = items(frame)?;
    let (channel, payload) = (text(items.get(2)?)?, text(items.get(3)?)?);
    let words: Vec<&str> = payload.split(' ').collect();
    if channel == "+switch-master" {
        return Some(Notice::Names { host: host_at(words.get(3)?) });
    }
    let (is_down, objectively) = match channel.as_str() {
        "+sdown" => (true, false),
        "-sdown" => (false, false),
        "+odown" => (true, true),
        "-odown" => (false, true),
        _ => return None,
    };
    match words.as_slice() {
        ["master", _, address, ..] => {
            Some(Notice::Down { host: host_at(address), objectively, is_down })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_faults::Node;

    fn console() -> RedisConsole {
        let part = Part::for_tests(&super::super::KIND, Node::Redis(1));
        RedisConsole { is_open: true, ..RedisConsole::of(&part) }
    }

    fn heard(console: &mut RedisConsole, bytes: &str) -> Vec<ConsoleReply> {
        console.receive(0, bytes.as_bytes()).1
    }

    #[test]
    fn a_reading_comes_once_both_answers_are_there() {
        let mut console = console();
        console.read();
        let role = "*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.2\r\n:6379\r\n$4\r\nsync\r\n:0\r\n";
        assert!(heard(&mut console, role).is_empty() && console.is_waiting());
        let hash = "*1\r\n*4\r\n$4\r\nlock\r\n$4\r\nhash\r\n:17\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n";
        let Some(ConsoleReply::Reading(Some(reading))) = heard(&mut console, hash).pop() else {
            panic!()
        };
        let role = Role::Replica { of: "redis-2".to_owned(), is_syncing: true, is_in_step: false };
        assert_eq!(reading.role, role);
        let [key] = &reading.keys[..] else { panic!() };
        assert_eq!((&key.value[..], key.expires_at_ms), (&b"a=1"[..], Some(17)));
        assert!(!console.is_waiting());
    }

    #[test]
    fn a_server_that_loads_says_nothing_and_is_not_waited_for() {
        let mut console = console();
        console.read();
        let refused = "-LOADING Redis is loading\r\n-LOADING Redis is loading\r\n";
        assert!(matches!(heard(&mut console, refused)[..], [ConsoleReply::Reading(None)]));
        assert!(!console.is_waiting());
    }

    #[test]
    fn a_server_that_begins_or_ends_to_refuse_writes_is_reported_once() {
        let told = |console: &mut RedisConsole, log: &str, snapshot: &str| {
            console.read();
            let info =
                format!("rdb_last_bgsave_status:{snapshot}\r\naof_last_write_status:{log}\r\n");
            let role = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
            let bytes = format!("{role}${}\r\n{info}\r\n*0\r\n", info.len());
            let mut told = heard(console, &bytes).into_iter();
            match (told.next(), told.next()) {
                (Some(ConsoleReply::Notice(Notice::Writes { refused })), Some(_)) => Some(refused),
                (Some(ConsoleReply::Reading(Some(_))), None) => None,
                _ => panic!("{log} {snapshot}"),
            }
        };
        let with = |has_log| {
            let part = Part::for_tests(&super::super::KIND, Node::Redis(1));
            let part = Part { disk_fails: true, has_log, ..part };
            RedisConsole { is_open: true, ..RedisConsole::of(&part) }
        };
        let mut console = with(true);
        let all = [("ok", "err"), ("err", "ok"), ("err", "ok"), ("ok", "ok")];
        let all = all.map(|(log, snapshot)| told(&mut console, log, snapshot));
        assert_eq!(all, [None, Some(true), None, Some(false)]);
        assert_eq!(told(&mut with(false), "err", "ok"), None);
        assert_eq!(told(&mut with(false), "ok", "err"), Some(true));
    }

    #[test]
    fn what_sentinels_publish_becomes_notices() {
        let published = |channel: &str, payload: &str| {
            let (one, other) = (channel.len(), payload.len());
            let frame = format!(
                "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n${one}\r\n{channel}\r\n${other}\r\n{payload}\r\n"
            );
            match heard(&mut console(), &frame).pop() {
                Some(ConsoleReply::Notice(notice)) => Some(notice),
                _ => None,
            }
        };
        let host = "redis-2".to_owned();
        let switched = published("+switch-master", "mymaster 10.0.0.1 6379 10.0.0.2 6379");
        assert_eq!(switched, Some(Notice::Names { host: host.clone() }));
        let down = published("+odown", "master mymaster 10.0.0.2 6379 #quorum 2/2");
        assert_eq!(down, Some(Notice::Down { host, objectively: true, is_down: true }));
        assert_eq!(published("+sdown", "slave 10.0.0.2:6379 10.0.0.2 6379 @ mymaster"), None);
    }
}
