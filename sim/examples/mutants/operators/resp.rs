use bytes::BytesMut;
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::types::BytesFrame;
use std::collections::BTreeMap;

pub(crate) type Scripts = BTreeMap<Vec<u8>, String>;

#[derive(Clone, Default)]
pub(crate) struct Call {
    pub(crate) words: Vec<Vec<u8>>,
    pub(crate) purpose: Purpose,
    pub(crate) script: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Purpose {
    Take,
    Release,
    Renew,
    Look,
    #[default]
    Other,
}

impl Call {
    pub(crate) fn read(bytes: &[u8], scripts: &Scripts) -> Option<Call> {
        let words = words_of(bytes)?;
        let script = script_of(&words, scripts);
        let purpose = purpose_of(&words, &script);
        Some(Call { words, purpose, script })
    }

    pub(crate) fn name(&self) -> String {
        name_of(&self.words)
    }

    pub(crate) fn is_script(&self) -> bool {
        self.name().starts_with("EVAL")
    }

    pub(crate) fn arguments_at(&self) -> usize {
        let text = self.words.get(2).map(|count| String::from_utf8_lossy(count));
        3 + text.and_then(|text| text.parse::<usize>().ok()).unwrap_or(0)
    }

    pub(crate) fn owner_at(&self) -> Option<usize> {
        let is_owner =
            |word: &[u8]| word.len() >= 8 && !word.iter().all(|byte| byte.is_ascii_digit());
        match self.name().as_str() {
            "SET" | "SETNX" | "GETSET" | "HEXISTS" => Some(2),
            "EVAL" | "EVALSHA" => {
                let first = self.arguments_at();
                let own = self.words.get(first..)?.iter().position(|word| is_owner(word))?;
                Some(first + own)
            }
            _ => None,
        }
    }

    pub(crate) fn ttl_at(&self) -> Option<(usize, u64)> {
        let after = |name: &str| {
            let is_it = |word: &Vec<u8>| word.eq_ignore_ascii_case(name.as_bytes());
            Some(self.words.iter().skip(3).position(is_it)? + 4)
        };
        match self.name().as_str() {
            "SET" => match (after("PX"), after("EX")) {
                (Some(at), _) => Some((at, 1)),
                (None, at) => Some((at?, 1_000)),
            },
            "PEXPIRE" => Some((2, 1)),
            "EXPIRE" => Some((2, 1_000)),
            "EVAL" | "EVALSHA" => {
                let first = self.arguments_at();
                let is_span =
                    |word: &Vec<u8>| number(word).is_some_and(|ms| (100..=1_000_000).contains(&ms));
                Some((first + self.words.get(first..)?.iter().position(is_span)?, 1))
            }
            _ => None,
        }
    }

    pub(crate) fn does(&self, command: &str) -> bool {
        does(&self.script, command)
    }

    pub(crate) fn edit(&mut self, edits: &[(&str, &str)]) -> bool {
        if self.name() != "EVAL" {
            return false;
        }
        let text =
            edits.iter().fold(self.script.clone(), |text, (from, to)| text.replace(from, to));
        let is_changed = text != self.script;
        self.words[1] = text.into_bytes();
        is_changed
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = format!("*{}\r\n", self.words.len()).into_bytes();
        for word in &self.words {
            out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            out.extend_from_slice(word);
            out.extend_from_slice(b"\r\n");
        }
        out
    }
}

pub(crate) fn grant(call: &Call) -> &'static str {
    match call.name().as_str() {
        "SET" => "+OK\r\n",
        "GETSET" => "$-1\r\n",
        _ if call.does("pttl") => "$-1\r\n",
        _ => ":1\r\n",
    }
}

pub(crate) fn number(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

pub(crate) fn bulk(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

pub(crate) fn vote(reply: &[u8], asked: &[u8]) -> Option<Vec<u8>> {
    let words = words_of(asked)?;
    let [_, name, _, _, epoch, candidate] = &words[..] else { return None };
    let is_it = name.eq_ignore_ascii_case(b"is-master-down-by-addr") && candidate != b"*";
    let is_answer = reply.starts_with(b"*3\r\n:");
    let down = reply.get(5..6)?;
    let vote = [b"*3\r\n:", down, b"\r\n", &bulk(candidate), b":", epoch, b"\r\n"].concat();
    (is_it && is_answer && vote != reply).then_some(vote)
}

fn words_of(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut buffer = BytesMut::from(bytes);
    let Ok(Some((BytesFrame::Array(items), _, _))) = decode_bytes_mut(&mut buffer) else {
        return None;
    };
    let word = |item| match item {
        BytesFrame::BulkString(word) => Some(word.to_vec()),
        _ => None,
    };
    let words: Vec<Vec<u8>> = items.into_iter().map(word).collect::<Option<_>>()?;
    (buffer.is_empty() && !words.is_empty()).then_some(words)
}

fn name_of(words: &[Vec<u8>]) -> String {
    words.first().map(|name| String::from_utf8_lossy(name).to_uppercase()).unwrap_or_default()
}

fn script_of(words: &[Vec<u8>], scripts: &Scripts) -> String {
    let word = words.get(1).map(Vec::as_slice).unwrap_or_default();
    match name_of(words).as_str() {
        "EVAL" => String::from_utf8_lossy(word).into_owned(),
        "EVALSHA" => scripts.get(word).cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

fn does(script: &str, command: &str) -> bool {
    script.contains(&format!("\"{command}\"")) || script.contains(&format!("'{command}'"))
}

fn purpose_of(words: &[Vec<u8>], script: &str) -> Purpose {
    let has = |word: &[u8]| words.iter().skip(3).any(|one| one.eq_ignore_ascii_case(word));
    match name_of(words).as_str() {
        "SETNX" | "GETSET" => Purpose::Take,
        "SET" if has(b"NX") => Purpose::Take,
        "SET" | "EXPIRE" | "PEXPIRE" => Purpose::Renew,
        "DEL" | "UNLINK" => Purpose::Release,
        "GET" | "EXISTS" | "HEXISTS" | "TTL" | "PTTL" => Purpose::Look,
        "EVAL" | "EVALSHA" if does(script, "del") => Purpose::Release,
        "EVAL" | "EVALSHA" if ["set", "hset", "hincrby"].iter().any(|set| does(script, set)) => {
            Purpose::Take
        }
        "EVAL" | "EVALSHA" if does(script, "pexpire") || does(script, "expire") => Purpose::Renew,
        _ => Purpose::Other,
    }
}
