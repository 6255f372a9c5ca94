//! Keys and leases. Every member computes them by applying the log (`etcdserver/apply.go`).

use crate::lessor::Lessor;
use crate::mvcc::{Event, Found, KeyValue, Span, Store};
use crate::refusal::Refusal;
use crate::request::{Compare, DeleteRange, Op, Put, Range, Txn};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    Nothing,
    Put(Put),
    DeleteRange(DeleteRange),
    Txn(Txn),
    LeaseGrant { id: i64, ttl: i64 },
    LeaseRevoke(i64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Range(Found),
    Put { revision: i64, before: Option<KeyValue> },
    DeleteRange { revision: i64, deleted: i64, before: Vec<KeyValue> },
    Txn { revision: i64, is_success: bool, outcomes: Vec<Outcome> },
    Header { revision: i64 },
    LeaseGrant { revision: i64, id: i64, ttl: i64 },
}

impl Outcome {
    pub(crate) fn revision(&self) -> i64 {
        match self {
            Outcome::Range(found) => found.revision,
            Outcome::Put { revision, .. }
            | Outcome::DeleteRange { revision, .. }
            | Outcome::Txn { revision, .. }
            | Outcome::Header { revision }
            | Outcome::LeaseGrant { revision, .. } => *revision,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) lessor: Lessor,
}

pub(crate) struct Applied {
    pub(crate) outcome: Result<Outcome, Refusal>,
    pub(crate) events: Vec<Event>,
}

impl State {
    pub(crate) fn new(ttl_min: i64) -> State {
        State { store: Store::new(), lessor: Lessor::new(ttl_min) }
    }

    pub(crate) fn apply(&mut self, command: &Command, now_us: u64) -> Applied {
        let outcome = match command {
            Command::Nothing => Ok(Outcome::Header { revision: self.store.revision() }),
            Command::Put(put) => self.checked_put(put),
            Command::DeleteRange(delete) => Ok(self.delete(delete)),
            Command::Txn(txn) => self.txn(txn),
            Command::LeaseGrant { id, ttl } => {
                let (id, revision) = (*id, self.store.revision());
                let granted = self.lessor.grant(id, *ttl, now_us);
                granted.map(|ttl| Outcome::LeaseGrant { revision, id, ttl })
            }
            Command::LeaseRevoke(id) => self.revoke(*id),
        };
        Applied { outcome, events: self.store.commit() }
    }

    pub(crate) fn range(&self, range: &Range) -> Result<Outcome, Refusal> {
        self.store.range(range).map(Outcome::Range)
    }

    fn checked_put(&mut self, put: &Put) -> Result<Outcome, Refusal> {
        self.check_lease(put)?;
        self.check_put(put)?;
        Ok(self.put(put))
    }

    fn check_put(&self, put: &Put) -> Result<(), Refusal> {
        let needs_key = put.ignore_value || put.ignore_lease;
        if needs_key && self.store.current(&put.key).is_none() {
            return Err(Refusal::KeyNotFound);
        }
        self.check_lease(put)
    }

    fn check_lease(&self, put: &Put) -> Result<(), Refusal> {
        if put.lease != 0 && self.lessor.get(put.lease).is_none() {
            return Err(Refusal::LeaseNotFound);
        }
        Ok(())
    }

    fn put(&mut self, put: &Put) -> Outcome {
        let before = self.store.current(&put.key).cloned();
        let kept = before.clone().unwrap_or_default();
        let value = if put.ignore_value { kept.value } else { put.value.clone() };
        let lease = if put.ignore_lease { kept.lease } else { put.lease };
        let revision = self.store.put(&put.key, value, lease);
        self.lessor.attach(&put.key, lease);
        Outcome::Put { revision, before: before.filter(|_| put.prev_kv) }
    }

    fn delete(&mut self, delete: &DeleteRange) -> Outcome {
        let span = Span { key: delete.key.clone(), end: delete.range_end.clone() };
        let before = self.store.delete(&span);
        before.iter().for_each(|kv| self.lessor.detach(&kv.key));
        let deleted = i64::try_from(before.len()).unwrap_or(i64::MAX);
        let before = if delete.prev_kv { before } else { Vec::new() };
        Outcome::DeleteRange { revision: self.store.written(), deleted, before }
    }

    fn revoke(&mut self, id: i64) -> Result<Outcome, Refusal> {
        for key in self.lessor.revoke(id)? {
            self.store.delete(&Span { key, end: Bytes::new() });
        }
        Ok(Outcome::Header { revision: self.store.written() })
    }

    pub(crate) fn txn(&mut self, txn: &Txn) -> Result<Outcome, Refusal> {
        let is_success = txn.compare.iter().all(|compare| self.holds(compare));
        let branch = if is_success { &txn.success } else { &txn.failure };
        for op in branch {
            match op {
                Op::Put(put) => self.check_put(put)?,
                Op::Range(range) => self.store.check_revision(range.revision)?,
                Op::DeleteRange(_) => {}
            }
        }
        let outcomes = branch.iter().map(|op| match op {
            Op::Range(range) => Outcome::Range(self.store.range(range).unwrap_or_default()),
            Op::Put(put) => self.put(put),
            Op::DeleteRange(delete) => self.delete(delete),
        });
        let outcomes = outcomes.collect();
        Ok(Outcome::Txn { revision: self.store.written(), is_success, outcomes })
    }

    fn holds(&self, compare: &Compare) -> bool {
        let span = Span { key: compare.key.clone(), end: compare.range_end.clone() };
        let mut found = self.store.all(&span).peekable();
        if found.peek().is_none() {
            return compare.target != 3 && compares(compare, &KeyValue::default());
        }
        found.all(|kv| compares(compare, kv))
    }
}

fn compares(compare: &Compare, kv: &KeyValue) -> bool {
    use std::cmp::Ordering::{Greater, Less};
    let order = match compare.target {
        0 => kv.version.cmp(&compare.version),
        1 => kv.create_revision.cmp(&compare.create_revision),
        2 => kv.mod_revision.cmp(&compare.mod_revision),
        3 => kv.value.cmp(&compare.value),
        4 => kv.lease.cmp(&compare.lease),
        _ => std::cmp::Ordering::Equal,
    };
    match compare.result {
        0 => order.is_eq(),
        1 => order == Greater,
        2 => order == Less,
        3 => order.is_ne(),
        _ => true,
    }
}
