use crate::operators::wire::{Exchange, Heard};

pub(crate) enum Rule {
    Words(fn(&mut Vec<String>) -> bool),
    Unsent(fn(&[String]) -> Option<&'static str>),
    Heard(fn(&str, &str) -> Option<&'static str>),
    SameOwner,
    OwnerIsMine,
}

fn parts(bytes: &[u8]) -> Option<(Vec<String>, &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let line = std::str::from_utf8(&bytes[..end]).ok()?;
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    Some((words, &bytes[end..])).filter(|(words, _)| words.len() > 1)
}

fn block(rest: &[u8]) -> Option<&[u8]> {
    let end = rest.get(2..)?.windows(2).position(|pair| pair == b"\r\n")?;
    Some(&rest[2..2 + end])
}

fn same(length: usize) -> Vec<u8> {
    vec![b'o'; length]
}

impl Rule {
    pub(crate) fn hears(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Heard {
        let Some((mut words, rest)) = parts(bytes) else { return Heard::AsItIs };
        exchange.peer.asked = words[0].clone().into_bytes();
        let value = block(rest).filter(|value| !value.is_empty());
        if let Some(value) = value {
            exchange.peer.owner = value.to_vec();
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

    pub(crate) fn says(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        let asked = String::from_utf8_lossy(&exchange.peer.asked);
        let answer = String::from_utf8_lossy(bytes);
        match self {
            Rule::Heard(rule) => rule(&asked, &answer).map(|answer| answer.as_bytes().to_vec()),
            Rule::SameOwner | Rule::OwnerIsMine => {
                let (words, rest) = parts(bytes)?;
                let (value, owner) = (block(rest)?, &exchange.peer.owner);
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
