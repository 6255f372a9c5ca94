//! How a transaction within another is written: as a list of transactions that name those within
//! them by their places. A reader of JSON, which bounds how deep values nest, sees no nest.

use super::{Compare, DeleteRange, NEST_MAX, Op, Put, Range, Txn};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde::{Deserialize as Read, Serialize as Write};

#[derive(Read, Write)]
struct Flat {
    compare: Vec<Compare>,
    success: Vec<FlatOp>,
    failure: Vec<FlatOp>,
}

#[derive(Read, Write)]
enum FlatOp {
    Empty,
    Range(Range),
    Put(Put),
    DeleteRange(DeleteRange),
    /// The place of a transaction, which is before that of the one that names it.
    Txn(usize),
}

pub(super) fn serialize<S: Serializer>(txn: &Txn, serializer: S) -> Result<S::Ok, S::Error> {
    let mut all = Vec::new();
    flatten(txn.clone(), &mut all);
    all.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Txn, D::Error> {
    let mut built = Vec::new();
    for flat in Vec::<Flat>::deserialize(deserializer)? {
        let txn = nested(flat, &mut built);
        built.push(Some(txn.ok_or_else(|| D::Error::custom("no such transaction"))?));
    }
    let last = built.pop().flatten();
    last.map(|last| last.txn).ok_or_else(|| D::Error::custom("no transaction"))
}

/// A transaction, and how deep those within it are nested.
struct Built {
    txn: Txn,
    depth: u32,
}

/// `None` if it is too deep, or there is no transaction at a place that it names.
fn nested(flat: Flat, built: &mut [Option<Built>]) -> Option<Built> {
    let mut depth = 0;
    let mut ops = |flat: Vec<FlatOp>| -> Option<Vec<Op>> {
        let op = |op| {
            Some(match op {
                FlatOp::Empty => Op::Empty,
                FlatOp::Range(range) => Op::Range(range),
                FlatOp::Put(put) => Op::Put(put),
                FlatOp::DeleteRange(delete) => Op::DeleteRange(delete),
                FlatOp::Txn(place) => {
                    let inner = built.get_mut(place)?.take()?;
                    depth = depth.max(inner.depth + 1);
                    Op::Txn(inner.txn)
                }
            })
        };
        flat.into_iter().map(op).collect()
    };
    let (success, failure) = (ops(flat.success)?, ops(flat.failure)?);
    let txn = Txn { compare: flat.compare, success, failure };
    (depth <= NEST_MAX).then_some(Built { txn, depth })
}

/// Writes a transaction after those within it, and returns its place. How deep it is was bounded
/// when it was read.
fn flatten(txn: Txn, all: &mut Vec<Flat>) -> usize {
    let mut ops = |ops: Vec<Op>| -> Vec<FlatOp> {
        let flat = |op| match op {
            Op::Empty => FlatOp::Empty,
            Op::Range(range) => FlatOp::Range(range),
            Op::Put(put) => FlatOp::Put(put),
            Op::DeleteRange(delete) => FlatOp::DeleteRange(delete),
            Op::Txn(txn) => FlatOp::Txn(flatten(txn, all)),
        };
        ops.into_iter().map(flat).collect()
    };
    let (success, failure) = (ops(txn.success), ops(txn.failure));
    all.push(Flat { compare: txn.compare, success, failure });
    all.len() - 1
}
