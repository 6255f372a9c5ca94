use crate::block::{Mode, Storing};
use crate::cache::Cache;
use crate::number::{self, flags, signed, unsigned};
use crate::reply::{BAD_LINE, KEY_MAX, Reply};
use crate::server::{CommandResult, Memcached};
use bytes::Bytes;
use fencepost_machine::KeyChange;

impl Memcached {
    /// Begins a storage command (`process_update_command` in proto_text.c).
    pub(crate) fn begin(&mut self, mode: Mode, words: &[&[u8]], reply: Reply) -> CommandResult {
        let bad = || CommandResult::Reply(reply.text(BAD_LINE));
        let numbers = (flags(words[1]), number::expiry(words[2]), signed(words[3]));
        let (Some(flags), Some(expiry), Some(length)) = numbers else { return bad() };
        let mode = match mode {
            Mode::Cas(_) => match unsigned(words[4]) {
                Some(number) => Mode::Cas(number),
                None => return bad(),
            },
            mode => mode,
        };
        let length = usize::try_from(length).ok().filter(|length| *length <= i32::MAX as usize - 2);
        let Some(length) = length.filter(|_| words[0].len() <= KEY_MAX) else { return bad() };
        if !Cache::fits(words[0], length + 2) {
            // Remove the old item, because a failed store must not leave a stale value.
            self.report_if_gone(words[0]);
            if let Some(old) = self.cache.remove(words[0]) {
                self.report(words[0], &old, KeyChange::Removed);
            }
            let said = reply.text("SERVER_ERROR object too large for cache");
            return CommandResult::Swallow(length + 2, said);
        }
        let (key, expiry) = (Bytes::copy_from_slice(words[0]), self.clock.expiry(expiry));
        CommandResult::Await(Storing { mode, key, flags, expiry, length, reply })
    }

    /// Ends a storage command after its data block (`complete_nread_ascii` in proto_text.c).
    pub(crate) fn finish(&mut self, storing: Storing, block: &Bytes) -> Vec<u8> {
        let reply = storing.reply;
        if &block[storing.length..] != b"\r\n" {
            return reply.text("CLIENT_ERROR bad data chunk");
        }
        let value = block.slice(..storing.length);
        reply.text(self.store(&storing, value))
    }

    /// Stores the item if the command's mode allows it (`do_store_item`).
    fn store(&mut self, storing: &Storing, value: Bytes) -> &'static str {
        const STORED: &str = "STORED";
        let Storing { mode, key, flags, expiry, .. } = storing;
        self.report_if_gone(key);
        let old = self.cache.get(key).cloned();
        match (mode, old) {
            (Mode::Cas(_), None) => return "NOT_FOUND",
            (Mode::Cas(number), Some(old)) if old.cas != *number => return "EXISTS",
            (Mode::Add, Some(_)) | (Mode::Replace | Mode::Append | Mode::Prepend, None) => {
                return "NOT_STORED";
            }
            (Mode::Append, Some(old)) => {
                let joined = [&old.value[..], &value].concat();
                self.put(key, old.flags, joined.into(), old.expiry);
            }
            (Mode::Prepend, Some(old)) => {
                let joined = [&value[..], &old.value].concat();
                self.put(key, old.flags, joined.into(), old.expiry);
            }
            (Mode::Set | Mode::Add | Mode::Replace | Mode::Cas(_), _) => {
                self.put(key, *flags, value, *expiry);
            }
        }
        STORED
    }
}
