//! The end of serializable transactions, and the time for which they are remembered.

use super::{Entry, Serializable, Tracked};
use crate::store::Xid;

impl Serializable {
    pub(crate) fn commit(&mut self, id: Tracked, next: Xid) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        let was_declared = entry.is_read_only;
        self.last += 1;
        entry.committed = Some(self.last);
        entry.finished_before = next.0;
        entry.is_read_only |= !entry.has_written;
        self.remove_writable(was_declared);
        if was_declared {
            self.forget_undecided(id);
        }
        self.release_outs(id);
        self.release_ins(id);
        if !was_declared {
            self.resolve_undecided(id);
        }
        self.finished.push_back(id);
        self.leave(id);
    }

    pub(crate) fn abandon(&mut self, id: Tracked) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        let was_declared = entry.is_read_only;
        entry.is_doomed = true;
        entry.prepared = None;
        self.remove_writable(was_declared);
        match was_declared {
            true => self.forget_undecided(id),
            false => self.resolve_undecided(id),
        }
        let xmin = self.get(id).map(|entry| entry.xmin);
        self.remove(id);
        self.release_xmin(xmin);
    }

    fn remove_writable(&mut self, was_declared: bool) {
        if !was_declared {
            self.writable = self.writable.saturating_sub(1);
            if self.writable == 0 {
                self.clearable = self.last;
            }
        }
    }

    fn forget_undecided(&mut self, id: Tracked) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        for writer in std::mem::take(&mut entry.undecided) {
            if let Some(writer) = self.all.get_mut(&writer) {
                writer.undecided.retain(|reader| *reader != id);
            }
        }
    }

    fn release_outs(&mut self, id: Tracked) {
        let Some(entry) = self.get(id) else { return };
        let (is_read_only, last) = (entry.is_read_only, self.last);
        for writer in entry.outs.clone() {
            let Some(other) = self.get(writer) else { continue };
            let is_committed = other.committed.is_some();
            let (prepared, is_later) = (other.prepared, other.began >= last);
            if is_committed
                && !is_read_only
                && let Some(entry) = self.all.get_mut(&id)
            {
                entry.earliest_out = entry.earliest_out.into_iter().chain(prepared).min();
            }
            if is_committed || is_later {
                self.forget_conflict(id, writer);
            }
        }
    }

    fn release_ins(&mut self, id: Tracked) {
        let ins = self.get(id).map(|entry| entry.ins.clone()).unwrap_or_default();
        for reader in ins {
            let is_over = |entry: &Entry| entry.committed.is_some() || entry.is_read_only;
            if self.get(reader).is_some_and(is_over) {
                self.forget_conflict(reader, id);
            }
        }
    }

    fn forget_conflict(&mut self, reader: Tracked, writer: Tracked) {
        if let Some(entry) = self.all.get_mut(&reader) {
            entry.outs.retain(|other| *other != writer);
        }
        if let Some(entry) = self.all.get_mut(&writer) {
            entry.ins.retain(|other| *other != reader);
        }
    }

    fn resolve_undecided(&mut self, id: Tracked) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        let waiting = std::mem::take(&mut entry.undecided);
        let is_committed = entry.committed.is_some() && entry.has_written;
        let earliest = entry.earliest_out.filter(|_| is_committed);
        for reader in waiting {
            let Some(entry) = self.all.get_mut(&reader) else { continue };
            entry.undecided.retain(|writer| *writer != id);
            if earliest.is_some_and(|earliest| earliest <= entry.began) {
                self.forget_undecided(reader);
            } else if entry.undecided.is_empty() {
                entry.is_safe = true;
            }
        }
    }

    fn leave(&mut self, id: Tracked) {
        let xmin = self.get(id).map(|entry| entry.xmin);
        self.release_xmin(xmin);
    }

    fn release_xmin(&mut self, xmin: Option<u64>) {
        let Some((oldest, count)) = &mut self.global_xmin else { return };
        if Some(*oldest) != xmin {
            return;
        }
        *count -= 1;
        if *count > 0 {
            return;
        }
        let running = self.all.values().filter(|entry| entry.committed.is_none());
        let all: Vec<u64> = running.map(|entry| entry.xmin).collect();
        let oldest = all.iter().min().copied();
        self.global_xmin =
            oldest.map(|oldest| (oldest, all.iter().filter(|xmin| **xmin == oldest).count()));
        self.clear();
    }

    fn clear(&mut self) {
        for id in self.finished.clone() {
            let Some(entry) = self.get(id) else { continue };
            let committed = entry.committed.unwrap_or(0);
            if self.global_xmin.is_none_or(|(oldest, _)| entry.finished_before <= oldest) {
                self.remove(id);
            } else if committed > self.cleared && committed <= self.clearable {
                // Only read-only transactions overlap this transaction.
                match entry.is_read_only {
                    true => self.remove(id),
                    false => {
                        self.forget_reads(id);
                        self.forget_ins(id);
                    }
                }
                self.cleared = committed;
            } else {
                return;
            }
        }
    }

    fn forget_ins(&mut self, id: Tracked) {
        let ins = self.get(id).map(|entry| entry.ins.clone()).unwrap_or_default();
        ins.into_iter().for_each(|reader| self.forget_conflict(reader, id));
    }

    fn remove(&mut self, id: Tracked) {
        self.forget_reads(id);
        self.forget_ins(id);
        let outs = self.get(id).map(|entry| entry.outs.clone()).unwrap_or_default();
        outs.into_iter().for_each(|writer| self.forget_conflict(id, writer));
        self.finished.retain(|other| *other != id);
        if let Some(Entry { xid: Some(xid), .. }) = self.all.remove(&id) {
            self.by_xid.remove(&xid);
        }
    }
}
