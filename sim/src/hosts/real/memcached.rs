//! Real memcached servers. The console reads the items under the lock's prefix that clients have
//! named (`me`, `gets`).

use super::RealSetup;
use super::console::{Channel, Console, ConsoleReply, ConsoleRequest};
use super::judged::{Key, Reading, Role, Trigger};
use super::kind::{Kind, Part, Recipe, command, version_after};
use super::work::{Work, next_message};
use bytes::{Bytes, BytesMut};
use fencepost_clients::Coordinator;
use fencepost_faults::{Micros, Node};
use fencepost_machine::{ConnectionId, KeyChange, OperatorAction};
use std::collections::BTreeSet;

const PORT: u16 = 11_211;
const KEY_MAX: usize = 250;

pub(super) const KIND: Kind = Kind {
    coordinator: Coordinator::Memcached,
    program: "memcached",
    expected: "a memcached server",
    version: |path| command(&[path, "-V"]),
    name_and_version: |said| version_after(said, "memcached", "memcached "),
    template: None,
    recipe,
    console: |part| Box::new(MemcachedConsole::of(part)),
};

fn recipe(setup: &RealSetup<'_>, _: Node) -> Recipe {
    let words = ["-p", "11211", "-U", "0", "-l", "0.0.0.0", "-u", "root"];
    let command = command(&[&[setup.binary.path.as_str()], &words[..]].concat());
    Recipe { command, port: PORT, boot: Micros::from_millis(50), ..Recipe::default() }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    Nothing,
    Clock,
    Expiries,
    Values,
    Typed,
    Evicted,
}

struct MemcachedConsole {
    prefix: String,
    is_open: bool,
    asked: Question,
    received: BytesMut,
    clock_s: i64,
    names: BTreeSet<String>,
    items: Vec<Key>,
    read: Vec<Key>,
}

impl MemcachedConsole {
    fn of(part: &Part) -> MemcachedConsole {
        MemcachedConsole {
            prefix: part.prefix(),
            is_open: false,
            asked: Question::Nothing,
            received: BytesMut::new(),
            clock_s: 0,
            names: BTreeSet::new(),
            items: Vec::new(),
            read: Vec::new(),
        }
    }

    fn request(&mut self, asked: Question, text: String) -> Vec<ConsoleRequest> {
        self.asked = asked;
        vec![ConsoleRequest::Send(0, text.into_bytes())]
    }

    fn answered(&mut self, answer: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        match self.asked {
            Question::Clock => {
                let text = String::from_utf8_lossy(answer);
                let shown = text.lines().find_map(|line| line.strip_prefix("STAT time "));
                self.clock_s = shown.and_then(|shown| shown.trim().parse().ok()).unwrap_or(0);
                let asks = self.names.iter().map(|name| format!("me {name}\r\n"));
                let question = asks.collect::<String>() + "mn\r\n";
                (self.request(Question::Expiries, question), Vec::new())
            }
            Question::Expiries => {
                let text = String::from_utf8_lossy(answer);
                let items = text.lines().filter_map(|line| self.item(line));
                self.items = items.collect();
                if self.items.is_empty() {
                    return (Vec::new(), self.reads(Vec::new()));
                }
                let names = self.items.iter().map(|item| String::from_utf8_lossy(&item.name));
                let question = format!("gets {}\r\n", names.collect::<Vec<_>>().join(" "));
                (self.request(Question::Values, question), Vec::new())
            }
            Question::Values => {
                let values = values(answer);
                let value = |name: &Bytes| {
                    values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
                };
                let items = std::mem::take(&mut self.items).into_iter();
                let keys = items.filter_map(|item| Some(Key { value: value(&item.name)?, ..item }));
                let keys = keys.collect();
                (Vec::new(), self.reads(keys))
            }
            Question::Typed | Question::Evicted | Question::Nothing => {
                self.asked = Question::Nothing;
                (Vec::new(), Vec::new())
            }
        }
    }

    /// Parses a line such as `ME a exp=-9 la=0 cas=3 fetch=no cls=1 size=63`. The sign of `exp`
    /// differs between versions, and -1 means no expiry or, in some versions, one second left.
    fn item(&self, line: &str) -> Option<Key> {
        let mut words = line.strip_prefix("ME ")?.split(' ');
        let name = Bytes::copy_from_slice(words.next()?.as_bytes());
        let number = |name: &str| {
            let found = line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.and_then(|number| number.parse::<i64>().ok())
        };
        let (left_s, version) = (number("exp")?, u64::try_from(number("cas")?).ok()?);
        let known = self.read.iter().find(|it| (&it.name, it.version) == (&name, version));
        let expires_at_ms = match left_s {
            -1 => known.and_then(|known| known.expires_at_ms),
            left_s => Some((self.clock_s + left_s.abs()) * 1_000),
        };
        let token = Some(version);
        Some(Key { name, expires_at_ms, version, token, ..Key::default() })
    }

    fn reads(&mut self, keys: Vec<Key>) -> Vec<ConsoleReply> {
        self.asked = Question::Nothing;
        self.read.clone_from(&keys);
        let role = Role::Member { leads: true };
        vec![ConsoleReply::Reading(Some(Reading { keys, role }))]
    }
}

impl Console for MemcachedConsole {
    fn is_ready(&self) -> bool {
        self.is_open
    }

    fn channels_to_open(&mut self) -> Vec<ConsoleRequest> {
        vec![ConsoleRequest::Open(0)]
    }

    fn opened(&mut self, _: Channel) -> Vec<ConsoleRequest> {
        self.is_open = true;
        Vec::new()
    }

    fn closed(&mut self, _: Channel) -> Vec<ConsoleReply> {
        (self.is_open, self.asked) = (false, Question::Nothing);
        self.received.clear();
        Vec::new()
    }

    fn read(&mut self) -> Vec<ConsoleRequest> {
        self.request(Question::Clock, "stats\r\n".to_owned())
    }

    fn is_waiting(&self) -> bool {
        self.asked != Question::Nothing
    }

    fn receive(&mut self, _: Channel, bytes: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        self.received.extend_from_slice(bytes);
        let end = match self.asked {
            Question::Typed | Question::Nothing => &b"\r\n"[..],
            Question::Clock | Question::Values => b"END\r\n",
            Question::Expiries | Question::Evicted => b"MN\r\n",
        };
        if !self.received.ends_with(end) {
            return (Vec::new(), Vec::new());
        }
        let answer = self.received.split();
        self.answered(&answer)
    }

    fn next_work(&mut self, by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
        let work = next_message(by, buffer, is_raw)?;
        let Work::Command { by, bytes, .. } = work else { return Some(work) };
        let text = String::from_utf8_lossy(&bytes);
        let words = text.split_ascii_whitespace().filter(|word| word.starts_with(&self.prefix));
        let are_keys = |word: &&str| word.len() <= KEY_MAX && !word.bytes().any(|it| it < b' ');
        self.names.extend(words.filter(are_keys).map(str::to_owned));
        let clears = bytes.starts_with(b"flush_all");
        let cause = Some(Trigger::Command { by, clears, sets: None });
        Some(Work::Command { by, bytes, cause })
    }

    fn removal_of(
        &self,
        before: &Key,
        _: Option<&Key>,
    ) -> Option<(KeyChange, Option<ConnectionId>)> {
        let is_over = before.expires_at_ms.is_some_and(|at| self.clock_s * 1_000 >= at);
        is_over.then_some((KeyChange::Expired, None))
    }

    fn supports(&self, action: OperatorAction) -> bool {
        matches!(action, OperatorAction::FlushAll | OperatorAction::Evict)
    }

    /// Evicts items by deleting them.
    fn operate(&mut self, action: OperatorAction) -> (Vec<ConsoleRequest>, Trigger) {
        let (question, typed, change) = match action {
            OperatorAction::Evict => {
                let deletes = self.names.iter().map(|name| format!("md {name} q\r\n"));
                let typed = deletes.collect::<String>() + "mn\r\n";
                (Question::Evicted, typed, KeyChange::Evicted)
            }
            _ => (Question::Typed, "flush_all\r\n".to_owned(), KeyChange::Flushed),
        };
        (self.request(question, typed), Trigger::Operator(Some(change)))
    }
}

/// Parses a reply to `gets`. In `VALUE a 0 1 3`, 1 is the length of the next line.
fn values(answer: &[u8]) -> Vec<(Bytes, Bytes)> {
    let (mut found, mut rest) = (Vec::new(), Bytes::copy_from_slice(answer));
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let head = String::from_utf8_lossy(&rest.split_to(end + 2)).into_owned();
        let words: Vec<&str> = head.trim_end().split(' ').collect();
        let ["VALUE", name, _, length, ..] = words[..] else { break };
        let length = length.parse().unwrap_or(usize::MAX);
        if rest.len() < length.saturating_add(2) {
            break;
        }
        let value = rest.split_to(length);
        let _ = rest.split_to(2);
        found.push((Bytes::copy_from_slice(name.as_bytes()), value));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn console() -> MemcachedConsole {
        MemcachedConsole::of(&Part::for_tests(&KIND, Node::Server(1)))
    }

    #[test]
    fn items_of_the_lock_are_read_with_clock_expiry_and_value() {
        let mut console = console();
        let command = &b"add lock:a 0 10 2\r\nme\r\n"[..];
        console.next_work(ConnectionId(1), &mut BytesMut::from(command), false);
        console.read();
        let (asks, _) = console.receive(0, b"STAT pid 101\r\nSTAT time 1700000003\r\nEND\r\n");
        assert_eq!(asks, [ConsoleRequest::Send(0, b"me lock:a\r\nmn\r\n".to_vec())]);
        let item = b"ME lock:a exp=-7 la=0 cas=7 fetch=no cls=1 size=63\r\nMN\r\n";
        let (asks, _) = console.receive(0, item);
        assert_eq!(asks, [ConsoleRequest::Send(0, b"gets lock:a\r\n".to_vec())]);
        let (_, mut heard) = console.receive(0, b"VALUE lock:a 0 2 7\r\nme\r\nEND\r\n");
        let Some(ConsoleReply::Reading(Some(reading))) = heard.pop() else { panic!() };
        let [key] = &reading.keys[..] else { panic!() };
        assert_eq!((&key.value[..], key.token), (&b"me"[..], Some(7)));
        assert_eq!(key.expires_at_ms, Some(1_700_000_010_000));
        assert_eq!(console.removal_of(key, None), None, "before its time");
        console.clock_s = 1_700_000_010;
        assert_eq!(console.removal_of(key, None), Some((KeyChange::Expired, None)));
    }

    #[test]
    fn an_eviction_deletes_every_item_that_a_client_has_used() {
        let mut console = console();
        let command = &b"gets lock:a lock:b\r\n"[..];
        console.next_work(ConnectionId(1), &mut BytesMut::from(command), false);
        assert!(console.supports(OperatorAction::Evict));
        let (asks, cause) = console.operate(OperatorAction::Evict);
        let typed = b"md lock:a q\r\nmd lock:b q\r\nmn\r\n".to_vec();
        assert_eq!(asks, [ConsoleRequest::Send(0, typed)]);
        assert!(matches!(cause, Trigger::Operator(Some(KeyChange::Evicted))));
        console.receive(0, b"MN");
        assert!(console.is_waiting(), "half of the reply has arrived");
        console.receive(0, b"\r\n");
        assert!(!console.is_waiting());
    }

    #[test]
    fn a_server_says_its_version() {
        let said = (KIND.name_and_version)("memcached 1.6.18\n");
        assert_eq!(said, Some(("memcached".to_owned(), "1.6.18".to_owned())));
    }
}
