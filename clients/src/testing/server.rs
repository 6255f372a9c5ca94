use crate::articles::lua_extend::EXTEND_OR_TAKE;
use crate::articles::stamp::COMPARE_AND_SET;
use crate::fencing;
use crate::owned_key::{COMPARE_AND_DELETE, EXTEND_IF_OWNED};
use crate::redisson::script as redisson;
use crate::redlock::libraries;
use crate::script::Script;
use crate::spring_registry;
use std::collections::{BTreeMap, BTreeSet};

/// Initial reading of exact wall clocks, in microseconds since the Unix epoch.
pub(crate) const EPOCH: u64 = 1_700_000_000_000_000;

pub(crate) struct Call<'a> {
    pub(crate) number: usize,
    /// The command's words, or the single word `CONNECT` for a new connection.
    pub(crate) words: &'a [String],
}

impl Call<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.words[0]
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Normal,
    /// Executes the command on arrival, and delays the reply by this many milliseconds.
    Late(u64),
    /// Delays the execution by this many milliseconds, and does not reply.
    AppliedLate(u64),
    Lost,
    Dropped,
    ResetAfter,
    ResetBefore,
    Says(&'static str),
}

pub(crate) fn normal(_: &Call<'_>) -> Answer {
    Answer::Normal
}

pub(crate) fn scripts() -> Vec<(&'static str, &'static Script)> {
    vec![
        ("compare-and-delete", &COMPARE_AND_DELETE),
        ("extend-if-owned", &EXTEND_IF_OWNED),
        ("compare-and-set", &COMPARE_AND_SET),
        ("extend-or-take", &EXTEND_OR_TAKE),
        ("acquire-with-token", &fencing::ACQUIRE),
        ("hold-once-more", &redisson::ACQUIRE),
        ("hold-once-less", &redisson::RELEASE),
        ("renew", &redisson::RENEW),
        ("expire", &redisson::EXPIRE),
        ("obtain", &spring_registry::OBTAIN),
        ("exists-and-set", &libraries::CREATE),
        ("delete-or-tell", &libraries::DELETE),
    ]
}

#[derive(Default)]
pub(crate) struct Store {
    keys: BTreeMap<String, (String, Option<u64>)>,
    loaded: BTreeSet<String>,
}

impl Store {
    pub(crate) fn get(&self, key: &str, now: u64) -> Option<&str> {
        self.keys
            .get(key)
            .filter(|(_, expiry)| expiry.is_none_or(|expiry| now <= expiry))
            .map(|(value, _)| value.as_str())
    }

    pub(crate) fn set(&mut self, key: &str, value: &str, expiry: Option<u64>) {
        self.keys.insert(key.to_owned(), (value.to_owned(), expiry));
    }

    pub(crate) fn clear(&mut self) {
        *self = Store::default();
    }

    pub(crate) fn run(&mut self, words: &[String], now: u64) -> String {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["SET", key, value, "NX", "PX", ttl_ms] => self.set_if_absent(key, value, ttl_ms, now),
            ["SET", key, value, "NX", "EX", ttl] => {
                self.set_if_absent(key, value, &format!("{ttl}000"), now)
            }
            ["SET", key, value, "PX", ttl_ms] => {
                self.set(key, value, Some(later(now, ttl_ms)));
                "+OK\r\n".to_owned()
            }
            ["SETNX", key, value] => self.set_without_ttl(key, value, now),
            ["GET", key] => bulk(self.get(key, now)),
            ["GETSET", key, value] => {
                let old = bulk(self.get(key, now));
                self.set(key, value, None);
                old
            }
            ["DEL", key] => self.delete(key, now),
            ["EXPIRE", key, ttl] => self.expire(key, &format!("{ttl}000"), now),
            ["PEXPIRE", key, ttl_ms] => self.expire(key, ttl_ms, now),
            ["TIME"] => {
                let micros = now + EPOCH;
                format!(
                    "*2\r\n{}{}",
                    bulk(Some(&(micros / 1_000_000).to_string())),
                    bulk(Some(&(micros % 1_000_000).to_string()))
                )
            }
            ["EVALSHA", digest, _, arguments @ ..] => match self.loaded.contains(*digest) {
                true => self.run_script(digest, arguments, now),
                false => "-NOSCRIPT No matching script. Please use EVAL.\r\n".to_owned(),
            },
            ["EVAL", source, _, arguments @ ..] => {
                match scripts().iter().find(|(_, script)| script.source() == *source) {
                    Some((_, script)) => {
                        self.loaded.insert(script.digest().to_owned());
                        self.run_script(script.digest(), arguments, now)
                    }
                    None => "-ERR unknown script\r\n".to_owned(),
                }
            }
            ["ROLE"] => "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n".to_owned(),
            ["SUBSCRIBE", channel] => {
                format!("*3\r\n$9\r\nsubscribe\r\n${}\r\n{channel}\r\n:1\r\n", channel.len())
            }
            _ => "-ERR unknown command\r\n".to_owned(),
        }
    }

    fn set_if_absent(&mut self, key: &str, value: &str, ttl_ms: &str, now: u64) -> String {
        if self.get(key, now).is_some() {
            return "$-1\r\n".to_owned();
        }
        self.set(key, value, Some(later(now, ttl_ms)));
        "+OK\r\n".to_owned()
    }

    fn set_without_ttl(&mut self, key: &str, value: &str, now: u64) -> String {
        let free = self.get(key, now).is_none();
        if free {
            self.set(key, value, None);
        }
        format!(":{}\r\n", u8::from(free))
    }

    fn delete(&mut self, key: &str, now: u64) -> String {
        let there = self.get(key, now).is_some();
        self.keys.remove(key);
        format!(":{}\r\n", u8::from(there))
    }

    fn expire(&mut self, key: &str, ttl_ms: &str, now: u64) -> String {
        let value = self.get(key, now).map(str::to_owned);
        if let Some(value) = &value {
            self.set(key, value, Some(later(now, ttl_ms)));
        }
        format!(":{}\r\n", u8::from(value.is_some()))
    }

    fn run_script(&mut self, digest: &str, arguments: &[&str], now: u64) -> String {
        match arguments {
            [key, owner] if digest == COMPARE_AND_DELETE.digest() => {
                let ours = self.get(key, now) == Some(owner);
                if ours {
                    self.keys.remove(*key);
                }
                format!(":{}\r\n", u8::from(ours))
            }
            [key, owner] if digest == libraries::DELETE.digest() => match self.get(key, now) {
                None => ":-1\r\n".to_owned(),
                Some(value) if value != *owner => ":0\r\n".to_owned(),
                Some(_) => self.delete(key, now),
            },
            [key, owner, ttl_ms] if digest == libraries::CREATE.digest() => {
                let was_free = self.get(key, now).is_none();
                if was_free {
                    self.set(key, owner, Some(later(now, ttl_ms)));
                }
                format!(":{}\r\n", u8::from(was_free))
            }
            [key, seen, value] if digest == COMPARE_AND_SET.digest() => {
                let unchanged = self.get(key, now) == Some(seen);
                if unchanged {
                    self.set(key, value, None);
                }
                format!(":{}\r\n", u8::from(unchanged))
            }
            [key, owner, ttl_ms] if digest == EXTEND_IF_OWNED.digest() => {
                match self.get(key, now) == Some(owner) {
                    true => self.expire(key, ttl_ms, now),
                    false => ":0\r\n".to_owned(),
                }
            }
            [key, owner, ttl_ms] if digest == EXTEND_OR_TAKE.digest() => match self.get(key, now) {
                Some(value) if value != *owner => ":0\r\n".to_owned(),
                _ => {
                    self.set(key, owner, Some(later(now, ttl_ms)));
                    ":1\r\n".to_owned()
                }
            },
            [key, counter, owner, ttl_ms] if digest == fencing::ACQUIRE.digest() => {
                if self.get(key, now).is_some() {
                    return "$-1\r\n".to_owned();
                }
                let token =
                    self.get(counter, now).map_or(0, |text| text.parse::<u64>().unwrap()) + 1;
                self.set(counter, &token.to_string(), None);
                self.set_if_absent(key, owner, ttl_ms, now);
                format!(":{token}\r\n")
            }
            [key, owner, ttl_ms] if digest == spring_registry::OBTAIN.digest() => {
                match self.get(key, now) {
                    Some(value) if value != *owner => ":0\r\n".to_owned(),
                    _ => {
                        self.set(key, owner, Some(later(now, ttl_ms)));
                        ":1\r\n".to_owned()
                    }
                }
            }
            _ => self.run_redisson(digest, arguments, now),
        }
    }

    fn run_redisson(&mut self, digest: &str, arguments: &[&str], now: u64) -> String {
        match arguments {
            [key, ttl_ms, id] if digest == redisson::ACQUIRE.digest() => match self
                .count_of(key, id, now)
            {
                None if self.get(key, now).is_some() => format!(":{}\r\n", self.left_ms(key, now)),
                count => {
                    self.set(
                        key,
                        &format!("{id}={}", count.unwrap_or(0) + 1),
                        Some(later(now, ttl_ms)),
                    );
                    "$-1\r\n".to_owned()
                }
            },
            [key, _, latch, _, ttl_ms, id, latch_ms] if digest == redisson::RELEASE.digest() => {
                if let Some(result) = self.get(latch, now) {
                    return format!(":{result}\r\n");
                }
                let Some(count) = self.count_of(key, id, now) else { return "$-1\r\n".to_owned() };
                let is_free = count == 1;
                if is_free {
                    self.keys.remove(*key);
                } else {
                    self.set(key, &format!("{id}={}", count - 1), Some(later(now, ttl_ms)));
                }
                let result = u8::from(is_free).to_string();
                self.set(latch, &result, Some(later(now, latch_ms)));
                format!(":{result}\r\n")
            }
            [key, ttl_ms] if digest == redisson::EXPIRE.digest() => self.expire(key, ttl_ms, now),
            [key, ttl_ms, id] if digest == redisson::RENEW.digest() => {
                match self.count_of(key, id, now) {
                    Some(_) => self.expire(key, ttl_ms, now),
                    None => ":0\r\n".to_owned(),
                }
            }
            _ => "-ERR wrong arguments\r\n".to_owned(),
        }
    }

    fn count_of(&self, key: &str, id: &str, now: u64) -> Option<u64> {
        let (field, count) = self.get(key, now)?.split_once('=')?;
        (field == id).then(|| count.parse().unwrap())
    }

    fn left_ms(&self, key: &str, now: u64) -> i64 {
        self.keys[key].1.map_or(-1, |expiry| i64::try_from((expiry - now) / 1_000).unwrap())
    }
}

fn later(now: u64, ttl_ms: &str) -> u64 {
    now + ttl_ms.parse::<u64>().unwrap() * 1_000
}

fn bulk(value: Option<&str>) -> String {
    value.map_or("$-1\r\n".to_owned(), |value| format!("${}\r\n{value}\r\n", value.len()))
}
