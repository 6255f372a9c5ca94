use super::entry::{Entry, Need};
use crate::record::history::Change;
use fencepost_faults::FaultKind;

pub(super) static ENTRY: Entry = Entry {
    how: "One command removes all locks and counters: FLUSHALL or FLUSHDB on Redis, flush_all on \
          memcached.",
    helps: "Keep locks on a dedicated server and disable the command there, with an ACL on Redis \
            and with -F on memcached.",
    needs: &[Need::Change(Change::Flushed), Need::Fault(FaultKind::FlushAll)],
    between: Some(|scene| match scene.lost_at(Change::Flushed) {
        (server, true) => format!("{server} was flushed."),
        (servers, false) => format!("{servers} were flushed."),
    }),
    ..Entry::PLAIN
};
