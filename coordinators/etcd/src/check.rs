//! Checks of requests that do not depend on the keys (`api/v3rpc/key.go`).

use crate::refusal::Refusal;
use crate::request::{Call, DeleteRange, Op, Put, Range, Txn};
use std::collections::BTreeSet;

/// Default of etcd's `--max-txn-ops`.
const OPS_MAX: usize = 128;
/// Default of etcd's `--max-request-bytes`.
const REQUEST_MAX: usize = 1_572_864;
const MESSAGE_MAX: usize = REQUEST_MAX + (512 << 10);
const PROPOSAL_EXTRA: usize = 16;

pub(crate) fn call(call: &Call) -> Result<(), Refusal> {
    let size = size(call);
    if size > MESSAGE_MAX {
        return Err(Refusal::MessageTooLarge(size));
    }
    match call {
        Call::Range(wanted) => range(wanted)?,
        Call::Put(wanted) => put(wanted)?,
        Call::DeleteRange(wanted) => delete_range(wanted)?,
        Call::Txn(wanted) => {
            txn(wanted)?;
            intervals(&wanted.success)?;
            intervals(&wanted.failure)?;
        }
        _ => {}
    }
    if size + PROPOSAL_EXTRA > REQUEST_MAX { Err(Refusal::RequestTooLarge) } else { Ok(()) }
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

/// Checks that a branch neither writes a key twice nor puts a key that it deletes.
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

/// Returns the size of a call in gRPC's encoding, exact for all fields that can be long.
fn size(call: &Call) -> usize {
    match call {
        Call::Range(range) => field(&range.key) + field(&range.range_end),
        Call::Put(put) => put_size(put),
        Call::DeleteRange(delete) => field(&delete.key) + field(&delete.range_end),
        Call::Txn(txn) => txn_size(txn),
        Call::Lock { name, .. } => field(name),
        Call::Unlock(key) => field(key),
        _ => 0,
    }
}

fn put_size(put: &Put) -> usize {
    let lease = u64::from_ne_bytes(put.lease.to_ne_bytes());
    let lease = if lease == 0 { 0 } else { 1 + varint(lease) };
    let flags = [put.prev_kv, put.ignore_value, put.ignore_lease];
    field(&put.key) + field(&put.value) + lease + 2 * flags.iter().filter(|it| **it).count()
}

fn txn_size(txn: &Txn) -> usize {
    let compares = txn.compare.iter().map(|compare| 8 + field(&compare.key));
    let ops = txn.success.iter().chain(&txn.failure).map(|op| match op {
        Op::Range(range) => 6 + field(&range.key) + field(&range.range_end),
        Op::Put(put) => 6 + put_size(put),
        Op::DeleteRange(delete) => 6 + field(&delete.key) + field(&delete.range_end),
    });
    compares.sum::<usize>() + ops.sum::<usize>()
}

fn field(bytes: &[u8]) -> usize {
    if bytes.is_empty() { 0 } else { 1 + varint(bytes.len() as u64) + bytes.len() }
}

fn varint(number: u64) -> usize {
    (64 - number.leading_zeros()).max(1).div_ceil(7) as usize
}
