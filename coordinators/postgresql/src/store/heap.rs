use super::snapshot::Snapshot;
use super::table::{Definition, Ended, Index, Version};
use super::transactions::Transactions;
use super::{TableId, VersionId, Xid};
use crate::sql::ast::Strength;
use crate::types::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

const FIRST_TABLE: u32 = 16_384;

#[derive(Clone, Debug)]
pub(crate) struct Heap {
    tables: BTreeMap<TableId, Definition>,
    next_table: u32,
    next_version: u64,
}

impl Heap {
    pub(crate) fn new() -> Heap {
        Heap { tables: BTreeMap::new(), next_table: FIRST_TABLE, next_version: 1 }
    }

    pub(crate) fn next_table_id(&mut self) -> TableId {
        self.next_table += 1;
        TableId(self.next_table - 1)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Definition> {
        self.tables.values()
    }

    pub(crate) fn get(&self, id: TableId) -> Option<&Definition> {
        self.tables.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: TableId) -> Option<&mut Definition> {
        self.tables.get_mut(&id)
    }

    pub(crate) fn named(&self, name: &str, own: Option<Xid>) -> Option<&Definition> {
        let is_seen = |table: &&Definition| {
            let is_there = table.creator.is_none() || table.creator == own;
            is_there && (table.dropper.is_none() || table.dropper != own)
        };
        self.tables.values().filter(is_seen).find(|table| table.name == name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Definition> {
        self.tables.values().filter(|table| table.creator.is_none())
    }

    pub(crate) fn creator_of(&self, name: &str) -> Option<Xid> {
        self.tables.values().find(|table| table.name == name)?.creator
    }

    pub(crate) fn index_named(&self, name: &str) -> Option<&Definition> {
        self.tables.values().find(|table| table.indexes.iter().any(|index| index.name == name))
    }

    pub(crate) fn restore(&mut self, definition: Definition) {
        self.next_table = self.next_table.max(definition.id.0 + 1);
        let last = definition.versions.keys().last().map_or(0, |version| version.0);
        self.next_version = self.next_version.max(last + 1);
        self.tables.insert(definition.id, definition);
    }

    pub(crate) fn forget(&mut self, id: TableId) -> Option<Definition> {
        self.tables.remove(&id)
    }

    pub(crate) fn undrop(&mut self, id: TableId) {
        if let Some(table) = self.tables.get_mut(&id) {
            table.dropper = None;
        }
    }

    pub(crate) fn insert(
        &mut self,
        table: TableId,
        values: Vec<Value>,
        made: (Xid, u32),
    ) -> VersionId {
        let id = VersionId(self.next_version);
        self.put(table, id, values, made, 0);
        id
    }

    pub(crate) fn put(
        &mut self,
        table: TableId,
        id: VersionId,
        values: Vec<Value>,
        made: (Xid, u32),
        indexed: usize,
    ) {
        self.next_version = self.next_version.max(id.0 + 1);
        let values = Rc::new(values);
        let (ended, lockers) = (None, Vec::new());
        let version = Version { values, made, ended, indexed, lockers, follows: None, place: id };
        if let Some(table) = self.tables.get_mut(&table) {
            table.versions.insert(id, version);
        }
    }

    pub(crate) fn version(&self, table: TableId, id: VersionId) -> Option<&Version> {
        self.tables.get(&table)?.versions.get(&id)
    }

    pub(crate) fn version_mut(&mut self, table: TableId, id: VersionId) -> Option<&mut Version> {
        self.tables.get_mut(&table)?.versions.get_mut(&id)
    }

    pub(crate) fn remove(&mut self, table: TableId, id: VersionId) {
        if let Some(table) = self.tables.get_mut(&table) {
            table.versions.remove(&id);
        }
    }

    pub(crate) fn end(&mut self, table: TableId, id: VersionId, ended: Ended) {
        if let Some(version) = self.version_mut(table, id) {
            version.ended = Some(ended);
        }
    }

    pub(crate) fn revive(&mut self, table: TableId, id: VersionId) {
        if let Some(version) = self.version_mut(table, id) {
            version.ended = None;
        }
    }

    pub(crate) fn unlock(
        &mut self,
        table: TableId,
        id: VersionId,
        xid: Option<Xid>,
        strength: Strength,
    ) {
        if let Some(version) = self.version_mut(table, id) {
            version.lockers.retain(|lock| Some(lock.0) != xid || lock.1 != strength);
        }
    }

    pub(crate) fn visible(&self, table: TableId, snapshot: &Snapshot) -> Vec<VersionId> {
        let Some(table) = self.tables.get(&table) else { return Vec::new() };
        let seen = |(_, version): &(&VersionId, &Version)| version.is_seen(snapshot);
        table.versions.iter().filter(seen).map(|(id, _)| *id).collect()
    }

    pub(crate) fn vacuum(&mut self, table: TableId, transactions: &Transactions) {
        let horizon = transactions.horizon();
        if let Some(table) = self.tables.get_mut(&table) {
            table
                .versions
                .retain(|_, version| version.ended.is_none_or(|ended| ended.by >= horizon));
        }
    }

    pub(crate) fn rivals(
        &self,
        table: &Definition,
        number: usize,
        key: &[Value],
        but: Option<VersionId>,
    ) -> Vec<VersionId> {
        let index: &Index = &table.indexes[number];
        if key.iter().any(Value::is_null) {
            return Vec::new();
        }
        let same = |(id, version): &(&VersionId, &Version)| {
            Some(**id) != but
                && version.indexed > number
                && index
                    .columns
                    .iter()
                    .zip(key)
                    .all(|(column, own)| version.values[*column] == *own)
        };
        table.versions.iter().filter(same).map(|(id, _)| *id).collect()
    }
}
