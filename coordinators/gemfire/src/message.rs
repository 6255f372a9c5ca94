//! Messages between servers ([`Message`]), each a line of words, with views as JSON at the end.

use crate::view::View;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) type Region = BTreeMap<String, u64>;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Installed {
    pub(crate) view: View,
    pub(crate) region: Region,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    Alive {
        born: u64,
        system: u64,
        number: u64,
    },
    Join {
        born: u64,
    },
    Prepare {
        chain: Vec<u64>,
        view: View,
    },
    Ack {
        number: u64,
    },
    /// Refuses a proposal because this sender has already agreed to `view`.
    Refuse {
        chain: Vec<u64>,
        view: View,
    },
    Install(Installed),
}

impl Message {
    pub(crate) fn line(&self) -> String {
        match self {
            Message::Alive { born, system, number } => format!("alive {born} {system} {number}\n"),
            Message::Join { born } => format!("join {born}\n"),
            Message::Prepare { chain, view } => {
                format!("prepare {} {}\n", joined(chain), json(view))
            }
            Message::Ack { number } => format!("ack {number}\n"),
            Message::Refuse { chain, view } => format!("refuse {} {}\n", joined(chain), json(view)),
            Message::Install(installed) => format!("install {}\n", json(installed)),
        }
    }

    pub(crate) fn read(line: &str) -> Option<Message> {
        let (verb, rest) = line.split_once(' ')?;
        let mut words = rest.split(' ');
        let mut number = || words.next()?.parse().ok();
        Some(match verb {
            "alive" => Message::Alive { born: number()?, system: number()?, number: number()? },
            "join" => Message::Join { born: number()? },
            "prepare" | "refuse" => {
                let (chain, view) = rest.split_once(' ')?;
                let chain =
                    chain.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
                let view = serde_json::from_str(view).ok()?;
                match verb {
                    "prepare" => Message::Prepare { chain, view },
                    _ => Message::Refuse { chain, view },
                }
            }
            "ack" => Message::Ack { number: number()? },
            "install" => Message::Install(serde_json::from_str(rest).ok()?),
            _ => return None,
        })
    }
}

fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
