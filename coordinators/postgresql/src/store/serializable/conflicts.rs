//! Read-write conflicts between transactions, and the choice of a transaction to cancel.

use super::{Entry, Moment, Reason, Serializable, Target, Tracked};
use crate::store::Xid;

impl Serializable {
    /// Records a conflict. `is_concurrent` is `true` if the reader's snapshot excludes the writer.
    pub(crate) fn conflict_out(
        &mut self,
        reader: Tracked,
        writer: Xid,
        is_concurrent: bool,
    ) -> Result<(), Reason> {
        let Some(writer) = self.by_xid.get(&writer).copied() else { return Ok(()) };
        let (Some(own), Some(other)) = (self.get(reader), self.get(writer)) else { return Ok(()) };
        if reader == writer || other.is_doomed || !is_concurrent || own.outs.contains(&writer) {
            return Ok(());
        }
        self.flag(reader, writer, reader)
    }

    pub(crate) fn conflict_in(
        &mut self,
        writer: Tracked,
        targets: &[Target],
    ) -> Result<(), Reason> {
        self.check_doomed(writer, Reason::DuringWrite)?;
        if let Some(entry) = self.all.get_mut(&writer) {
            entry.has_written = true;
        }
        for target in targets {
            for reader in self.readers_of(*target) {
                if self.can_matter(reader, writer) {
                    self.flag(reader, writer, writer)?;
                }
            }
            if matches!(target, Target::Row(..)) {
                self.forget_read(writer, *target);
            }
        }
        Ok(())
    }

    fn can_matter(&self, reader: Tracked, writer: Tracked) -> bool {
        let (Some(other), Some(own)) = (self.get(reader), self.get(writer)) else { return false };
        let overlaps = other.committed.is_none() || own.xmin < other.finished_before;
        reader != writer && !other.is_doomed && overlaps && !other.outs.contains(&writer)
    }

    fn flag(&mut self, reader: Tracked, writer: Tracked, own: Tracked) -> Result<(), Reason> {
        if self.is_dangerous(reader, writer) {
            let Some(pivot) = self.all.get_mut(&writer) else { return Ok(()) };
            if own == writer {
                return Err(Reason::Write);
            }
            if pivot.prepared.is_some() {
                return Err(Reason::Read(pivot.xid));
            }
            pivot.is_doomed = true;
        }
        if let Some(entry) = self.all.get_mut(&reader) {
            entry.outs.push(writer);
        }
        if let Some(entry) = self.all.get_mut(&writer) {
            entry.ins.push(reader);
        }
        Ok(())
    }

    fn is_dangerous(&self, reader: Tracked, writer: Tracked) -> bool {
        let (Some(first), Some(second)) = (self.get(reader), self.get(writer)) else {
            return false;
        };
        if second.committed.is_some() && second.earliest_out.is_some() {
            return true;
        }
        let entries = |ids: &[Tracked]| -> Vec<&Entry> {
            ids.iter().filter_map(|id| self.get(*id)).collect()
        };
        // First case: the writer is the pivot, the middle transaction of a dangerous structure.
        let is_out = |third: &&Entry| {
            let by =
                |moment: Option<Moment>| moment.is_none_or(|moment| third.prepared <= Some(moment));
            third.prepared.is_some()
                && by(first.committed)
                && by(second.committed)
                && (!first.is_read_only || by(Some(first.began)))
        };
        if entries(&second.outs).iter().any(is_out) {
            return true;
        }
        // Second case: the reader is the pivot.
        let Some(prepared) = second.prepared else { return false };
        let is_in = |before: &&Entry| {
            !before.is_doomed
                && before.committed.is_none_or(|committed| committed >= prepared)
                && (!before.is_read_only || before.began >= prepared)
        };
        !first.is_read_only && entries(&first.ins).iter().any(is_in)
    }

    pub(crate) fn prepare(&mut self, id: Tracked) -> Result<(), Reason> {
        self.check_doomed(id, Reason::DuringCommit)?;
        let near: Vec<Tracked> = self.get(id).map(|entry| entry.ins.clone()).unwrap_or_default();
        for pivot in near {
            let Some(entry) = self.get(pivot) else { continue };
            if entry.committed.is_some() || entry.is_doomed {
                continue;
            }
            let is_far = |far: &Tracked| {
                let is_running = |far: &Entry| far.committed.is_none() && !far.is_doomed;
                *far == id || self.get(*far).is_some_and(is_running)
            };
            if !entry.ins.iter().any(is_far) {
                continue;
            }
            if entry.prepared.is_some() {
                return Err(Reason::Commit);
            }
            if let Some(pivot) = self.all.get_mut(&pivot) {
                pivot.is_doomed = true;
            }
        }
        self.last += 1;
        let now = self.last;
        if let Some(entry) = self.all.get_mut(&id) {
            entry.prepared = Some(now);
        }
        Ok(())
    }
}
