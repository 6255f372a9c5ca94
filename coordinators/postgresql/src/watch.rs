//! Reports changes of the watched locks to the judge after each input.

use crate::core::Core;
use crate::sql::ast::{LockMode, Strength};
use crate::store::locks::Tag;
use crate::store::table::{Definition, Version};
use crate::store::{Backend, VersionId};
use crate::types::Value;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, Output, TapEvent, WallTime};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watch {
    /// Prefix of the names to report. An empty prefix also reports rows of tables outside `tables`
    /// while these rows are locked FOR UPDATE, as `table/key`.
    pub prefix: String,
    /// Tables in which each row is a lock, named by the key column.
    pub tables: Vec<LockTable>,
    /// Number and name of an advisory lock. Other advisory locks are named by their numbers.
    pub advisory: (i64, String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockTable {
    pub table: &'static str,
    pub key: &'static str,
    pub held: HeldWhen,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeldWhen {
    Present {
        owner: &'static str,
        stamp: &'static str,
        /// Microseconds after `stamp` until another process may take over the lock.
        ttl_us: i64,
    },
    /// An acquisition sets all three columns. A release sets only `until`, to an earlier time or
    /// to the current time.
    Taken {
        owner: &'static str,
        at: &'static str,
        until: &'static str,
        /// Maximum lease in microseconds.
        ttl_us: i64,
    },
    /// A transaction has locked the row FOR UPDATE. The owner is its session's process id.
    ForUpdate,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Holder {
    owner: String,
    by: Option<ConnectionId>,
    version: Option<VersionId>,
    taken: Option<i64>,
    /// Expiry in microseconds since the Unix epoch, computed from the row's times.
    until: Option<i64>,
}

/// A lock: its table (an index in [`Watch::tables`] or a constant below) and its name.
type Place = (usize, String);
type NamedRows<'c> = BTreeMap<String, (VersionId, &'c Version)>;
const ADVISORY: usize = usize::MAX - 1;
const ANY_TABLE: usize = usize::MAX;

#[derive(Debug)]
pub(crate) struct Watching {
    watch: Watch,
    seen: BTreeMap<Place, Holder>,
    versions: BTreeMap<Place, VersionId>,
    /// Start of the last released lock in each row of [`HeldWhen::Taken`], because a release may
    /// arrive twice.
    released: BTreeMap<Place, Option<i64>>,
    is_primary: bool,
}

pub(crate) trait Connections {
    fn of(&self, backend: Backend) -> Option<ConnectionId>;
    fn last_of(&self, backend: Backend) -> Option<ConnectionId>;
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.trim_end_matches(' ').to_owned(),
        Value::Integer(number) => number.to_string(),
        _ => String::new(),
    }
}

fn committed<'t>(
    core: &'t Core,
    table: &'t Definition,
) -> impl Iterator<Item = (VersionId, &'t Version)> {
    let is_done = |xid| !core.transactions.is_running(xid);
    let rows = table.versions.iter().filter(move |(_, version)| {
        is_done(version.made.0) && !version.ended.is_some_and(|ended| is_done(ended.by))
    });
    rows.map(|(id, version)| (*id, version))
}

fn time(table: &Definition, version: &Version, column: &str) -> Option<i64> {
    match version.values[table.column(column)?] {
        Value::Time(at) => Some(at),
        _ => None,
    }
}

fn locker(core: &Core, row: &Version) -> Option<Backend> {
    let (xid, _) = row.lockers.iter().find(|(_, strength)| *strength == Strength::Update)?;
    core.locks.holder(Tag::Transaction(*xid), LockMode::Exclusive)
}

impl Watching {
    pub(crate) fn new(watch: Watch) -> Watching {
        let (seen, versions, released) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Watching { watch, seen, versions, released, is_primary: true }
    }

    pub(crate) fn boot(&mut self, core: &Core) -> Vec<Output> {
        let mut told = Vec::new();
        self.is_primary = !core.is_in_recovery;
        for form in 0..self.watch.tables.len() {
            for (name, (version, holder)) in self.rows(core, form, None) {
                let is_held = |holder: &Holder| match (&self.watch.tables[form].held, holder.until)
                {
                    (HeldWhen::Taken { ttl_us, .. }, Some(until)) => {
                        holder.taken.is_some_and(|taken| until - taken >= *ttl_us - 1_000)
                    }
                    _ => true,
                };
                let place = (form, name);
                if let Some(released) = holder.as_ref().filter(|holder| !is_held(holder)) {
                    self.released.insert(place.clone(), released.taken);
                }
                if let Some(holder) = holder.filter(is_held) {
                    told.push(self.tap(&place, &holder, KeyChange::Restored, None));
                    self.seen.insert(place.clone(), holder);
                }
                self.versions.insert(place, version);
            }
        }
        told
    }

    pub(crate) fn take_changes(
        &mut self,
        core: &Core,
        connections: &dyn Connections,
    ) -> Vec<Output> {
        let (mut removed, mut taken) = (Vec::new(), Vec::new());
        self.is_primary = !core.is_in_recovery;
        for form in (0..self.watch.tables.len()).chain([ADVISORY, ANY_TABLE]) {
            let held = self.watch.tables.get(form).map(|table| &table.held);
            let changes = match held {
                Some(HeldWhen::Present { .. } | HeldWhen::Taken { .. }) => {
                    self.check_rows(core, form)
                }
                _ => {
                    let holders = match (held, form) {
                        (Some(_), _) => self.row_lockers(core, form),
                        (None, ADVISORY) => self.advisory(core),
                        (None, _) => self.lockers_of_any_row(core),
                    };
                    self.check_sessions(form, holders, connections)
                }
            };
            for (gone, come) in changes {
                removed.extend(gone);
                taken.extend(come);
            }
        }
        removed.into_iter().chain(taken).collect()
    }

    fn named_rows<'c>(
        &self,
        core: &'c Core,
        form: usize,
    ) -> Option<(&'c Definition, NamedRows<'c>)> {
        let LockTable { table, key, .. } = &self.watch.tables[form];
        let table = core.heap.named(table, None)?;
        let column = table.column(key)?;
        let mut rows = BTreeMap::new();
        for (id, row) in committed(core, table) {
            let name = text(&row.values[column]);
            if name.starts_with(&self.watch.prefix) {
                rows.entry(name).or_insert((id, row));
            }
        }
        Some((table, rows))
    }

    fn rows(
        &self,
        core: &Core,
        form: usize,
        by: Option<ConnectionId>,
    ) -> BTreeMap<String, (VersionId, Option<Holder>)> {
        let Some((table, rows)) = self.named_rows(core, form) else { return BTreeMap::new() };
        let held = &self.watch.tables[form].held;
        let holder = |id, row| holder_of(table, id, row, held, by);
        rows.into_iter().map(|(name, (id, row))| (name, (id, holder(id, row)))).collect()
    }

    fn check_rows(&mut self, core: &Core, form: usize) -> Vec<(Option<Output>, Option<Output>)> {
        let by = core.committed_last;
        let mut rows = self.rows(core, form, by);
        let known = self.versions.keys().filter(|(of, _)| *of == form).map(|(_, name)| name);
        let names: BTreeSet<String> = rows.keys().chain(known).cloned().collect();
        let look = |name: String| {
            let (version, now) = match rows.remove(&name) {
                Some((version, holder)) => (Some(version), holder),
                None => (None, None),
            };
            self.check_row((form, name), version, now, core.now.wall, by)
        };
        names.into_iter().map(look).collect()
    }

    fn check_row(
        &mut self,
        place: Place,
        version: Option<VersionId>,
        now: Option<Holder>,
        clock: WallTime,
        by: Option<ConnectionId>,
    ) -> (Option<Output>, Option<Output>) {
        let seen = match version {
            Some(version) => self.versions.insert(place.clone(), version),
            None => self.versions.remove(&place),
        };
        if version == seen {
            return (None, None);
        }
        let before = self.seen.remove(&place);
        match (before, now) {
            (before, None) => {
                let gone = before.map(|before| self.tap(&place, &before, KeyChange::Removed, by));
                (gone, None)
            }
            (None, Some(now)) if self.released.get(&place) == Some(&now.taken) => (None, None),
            (None, Some(now)) => (None, Some(self.report_taken(place, now, KeyChange::Granted))),
            (Some(before), Some(now)) if now.taken.is_some() && now.taken == before.taken => {
                if now.until < before.until || now.until.is_some_and(|until| until <= clock.0) {
                    self.released.insert(place.clone(), now.taken);
                    return (Some(self.tap(&place, &before, KeyChange::Removed, by)), None);
                }
                (None, Some(self.report_taken(place, now, KeyChange::Extended)))
            }
            (Some(before), Some(now)) => {
                let is_own = before.owner == now.owner && before.by == now.by;
                let change = match is_own && now.taken.is_none() {
                    true => KeyChange::Extended,
                    false => KeyChange::Granted,
                };
                (None, Some(self.report_taken(place, now, change)))
            }
        }
    }

    fn row_lockers(&self, core: &Core, form: usize) -> BTreeMap<String, Backend> {
        let rows = self.named_rows(core, form).map(|(_, rows)| rows).unwrap_or_default();
        let locked = |(name, (_, row))| Some((name, locker(core, row)?));
        rows.into_iter().filter_map(locked).collect()
    }

    fn lockers_of_any_row(&self, core: &Core) -> BTreeMap<String, Backend> {
        if !self.watch.prefix.is_empty() {
            return BTreeMap::new();
        }
        let is_named =
            |table: &Definition| self.watch.tables.iter().any(|known| known.table == table.name);
        let mut locked = BTreeMap::new();
        for table in core.heap.all().filter(|table| !is_named(table)) {
            let Some(index) = table.indexes.iter().find(|index| index.is_primary) else { continue };
            for (_, row) in committed(core, table) {
                let key: Vec<String> =
                    index.columns.iter().map(|column| text(&row.values[*column])).collect();
                let backend = locker(core, row);
                locked.extend(backend.map(|by| (format!("{}/{}", table.name, key.join(",")), by)));
            }
        }
        locked
    }

    fn advisory(&self, core: &Core) -> BTreeMap<String, Backend> {
        let (number, own) = &self.watch.advisory;
        let named = core.locks.advisory().map(|(tag, backend)| {
            let name = match tag {
                Tag::Advisory(other) if other == *number => own.clone(),
                Tag::Advisory(other) => other.to_string(),
                Tag::AdvisoryPair(first, second) => format!("{first},{second}"),
                _ => String::new(),
            };
            (name, backend)
        });
        named.filter(|(name, _)| name.starts_with(&self.watch.prefix)).collect()
    }

    fn check_sessions(
        &mut self,
        form: usize,
        holders: BTreeMap<String, Backend>,
        connections: &dyn Connections,
    ) -> Vec<(Option<Output>, Option<Output>)> {
        let known = self.seen.keys().filter(|(of, _)| *of == form).map(|(_, name)| name);
        let names: BTreeSet<String> = holders.keys().chain(known).cloned().collect();
        let look = |name: String| {
            let holder = holders.get(&name).copied();
            self.check_session((form, name), holder, connections)
        };
        names.into_iter().map(look).collect()
    }

    fn check_session(
        &mut self,
        place: Place,
        now: Option<Backend>,
        connections: &dyn Connections,
    ) -> (Option<Output>, Option<Output>) {
        let owner = now.map(|backend| backend.0.to_string());
        if owner == self.seen.get(&place).map(|before| before.owner.clone()) {
            return (None, None);
        }
        let gone = self.seen.remove(&place).map(|before| {
            let backend = Backend(before.owner.parse().unwrap_or(0));
            self.tap(&place, &before, KeyChange::Removed, connections.of(backend))
        });
        let come = now.zip(owner).map(|(backend, owner)| {
            let by = connections.last_of(backend);
            let holder = Holder { owner, by, version: None, taken: None, until: None };
            self.report_taken(place, holder, KeyChange::Granted)
        });
        (gone, come)
    }

    fn report_taken(&mut self, place: Place, holder: Holder, change: KeyChange) -> Output {
        let told = self.tap(&place, &holder, change, holder.by);
        self.seen.insert(place, holder);
        told
    }

    fn tap(
        &self,
        (_, name): &Place,
        holder: &Holder,
        change: KeyChange,
        by: Option<ConnectionId>,
    ) -> Output {
        let stands = !matches!(change, KeyChange::Removed);
        Output::Tap(TapEvent {
            key: Bytes::from(name.clone()),
            change,
            value: Some(Bytes::from(holder.owner.clone())),
            by,
            expires_at_ms: holder.until.filter(|_| stands).map(|until| until.div_euclid(1_000)),
            primary: self.is_primary,
            token: None,
        })
    }
}

fn holder_of(
    table: &Definition,
    id: VersionId,
    row: &Version,
    held: &HeldWhen,
    by: Option<ConnectionId>,
) -> Option<Holder> {
    let owner = |column: &str| table.column(column).map(|at| text(&row.values[at]));
    let version = Some(id);
    match held {
        HeldWhen::Present { owner: column, stamp, ttl_us } => {
            let until = time(table, row, stamp).map(|stamp| stamp.saturating_add(*ttl_us));
            owner(column).map(|owner| Holder { owner, by, version, taken: None, until })
        }
        HeldWhen::Taken { owner: column, at, until, .. } => {
            let (taken, until) = (time(table, row, at), time(table, row, until));
            owner(column).map(|owner| Holder { owner, by, version, taken, until })
        }
        HeldWhen::ForUpdate => None,
    }
}
