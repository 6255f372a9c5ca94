//! What the judge is told: who has the lock that is watched, as the committed rows, the row locks
//! and the advisory locks say it.
//!
//! After each input the server looks at what it watches ([`Watch`]), compares it with what it saw
//! last, and tells every difference. Nobody takes and loses a lock within one input, so that
//! nothing is missed. A lock that ends with its connection is removed by nobody.

use crate::core::Core;
use crate::sql::ast::{LockMode, Strength};
use crate::store::locks::Tag;
use crate::store::table::{Definition, Version};
use crate::store::{Backend, VersionId};
use crate::types::Value;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, Output, TapEvent};

/// The lock that is watched, in all the forms that it may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watch {
    /// Its name: the key that the judge is told, and the text that a row's key column holds.
    pub resource: String,
    /// The tables in which a row may be this lock.
    pub tables: Vec<LockTable>,
    /// The number of its advisory lock.
    pub advisory: i64,
}

/// A table whose rows are locks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockTable {
    /// Its name.
    pub table: &'static str,
    /// The column that names the lock.
    pub key: &'static str,
    /// What it takes to hold a lock of this table.
    pub held: HeldWhen,
}

/// What it takes to hold the lock that is a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeldWhen {
    /// The row is there, and this column names the owner.
    Present {
        /// The column with the owner.
        owner: &'static str,
        /// The column with the time from which, or until which, it is held.
        stamp: &'static str,
        /// How long after the stamp the lock may be taken over, in microseconds.
        ttl_us: i64,
    },
    /// The row was taken, and not given back since. Who takes it sets all three columns; who gives
    /// it back sets only `until`, to an earlier time.
    Taken {
        /// The column with the owner.
        owner: &'static str,
        /// The column with the time at which it was taken.
        at: &'static str,
        /// The column with the time until which it is held at most.
        until: &'static str,
        /// How long it is held at most, in microseconds.
        ttl_us: i64,
    },
    /// A transaction has locked the row FOR UPDATE. The owner is the process id of its session.
    ForUpdate,
}

/// Somebody who has the lock in one of its forms.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Holder {
    owner: String,
    /// The connection that took it; `None` if it was there when the server started.
    by: Option<ConnectionId>,
    /// The version of the row, where the lock is a row.
    version: Option<VersionId>,
    /// When it was taken, for [`HeldWhen::Taken`].
    taken: Option<i64>,
    /// When it may be taken over by the server's clock, in microseconds since the Unix epoch.
    until: Option<i64>,
}

/// What was seen last, of each form of the lock.
#[derive(Debug)]
pub(crate) struct Watching {
    watch: Watch,
    /// For each table, what stands there; the last is the advisory lock.
    seen: Vec<Option<Holder>>,
    /// The last version of each table's row that was looked at, held or not.
    versions: Vec<Option<VersionId>>,
    /// Whether the server is a primary.
    is_primary: bool,
}

/// What the server knows of its connections.
pub(crate) trait Connections {
    /// The connection of a session, if it is still there.
    fn of(&self, backend: Backend) -> Option<ConnectionId>;
    /// The connection of a session, though it may be ending.
    fn last_of(&self, backend: Backend) -> Option<ConnectionId>;
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.trim_end_matches(' ').to_owned(),
        _ => String::new(),
    }
}

/// A row of a table as it is committed, by the text of one column.
fn committed<'t>(
    core: &Core,
    table: &'t Definition,
    (column, key): (usize, &str),
) -> Option<(VersionId, &'t Version)> {
    let is_done = |xid| !core.transactions.is_running(xid);
    let mut rows = table.versions.iter().filter(|(_, version)| {
        is_done(version.made.0)
            && !version.ended.is_some_and(|ended| is_done(ended.by))
            && text(&version.values[column]) == key
    });
    rows.next().map(|(id, version)| (*id, version))
}

/// The value of a column that holds a time.
fn time(table: &Definition, version: &Version, column: &str) -> Option<i64> {
    match version.values[table.column(column)?] {
        Value::Time(at) => Some(at),
        _ => None,
    }
}

impl Watching {
    /// Nothing has been seen yet.
    pub(crate) fn new(watch: Watch) -> Watching {
        let forms = watch.tables.len() + 1;
        Watching { seen: vec![None; forms], versions: vec![None; forms], watch, is_primary: true }
    }

    /// Looks at what the disk held, before anybody connects.
    pub(crate) fn boot(&mut self, core: &Core) -> Vec<Output> {
        let mut told = Vec::new();
        self.is_primary = !core.is_in_recovery;
        for form in 0..self.watch.tables.len() {
            let Some((version, holder)) = self.row(core, form, None) else { continue };
            self.versions[form] = Some(version);
            let is_held = |holder: &Holder| match (&self.watch.tables[form].held, holder.until) {
                (HeldWhen::Taken { ttl_us, .. }, Some(until)) => {
                    holder.taken.is_some_and(|taken| until - taken >= *ttl_us - 1_000)
                }
                _ => true,
            };
            if let Some(holder) = holder.filter(is_held) {
                told.push(self.tap(&holder, KeyChange::Restored, None));
                self.seen[form] = Some(holder);
            }
        }
        told
    }

    /// Tells what has changed.
    pub(crate) fn look(&mut self, core: &Core, connections: &dyn Connections) -> Vec<Output> {
        let (mut removed, mut taken) = (Vec::new(), Vec::new());
        self.is_primary = !core.is_in_recovery;
        for form in 0..self.seen.len() {
            let (gone, come) = match self.watch.tables.get(form).map(|table| &table.held) {
                Some(HeldWhen::Present { .. } | HeldWhen::Taken { .. }) => {
                    self.look_at_row(core, form)
                }
                Some(HeldWhen::ForUpdate) => {
                    let holder = self.row_locker(core, form);
                    self.look_at_session(form, holder, connections)
                }
                None => {
                    let tag = Tag::Advisory(self.watch.advisory);
                    let holder = core.locks.holder(tag, LockMode::Exclusive);
                    self.look_at_session(form, holder, connections)
                }
            };
            removed.extend(gone);
            taken.extend(come);
        }
        removed.into_iter().chain(taken).collect()
    }

    /// A row that is a lock: its version, and who holds it by what it says.
    fn row(
        &self,
        core: &Core,
        form: usize,
        by: Option<ConnectionId>,
    ) -> Option<(VersionId, Option<Holder>)> {
        let LockTable { table, key, held } = &self.watch.tables[form];
        let table = core.heap.named(table, None)?;
        let wanted = (table.column(key)?, self.watch.resource.as_str());
        let (id, row) = committed(core, table, wanted)?;
        let owner = |column: &str| table.column(column).map(|at| text(&row.values[at]));
        let holder = match held {
            HeldWhen::Present { owner: column, stamp, ttl_us } => {
                owner(column).map(|owner| Holder {
                    owner,
                    by,
                    version: Some(id),
                    taken: None,
                    until: time(table, row, stamp).map(|stamp| stamp.saturating_add(*ttl_us)),
                })
            }
            HeldWhen::Taken { owner: column, at, until, .. } => owner(column).map(|owner| Holder {
                owner,
                by,
                version: Some(id),
                taken: time(table, row, at),
                until: time(table, row, until),
            }),
            HeldWhen::ForUpdate => None,
        };
        Some((id, holder))
    }

    fn look_at_row(&mut self, core: &Core, form: usize) -> (Option<Output>, Option<Output>) {
        let by = core.committed_last;
        let (version, now) = match self.row(core, form, by) {
            Some((version, holder)) => (Some(version), holder),
            None => (None, None),
        };
        if version == std::mem::replace(&mut self.versions[form], version) {
            return (None, None);
        }
        let before = self.seen[form].take();
        match (before, now) {
            (before, None) => {
                let gone = before.map(|before| self.tap(&before, KeyChange::Removed, by));
                (gone, None)
            }
            (None, Some(now)) => (None, Some(self.come(form, now, KeyChange::Granted))),
            (Some(before), Some(now)) if now.taken.is_some() && now.taken == before.taken => {
                if now.until < before.until {
                    return (Some(self.tap(&before, KeyChange::Removed, by)), None);
                }
                (None, Some(self.come(form, now, KeyChange::Extended)))
            }
            (Some(before), Some(now)) => {
                let is_own = before.owner == now.owner && before.by == now.by;
                let change = match is_own && now.taken.is_none() {
                    true => KeyChange::Extended,
                    false => KeyChange::Granted,
                };
                (None, Some(self.come(form, now, change)))
            }
        }
    }

    /// The session whose transaction has the row locked FOR UPDATE.
    fn row_locker(&self, core: &Core, form: usize) -> Option<Backend> {
        let LockTable { table, key, .. } = &self.watch.tables[form];
        let table = core.heap.named(table, None)?;
        let (_, row) = committed(core, table, (table.column(key)?, &self.watch.resource))?;
        let (xid, _) = row.lockers.iter().find(|(_, strength)| *strength == Strength::Update)?;
        core.locks.holder(Tag::Transaction(*xid), LockMode::Exclusive)
    }

    fn look_at_session(
        &mut self,
        form: usize,
        now: Option<Backend>,
        connections: &dyn Connections,
    ) -> (Option<Output>, Option<Output>) {
        let owner = now.map(|backend| backend.0.to_string());
        if owner == self.seen[form].as_ref().map(|before| before.owner.clone()) {
            return (None, None);
        }
        let gone = self.seen[form].take().map(|before| {
            let backend = Backend(before.owner.parse().unwrap_or(0));
            self.tap(&before, KeyChange::Removed, connections.of(backend))
        });
        let come = now.zip(owner).map(|(backend, owner)| {
            let by = connections.last_of(backend);
            let holder = Holder { owner, by, version: None, taken: None, until: None };
            self.come(form, holder, KeyChange::Granted)
        });
        (gone, come)
    }

    fn come(&mut self, form: usize, holder: Holder, change: KeyChange) -> Output {
        let told = self.tap(&holder, change, holder.by);
        self.seen[form] = Some(holder);
        told
    }

    fn tap(&self, holder: &Holder, change: KeyChange, by: Option<ConnectionId>) -> Output {
        let stands = !matches!(change, KeyChange::Removed);
        Output::Tap(TapEvent {
            key: Bytes::from(self.watch.resource.clone()),
            change,
            value: Some(Bytes::from(holder.owner.clone())),
            by,
            expires_at_ms: holder.until.filter(|_| stands).map(|until| until.div_euclid(1_000)),
            primary: self.is_primary,
            token: None,
        })
    }
}
