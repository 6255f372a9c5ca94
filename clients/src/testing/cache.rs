//! A memcached server for tests, with only the commands that locks use.

use std::collections::BTreeMap;

pub(super) const CACHE_PORT: u16 = 11_211;

#[derive(Default)]
pub(super) struct Cache {
    items: BTreeMap<String, Item>,
    stored: u64,
}

struct Item {
    value: String,
    id: u64,
    expiry: Option<u64>,
}

pub(super) fn words_of(request: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(request);
    let mut lines = text.split("\r\n");
    let mut words: Vec<String> =
        lines.next().unwrap_or_default().split(' ').map(str::to_owned).collect();
    let has_value = matches!(words[0].as_str(), "add" | "cas");
    words.extend(lines.next().filter(|_| has_value).map(str::to_owned));
    words
}

impl Cache {
    pub(super) fn run(&mut self, words: &[String], now: u64) -> String {
        self.items.retain(|_, item| item.expiry.is_none_or(|expiry| now < expiry));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let reply = match words.as_slice() {
            ["add", key, _, _, _, _] if self.items.contains_key(*key) => "NOT_STORED".to_owned(),
            ["add", key, _, seconds, _, value] => self.store(key, value, seconds, now),
            ["cas", key, _, seconds, _, id, value] => match self.items.get(*key) {
                None => "NOT_FOUND".to_owned(),
                Some(item) if item.id.to_string() != *id => "EXISTS".to_owned(),
                Some(_) => self.store(key, value, seconds, now),
            },
            ["gets", key] => match self.items.get(*key) {
                None => "END".to_owned(),
                Some(Item { value, id, .. }) => {
                    format!("VALUE {key} 0 {} {id}\r\n{value}\r\nEND", value.len())
                }
            },
            ["delete", key] => match self.items.remove(*key) {
                Some(_) => "DELETED".to_owned(),
                None => "NOT_FOUND".to_owned(),
            },
            _ => "ERROR".to_owned(),
        };
        format!("{reply}\r\n")
    }

    pub(super) fn put(&mut self, key: &str, value: &str, seconds: i64, now: u64) {
        self.store(key, value, &seconds.to_string(), now);
    }

    fn store(&mut self, key: &str, value: &str, seconds: &str, now: u64) -> String {
        self.stored += 1;
        let seconds: i64 = seconds.parse().unwrap_or_default();
        let lasts = |seconds: i64| now + u64::try_from(seconds).unwrap_or_default() * 1_000_000;
        let item = Item {
            value: value.to_owned(),
            id: self.stored,
            expiry: (seconds != 0).then(|| lasts(seconds)),
        };
        self.items.insert(key.to_owned(), item);
        "STORED".to_owned()
    }
}
