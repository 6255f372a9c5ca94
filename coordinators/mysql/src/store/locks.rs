//! Locks on rows and on the gaps before them, as in InnoDB. One lock object may cover several rows;
//! the number of objects influences the choice of a deadlock victim. A lock waits for the earlier
//! conflicting locks in its row's queue, whether granted or not. The place behind the last row (the
//! supremum) has a lockable gap.

use super::TableId;
use super::key::Key;
use crate::locks::SessionId;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Mode {
    Shared,
    Exclusive,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    Both,
    Gap,
    Row,
    Insertion,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    Row(Key),
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) by: SessionId,
    pub(crate) table: TableId,
    pub(crate) place: Place,
    pub(crate) mode: Mode,
    pub(crate) extent: Extent,
}

#[derive(Clone, Debug)]
struct Lock {
    by: SessionId,
    table: TableId,
    places: BTreeSet<Place>,
    mode: Mode,
    extent: Extent,
    is_waiting: bool,
}

#[derive(Debug, Default)]
pub(crate) struct RowLocks {
    locks: Vec<Lock>,
    waits: BTreeMap<SessionId, SessionId>,
}

/// Intention locks on tables. They only influence the choice of a deadlock victim.
pub(crate) type Intents = BTreeSet<(SessionId, TableId, Mode)>;

impl Lock {
    fn is_at(&self, table: TableId, place: &Place) -> bool {
        self.table == table && self.places.contains(place)
    }

    fn conflicts_with(&self, wanted: &Wanted) -> bool {
        use Extent::{Both, Gap, Insertion, Row};
        let is_end = wanted.place == Place::End;
        if self.by == wanted.by || (self.mode, wanted.mode) == (Mode::Shared, Mode::Shared) {
            return false;
        }
        match (wanted.extent, self.extent) {
            (_, Insertion) | (Gap, _) | (Insertion, Row) => false,
            (Insertion, Both | Gap) => true,
            (Both | Row, Gap) => false,
            (Both | Row, Both | Row) => !is_end,
        }
    }

    fn covers(&self, wanted: &Wanted) -> bool {
        use Extent::{Both, Gap, Insertion, Row};
        let is_wide = match self.extent {
            Insertion => false,
            Both => true,
            Gap => wanted.extent == Gap || wanted.place == Place::End,
            Row => wanted.extent == Row,
        };
        !self.is_waiting && self.by == wanted.by && self.mode >= wanted.mode && is_wide
    }
}

impl Wanted {
    /// Sets the extent of a lock on the supremum, except an insertion, to `Both`.
    fn normal(mut self) -> Wanted {
        if self.place == Place::End && self.extent != Extent::Insertion {
            self.extent = Extent::Both;
        }
        self
    }
}

impl RowLocks {
    pub(crate) fn has(&self, wanted: &Wanted) -> bool {
        let wanted = wanted.clone().normal();
        let mut there = self.locks.iter().filter(|one| one.is_at(wanted.table, &wanted.place));
        there.any(|one| one.covers(&wanted))
    }

    pub(crate) fn conflicting_session(&self, wanted: &Wanted) -> Option<SessionId> {
        let wanted = wanted.clone().normal();
        let mut there = self.locks.iter().filter(|one| one.is_at(wanted.table, &wanted.place));
        there.find(|one| one.conflicts_with(&wanted)).map(|one| one.by)
    }

    pub(crate) fn add_lock(&mut self, wanted: Wanted) {
        let wanted = wanted.normal();
        let is_awaited = |one: &Lock| one.is_waiting && one.is_at(wanted.table, &wanted.place);
        if !self.locks.iter().any(is_awaited) {
            let similar = self.locks.iter_mut().find(|one| {
                one.by == wanted.by
                    && one.table == wanted.table
                    && (one.mode, one.extent) == (wanted.mode, wanted.extent)
                    && !one.is_waiting
            });
            if let Some(similar) = similar {
                similar.places.insert(wanted.place);
                return;
            }
        }
        self.push(wanted, false);
    }

    fn push(&mut self, wanted: Wanted, is_waiting: bool) {
        let Wanted { by, table, place, mode, extent } = wanted;
        let places = BTreeSet::from([place]);
        self.locks.push(Lock { by, table, places, mode, extent, is_waiting });
    }

    pub(crate) fn wait(&mut self, wanted: Wanted, behind: SessionId) {
        self.waits.insert(wanted.by, behind);
        self.push(wanted.normal(), true);
    }

    pub(crate) fn deadlock_cycle(&self, session: SessionId) -> Vec<SessionId> {
        let (mut at, mut circle) = (session, vec![session]);
        while let Some(next) = self.waits.get(&at) {
            if *next == session {
                return circle;
            }
            if circle.contains(next) {
                break;
            }
            circle.push(*next);
            at = *next;
        }
        Vec::new()
    }

    pub(crate) fn count(&self, session: SessionId) -> usize {
        self.locks.iter().filter(|one| one.by == session).count()
    }

    pub(crate) fn give_up(&mut self, session: SessionId) {
        self.waits.remove(&session);
        self.locks.retain(|one| one.by != session || !one.is_waiting);
    }

    pub(crate) fn release_all(&mut self, session: SessionId) {
        self.waits.remove(&session);
        self.locks.retain(|one| one.by != session);
    }

    pub(crate) fn release(&mut self, wanted: &Wanted) {
        let own = self.locks.iter_mut().find(|one| {
            one.by == wanted.by && one.mode == wanted.mode && one.is_at(wanted.table, &wanted.place)
        });
        if let Some(own) = own {
            own.places.remove(&wanted.place);
        }
    }

    pub(crate) fn grant(&mut self) -> (Vec<SessionId>, Vec<SessionId>) {
        let (mut granted, mut turned) = (Vec::new(), Vec::new());
        for at in 0..self.locks.len() {
            let Some(wanted) = self.locks[at].waiting() else { continue };
            let before = &self.locks[..at];
            let hindrance = before
                .iter()
                .find(|one| one.is_at(wanted.table, &wanted.place) && one.conflicts_with(&wanted))
                .map(|one| one.by);
            match hindrance {
                Some(other) => {
                    if self.waits.insert(wanted.by, other) != Some(other) {
                        turned.push(wanted.by);
                    }
                }
                None => {
                    self.locks[at].is_waiting = false;
                    self.waits.remove(&wanted.by);
                    granted.push(wanted.by);
                }
            }
        }
        (granted, turned)
    }

    pub(crate) fn split(&mut self, table: TableId, new: &Place, next: &Place) {
        let is_wide = |one: &&Lock| !matches!(one.extent, Extent::Insertion | Extent::Row);
        self.inherit(table, next, new, |one| is_wide(&one));
    }

    /// Moves those locks of the row `gone` that `keeps` selects to `next`, as gap locks. Returns
    /// the sessions that were waiting for `gone`.
    pub(crate) fn merge(
        &mut self,
        table: TableId,
        (gone, next): (&Place, &Place),
        keeps: impl Fn(SessionId, Mode) -> bool,
    ) -> Vec<SessionId> {
        let is_kept = |one: &Lock| one.extent != Extent::Insertion && keeps(one.by, one.mode);
        self.inherit(table, gone, next, is_kept);
        let mut woken = Vec::new();
        for one in &mut self.locks {
            if one.table == table && one.places.remove(gone) && one.is_waiting {
                woken.push(one.by);
            }
        }
        for session in &woken {
            self.give_up(*session);
        }
        woken
    }

    fn inherit(
        &mut self,
        table: TableId,
        from: &Place,
        to: &Place,
        is_heir: impl Fn(&Lock) -> bool,
    ) {
        let there = self.locks.iter().filter(|one| one.is_at(table, from) && is_heir(one));
        let inherited: Vec<(SessionId, Mode)> = there.map(|one| (one.by, one.mode)).collect();
        for (by, mode) in inherited {
            let wanted = Wanted { by, table, place: to.clone(), mode, extent: Extent::Gap };
            self.add_lock(wanted);
        }
    }

    pub(crate) fn exclusive(&self) -> impl Iterator<Item = (TableId, &Key, SessionId)> {
        let is_held = |one: &&Lock| {
            !one.is_waiting
                && one.mode == Mode::Exclusive
                && matches!(one.extent, Extent::Row | Extent::Both)
        };
        self.locks.iter().filter(is_held).flat_map(|one| {
            let rows = one.places.iter().filter_map(|place| match place {
                Place::Row(key) => Some(key),
                Place::End => None,
            });
            rows.map(|key| (one.table, key, one.by))
        })
    }
}

impl Lock {
    fn waiting(&self) -> Option<Wanted> {
        let place = self.places.first().filter(|_| self.is_waiting)?.clone();
        let Lock { by, table, mode, extent, .. } = *self;
        Some(Wanted { by, table, place, mode, extent })
    }
}
