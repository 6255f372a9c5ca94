//! Mistakes of locks on Redis, and of Redis itself: the tables are in `taking`, `keeping` and
//! `servers`, one operator after the other.

mod changes;
mod keeping;
mod line;
mod servers;
mod taking;

pub(super) use keeping::KEEPING;
pub(super) use servers::SERVERS;
pub(super) use taking::TAKING;

use super::resp::{Call, Purpose, bulk};
use super::wire::{Ear, Heard, Talk};
use changes::grant;

/// What is changed.
pub(super) enum Rule {
    /// The words of a command of a client: whether they changed.
    Words(fn(&mut Call) -> bool),
    /// A command of a client is not carried out but answered so.
    Unsent(fn(&Call) -> Option<&'static str>),
    /// A client hears another reply to its command.
    Heard(fn(&Call, &[u8]) -> Option<&'static str>),
    /// A client that asks whose the lock is hears that it is its own.
    OwnerIsMine,
    /// All clients mark the lock by the same value.
    SameOwner,
    /// What fewer servers than this granted is not given back.
    KeepsFewerThan(u16),
    /// A Sentinel gives every other one that asks its vote, in every epoch.
    VotesForAll,
    /// A number that one server tells another is replaced: what stands before it, and the number.
    Claims(&'static str, &'static str),
    /// A message that servers send clients by themselves is lost.
    Silent(&'static str),
}

/// The value that stands for every owner.
const OWNER: &[u8] = b"the-same-owner";

impl Rule {
    pub(super) fn hears(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Heard {
        if !talk.ear.is_client {
            talk.ear.asked = bytes.to_vec();
            return self.hears_server(bytes);
        }
        let Some(call) = Call::read(bytes, talk.marks) else { return Heard::AsItIs };
        note(talk, &call);
        let mut changed = call;
        match self {
            Rule::Words(rule) => {
                let is_changed = rule(&mut changed);
                Heard::changed(is_changed, changed.bytes())
            }
            Rule::Unsent(rule) => match rule(&changed) {
                Some(reply) => Heard::Answered(reply.as_bytes().to_vec()),
                None => Heard::AsItIs,
            },
            Rule::SameOwner => match changed.owner_at() {
                Some(at) => {
                    changed.words[at] = OWNER.to_vec();
                    Heard::Instead(changed.bytes())
                }
                None => Heard::AsItIs,
            },
            Rule::KeepsFewerThan(quorum) if changed.purpose == Purpose::Release => {
                let owner = changed.owner_at().map(|at| changed.words[at].clone());
                let count = owner.and_then(|owner| talk.marks.grants.borrow().get(&owner).copied());
                match count.unwrap_or(0) < *quorum {
                    true => Heard::Answered(b":1\r\n".to_vec()),
                    false => Heard::AsItIs,
                }
            }
            _ => Heard::AsItIs,
        }
    }

    /// What another server says.
    fn hears_server(&self, bytes: &[u8]) -> Heard {
        let Rule::Claims("ACK", number) = self else { return Heard::AsItIs };
        let Some(mut call) = Call::read(bytes, &super::wire::Marks::default()) else {
            return Heard::AsItIs;
        };
        let is_it = call.name() == "REPLCONF"
            && call.words.get(1).is_some_and(|word| word.eq_ignore_ascii_case(b"ACK"));
        if is_it && call.words.len() > 2 {
            call.words[2] = number.as_bytes().to_vec();
        }
        Heard::changed(is_it, call.bytes())
    }

    pub(super) fn says(&self, talk: &mut Talk<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        if !talk.ear.is_client {
            return self.says_server(bytes, talk.ear);
        }
        let call = &talk.ear.call;
        match self {
            Rule::Heard(rule) => rule(call, bytes).map(|reply| reply.as_bytes().to_vec()),
            Rule::OwnerIsMine => {
                let is_owner = call.name() == "GET" && bytes.starts_with(b"$");
                let differs = bytes != bulk(&talk.ear.owner) && bytes != b"$-1\r\n";
                (is_owner && differs && !talk.ear.owner.is_empty()).then(|| bulk(&talk.ear.owner))
            }
            Rule::SameOwner => (bytes == bulk(OWNER)).then(|| bulk(&talk.ear.owner)),
            Rule::KeepsFewerThan(_) => {
                if call.purpose == Purpose::Take && bytes == grant(call).as_bytes() {
                    let mut grants = talk.marks.grants.borrow_mut();
                    *grants.entry(talk.ear.owner.clone()).or_default() += 1;
                }
                None
            }
            Rule::Silent(message) => {
                let is_told = bytes.windows(message.len()).any(|part| part == message.as_bytes());
                is_told.then(Vec::new)
            }
            _ => None,
        }
    }

    /// What one server says to another.
    fn says_server(&self, bytes: &[u8], ear: &Ear) -> Option<Vec<u8>> {
        match self {
            Rule::Claims(before, number) => {
                let at = bytes.windows(before.len()).position(|part| part == before.as_bytes())?;
                let at = at + before.len();
                let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                // As many digits as before, so that the length of the whole stays.
                let filled = format!("{number:0>length$}");
                (filled.len() == length)
                    .then(|| [&bytes[..at], filled.as_bytes(), &bytes[at + length..]].concat())
                    .filter(|told| told != bytes)
            }
            Rule::VotesForAll => super::resp::vote(bytes, &ear.asked),
            _ => None,
        }
    }
}

/// Remembers a command: what it is, who is named by it, and what the script is that is called by
/// its digest.
fn note(talk: &mut Talk<'_>, call: &Call) {
    let ear = &mut *talk.ear;
    if call.name() == "EVAL" && ear.call.name() == "EVALSHA" {
        let digest = ear.call.words[1].clone();
        talk.marks.scripts.borrow_mut().insert(digest, call.script.clone());
    }
    if let Some(at) = call.owner_at().filter(|_| call.purpose != Purpose::Look) {
        ear.owner = call.words[at].clone();
    }
    ear.call = call.clone();
}
