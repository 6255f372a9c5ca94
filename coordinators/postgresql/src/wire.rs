//! The frontend/backend protocol 3.0: parses messages, rejects malformed ones, and encodes replies.

use crate::bound::Output;
use crate::error::{Outcome, SqlError};
use crate::text::utf8;
use crate::types::{Type, Value};
use bytes::{BufMut, Bytes, BytesMut};

/// PostgreSQL's `PQ_SMALL_MESSAGE_LIMIT`, in bytes.
const SMALL_MAX: usize = 10_000;
const LARGE_MAX: usize = 0x3fff_ffff;
const STARTUP_MAX: usize = 10_000;

pub(crate) enum Startup {
    More,
    Packet(u32, Bytes),
    Broken,
}

pub(crate) enum Frame {
    More,
    Message(u8, Bytes),
    Unknown(u8),
    Broken,
}

pub(crate) fn startup(input: &mut BytesMut) -> Startup {
    let Some(length) = input.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes) as usize)
    else {
        return Startup::More;
    };
    if !(8..=STARTUP_MAX + 4).contains(&length) {
        return Startup::Broken;
    }
    if input.len() < length {
        return Startup::More;
    }
    let packet = input.split_to(length).freeze();
    let code = [packet[4], packet[5], packet[6], packet[7]];
    Startup::Packet(u32::from_be_bytes(code), packet.slice(8..))
}

fn longest(kind: u8) -> Option<usize> {
    match kind {
        b'Q' | b'P' | b'B' | b'F' | b'd' => Some(LARGE_MAX),
        b'X' | b'E' | b'C' | b'D' | b'H' | b'S' | b'c' | b'f' => Some(SMALL_MAX),
        _ => None,
    }
}

pub(crate) fn frame(input: &mut BytesMut) -> Frame {
    let Some(kind) = input.first().copied() else { return Frame::More };
    let Some(max) = longest(kind) else { return Frame::Unknown(kind) };
    let Some(bytes) = input.get(1..5) else { return Frame::More };
    let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
    if !(4..=max).contains(&length) {
        return Frame::Broken;
    }
    if input.len() < length + 1 {
        return Frame::More;
    }
    let message = input.split_to(length + 1).freeze();
    Frame::Message(kind, message.slice(5..))
}

pub(crate) fn has_frame(input: &[u8]) -> bool {
    let Some(kind) = input.first() else { return false };
    let Some(max) = longest(*kind) else { return true };
    let Some(bytes) = input.get(1..5) else { return false };
    let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
    !(4..=max).contains(&length) || input.len() > length
}

pub(crate) struct Body {
    bytes: Bytes,
    at: usize,
}

fn short() -> SqlError {
    SqlError::new("08P01", "insufficient data left in message")
}

impl Body {
    pub(crate) fn new(bytes: Bytes) -> Body {
        Body { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, length: usize) -> Outcome<Bytes> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(short)?;
        let taken = self.bytes.slice(self.at..end);
        self.at = end;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Outcome<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| SqlError::new("08P01", "no data left in message"))
    }

    pub(crate) fn short(&mut self) -> Outcome<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(crate) fn long(&mut self) -> Outcome<i32> {
        let bytes = self.take(4)?;
        Ok(i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(crate) fn string(&mut self) -> Outcome<String> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let Some(length) = rest.iter().position(|byte| *byte == 0) else {
            return Err(SqlError::new("08P01", "invalid string in message"));
        };
        let text = self.take(length)?;
        self.at += 1;
        utf8(&text).map(str::to_owned)
    }

    pub(crate) fn end(&self) -> Outcome<()> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(SqlError::new("08P01", "invalid message format"))
    }
}

pub(crate) fn message(out: &mut BytesMut, kind: u8, write: impl FnOnce(&mut BytesMut)) {
    out.put_u8(kind);
    let start = out.len();
    out.put_u32(0);
    write(out);
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn put_string(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
    out.put_u8(0);
}

pub(crate) fn text(out: &mut BytesMut, kind: u8, text: &str) {
    message(out, kind, |out| put_string(out, text));
}

pub(crate) fn parameter_status(out: &mut BytesMut, name: &str, value: &str) {
    message(out, b'S', |out| {
        put_string(out, name);
        put_string(out, value);
    });
}

pub(crate) fn error(out: &mut BytesMut, error: &SqlError) {
    use crate::error::Severity;
    let is_error = matches!(error.severity, Severity::Error | Severity::Fatal);
    let mut fields = vec![
        (b'S', error.severity.name().to_owned()),
        (b'V', error.severity.name().to_owned()),
        (b'C', error.code.to_owned()),
        (b'M', error.message.clone()),
    ];
    let about = error.about.as_deref().cloned().unwrap_or_default();
    let optional = [
        (b'D', error.detail.clone()),
        (b'H', error.hint.clone()),
        (b'P', error.position.map(|position| position.to_string())),
        (b's', about.table.as_ref().map(|table| schema_of(table).to_owned())),
        (b't', about.table.clone()),
        (b'c', about.column.clone()),
        (b'n', about.constraint.clone()),
    ];
    fields.extend(optional.into_iter().filter_map(|(kind, text)| Some((kind, text?))));
    message(out, if is_error { b'E' } else { b'N' }, |out| {
        for (kind, text) in fields {
            out.put_u8(kind);
            put_string(out, &text);
        }
        out.put_u8(0);
    });
}

fn schema_of(table: &str) -> &'static str {
    if table.starts_with("pg_") { "pg_catalog" } else { "public" }
}

pub(crate) fn is_binary(formats: &[u16], index: usize) -> bool {
    match formats {
        [] => false,
        [all] => *all == 1,
        each => each.get(index) == Some(&1),
    }
}

pub(crate) fn row_description(out: &mut BytesMut, outputs: &[Output], formats: &[u16]) {
    message(out, b'T', |out| {
        out.put_u16(outputs.len() as u16);
        for (index, output) in outputs.iter().enumerate() {
            put_string(out, &output.label);
            let (table, column) = output.origin.unwrap_or((0, 0));
            out.put_u32(table);
            out.put_i16(column);
            out.put_u32(output.kind.oid());
            out.put_i16(output.kind.size());
            out.put_i32(output.kind.modifier());
            out.put_u16(u16::from(is_binary(formats, index)));
        }
    });
}

pub(crate) fn data_row(
    out: &mut BytesMut,
    row: &[Value],
    outputs: &[Output],
    formats: &[u16],
) -> Outcome<()> {
    let mut texts = Vec::new();
    for (index, (value, output)) in row.iter().zip(outputs).enumerate() {
        texts.push(match is_binary(formats, index) {
            true => value.binary(output.kind)?,
            false => value.text(output.kind).map(String::into_bytes),
        });
    }
    message(out, b'D', |out| {
        out.put_u16(row.len() as u16);
        for text in texts {
            match text {
                Some(text) => {
                    out.put_u32(text.len() as u32);
                    out.put_slice(&text);
                }
                None => out.put_i32(-1),
            }
        }
    });
    Ok(())
}

pub(crate) fn parameter_description(out: &mut BytesMut, types: &[Type]) {
    message(out, b't', |out| {
        out.put_u16(types.len() as u16);
        types.iter().for_each(|kind| out.put_u32(kind.oid()));
    });
}
