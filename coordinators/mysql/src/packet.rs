//! Packets of the MySQL protocol: a three-byte length, a sequence number and a body.

use crate::error::SqlError;
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Length of a body that continues in the next packet. The model accepts no such bodies.
const PART_MAX: usize = 0xff_ffff;
/// Default of MariaDB's `max_allowed_packet`, in bytes.
pub(crate) const BODY_MAX: usize = 16 * 1024 * 1024;

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Frame {
    More,
    Body(Bytes),
    OutOfOrder,
    TooLarge,
}

pub(crate) fn take(input: &mut BytesMut, number: &mut u8) -> Frame {
    let Some(header) = input.first_chunk::<4>() else { return Frame::More };
    let length =
        usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
    if header[3] != *number {
        return Frame::OutOfOrder;
    }
    if length == PART_MAX {
        *number = number.wrapping_add(1);
        return Frame::TooLarge;
    }
    if input.len() < 4 + length {
        return Frame::More;
    }
    *number = number.wrapping_add(1);
    input.advance(4);
    Frame::Body(input.split_to(length).freeze())
}

pub(crate) fn is_ready(input: &BytesMut, number: u8) -> bool {
    let Some(header) = input.first_chunk::<4>() else { return false };
    let length =
        usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
    header[3] != number || length == PART_MAX || input.len() >= 4 + length
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Status(pub(crate) u16);

impl Status {
    pub(crate) const IN_TRANSACTION: u16 = 1;
    pub(crate) const AUTOCOMMIT: u16 = 2;
    pub(crate) const MORE_RESULTS: u16 = 8;
    pub(crate) const NO_INDEX_USED: u16 = 32;
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    bytes: BytesMut,
    number: u8,
}

impl Reply {
    pub(crate) fn new(number: u8) -> Reply {
        Reply { bytes: BytesMut::new(), number }
    }

    pub(crate) fn into_bytes(self) -> BytesMut {
        self.bytes
    }

    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    pub(crate) fn packet(&mut self, body: &[u8]) {
        let mut rest = body;
        loop {
            let (part, after) = rest.split_at(rest.len().min(PART_MAX));
            self.bytes.put_uint_le(part.len() as u64, 3);
            self.bytes.put_u8(self.number);
            self.bytes.put_slice(part);
            self.number = self.number.wrapping_add(1);
            rest = after;
            if part.len() < PART_MAX {
                return;
            }
        }
    }

    pub(crate) fn ok(&mut self, status: Status, warnings: u16) {
        self.changed(status, warnings, 0, None);
    }

    pub(crate) fn changed(
        &mut self,
        status: Status,
        warnings: u16,
        affected: usize,
        info: Option<&str>,
    ) {
        let mut body = vec![0];
        put_length(&mut body, affected);
        body.put_u8(0);
        body.put_u16_le(status.0);
        body.put_u16_le(warnings);
        if let Some(info) = info {
            put_text(&mut body, info.as_bytes());
        }
        self.packet(&body);
    }

    pub(crate) fn eof(&mut self, status: Status, warnings: u16) {
        let mut body = vec![0xfe];
        body.put_u16_le(warnings);
        body.put_u16_le(status.0);
        self.packet(&body);
    }

    pub(crate) fn error(&mut self, error: &SqlError) {
        let mut body = vec![0xff];
        body.put_u16_le(error.code);
        body.put_u8(b'#');
        body.put_slice(error.state.as_bytes());
        body.put_slice(&error.message);
        self.packet(&body);
    }

    pub(crate) fn plain_error(&mut self, error: &SqlError) {
        let mut body = vec![0xff];
        body.put_u16_le(error.code);
        body.put_slice(&error.message);
        self.packet(&body);
    }
}

pub(crate) fn put_length(out: &mut Vec<u8>, number: usize) {
    match number {
        0..=250 => out.put_u8(number as u8),
        251..=0xffff => {
            out.put_u8(0xfc);
            out.put_u16_le(number as u16);
        }
        0x1_0000..=0xff_ffff => {
            out.put_u8(0xfd);
            out.put_uint_le(number as u64, 3);
        }
        _ => {
            out.put_u8(0xfe);
            out.put_u64_le(number as u64);
        }
    }
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_length(out, text.len());
    out.put_slice(text);
}
