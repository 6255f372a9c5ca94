//! What a request must be, whatever the keys are (`api/v3rpc/key.go`).

use crate::mvcc::Span;
use crate::refusal::Refusal;
use crate::request::{Call, DeleteRange, Op, Put, Range, Txn};
use bytes::Bytes;
use std::collections::BTreeSet;

/// How many operations a transaction may have (`--max-txn-ops`).
const OPS_MAX: usize = 128;
/// How long a proposal may be (`--max-request-bytes`).
const REQUEST_MAX: usize = 1_572_864;
/// How long a message may be: the same and what gRPC adds.
const MESSAGE_MAX: usize = REQUEST_MAX + (512 << 10);
/// What a proposal has besides the request: its header.
const PROPOSAL_EXTRA: usize = 16;

/// Refuses a request that can never be carried out.
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
            txn(wanted, OPS_MAX)?;
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

fn txn(txn: &Txn, ops_max: usize) -> Result<(), Refusal> {
    let count = txn.compare.len().max(txn.success.len()).max(txn.failure.len());
    let Some(left) = ops_max.checked_sub(count) else { return Err(Refusal::TooManyOps) };
    if txn.compare.iter().any(|compare| compare.key.is_empty()) {
        return Err(Refusal::EmptyKey);
    }
    txn.success.iter().chain(&txn.failure).try_for_each(|one| op(one, left))
}

fn op(op: &Op, ops_max: usize) -> Result<(), Refusal> {
    match op {
        Op::Empty => Err(Refusal::KeyNotFound),
        Op::Range(wanted) => range(wanted),
        Op::Put(wanted) => put(wanted),
        Op::DeleteRange(wanted) => delete_range(wanted),
        Op::Txn(wanted) => txn(wanted, ops_max),
    }
}

/// What one branch writes.
#[derive(Default)]
struct Written {
    puts: BTreeSet<Bytes>,
    deletes: Vec<Span>,
}

impl Written {
    /// An end of one zero byte has no special meaning here.
    fn deletes(&self, key: &[u8]) -> bool {
        self.deletes.iter().any(|span| match span.end.as_ref() {
            [] => span.key == key,
            end => key >= span.key.as_ref() && key < end,
        })
    }
}

/// A branch must not write a key twice, nor put what it deletes.
fn intervals(ops: &[Op]) -> Result<Written, Refusal> {
    let deletes = ops.iter().filter_map(|op| match op {
        Op::DeleteRange(DeleteRange { key, range_end, .. }) => {
            Some(Span { key: key.clone(), end: range_end.clone() })
        }
        _ => None,
    });
    let mut written = Written { puts: BTreeSet::new(), deletes: deletes.collect() };
    for op in ops {
        let Op::Txn(txn) = op else { continue };
        let (then, other) = (intervals(&txn.success)?, intervals(&txn.failure)?);
        for key in &then.puts {
            if written.puts.contains(key) || written.deletes(key) {
                return Err(Refusal::DuplicateKey);
            }
            written.puts.insert(key.clone());
        }
        for key in other.puts {
            let is_twice = written.puts.contains(&key) && !then.puts.contains(&key);
            if is_twice || written.deletes(&key) {
                return Err(Refusal::DuplicateKey);
            }
            written.puts.insert(key);
        }
        written.deletes.extend(then.deletes.into_iter().chain(other.deletes));
    }
    for op in ops {
        let Op::Put(Put { key, .. }) = op else { continue };
        if written.deletes(key) || !written.puts.insert(key.clone()) {
            return Err(Refusal::DuplicateKey);
        }
    }
    Ok(written)
}

/// How long a request is on the wire of gRPC: exact for what can be long.
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
        Op::Empty => 2,
        Op::Range(range) => 6 + field(&range.key) + field(&range.range_end),
        Op::Put(put) => 6 + put_size(put),
        Op::DeleteRange(delete) => 6 + field(&delete.key) + field(&delete.range_end),
        Op::Txn(txn) => 6 + txn_size(txn),
    });
    compares.sum::<usize>() + ops.sum::<usize>()
}

fn field(bytes: &[u8]) -> usize {
    if bytes.is_empty() { 0 } else { 1 + varint(bytes.len() as u64) + bytes.len() }
}

fn varint(number: u64) -> usize {
    (64 - number.leading_zeros()).max(1).div_ceil(7) as usize
}
