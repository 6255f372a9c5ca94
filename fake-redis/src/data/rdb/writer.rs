use super::{Origin, VERSION, crc64::checksum, kind, opcode};
use crate::data::keyspace::Keyspace;
use crate::data::number::parse_integer;
use crate::data::value::Value;
use crate::data::value::stream::{Entry, NODE_ENTRIES_MAX, packed};
use bytes::Bytes;

#[derive(Clone, Debug)]
pub(crate) struct About<'a> {
    pub(crate) version: &'a str,
    pub(crate) seconds: i64,
    pub(crate) origin: Option<&'a Origin>,
}

/// Writes values uncompressed, and collections other than streams element by element.
pub(crate) fn write(keyspace: &Keyspace, about: &About<'_>) -> Bytes {
    let mut out = format!("REDIS{VERSION:04}").into_bytes();
    auxiliary(&mut out, "redis-ver", about.version);
    auxiliary(&mut out, "redis-bits", "64");
    auxiliary(&mut out, "ctime", &about.seconds.to_string());
    auxiliary(&mut out, "used-mem", &keyspace.memory().to_string());
    if let Some(origin) = about.origin {
        auxiliary(&mut out, "repl-stream-db", &origin.stream_db.to_string());
        auxiliary(&mut out, "repl-id", &origin.id);
        auxiliary(&mut out, "repl-offset", &origin.offset.to_string());
    }
    auxiliary(&mut out, "aof-base", "0");
    for number in 0..keyspace.databases() {
        database(&mut out, keyspace, number);
    }
    out.push(opcode::EOF);
    let sum = checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    Bytes::from(out)
}

fn auxiliary(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(opcode::AUX);
    string(out, name.as_bytes());
    string(out, value.as_bytes());
}

fn database(out: &mut Vec<u8>, keyspace: &Keyspace, number: usize) {
    let database = keyspace.database(number);
    if database.len() == 0 {
        return;
    }
    out.push(opcode::SELECT_DB);
    length(out, number);
    out.push(opcode::RESIZE_DB);
    length(out, database.len());
    length(out, database.volatile_len());
    for (key, entry) in database.iter() {
        if let Some(at) = entry.expires_at_ms() {
            out.push(opcode::EXPIRE_TIME_MS);
            out.extend_from_slice(&at.to_le_bytes());
        }
        value(out, key, &entry.value);
    }
}

fn value(out: &mut Vec<u8>, key: &[u8], value: &Value) {
    let mut head = |kind: u8, count: usize| {
        out.push(kind);
        string(out, key);
        length(out, count);
    };
    match value {
        Value::String(text) => {
            out.push(kind::STRING);
            string(out, key);
            string(out, text);
        }
        Value::Hash(hash) => {
            head(kind::HASH, hash.len());
            for (field, value) in hash.iter() {
                string(out, field);
                string(out, value);
            }
        }
        Value::List(list) => {
            head(kind::LIST, list.len());
            list.iter().for_each(|element| string(out, element));
        }
        Value::Set(set) => {
            head(kind::SET, set.len());
            set.iter().for_each(|member| string(out, &member));
        }
        Value::SortedSet(set) => {
            head(kind::SORTED_SET, set.len());
            for (member, score) in set.iter() {
                string(out, member);
                out.extend_from_slice(&score.to_le_bytes());
            }
        }
        Value::Stream(stream) => {
            let entries: Vec<&Entry> = stream.iter().collect();
            let nodes = entries.chunks(NODE_ENTRIES_MAX);
            head(kind::STREAM, nodes.len());
            for entries in nodes {
                let first = entries[0].id;
                let id = [first.ms.to_be_bytes(), first.sequence.to_be_bytes()].concat();
                string(out, &id);
                string(out, &packed::write(entries));
            }
            let last = stream.last();
            length(out, stream.len());
            length(out, last.ms as usize);
            length(out, last.sequence as usize);
            // Number of consumer groups, which are not modelled.
            length(out, 0);
        }
    }
}

fn length(out: &mut Vec<u8>, length: usize) {
    match length {
        0..=0x3f => out.push(length as u8),
        0x40..=0x3fff => out.extend_from_slice(&(0x4000 | length as u16).to_be_bytes()),
        0x4000..=0xffff_ffff => {
            out.push(0x80);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
        _ => {
            out.push(0x81);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
}

fn string(out: &mut Vec<u8>, text: &[u8]) {
    match parse_integer(text).filter(|_| text.len() <= 11) {
        Some(number) if i8::try_from(number).is_ok() => {
            out.extend_from_slice(&[0xc0, number as u8])
        }
        Some(number) if i16::try_from(number).is_ok() => {
            out.push(0xc1);
            out.extend_from_slice(&(number as i16).to_le_bytes());
        }
        Some(number) if i32::try_from(number).is_ok() => {
            out.push(0xc2);
            out.extend_from_slice(&(number as i32).to_le_bytes());
        }
        _ => {
            length(out, text.len());
            out.extend_from_slice(text);
        }
    }
}
