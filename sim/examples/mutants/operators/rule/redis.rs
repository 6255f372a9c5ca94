use crate::operators::resp::{Call, Purpose, Scripts, bulk, grant, vote};
use crate::operators::wire::{Exchange, Heard, Peer};

pub(crate) enum Rule {
    Words(fn(&mut Call) -> bool),
    Unsent(fn(&Call) -> Option<&'static str>),
    Heard(fn(&Call, &[u8]) -> Option<&'static str>),
    OwnerIsMine,
    SameOwner,
    KeepsFewerThan(u16),
    VotesForAll,
    Claims(&'static str, &'static str),
    Silent(&'static str),
}

const OWNER: &[u8] = b"the-same-owner";

impl Rule {
    pub(crate) fn hears(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Heard {
        if !exchange.peer.is_client {
            exchange.peer.asked = bytes.to_vec();
            return self.hears_server(bytes);
        }
        let Some(call) = Call::read(bytes, &exchange.marks.scripts.borrow()) else {
            return Heard::AsItIs;
        };
        note(exchange, &call);
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
                let count =
                    owner.and_then(|owner| exchange.marks.grants.borrow().get(&owner).copied());
                match count.unwrap_or(0) < *quorum {
                    true => Heard::Answered(b":1\r\n".to_vec()),
                    false => Heard::AsItIs,
                }
            }
            _ => Heard::AsItIs,
        }
    }

    fn hears_server(&self, bytes: &[u8]) -> Heard {
        let Rule::Claims("ACK", number) = self else { return Heard::AsItIs };
        let Some(mut call) = Call::read(bytes, &Scripts::default()) else {
            return Heard::AsItIs;
        };
        let is_it = call.name() == "REPLCONF"
            && call.words.get(1).is_some_and(|word| word.eq_ignore_ascii_case(b"ACK"));
        if is_it && call.words.len() > 2 {
            call.words[2] = number.as_bytes().to_vec();
        }
        Heard::changed(is_it, call.bytes())
    }

    pub(crate) fn says(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        if !exchange.peer.is_client {
            return self.says_server(bytes, exchange.peer);
        }
        let call = &exchange.peer.call;
        match self {
            Rule::Heard(rule) => rule(call, bytes).map(|reply| reply.as_bytes().to_vec()),
            Rule::OwnerIsMine => {
                let is_owner = call.name() == "GET" && bytes.starts_with(b"$");
                let differs = bytes != bulk(&exchange.peer.owner) && bytes != b"$-1\r\n";
                (is_owner && differs && !exchange.peer.owner.is_empty())
                    .then(|| bulk(&exchange.peer.owner))
            }
            Rule::SameOwner => (bytes == bulk(OWNER)).then(|| bulk(&exchange.peer.owner)),
            Rule::KeepsFewerThan(_) => {
                if call.purpose == Purpose::Take && bytes == grant(call).as_bytes() {
                    let mut grants = exchange.marks.grants.borrow_mut();
                    *grants.entry(exchange.peer.owner.clone()).or_default() += 1;
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

    fn says_server(&self, bytes: &[u8], peer: &Peer) -> Option<Vec<u8>> {
        match self {
            Rule::Claims(before, number) => {
                let at = bytes.windows(before.len()).position(|part| part == before.as_bytes())?;
                let at = at + before.len();
                let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let filled = format!("{number:0>length$}");
                (filled.len() == length)
                    .then(|| [&bytes[..at], filled.as_bytes(), &bytes[at + length..]].concat())
                    .filter(|told| told != bytes)
            }
            Rule::VotesForAll => vote(bytes, &peer.asked),
            _ => None,
        }
    }
}

fn note(exchange: &mut Exchange<'_>, call: &Call) {
    let peer = &mut *exchange.peer;
    if call.name() == "EVAL" && peer.call.name() == "EVALSHA" {
        let digest = peer.call.words[1].clone();
        exchange.marks.scripts.borrow_mut().insert(digest, call.script.clone());
    }
    if let Some(at) = call.owner_at().filter(|_| call.purpose != Purpose::Look) {
        peer.owner = call.words[at].clone();
    }
    peer.call = call.clone();
}
