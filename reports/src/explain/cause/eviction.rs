//! A server evicted a key.

use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::Change(Change::Evicted)],
    between: Some(|scene| format!("{} was out of memory and evicted it.", scene.held_at())),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A server evicted the lock to free memory.",
    how: "Its memory was full, and it makes room by dropping keys.",
    helps: "No cache on the server that holds locks. On Redis: maxmemory-policy noeviction; on \
            memcached: -M, with which it answers an error in place of evicting.",
};
