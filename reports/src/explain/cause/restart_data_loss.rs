//! A server restarted without the counter of tokens.

use super::entry::{Entry, Measure, Need};
use crate::judge::meaning::Meaning;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::DeadServer, Need::Change(Change::Forgotten)],
    between: Some(|scene| format!("{} restarted without its counter of tokens.", scene.held_at())),
    measure: Some(Measure::Absence),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A server came back without the counter that gives out fencing tokens.",
    how: "It keeps nothing on a disk, or writes its file only every second.",
    helps: "Take tokens from a store that does not lose them. On Redis: appendfsync always for the \
            server that holds the counter; on memcached: there is nothing that would keep it.",
};
