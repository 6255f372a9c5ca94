//! Which keys a program names to the servers: a lock that no server tells of stands under another
//! key than the one that is watched.

use super::resp::{name, next_command};
use bytes::{Bytes, BytesMut};
use fencepost_programs::SocketId;
use std::collections::BTreeMap;

/// So many commands of a life are looked at: libraries that lock do so soon.
const COMMANDS_MAX: u32 = 64;
/// So many keys are kept, and so many letters of each.
const KEYS_MAX: usize = 3;
const LETTERS_MAX: usize = 100;

/// The keys that one life of a program has named, in the order in which it did.
#[derive(Default)]
pub(crate) struct Keys {
    heard: BTreeMap<SocketId, BytesMut>,
    commands: u32,
    pub(crate) found: Vec<String>,
}

impl Keys {
    /// Reads what is sent to a server.
    pub(crate) fn reads(&mut self, socket: SocketId, bytes: &[u8]) {
        if self.commands >= COMMANDS_MAX || self.found.len() >= KEYS_MAX {
            return;
        }
        let buffer = self.heard.entry(socket).or_default();
        buffer.extend_from_slice(bytes);
        while let Ok(Some(words)) = next_command(buffer) {
            self.commands += 1;
            let Some(key) = key_of(&words) else { continue };
            if !self.found.contains(&key) {
                self.found.push(key);
            }
        }
    }
}

/// The key that a command writes to, or hands to a script.
fn key_of(words: &[Bytes]) -> Option<String> {
    let key = match name(&words[0]).as_str() {
        "SET" | "SETNX" | "SETEX" | "PSETEX" | "GETSET" | "INCR" | "INCRBY" | "HSET" | "HSETNX"
        | "HINCRBY" | "SADD" | "ZADD" | "LPUSH" | "RPUSH" => words.get(1)?,
        "EVAL" | "EVALSHA" if words.get(2).is_some_and(|count| count != "0") => words.get(3)?,
        _ => return None,
    };
    Some(String::from_utf8_lossy(key).chars().take(LETTERS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pieces: &[&str]) -> Vec<String> {
        let mut keys = Keys::default();
        pieces.iter().for_each(|piece| keys.reads(SocketId(1), piece.as_bytes()));
        keys.found
    }

    #[test]
    fn keys_of_writes_and_scripts_are_found_once_each_in_whatever_pieces_they_come() {
        let set = "*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\n1\r\n";
        let eval = "*4\r\n$4\r\nEVAL\r\n$1\r\nx\r\n$1\r\n1\r\n$3\r\nb:c\r\n";
        let (head, tail) = eval.split_at(20);
        assert_eq!(found(&[set, set, head, tail]), ["a", "b:c"]);
    }

    #[test]
    fn what_writes_nothing_names_no_key() {
        let get = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
        let keyless = "*3\r\n$4\r\nEVAL\r\n$1\r\nx\r\n$1\r\n0\r\n";
        assert!(found(&[get, keyless, "no command"]).is_empty());
    }
}
