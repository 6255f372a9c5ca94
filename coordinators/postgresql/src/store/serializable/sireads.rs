//! Recorded reads of rows, pages, tables and index leaves. A read of a leaf conflicts with later
//! insertions into the index.

use super::{Serializable, Tracked};
use crate::store::{TableId, VersionId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Target {
    Row(TableId, VersionId),
    Page(TableId),
    Table(TableId),
    /// The only leaf of an index. The number identifies the index in its table.
    Leaf(TableId, usize),
}

/// Default of PostgreSQL's `max_pred_locks_per_page`.
const ROWS_MAX: usize = 2;

impl Target {
    fn enclosing(self) -> &'static [fn(TableId) -> Target] {
        match self {
            Target::Row(..) => &[Target::Page, Target::Table],
            Target::Page(_) => &[Target::Table],
            Target::Table(_) | Target::Leaf(..) => &[],
        }
    }

    fn table(self) -> TableId {
        match self {
            Target::Row(table, _)
            | Target::Page(table)
            | Target::Table(table)
            | Target::Leaf(table, _) => table,
        }
    }
}

impl Serializable {
    pub(crate) fn read(&mut self, id: Tracked, target: Target) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        let table = target.table();
        let is_covered = target.enclosing().iter().any(|of| entry.sireads.contains(&of(table)));
        if is_covered || !entry.sireads.insert(target) {
            return;
        }
        self.readers.entry(target).or_default().push(id);
        match target {
            Target::Row(..) if self.rows(id, table).len() > ROWS_MAX => {
                self.read(id, Target::Page(table));
            }
            Target::Page(_) | Target::Table(_) => {
                let page = Some(Target::Page(table)).filter(|page| *page != target);
                let finer = self.rows(id, table).into_iter().chain(page);
                finer.for_each(|target| self.forget_read(id, target));
            }
            Target::Row(..) | Target::Leaf(..) => {}
        }
    }

    fn rows(&self, id: Tracked, table: TableId) -> Vec<Target> {
        let sireads = self.get(id).into_iter().flat_map(|entry| &entry.sireads);
        let is_row = |target: &&Target| matches!(target, Target::Row(of, _) if *of == table);
        sireads.filter(is_row).copied().collect()
    }

    pub(super) fn forget_read(&mut self, id: Tracked, target: Target) {
        if !self.all.get_mut(&id).is_some_and(|entry| entry.sireads.remove(&target)) {
            return;
        }
        if let Some(readers) = self.readers.get_mut(&target) {
            readers.retain(|reader| *reader != id);
            if readers.is_empty() {
                self.readers.remove(&target);
            }
        }
    }

    pub(super) fn forget_reads(&mut self, id: Tracked) {
        let all: Vec<Target> =
            self.get(id).into_iter().flat_map(|entry| entry.sireads.iter().copied()).collect();
        all.into_iter().for_each(|target| self.forget_read(id, target));
    }

    pub(super) fn readers_of(&self, target: Target) -> Vec<Tracked> {
        self.readers.get(&target).cloned().unwrap_or_default()
    }
}
