//! What was read, in the pieces in which it is remembered: a row, all rows of the page, a whole
//! table, and the leaf of an index, which stands for the rows that are not there.

use super::{Serializable, Tracked};
use crate::store::{TableId, VersionId};

/// A piece of data that was read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Target {
    Row(TableId, VersionId),
    /// The page that has all rows of a table; not the rows that will be there.
    Page(TableId),
    Table(TableId),
    /// All keys of an index, by its number in the table: they are on one page.
    Leaf(TableId, usize),
}

/// How many rows of a page are remembered one by one (`max_pred_locks_per_page`).
const ROWS_MAX: usize = 2;

impl Target {
    /// What includes it, from the finest.
    fn around(self) -> &'static [fn(TableId) -> Target] {
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
    /// Remembers that a transaction reads something.
    pub(crate) fn read(&mut self, id: Tracked, target: Target) {
        let Some(entry) = self.all.get_mut(&id) else { return };
        let table = target.table();
        let is_covered = target.around().iter().any(|of| entry.sireads.contains(&of(table)));
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

    /// The rows of a table that are remembered one by one.
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

    /// Who has read something, in the order in which they did.
    pub(super) fn readers_of(&self, target: Target) -> Vec<Tracked> {
        self.readers.get(&target).cloned().unwrap_or_default()
    }
}
