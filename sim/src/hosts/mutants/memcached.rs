//! Mistakes of locks on memcached, and of memcached itself.

use super::operator::{Operator, lock, server};
use super::wire::{Heard, Talk};
use fencepost_clients::Coordinator;

/// What is changed.
pub(super) enum Rule {
    /// The words of a command's first line: whether they changed.
    Words(fn(&mut Vec<String>) -> bool),
    /// A command is not carried out but answered so: its words.
    Unsent(fn(&[String]) -> Option<&'static str>),
    /// A client hears another answer to its command: the first word of that, and the answer.
    Heard(fn(&str, &str) -> Option<&'static str>),
    /// All clients mark the lock by the same value.
    SameOwner,
    /// A client that asks whose the lock is hears that it is its own.
    OwnerIsMine,
}

const fn by(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    lock(Coordinator::Memcached, name, about, super::operator::Rule::Memcached(rule))
}

const fn on(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    server(Coordinator::Memcached, name, about, super::operator::Rule::Memcached(rule))
}

/// The operators.
pub(super) const TABLE: &[Operator] = &[
    by(
        "add-is-set",
        "takes the lock whoever has it",
        Rule::Words(|words| renamed(words, "add", "set")),
    ),
    by(
        "cas-dropped",
        "changes the lock whoever has it",
        Rule::Words(|words| {
            let is_cas = renamed(words, "cas", "set");
            if is_cas {
                words.remove(5);
            }
            is_cas
        }),
    ),
    by(
        "mc-ttl-tenfold",
        "takes the lock for ten times as long",
        Rule::Words(|words| lasts(words, |seconds| seconds * 10)),
    ),
    by(
        "mc-ttl-tenth",
        "takes the lock for a tenth of the time",
        Rule::Words(|words| lasts(words, |seconds| (seconds / 10).max(1))),
    ),
    by(
        "mc-ttl-short",
        "counts on the lease for 2 s longer than it lasts",
        Rule::Words(|words| lasts(words, |seconds| seconds.saturating_sub(2).max(1))),
    ),
    by("mc-ttl-dropped", "takes the lock for ever", Rule::Words(|words| lasts(words, |_| 0))),
    by("mc-same-owner", "marks the lock by the same value as everybody", Rule::SameOwner),
    by("mc-owner-not-compared", "takes every owner that it reads for itself", Rule::OwnerIsMine),
    by(
        "mc-delete-unsent",
        "does not give the lock back",
        Rule::Unsent(|words| (words[0] == "delete").then_some("DELETED\r\n")),
    ),
    by(
        "mc-wrong-key",
        "gives another key back",
        Rule::Words(|words| {
            let is_it = words[0] == "delete";
            words[1].push_str(if is_it { "x" } else { "" });
            is_it
        }),
    ),
    by(
        "mc-release-unsent",
        "does not give the lock back by cas",
        Rule::Unsent(|words| (words[0] == "cas").then_some("STORED\r\n")),
    ),
    by(
        "mc-refusal-read-as-grant",
        "reads a refusal as a grant",
        Rule::Heard(|_, answer| (answer == "NOT_STORED\r\n").then_some("STORED\r\n")),
    ),
    by(
        "mc-grant-read-as-refusal",
        "reads a grant as a refusal",
        Rule::Heard(|name, answer| {
            (name == "add" && answer == "STORED\r\n").then_some("NOT_STORED\r\n")
        }),
    ),
    by(
        "mc-exists-unheard",
        "does not hear that another was faster",
        Rule::Heard(|_, answer| (answer == "EXISTS\r\n").then_some("STORED\r\n")),
    ),
    by(
        "mc-not-found-unheard",
        "says that it released what it had lost",
        Rule::Heard(|name, answer| {
            let done = if name == "delete" { "DELETED\r\n" } else { "STORED\r\n" };
            (answer == "NOT_FOUND\r\n").then_some(done)
        }),
    ),
    by(
        "mc-owner-unseen",
        "sees no owner where there is one",
        Rule::Heard(|_, answer| answer.starts_with("VALUE ").then_some("END\r\n")),
    ),
    on(
        "mc-add-is-set",
        "add stores whatever is there",
        Rule::Words(|words| renamed(words, "add", "set")),
    ),
    on(
        "mc-expired-seen",
        "an expired item is seen for 30 s more",
        Rule::Words(|words| lasts(words, |seconds| seconds + 30)),
    ),
    on(
        "mc-delete-leaves",
        "delete answers and leaves the item",
        Rule::Unsent(|words| (words[0] == "delete").then_some("DELETED\r\n")),
    ),
    on(
        "mc-cas-is-set",
        "cas stores whatever is there",
        Rule::Words(|words| {
            let is_cas = renamed(words, "cas", "set");
            if is_cas {
                words.remove(5);
            }
            is_cas
        }),
    ),
];

fn renamed(words: &mut [String], from: &str, to: &str) -> bool {
    let is_it = words[0] == from;
    if is_it {
        words[0] = to.to_owned();
    }
    is_it
}

/// Changes how long an item lasts, in seconds. What is stored to go at once is left.
fn lasts(words: &mut [String], other: fn(u64) -> u64) -> bool {
    let is_store = matches!(words[0].as_str(), "add" | "set" | "cas");
    let seconds = words.get(3).filter(|_| is_store).and_then(|word| word.parse::<u64>().ok());
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0) else { return false };
    words[3] = other(seconds).to_string();
    other(seconds) != seconds
}

/// The first line's words, and what follows it.
fn parts(bytes: &[u8]) -> Option<(Vec<String>, &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let line = std::str::from_utf8(&bytes[..end]).ok()?;
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    Some((words, &bytes[end..])).filter(|(words, _)| words.len() > 1)
}

/// The data block behind a line, if there is one.
fn block(rest: &[u8]) -> Option<&[u8]> {
    let end = rest.get(2..)?.windows(2).position(|pair| pair == b"\r\n")?;
    Some(&rest[2..2 + end])
}

/// As many bytes that stand for every owner.
fn same(length: usize) -> Vec<u8> {
    vec![b'o'; length]
}

impl Rule {
    pub(super) fn hears(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Heard {
        let Some((mut words, rest)) = parts(bytes) else { return Heard::AsItIs };
        talk.ear.asked = words[0].clone().into_bytes();
        let value = block(rest).filter(|value| !value.is_empty());
        if let Some(value) = value {
            talk.ear.owner = value.to_vec();
        }
        match (self, value) {
            (Rule::Words(rule), _) => {
                let is_changed = rule(&mut words);
                Heard::changed(is_changed, [words.join(" ").as_bytes(), rest].concat())
            }
            (Rule::Unsent(rule), _) => match rule(&words) {
                Some(answer) => Heard::Answered(answer.as_bytes().to_vec()),
                None => Heard::AsItIs,
            },
            (Rule::SameOwner, Some(value)) => {
                let line = words.join(" ");
                let parts = [line.as_bytes(), b"\r\n", &same(value.len()), b"\r\n"];
                Heard::Instead(parts.concat())
            }
            _ => Heard::AsItIs,
        }
    }

    pub(super) fn says(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        let asked = String::from_utf8_lossy(&talk.ear.asked);
        let answer = String::from_utf8_lossy(bytes);
        match self {
            Rule::Heard(rule) => rule(&asked, &answer).map(|answer| answer.as_bytes().to_vec()),
            Rule::SameOwner | Rule::OwnerIsMine => {
                let (words, rest) = parts(bytes)?;
                let (value, owner) = (block(rest)?, &talk.ear.owner);
                let is_it = match self {
                    Rule::SameOwner => value == same(value.len()),
                    _ => !value.is_empty() && value != &owner[..],
                };
                let fits = words[0] == "VALUE" && is_it && owner.len() == value.len();
                let tail = &rest[2 + value.len()..];
                fits.then(|| [words.join(" ").as_bytes(), b"\r\n", owner, tail].concat())
            }
            _ => None,
        }
    }
}
