//! Ends serializable transactions, and forgets them once no concurrent transaction is running.

use super::{Entry, Serializable, Tracked};
use crate::store::Xid;

impl Serializable {
    pub(crate) fn commit(&mut self, id: Tracked, next: Xid) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        self.last += 1;
        entry.committed = Some(self.last);
        entry.finished_before = next.0;
        entry.is_read_only = !entry.has_written;
        self.release_outs(id);
        self.release_ins(id);
        self.finished.push_back(id);
        let xmin = self.get(id).map(|entry| entry.xmin);
        self.release_xmin(xmin);
    }

    pub(crate) fn abandon(&mut self, id: Tracked) {
        let xmin = self.get(id).map(|entry| entry.xmin);
        self.remove(id);
        self.release_xmin(xmin);
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
            if self.get(reader).is_some_and(|entry| entry.committed.is_some()) {
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
            if self.global_xmin.is_some_and(|(oldest, _)| entry.finished_before > oldest) {
                return;
            }
            self.remove(id);
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
