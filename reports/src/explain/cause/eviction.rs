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
    how: "Its memory was full, and it frees memory by evicting keys.",
    helps: "Do not use a server that holds locks as a cache. On Redis: maxmemory-policy \
            noeviction; on memcached: -M, which returns an error instead of evicting.",
};
