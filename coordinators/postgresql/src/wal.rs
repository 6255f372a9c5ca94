//! The log, in fencepost's own format. Each commit is one group of records.

use crate::bind::Binder;
use crate::error::Outcome;
use crate::sql::{self, ast};
use crate::store::heap::Heap;
use crate::store::table::{Column, Definition, Index, Version};
use crate::store::{TableId, VersionId, Xid};
use crate::types::{Interval, Type, Value};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use fencepost_machine::journal;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Record {
    Table { id: TableId, name: String, columns: Vec<Field>, indexes: Vec<Index> },
    Drop(TableId),
    Put(TableId, VersionId, Vec<Value>),
    Remove(TableId, VersionId),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Field {
    name: String,
    kind: Type,
    not_null: bool,
    default: Option<String>,
}

/// Transaction and command of logged rows. Both precede every running transaction.
const BEFORE: (Xid, u32) = (Xid(2), 0);

impl Record {
    pub(crate) fn table(table: &Definition) -> Record {
        let field = |column: &Column| Field {
            name: column.name.clone(),
            kind: column.kind,
            not_null: column.not_null,
            default: column.default_text.clone(),
        };
        Record::Table {
            id: table.id,
            name: table.name.clone(),
            columns: table.columns.iter().map(field).collect(),
            indexes: table.indexes.clone(),
        }
    }

    pub(crate) fn put(table: TableId, id: VersionId, version: &Version) -> Record {
        Record::Put(table, id, version.values.as_ref().clone())
    }
}

fn put_text(out: &mut BytesMut, text: &str) {
    out.put_u32(text.len() as u32);
    out.put_slice(text.as_bytes());
}

fn put_option<T>(out: &mut BytesMut, value: Option<T>, put: impl FnOnce(&mut BytesMut, T)) {
    out.put_u8(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

fn put_indexes(out: &mut BytesMut, indexes: &[Index]) {
    out.put_u32(indexes.len() as u32);
    for index in indexes {
        put_text(out, &index.name);
        out.put_u8(u8::from(index.is_primary));
        out.put_u32(index.columns.len() as u32);
        index.columns.iter().for_each(|column| out.put_u32(*column as u32));
    }
}

fn put_value(out: &mut BytesMut, value: &Value) {
    match value {
        Value::Null | Value::Void => out.put_u8(0),
        Value::Boolean(value) => {
            out.put_u8(1);
            out.put_u8(u8::from(*value));
        }
        Value::Integer(number) => {
            out.put_u8(2);
            out.put_i64(*number);
        }
        Value::Text(text) => {
            out.put_u8(3);
            put_text(out, text);
        }
        Value::Time(at) => {
            out.put_u8(4);
            out.put_i64(*at);
        }
        Value::Interval(interval) => {
            out.put_u8(5);
            [interval.months, interval.days, interval.micros]
                .into_iter()
                .for_each(|part| out.put_i64(part));
        }
        Value::Decimal(text) => {
            out.put_u8(6);
            put_text(out, text);
        }
    }
}

fn put_record(out: &mut BytesMut, record: &Record) {
    match record {
        Record::Table { id, name, columns, indexes } => {
            out.put_u8(b'T');
            out.put_u32(id.0);
            put_text(out, name);
            out.put_u32(columns.len() as u32);
            for column in columns {
                put_text(out, &column.name);
                out.put_u32(column.kind.oid());
                out.put_i32(column.kind.modifier());
                out.put_u8(u8::from(column.not_null));
                put_option(out, column.default.as_deref(), put_text);
                // Logs of earlier versions have the last number of a serial column in this place.
                out.put_u8(0);
            }
            put_indexes(out, indexes);
        }
        Record::Drop(id) => {
            out.put_u8(b'D');
            out.put_u32(id.0);
        }
        Record::Put(id, version, values) => {
            out.put_u8(b'P');
            out.put_u32(id.0);
            out.put_u64(version.0);
            out.put_u32(values.len() as u32);
            values.iter().for_each(|value| put_value(out, value));
        }
        Record::Remove(id, version) => {
            out.put_u8(b'R');
            out.put_u32(id.0);
            out.put_u64(version.0);
        }
    }
}

pub(crate) fn group(records: &[Record]) -> Bytes {
    let mut body = BytesMut::new();
    body.put_u32(records.len() as u32);
    records.iter().for_each(|record| put_record(&mut body, record));
    journal::record(&body)
}

struct Reader(Bytes);

impl Reader {
    fn byte(&mut self) -> Option<u8> {
        self.0.try_get_u8().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        self.byte().map(|byte| byte != 0)
    }

    fn count(&mut self) -> Option<usize> {
        self.0.try_get_u32().ok().map(|count| count as usize)
    }

    fn long(&mut self) -> Option<i64> {
        self.0.try_get_i64().ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        if length > self.0.len() {
            return None;
        }
        String::from_utf8(self.0.split_to(length).to_vec()).ok()
    }

    fn option<T>(&mut self, read: impl FnOnce(&mut Reader) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }

    fn many<T>(&mut self, mut read: impl FnMut(&mut Reader) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(read(self)?);
        }
        Some(all)
    }

    fn index(&mut self) -> Option<Index> {
        let name = self.text()?;
        let is_primary = self.flag()?;
        let columns = self.many(Reader::count)?;
        Some(Index { name, columns, is_primary })
    }

    fn field(&mut self) -> Option<Field> {
        let name = self.text()?;
        let oid = self.0.try_get_u32().ok()?;
        let length = u32::try_from(self.0.try_get_i32().ok()? - 4).ok();
        let kind = match (Type::of_oid(oid)?, length) {
            (Type::Varchar(_), length) => Type::Varchar(length),
            (Type::Bpchar(_), Some(length)) => Type::Bpchar(length),
            (kind, _) => kind,
        };
        let not_null = self.flag()?;
        let default = self.option(Reader::text)?;
        self.option(Reader::long)?;
        Some(Field { name, kind, not_null, default })
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Boolean(self.flag()?),
            2 => Value::Integer(self.long()?),
            3 => Value::Text(self.text()?),
            4 => Value::Time(self.long()?),
            5 => {
                let (months, days) = (self.long()?, self.long()?);
                Value::Interval(Interval { months, days, micros: self.long()? })
            }
            6 => Value::Decimal(self.text()?),
            _ => return None,
        })
    }

    fn record(&mut self) -> Option<Record> {
        let kind = self.byte()?;
        let id = TableId(self.0.try_get_u32().ok()?);
        Some(match kind {
            b'T' => {
                let name = self.text()?;
                let columns = self.many(Reader::field)?;
                Record::Table { id, name, columns, indexes: self.many(Reader::index)? }
            }
            b'D' => Record::Drop(id),
            b'P' => {
                let version = VersionId(self.0.try_get_u64().ok()?);
                Record::Put(id, version, self.many(Reader::value)?)
            }
            b'R' => Record::Remove(id, VersionId(self.0.try_get_u64().ok()?)),
            _ => return None,
        })
    }
}

pub(crate) fn groups(log: &Bytes) -> impl Iterator<Item = Vec<Record>> {
    journal::read(log).records.into_iter().map(commit)
}

/// Parses the records of a commit. Panics on a malformed record, which the checksums rule out.
fn commit(group: Bytes) -> Vec<Record> {
    Reader(group).many(Reader::record).expect("a commit as it was written")
}

pub(crate) fn replay(groups: Vec<Bytes>) -> Heap {
    let mut heap = Heap::new();
    groups.into_iter().flat_map(commit).for_each(|record| redo(&mut heap, record));
    heap
}

pub(crate) fn redo(heap: &mut Heap, record: Record) {
    match record {
        Record::Table { id, name, columns, indexes } => {
            let columns = columns.into_iter().filter_map(|field| column_of(field).ok()).collect();
            let (creator, dropper, versions) = (None, None, BTreeMap::new());
            heap.restore(Definition { id, name, columns, indexes, creator, dropper, versions });
        }
        Record::Drop(id) => drop(heap.forget(id)),
        Record::Put(id, version, values) => {
            let indexed = heap.get(id).map_or(0, |table| table.indexes.len());
            heap.put(id, version, values, BEFORE, indexed);
        }
        Record::Remove(id, version) => heap.remove(id, version),
    }
}

fn column_of(field: Field) -> Outcome<Column> {
    let mut column = Column {
        name: field.name,
        kind: field.kind,
        not_null: field.not_null,
        default: None,
        default_text: field.default,
    };
    if let Some(text) = &column.default_text {
        let parsed = sql::parse(&format!("SELECT {text}"))?.pop();
        if let Some(ast::Statement::Select(select)) = parsed.map(|parsed| parsed.statement)
            && let Some(ast::Item::Expression { expression, .. }) = select.items.first()
        {
            let bound = Binder::new(None, None, Vec::new()).stored(expression, &column)?;
            column.default = Some(Rc::new(bound));
        }
    }
    Ok(column)
}

pub(crate) fn checkpoint(heap: &Heap) -> Bytes {
    let mut records = Vec::new();
    for table in heap.tables() {
        records.push(Record::table(table));
        let live = table.versions.iter().filter(|(_, version)| version.ended.is_none());
        records.extend(live.map(|(id, version)| Record::put(table.id, *id, version)));
    }
    group(&records)
}
