//! Client requests ([`Request`]), each a line of words.

use crate::times::LOCK_DELAY_MAX_US;
use fencepost_machine::peers::number;

const NAME_MAX: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    pub(crate) session: u64,
    pub(crate) epoch: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Master,
    Open,
    /// A KeepAlive, with the number of events that the client has received from its master.
    KeepAlive(Caller, u64),
    Acquire {
        caller: Caller,
        lock: String,
        acquire: u64,
        delay_us: u64,
    },
    /// Releases the lock for this acquire and the session's earlier ones, even if they still wait.
    Release {
        caller: Caller,
        lock: String,
        acquire: u64,
    },
    CheckSequencer {
        caller: Caller,
        lock: String,
        generation: u64,
    },
    Close(Caller),
}

impl Request {
    pub(crate) fn read(line: &str) -> Result<Request, String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        Ok(match words[..] {
            ["master"] => Request::Master,
            ["open"] => Request::Open,
            ["keepalive", session, epoch, events] => {
                Request::KeepAlive(caller(session, epoch)?, number(events)?)
            }
            ["acquire", session, epoch, lock, acquire, delay] => {
                let (caller, acquire) = (caller(session, epoch)?, number(acquire)?);
                let (lock, delay_us) = (name(lock)?, number(delay)?);
                if delay_us > LOCK_DELAY_MAX_US {
                    return Err(format!("lock-delay '{delay}': expected 0 to {LOCK_DELAY_MAX_US}"));
                }
                Request::Acquire { caller, lock, acquire, delay_us }
            }
            ["release", session, epoch, lock, acquire] => {
                let (caller, acquire) = (caller(session, epoch)?, number(acquire)?);
                Request::Release { caller, lock: name(lock)?, acquire }
            }
            ["check", session, epoch, lock, generation] => {
                let (caller, generation) = (caller(session, epoch)?, number(generation)?);
                Request::CheckSequencer { caller, lock: name(lock)?, generation }
            }
            ["close", session, epoch] => Request::Close(caller(session, epoch)?),
            _ => {
                let word: String = line.chars().take(20).collect();
                let known = "master, open, keepalive, acquire, release, check or close";
                return Err(format!("request '{word}': expected {known} with its arguments"));
            }
        })
    }
}

fn caller(session: &str, epoch: &str) -> Result<Caller, String> {
    Ok(Caller { session: number(session)?, epoch: number(epoch)? })
}

fn name(word: &str) -> Result<String, String> {
    if word.len() > NAME_MAX {
        return Err(format!("lock name of {} bytes: expected at most {NAME_MAX}", word.len()));
    }
    Ok(word.to_owned())
}
