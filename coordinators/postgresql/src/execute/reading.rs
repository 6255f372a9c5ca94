//! Records the reads of serializable transactions, and their conflicts with concurrent writers.

use super::access::{Access, Search, access};
use super::evaluate::Row;
use super::{Execution, Stop};
use crate::bound::Bound;
use crate::error::SqlError;
use crate::store::serializable::{Reason, Target, Tracked};
use crate::store::snapshot::Snapshot;
use crate::store::{TableId, VersionId};
use std::collections::VecDeque;

struct VersionSight {
    is_visible: bool,
    writer: Option<(crate::store::Xid, bool)>,
}

impl Execution<'_> {
    fn tracked(&self) -> Option<Tracked> {
        self.session.transaction.as_ref()?.tracked
    }

    /// Returns the visible rows on the access path, and records the read of the table or the index.
    pub(super) fn look_up_versions(
        &mut self,
        table: TableId,
        filter: Option<&Bound>,
    ) -> Result<Vec<VersionId>, Stop> {
        let Some(definition) = self.core.heap.get(table) else { return Ok(Vec::new()) };
        let search = match access(definition, filter) {
            Access::Nothing => return Ok(Vec::new()),
            Access::Sequential => {
                self.touch_all(table)?;
                return Ok(self.seen(table));
            }
            Access::Index(search) => search,
        };
        let roots = self.roots(table, &search)?;
        let found = roots.iter().filter_map(|root| self.seen_from(table, *root)).collect();
        if let Some(id) = self.tracked() {
            self.core.serializable.read(id, Target::Leaf(table, search.index));
            self.run.progress.roots = roots;
        }
        Ok(found)
    }

    fn touch_all(&mut self, table: TableId) -> Result<(), Stop> {
        let Some(id) = self.tracked() else { return Ok(()) };
        let Some(definition) = self.core.heap.get(table) else { return Ok(()) };
        let all: Vec<VersionId> = definition.versions.keys().copied().collect();
        self.core.serializable.read(id, Target::Table(table));
        for version in all {
            self.touch_version(id, table, version)?;
        }
        Ok(())
    }

    fn follower(&self, table: TableId, version: VersionId) -> Option<VersionId> {
        let heap = &self.core.heap;
        let next = heap.version(table, version)?.ended?.next?;
        (heap.version(table, next)?.follows == Some(version)).then_some(next)
    }

    fn seen_from(&self, table: TableId, root: VersionId) -> Option<VersionId> {
        let snapshot = self.run.snapshot.as_ref()?;
        let is_seen = |id: &VersionId| {
            let version = self.core.heap.version(table, *id);
            version.is_some_and(|version| version.is_seen(snapshot))
        };
        std::iter::successors(Some(root), |id| self.follower(table, *id)).find(is_seen)
    }

    pub(super) fn touch_until(
        &mut self,
        table: TableId,
        wanted: Option<VersionId>,
    ) -> Result<(), Stop> {
        while let Some(root) = self.run.progress.roots.pop_front() {
            let Some(id) = self.tracked() else { return Ok(()) };
            let found = self.touch_chain(id, table, root)?;
            if wanted.is_some() && found == wanted {
                return Ok(());
            }
        }
        Ok(())
    }

    fn roots(&mut self, table: TableId, search: &Search) -> Result<VecDeque<VersionId>, Stop> {
        let Some(definition) = self.core.heap.get(table) else { return Ok(VecDeque::new()) };
        let is_root = |version: &crate::store::table::Version| {
            let follows = version.follows.is_some_and(|of| definition.versions.contains_key(&of));
            version.indexed > search.index && !follows
        };
        let entries = definition.versions.iter().filter(|(_, version)| is_root(version));
        let mut entries: Vec<_> =
            entries.map(|(id, version)| (version.place, *id, version.values.clone())).collect();
        entries.sort_by_key(|(place, ..)| *place);
        let mut found = VecDeque::new();
        for (_, id, values) in entries {
            let mut is_found = true;
            for condition in &search.conditions {
                is_found &= self.passes(Some(condition), Row::of(&values))?;
            }
            if is_found {
                found.push_back(id);
            }
        }
        Ok(found)
    }

    fn touch_chain(
        &mut self,
        id: Tracked,
        table: TableId,
        root: VersionId,
    ) -> Result<Option<VersionId>, Stop> {
        let mut next = Some(root);
        while let Some(version) = next {
            if self.touch_version(id, table, version)? {
                self.note_read(id, table, version);
                return Ok(Some(version));
            }
            next = self.follower(table, version);
        }
        Ok(None)
    }

    fn touch_version(
        &mut self,
        id: Tracked,
        table: TableId,
        version: VersionId,
    ) -> Result<bool, Stop> {
        let refused = |reason: Reason| Stop::from(SqlError::from(reason));
        self.core.serializable.check_doomed(id, Reason::DuringRead).map_err(refused)?;
        let Some(sight) = self.sight(table, version) else { return Ok(false) };
        if let Some((writer, is_concurrent)) = sight.writer {
            let serializable = &mut self.core.serializable;
            serializable.conflict_out(id, writer, is_concurrent).map_err(refused)?;
        }
        Ok(sight.is_visible)
    }

    /// Records that an INSERT with DO NOTHING has read the existing row, as PostgreSQL 15.20 does.
    pub(super) fn read_rival(&mut self, table: TableId, version: VersionId) -> Result<(), Stop> {
        let Some(id) = self.tracked() else { return Ok(()) };
        if self.touch_version(id, table, version)? {
            self.note_read(id, table, version);
        }
        Ok(())
    }

    fn note_read(&mut self, id: Tracked, table: TableId, version: VersionId) {
        let made = self.core.heap.version(table, version).map(|version| version.made.0);
        if made.is_some() && made != self.session.xid() {
            self.core.serializable.read(id, Target::Row(table, version));
        }
    }

    fn sight(&self, table: TableId, version: VersionId) -> Option<VersionSight> {
        let snapshot: &Snapshot = self.run.snapshot.as_ref()?;
        let version = self.core.heap.version(table, version)?;
        let is_visible = version.is_seen(snapshot);
        let writer = match (is_visible, version.ended) {
            (true, ended) => ended.map(|ended| ended.by),
            (false, _) => Some(version.made.0),
        };
        let writer = writer.filter(|xid| Some(*xid) != self.session.xid());
        Some(VersionSight { is_visible, writer: writer.map(|xid| (xid, !snapshot.includes(xid))) })
    }

    pub(super) fn check_readers(&mut self, targets: &[Target]) -> Result<(), Stop> {
        let Some(id) = self.tracked() else { return Ok(()) };
        let checked = self.core.serializable.conflict_in(id, targets);
        checked.map_err(|reason| SqlError::from(reason).into())
    }

    pub(super) fn check_change(&mut self, table: TableId, version: VersionId) -> Result<(), Stop> {
        let all = [Target::Row(table, version), Target::Page(table), Target::Table(table)];
        self.check_readers(&all)
    }
}
