use super::entry::{Entry, Need};
use fencepost_faults::Impact;

pub(super) static ENTRY: Entry = Entry {
    how: "Another server must take over, or clients must notice and switch servers: Sentinels and \
          followers first wait for a timeout.",
    helps: "Use a shorter timeout, at the cost of needless failovers; use independent masters, of \
            which a minority may fail; let clients retry soon.",
    needs: &[Need::DeadServer, Need::Impact(Impact::Kills), Need::Impact(Impact::Freezes)],
    ..Entry::PLAIN
};
