use crate::grantor::{Call, Hold};
use fencepost_machine::peers::number;

const NAME_MAX: usize = 256;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Join { process: String },
    Alive { process: String, view: (u64, u64), held: Vec<(String, Hold)> },
    Lock { version: u64, lock: String, call: Call },
    Unlock { process: String, version: u64, lock: String, serial: u64 },
    Get { process: String, view: u64, key: String },
    Put { process: String, view: u64, key: String, value: u64 },
}

impl Request {
    pub(crate) fn read(line: &str) -> Result<Request, String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        Ok(match words[..] {
            ["join", process] => Request::Join { process: name(process)? },
            ["alive", process, system, view, ref held @ ..] => {
                let process = name(process)?;
                let held = held.chunks(3).map(|words| hold(&process, words));
                let held = held.collect::<Result<Vec<_>, String>>()?;
                Request::Alive { process, view: (number(system)?, number(view)?), held }
            }
            ["lock", process, version, lock, serial, wait, lease] => {
                let (serial, wait_us, lease_ms) = (number(serial)?, number(wait)?, number(lease)?);
                let call = Call { process: name(process)?, serial, wait_us, lease_ms };
                Request::Lock { version: number(version)?, lock: name(lock)?, call }
            }
            ["unlock", process, version, lock, serial] => Request::Unlock {
                process: name(process)?,
                version: number(version)?,
                lock: name(lock)?,
                serial: number(serial)?,
            },
            ["get", process, view, key] => {
                Request::Get { process: name(process)?, view: number(view)?, key: name(key)? }
            }
            ["put", process, view, key, value] => Request::Put {
                process: name(process)?,
                view: number(view)?,
                key: name(key)?,
                value: number(value)?,
            },
            _ => {
                let word: String = line.chars().take(20).collect();
                let known = "join, alive, lock, unlock, get or put";
                return Err(format!("request '{word}': expected {known} with its arguments"));
            }
        })
    }

    pub(crate) fn process(&self) -> Option<&str> {
        match self {
            Request::Join { .. } => None,
            Request::Lock { call, .. } => Some(&call.process),
            Request::Alive { process, .. }
            | Request::Unlock { process, .. }
            | Request::Get { process, .. }
            | Request::Put { process, .. } => Some(process),
        }
    }
}

fn hold(process: &str, words: &[&str]) -> Result<(String, Hold), String> {
    let [lock, serial, expires] = words else {
        return Err(format!("held lock '{}': expected LOCK SERIAL EXPIRES", words.join(" ")));
    };
    let expires_ms = i64::try_from(number(expires)?).ok().filter(|end| *end > 0);
    let hold = Hold { process: process.to_owned(), serial: number(serial)?, expires_ms };
    Ok((name(lock)?, hold))
}

fn name(word: &str) -> Result<String, String> {
    if word.len() > NAME_MAX {
        return Err(format!("name of {} bytes: expected at most {NAME_MAX}", word.len()));
    }
    Ok(word.to_owned())
}
