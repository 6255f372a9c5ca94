use crate::core::Core;
use crate::sql::ast::Strength;
use crate::store::TableId;
use crate::store::table::Ended;
use crate::wal::{self, Record};
use bytes::Bytes;
use std::collections::BTreeSet;

pub(crate) fn replay(core: &mut Core, part: &Bytes) {
    for records in wal::groups(part) {
        let xid = core.transactions.start();
        let mut changed: BTreeSet<TableId> = BTreeSet::new();
        for record in records {
            match record {
                Record::Put(table, version, values) => {
                    let indexed = core.heap.get(table).map_or(0, |table| table.indexes.len());
                    core.heap.put(table, version, values, (xid, 0), indexed);
                    changed.insert(table);
                }
                Record::Remove(table, version) => {
                    let strength = Strength::Update;
                    let ended = Ended { by: xid, command: 0, next: None, strength };
                    core.heap.end(table, version, ended);
                    changed.insert(table);
                }
                definition => wal::redo(&mut core.heap, definition),
            }
        }
        core.transactions.end(xid);
        for table in changed {
            core.heap.vacuum(table, &core.transactions);
        }
    }
}
