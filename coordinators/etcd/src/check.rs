//! Request checks that do not need the stored keys (`api/v3rpc/key.go`).

use crate::refusal::Refusal;
use crate::request::{Call, DeleteRange, Op, Put, Range, Txn};
use std::collections::BTreeSet;

/// Default of etcd's `--max-txn-ops`.
const OPS_MAX: usize = 128;

pub(crate) fn call(call: &Call) -> Result<(), Refusal> {
    match call {
        Call::Range(wanted) => range(wanted),
        Call::Put(wanted) => put(wanted),
        Call::DeleteRange(wanted) => delete_range(wanted),
        Call::Txn(wanted) => {
            txn(wanted)?;
            intervals(&wanted.success)?;
            intervals(&wanted.failure)
        }
        _ => Ok(()),
    }
}

fn range(range: &Range) -> Result<(), Refusal> {
    if range.key.is_empty() { Err(Refusal::EmptyKey) } else { Ok(()) }
}

fn put(put: &Put) -> Result<(), Refusal> {
    if put.key.is_empty() {
        return Err(Refusal::EmptyKey);
    }
    if put.ignore_value && !put.value.is_empty() {
        return Err(Refusal::ValueProvided);
    }
    if put.ignore_lease && put.lease != 0 {
        return Err(Refusal::LeaseProvided);
    }
    Ok(())
}

fn delete_range(delete: &DeleteRange) -> Result<(), Refusal> {
    if delete.key.is_empty() { Err(Refusal::EmptyKey) } else { Ok(()) }
}

fn txn(txn: &Txn) -> Result<(), Refusal> {
    if txn.compare.len().max(txn.success.len()).max(txn.failure.len()) > OPS_MAX {
        return Err(Refusal::TooManyOps);
    }
    if txn.compare.iter().any(|compare| compare.key.is_empty()) {
        return Err(Refusal::EmptyKey);
    }
    txn.success.iter().chain(&txn.failure).try_for_each(|op| match op {
        Op::Range(wanted) => range(wanted),
        Op::Put(wanted) => put(wanted),
        Op::DeleteRange(wanted) => delete_range(wanted),
    })
}

/// Refuses a transaction that puts a key twice, or puts a key that it deletes (`checkIntervals`).
fn intervals(ops: &[Op]) -> Result<(), Refusal> {
    let deletes = |key: &[u8]| {
        ops.iter().any(|op| match op {
            Op::DeleteRange(DeleteRange { key: own, range_end, .. }) => match range_end.as_ref() {
                [] => own == key,
                end => key >= own.as_ref() && key < end,
            },
            _ => false,
        })
    };
    let mut written = BTreeSet::new();
    for op in ops {
        let Op::Put(Put { key, .. }) = op else { continue };
        if deletes(key) || !written.insert(key) {
            return Err(Refusal::DuplicateKey);
        }
    }
    Ok(())
}
