//! The log, in fencepost's own format. Each commit is one group of records.

use super::key::{Key, Part};
use super::rows::Version;
use super::schema::{Column, Default, Definition};
use super::xid::Xid;
use super::{Store, TableName};
use crate::sql::table_ast::Kind;
use crate::timestamp::Instant;
use crate::value::Value;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use fencepost_machine::journal;
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Record {
    Database(String),
    Table(Definition),
    Drop(TableName),
    Put(TableName, Vec<Value>),
    Remove(TableName, Key),
}

fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    out.put_u32(bytes.len() as u32);
    out.put_slice(bytes);
}

fn put_name(out: &mut BytesMut, name: &TableName) {
    put_bytes(out, name.0.as_bytes());
    put_bytes(out, name.1.as_bytes());
}

fn put_value(out: &mut BytesMut, value: &Value) {
    match value {
        Value::Null | Value::Decimal(_) => out.put_u8(0),
        Value::Integer(number) => {
            out.put_u8(1);
            out.put_i128(*number);
        }
        Value::Text(text) => {
            out.put_u8(2);
            put_bytes(out, text);
        }
        Value::Time(at) => {
            out.put_u8(3);
            out.put_i64(at.micros);
            out.put_u8(at.places);
        }
    }
}

fn put_column(out: &mut BytesMut, column: &Column) {
    put_bytes(out, column.name.as_bytes());
    let (form, number, more) = match column.kind {
        Kind::Integer { bytes, width } => (0, width, bytes),
        Kind::Text { characters, is_char } => (1, characters, u8::from(is_char)),
        Kind::Time { places, is_timestamp } => (2, u32::from(places), u8::from(is_timestamp)),
    };
    out.put_u8(form);
    out.put_u32(number);
    out.put_u8(more);
    out.put_u8(u8::from(column.is_nullable));
    match &column.default {
        None => out.put_u8(0),
        Some(Default::Now) => out.put_u8(1),
        Some(Default::Value(value)) => {
            out.put_u8(2);
            put_value(out, value);
        }
    }
}

fn put_record(out: &mut BytesMut, record: &Record) {
    match record {
        Record::Database(name) => {
            out.put_u8(b'D');
            put_bytes(out, name.as_bytes());
        }
        Record::Table(table) => {
            out.put_u8(b'T');
            put_name(out, &table.name);
            out.put_u32(table.columns.len() as u32);
            table.columns.iter().for_each(|column| put_column(out, column));
            out.put_u32(table.key.len() as u32);
            table.key.iter().for_each(|place| out.put_u32(*place as u32));
        }
        Record::Drop(name) => {
            out.put_u8(b'X');
            put_name(out, name);
        }
        Record::Put(name, values) => {
            out.put_u8(b'P');
            put_name(out, name);
            out.put_u32(values.len() as u32);
            values.iter().for_each(|value| put_value(out, value));
        }
        Record::Remove(name, key) => {
            out.put_u8(b'R');
            put_name(out, name);
            out.put_u32(key.len() as u32);
            for part in key {
                put_value(
                    out,
                    &match part {
                        Part::Number(number) => Value::Integer(*number),
                        Part::Text(text) => Value::Text(text.clone()),
                    },
                );
            }
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

    fn number(&mut self) -> Option<u32> {
        self.0.try_get_u32().ok()
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let length = self.number()? as usize;
        (length <= self.0.len()).then(|| self.0.split_to(length))
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn name(&mut self) -> Option<TableName> {
        Some((self.text()?, self.text()?))
    }

    fn many<T>(&mut self, mut read: impl FnMut(&mut Reader) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| read(self)).collect()
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Integer(self.0.try_get_i128().ok()?),
            2 => Value::Text(self.bytes()?.to_vec()),
            3 => {
                let micros = self.0.try_get_i64().ok()?;
                Value::Time(Instant { micros, places: self.byte()? })
            }
            _ => return None,
        })
    }

    fn column(&mut self) -> Option<Column> {
        let name = self.text()?;
        let (form, number, more) = (self.byte()?, self.number()?, self.byte()?);
        let kind = match form {
            0 => Kind::Integer { bytes: more, width: number },
            1 => Kind::Text { characters: number, is_char: more != 0 },
            2 => Kind::Time { places: number as u8, is_timestamp: more != 0 },
            _ => return None,
        };
        let is_nullable = self.byte()? != 0;
        let default = match self.byte()? {
            0 => None,
            1 => Some(Default::Now),
            _ => Some(Default::Value(self.value()?)),
        };
        Some(Column { name, kind, is_nullable, default })
    }

    fn record(&mut self) -> Option<Record> {
        Some(match self.byte()? {
            b'D' => Record::Database(self.text()?),
            b'T' => {
                let (name, columns) = (self.name()?, self.many(Reader::column)?);
                let key = self.many(|reader| reader.number().map(|place| place as usize))?;
                Record::Table(Definition { name, columns, key })
            }
            b'X' => Record::Drop(self.name()?),
            b'P' => Record::Put(self.name()?, self.many(Reader::value)?),
            b'R' => Record::Remove(self.name()?, self.many(Reader::part)?),
            _ => return None,
        })
    }

    fn part(&mut self) -> Option<Part> {
        match self.value()? {
            Value::Integer(number) => Some(Part::Number(number)),
            Value::Text(text) => Some(Part::Text(text)),
            _ => None,
        }
    }
}

/// Rebuilds the store from the log. Panics on a malformed group, which the checksums rule out.
pub(crate) fn replay(groups: Vec<Bytes>) -> Store {
    let mut store = Store::default();
    for group in groups {
        let records = Reader(group).many(Reader::record).expect("a commit as it was written");
        records.into_iter().for_each(|record| restore(&mut store, record));
    }
    store.unlogged.clear();
    store
}

const BEFORE: Xid = Xid(0);

fn restore(store: &mut Store, record: Record) {
    match record {
        Record::Database(name) => store.create_database(&name),
        Record::Table(definition) => store.create_table(definition),
        Record::Drop(name) => store.drop_table(&name),
        Record::Put(name, values) => {
            let Some(table) = store.find(&name).ok().and_then(|id| store.tables.get_mut(&id))
            else {
                return;
            };
            if let Ok(key) = table.definition.key_of(&values) {
                let version = Version { by: BEFORE, values: Some(Rc::new(values)) };
                table.rows.0.insert(key, vec![version]);
            }
        }
        Record::Remove(name, key) => {
            if let Some(table) = store.find(&name).ok().and_then(|id| store.tables.get_mut(&id)) {
                table.rows.0.remove(&key);
            }
        }
    }
}

pub(crate) fn checkpoint(store: &Store) -> Bytes {
    let mut records: Vec<Record> = store.databases.iter().cloned().map(Record::Database).collect();
    for table in store.tables.values() {
        records.push(Record::Table(table.definition.as_ref().clone()));
        let name = &table.definition.name;
        let live = table.rows.0.values().filter_map(|versions| versions.last()?.values.as_ref());
        records.extend(live.map(|values| Record::Put(name.clone(), values.to_vec())));
    }
    group(&records)
}
