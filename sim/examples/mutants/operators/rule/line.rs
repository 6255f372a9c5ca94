//! Rules for the line protocols of Chubby and GemFire.

use crate::operators::wire::{Exchange, Heard};

pub(crate) enum Rule {
    Asks(fn(&mut Vec<String>) -> bool),
    Unsent(&'static str, &'static str),
    Hears(fn(&str, &[&str]) -> Option<String>),
}

fn words(bytes: &[u8]) -> Option<Vec<&str>> {
    let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    (!line.contains('\n')).then(|| line.split(' ').collect())
}

impl Rule {
    pub(crate) fn hears(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Heard {
        let Some(words) = words(bytes).filter(|_| exchange.peer.is_client) else {
            return Heard::AsItIs;
        };
        let verb = words[0];
        exchange.peer.asked = verb.as_bytes().to_vec();
        match self {
            Rule::Asks(rule) => {
                let mut words = words.into_iter().map(str::to_owned).collect();
                let is_changed = rule(&mut words);
                Heard::changed(is_changed, (words.join(" ") + "\n").into_bytes())
            }
            Rule::Unsent(this, answer) if *this == verb => {
                Heard::Answered(format!("{answer}\n").into_bytes())
            }
            Rule::Unsent(..) | Rule::Hears(_) => Heard::AsItIs,
        }
    }

    pub(crate) fn says(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        let (Rule::Hears(rule), true) = (self, exchange.peer.is_client) else { return None };
        let verb = std::str::from_utf8(&exchange.peer.asked).ok()?;
        rule(verb, &words(bytes)?).map(|answer| (answer + "\n").into_bytes())
    }
}

pub(crate) fn changed(words: &mut [String], verb: &str, at: usize, to: fn(&str) -> String) -> bool {
    let is_it = words[0] == verb;
    let Some(word) = words.get_mut(at).filter(|_| is_it) else { return false };
    let new = to(word);
    std::mem::replace(word, new.clone()) != new
}

pub(crate) fn tenth(number: &str) -> String {
    number.parse::<u64>().map_or_else(|_| number.to_owned(), |number| (number / 10).to_string())
}
