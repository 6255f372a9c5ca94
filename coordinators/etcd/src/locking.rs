use crate::refusal::Refusal;
use crate::request::{Compare, DeleteRange, Op, Put, Range, Txn};
use crate::state::{Command, Outcome};
use bytes::Bytes;

/// TTL in seconds of the lease that the server grants a caller without one (`defaultSessionTTL`).
pub(crate) const TTL: i64 = 60;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Granting,
    Entering,
    Looking,
    Waiting(Bytes),
    Checking,
    Leaving(Refusal),
    Unlocking,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Locking {
    pub(crate) prefix: String,
    pub(crate) lease: i64,
    pub(crate) key: Bytes,
    pub(crate) revision: i64,
    pub(crate) stage: Stage,
    pub(crate) unproposed: Option<Command>,
}

impl Locking {
    pub(crate) fn new(name: &[u8], lease: i64) -> Locking {
        let name = match std::str::from_utf8(name) {
            Ok(name) => name.to_owned(),
            Err(_) => name.iter().copied().map(char::from).collect(),
        };
        let (prefix, stage) = (format!("{name}/"), Stage::Granting);
        Locking { prefix, lease, key: Bytes::new(), revision: 0, stage, unproposed: None }
    }

    pub(crate) fn unlock(key: Bytes) -> Locking {
        Locking { key, stage: Stage::Unlocking, ..Locking::new(b"", 0) }
    }

    pub(crate) fn wanted(&self) -> Option<Range> {
        let below = || Range {
            range_end: after_prefix(&self.prefix),
            limit: 1,
            sort_target: 2,
            ..Range::of(self.prefix.clone().into())
        };
        match self.stage {
            Stage::Looking => {
                Some(Range { sort_order: 2, max_create_revision: self.revision - 1, ..below() })
            }
            Stage::Checking => Some(Range::of(self.key.clone())),
            _ => None,
        }
    }

    pub(crate) fn waits_for(&self, key: &[u8]) -> bool {
        matches!(&self.stage, Stage::Waiting(other) if other.as_ref() == key)
    }

    pub(crate) fn enter(&mut self) -> Command {
        self.key = format!("{}{}", self.prefix, hex(self.lease)).into();
        self.stage = Stage::Entering;
        let key = self.key.clone();
        let compare = Compare { target: 1, key: key.clone(), ..Compare::default() };
        let put = Put { key: key.clone(), lease: self.lease, ..Put::default() };
        let owner = Range {
            range_end: after_prefix(&self.prefix),
            limit: 1,
            sort_order: 1,
            sort_target: 2,
            ..Range::of(self.prefix.clone().into())
        };
        Command::Txn(Txn {
            compare: vec![compare],
            success: vec![Op::Put(put), Op::Range(owner.clone())],
            failure: vec![Op::Range(Range::of(key)), Op::Range(owner)],
        })
    }

    pub(crate) fn entered(&mut self, outcome: &Outcome) -> bool {
        let Outcome::Txn { revision, is_success, outcomes } = outcome else { return false };
        let first = |at: usize| match outcomes.get(at) {
            Some(Outcome::Range(found)) => found.kvs.first().map(|kv| kv.create_revision),
            _ => None,
        };
        self.revision = if *is_success { *revision } else { first(0).unwrap_or(*revision) };
        first(1).is_none_or(|owner| owner == self.revision)
    }

    pub(crate) fn leave(&self) -> Command {
        Command::DeleteRange(DeleteRange { key: self.key.clone(), ..DeleteRange::default() })
    }
}

pub(crate) fn after_prefix(prefix: &str) -> Bytes {
    format!("{}0", prefix.strip_suffix('/').unwrap_or(prefix)).into()
}

pub(crate) fn hex(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{:x}", number.unsigned_abs())
}
