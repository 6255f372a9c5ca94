//! Commands of the text protocol, as parsed by `proto_text.c`.

use crate::block::Mode;
use crate::number::{self, unsigned};
use crate::reply::{BAD_LINE, KEY_MAX, Reply};
use crate::server::{CommandResult, Memcached};
use bytes::Bytes;
use fencepost_machine::KeyChange;

const BAD_EXPIRY: &str = "CLIENT_ERROR invalid exptime argument";
const ERROR: &str = "ERROR";
const VERSION: &str = "1.6.18";

fn reply_line(text: &str) -> CommandResult {
    CommandResult::Reply(Reply::Sent.text(text))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Delta {
    Up,
    Down,
}

impl Memcached {
    pub(crate) fn command(&mut self, line: &Bytes) -> CommandResult {
        // The real server reads the line as a C string, which ends at the first NUL byte.
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let words: Vec<&[u8]> =
            line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
        let Some((name, arguments)) = words.split_first() else { return reply_line(ERROR) };
        let reply = match arguments.last() {
            Some(&b"noreply") => Reply::Omitted,
            _ => Reply::Sent,
        };
        match (*name, arguments.len()) {
            (b"get" | b"bget", 1..) => self.get(arguments, Shown::Value, None),
            (b"gets", 1..) => self.get(arguments, Shown::Cas, None),
            (b"gat", 1..) => self.get_and_touch(arguments, Shown::Value),
            (b"gats", 1..) => self.get_and_touch(arguments, Shown::Cas),
            (b"set", 4 | 5) => self.begin(Mode::Set, arguments, reply),
            (b"add", 4 | 5) => self.begin(Mode::Add, arguments, reply),
            (b"replace", 4 | 5) => self.begin(Mode::Replace, arguments, reply),
            (b"append", 4 | 5) => self.begin(Mode::Append, arguments, reply),
            (b"prepend", 4 | 5) => self.begin(Mode::Prepend, arguments, reply),
            (b"cas", 5 | 6) => self.begin(Mode::Cas(0), arguments, reply),
            (b"delete", 1..=3) => self.delete(arguments, reply),
            (b"incr", 2 | 3) => self.count(arguments, Delta::Up, reply),
            (b"decr", 2 | 3) => self.count(arguments, Delta::Down, reply),
            (b"touch", 2 | 3) => self.touch(arguments, reply),
            (b"flush_all", 0..=2) => self.flush_all(arguments, reply),
            (b"verbosity", 1 | 2) => CommandResult::Reply(reply.text("OK")),
            (b"version", _) => reply_line(&format!("VERSION {VERSION}")),
            (b"stats", 0) => CommandResult::Reply(self.stats()),
            (b"quit", _) => CommandResult::Close,
            _ => reply_line(ERROR),
        }
    }

    fn get(&mut self, keys: &[&[u8]], shown: Shown, expiry: Option<i64>) -> CommandResult {
        if keys.iter().any(|key| key.len() > KEY_MAX) {
            return reply_line(BAD_LINE);
        }
        let mut said = Vec::new();
        for key in keys {
            self.report_if_gone(key);
            self.counts.gets += 1;
            if let Some(item) = self.cache.get(key) {
                let (flags, length) = (item.flags, item.value.len());
                let head = match shown {
                    Shown::Value => format!(" {flags} {length}\r\n"),
                    Shown::Cas => format!(" {flags} {length} {}\r\n", item.cas),
                };
                for part in [b"VALUE ", *key, head.as_bytes(), &item.value, b"\r\n"] {
                    said.extend_from_slice(part);
                }
                self.counts.hits += 1;
            }
            if let Some(expiry) = expiry {
                self.extend(key, expiry);
            }
        }
        said.extend_from_slice(b"END\r\n");
        CommandResult::Reply(said)
    }

    fn get_and_touch(&mut self, arguments: &[&[u8]], shown: Shown) -> CommandResult {
        let (given, keys) = (arguments[0], &arguments[1..]);
        let Some(expiry) = number::expiry(given) else { return reply_line(BAD_EXPIRY) };
        self.get(keys, shown, Some(expiry))
    }

    fn extend(&mut self, key: &[u8], expiry: i64) -> bool {
        self.report_if_gone(key);
        if self.cache.get(key).is_none() {
            return false;
        }
        self.cache.touch(key, self.clock.expiry(expiry));
        if let Some(item) = self.cache.get(key).cloned() {
            self.report(key, &item, KeyChange::Extended);
        }
        true
    }

    fn touch(&mut self, arguments: &[&[u8]], reply: Reply) -> CommandResult {
        if arguments[0].len() > KEY_MAX {
            return CommandResult::Reply(reply.text(BAD_LINE));
        }
        let said = match number::expiry(arguments[1]) {
            None => BAD_EXPIRY,
            Some(expiry) if self.extend(arguments[0], expiry) => "TOUCHED",
            Some(_) => "NOT_FOUND",
        };
        CommandResult::Reply(reply.text(said))
    }

    fn delete(&mut self, arguments: &[&[u8]], reply: Reply) -> CommandResult {
        let is_quiet = reply == Reply::Omitted;
        let is_zero = arguments.get(1) == Some(&b"0".as_slice());
        let is_valid = match arguments.len() {
            1 => true,
            2 => is_zero || is_quiet,
            _ => is_zero && is_quiet,
        };
        let key = arguments[0];
        let said = if !is_valid {
            "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]"
        } else if key.len() > KEY_MAX {
            BAD_LINE
        } else {
            self.report_if_gone(key);
            match self.cache.remove(key) {
                Some(item) => {
                    self.report(key, &item, KeyChange::Removed);
                    "DELETED"
                }
                None => "NOT_FOUND",
            }
        };
        CommandResult::Reply(reply.text(said))
    }

    /// Runs `incr` and `decr` (`do_add_delta`). As in memcached, pads a shorter result with spaces.
    fn count(&mut self, arguments: &[&[u8]], delta: Delta, reply: Reply) -> CommandResult {
        let said = |text: &str| CommandResult::Reply(reply.text(text));
        let key = arguments[0];
        if key.len() > KEY_MAX {
            return said(BAD_LINE);
        }
        let Some(by) = unsigned(arguments[1]) else {
            return said("CLIENT_ERROR invalid numeric delta argument");
        };
        self.report_if_gone(key);
        let Some(item) = self.cache.get(key).cloned() else { return said("NOT_FOUND") };
        let Some(before) = unsigned(&item.value) else {
            return said("CLIENT_ERROR cannot increment or decrement non-numeric value");
        };
        let after = match delta {
            Delta::Up => before.wrapping_add(by),
            Delta::Down => before.saturating_sub(by),
        };
        let digits = after.to_string();
        let padded = format!("{digits:<width$}", width = item.value.len());
        if digits.len() <= item.value.len() {
            self.cache.overwrite(key, padded.into());
            if let Some(item) = self.cache.get(key).cloned() {
                self.report(key, &item, KeyChange::Granted);
            }
        } else {
            self.put(key, item.flags, padded.into(), item.expiry);
        }
        said(&digits)
    }

    fn flush_all(&mut self, arguments: &[&[u8]], reply: Reply) -> CommandResult {
        let given = arguments.len() > usize::from(reply == Reply::Omitted);
        let delay = if given { number::expiry(arguments[0]) } else { Some(0) };
        let said = match delay {
            Some(delay) => {
                let at = self.clock.expiry(delay.max(0));
                self.cache.flush(at, &self.clock);
                for key in self.cache.keys() {
                    self.report_if_gone(&key);
                }
                "OK"
            }
            None => BAD_EXPIRY,
        };
        CommandResult::Reply(reply.text(said))
    }

    fn stats(&self) -> Vec<u8> {
        let (items, bytes) = self.cache.extent();
        let figures = [
            ("version", VERSION.to_owned()),
            ("curr_items", items.to_string()),
            ("bytes", bytes.to_string()),
            ("cmd_get", self.counts.gets.to_string()),
            ("cmd_set", self.counts.sets.to_string()),
            ("get_hits", self.counts.hits.to_string()),
            ("evictions", self.counts.evictions.to_string()),
        ];
        let lines: String =
            figures.iter().map(|(name, value)| format!("STAT {name} {value}\r\n")).collect();
        [lines.as_bytes(), b"END\r\n"].concat()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Value,
    Cas,
}
