//! Reports to the judge: the owner of the watched lock, according to committed rows, row locks and
//! advisory locks.
//!
//! After each input the server compares what it watches ([`Watch`]) with what it saw last, and
//! reports every difference. No lock is taken and released within one input, so nothing is missed.
//! A lock that ends with its connection is reported without a connection.

use crate::core::Core;
use crate::sql::ast::{LockMode, Strength};
use crate::store::locks::Tag;
use crate::store::table::{Definition, Version};
use crate::store::{Backend, VersionId};
use crate::types::Value;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, Output, TapEvent};

/// The watched lock in all its possible forms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watch {
    /// Name of the lock: the key in reports, and the text in the row's key column.
    pub resource: String,
    /// Tables in which a row may be this lock.
    pub tables: Vec<LockTable>,
    /// Number of its advisory lock.
    pub advisory: i64,
}

/// A table whose rows are locks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockTable {
    /// Table name.
    pub table: &'static str,
    /// Column with the name of the lock.
    pub key: &'static str,
    /// Condition for the lock to be held.
    pub held: HeldWhen,
}

/// Condition for a lock that is a row to be held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeldWhen {
    /// The row exists, and a column names the owner.
    Present {
        /// Owner column.
        owner: &'static str,
        /// Column with the start or the end of the lease.
        stamp: &'static str,
        /// Time after `stamp` until the lock may be taken over, in microseconds.
        ttl_us: i64,
    },
    /// The row was taken and not released since. Taking it sets all three columns; releasing it
    /// sets only `until`, to an earlier time.
    Taken {
        /// Owner column.
        owner: &'static str,
        /// Column with the time it was taken.
        at: &'static str,
        /// Column with the end of the lease.
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
    /// The connection that took it; `None` if taken before the server started.
    by: Option<ConnectionId>,
    version: Option<VersionId>,
    /// When it was taken, for [`HeldWhen::Taken`].
    taken: Option<i64>,
    /// End of the lease, in microseconds since the Unix epoch by the server's clock.
    until: Option<i64>,
}

#[derive(Debug)]
pub(crate) struct Watching {
    watch: Watch,
    seen: Vec<Option<Holder>>,
    versions: Vec<Option<VersionId>>,
    is_primary: bool,
}

pub(crate) trait Connections {
    /// The session's connection, unless it is closed.
    fn of(&self, backend: Backend) -> Option<ConnectionId>;
    /// The session's connection, even while it is closing.
    fn last_of(&self, backend: Backend) -> Option<ConnectionId>;
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.trim_end_matches(' ').to_owned(),
        _ => String::new(),
    }
}

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

fn time(table: &Definition, version: &Version, column: &str) -> Option<i64> {
    match version.values[table.column(column)?] {
        Value::Time(at) => Some(at),
        _ => None,
    }
}

impl Watching {
    pub(crate) fn new(watch: Watch) -> Watching {
        let forms = watch.tables.len() + 1;
        Watching { seen: vec![None; forms], versions: vec![None; forms], watch, is_primary: true }
    }

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
