//! Encodes replies in RESP2 or RESP3.

use crate::data::number;
use bytes::{Bytes, BytesMut};
use redis_protocol::resp3::encode::complete::extend_encode_borrowed as encode_resp3;
use redis_protocol::resp3::types::BorrowedFrame as Resp3;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Protocol {
    #[default]
    Resp2,
    Resp3,
}

const BUFFER_SIZE: usize = 8 * 1024;

#[derive(Debug)]
pub(crate) struct Reply {
    buffer: BytesMut,
    pub(crate) protocol: Protocol,
}

impl Default for Reply {
    fn default() -> Self {
        Reply { buffer: BytesMut::with_capacity(BUFFER_SIZE), protocol: Protocol::Resp2 }
    }
}

impl Reply {
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    pub(crate) fn take(&mut self) -> Bytes {
        const COMMONEST: [&[u8]; 4] = [b"$-1\r\n", b"+OK\r\n", b":1\r\n", b":0\r\n"];
        match COMMONEST.into_iter().find(|reply| self.buffer == *reply) {
            Some(reply) => {
                self.buffer.clear();
                Bytes::from_static(reply)
            }
            None => self.buffer.split().freeze(),
        }
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.buffer.truncate(length);
    }

    fn resp3(&mut self, frame: &Resp3<'_>) {
        let written = encode_resp3(&mut self.buffer, frame, false);
        assert!(written.is_ok(), "the buffer grows as needed: {written:?}");
    }

    pub(crate) fn ok(&mut self) {
        self.buffer.extend_from_slice(b"+OK\r\n");
    }

    pub(crate) fn status(&mut self, text: &str) {
        self.status_bytes(text.as_bytes());
    }

    pub(crate) fn status_bytes(&mut self, text: &[u8]) {
        self.line(b'+', text);
    }

    /// Writes an error, with spaces instead of line breaks (`addReplyErrorSdsEx`).
    pub(crate) fn error(&mut self, text: &[u8]) {
        self.line(b'-', number::c_string(text));
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.buffer.extend_from_slice(&[kind]);
        let start = self.buffer.len();
        self.buffer.extend_from_slice(text);
        let breaks = self.buffer[start..].iter_mut().filter(|byte| matches!(byte, b'\r' | b'\n'));
        breaks.for_each(|byte| *byte = b' ');
        self.buffer.extend_from_slice(b"\r\n");
    }

    pub(crate) fn integer(&mut self, value: i64) {
        if let digit @ 0..=9 = value {
            return self.buffer.extend_from_slice(&[b':', b'0' + digit as u8, b'\r', b'\n']);
        }
        self.buffer.extend_from_slice(b":");
        self.buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self.buffer.extend_from_slice(b"\r\n");
    }

    pub(crate) fn count(&mut self, value: usize) {
        self.integer(value as i64);
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        match self.protocol {
            Protocol::Resp2 => self.integer(i64::from(value)),
            Protocol::Resp3 => self.resp3(&Resp3::Boolean { data: value, attributes: None }),
        }
    }

    pub(crate) fn bulk(&mut self, value: &[u8]) {
        self.header(b'$', value.len());
        self.buffer.extend_from_slice(value);
        self.buffer.extend_from_slice(b"\r\n");
    }

    pub(crate) fn bulk_or_null(&mut self, value: Option<&[u8]>) {
        match value {
            Some(value) => self.bulk(value),
            None => self.null(),
        }
    }

    pub(crate) fn bulk_integer(&mut self, value: i64) {
        self.bulk(itoa::Buffer::new().format(value).as_bytes());
    }

    pub(crate) fn null(&mut self) {
        match self.protocol {
            Protocol::Resp2 => self.buffer.extend_from_slice(b"$-1\r\n"),
            Protocol::Resp3 => self.resp3(&Resp3::Null),
        }
    }

    pub(crate) fn null_array(&mut self) {
        match self.protocol {
            Protocol::Resp2 => self.buffer.extend_from_slice(b"*-1\r\n"),
            Protocol::Resp3 => self.resp3(&Resp3::Null),
        }
    }

    pub(crate) fn double(&mut self, value: f64) {
        let text = number::double_text(value);
        match self.protocol {
            Protocol::Resp2 => self.bulk(text.as_bytes()),
            Protocol::Resp3 => self.line(b',', text.as_bytes()),
        }
    }

    pub(crate) fn big_number(&mut self, digits: &[u8]) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(digits),
            Protocol::Resp3 => self.line(b'(', digits),
        }
    }

    pub(crate) fn verbatim(&mut self, format: &[u8], text: &[u8]) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(text),
            Protocol::Resp3 => {
                self.header(b'=', text.len() + 4);
                self.buffer.extend_from_slice(&format[..3]);
                self.buffer.extend_from_slice(b":");
                self.buffer.extend_from_slice(text);
                self.buffer.extend_from_slice(b"\r\n");
            }
        }
    }

    fn header(&mut self, kind: u8, length: usize) {
        put_header(&mut self.buffer, kind, length);
    }

    pub(crate) fn array(&mut self, length: usize) {
        self.header(b'*', length);
    }

    pub(crate) fn map(&mut self, length: usize) {
        match self.protocol {
            Protocol::Resp2 => self.header(b'*', length * 2),
            Protocol::Resp3 => self.header(b'%', length),
        }
    }

    pub(crate) fn set(&mut self, length: usize) {
        match self.protocol {
            Protocol::Resp2 => self.header(b'*', length),
            Protocol::Resp3 => self.header(b'~', length),
        }
    }

    pub(crate) fn push(&mut self, length: usize) {
        match self.protocol {
            Protocol::Resp2 => self.header(b'*', length),
            Protocol::Resp3 => self.header(b'>', length),
        }
    }

    pub(crate) fn deferred_array(&mut self, write: impl FnOnce(&mut Reply) -> usize) {
        let start = self.buffer.len();
        let length = write(self);
        let elements = self.buffer.split_off(start);
        self.header(b'*', length);
        self.buffer.extend_from_slice(&elements);
    }
}

pub(crate) fn put_header(buffer: &mut BytesMut, kind: u8, length: usize) {
    match length {
        0..10 => buffer.extend_from_slice(&[kind, b'0' + length as u8, b'\r', b'\n']),
        10..100 => {
            let (tens, ones) = (b'0' + (length / 10) as u8, b'0' + (length % 10) as u8);
            buffer.extend_from_slice(&[kind, tens, ones, b'\r', b'\n']);
        }
        _ => {
            buffer.extend_from_slice(&[kind]);
            buffer.extend_from_slice(itoa::Buffer::new().format(length as i64).as_bytes());
            buffer.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use redis_protocol::resp2::encode::extend_encode_borrowed;
    use redis_protocol::resp2::types::BorrowedFrame;

    fn written(write: impl FnOnce(&mut Reply)) -> Vec<u8> {
        let mut reply = Reply::default();
        write(&mut reply);
        reply.take().to_vec()
    }

    fn encoded(frame: &BorrowedFrame<'_>) -> Vec<u8> {
        let mut bytes = BytesMut::new();
        extend_encode_borrowed(&mut bytes, frame, false).unwrap();
        bytes.to_vec()
    }

    proptest! {
        #[test]
        fn values_of_resp2_are_written_as_redis_protocol_writes_them(
            number in prop_oneof![any::<i64>(), -100..100_i64],
            text in proptest::collection::vec(any::<u8>(), 0..2_000),
        ) {
            let theirs = encoded(&BorrowedFrame::Integer(number));
            prop_assert_eq!(written(|reply| reply.integer(number)), theirs);
            let theirs = encoded(&BorrowedFrame::BulkString(&text));
            prop_assert_eq!(written(|reply| reply.bulk(&text)), theirs);
        }
    }

    #[test]
    fn null_is_written_as_redis_protocol_writes_it() {
        assert_eq!(written(Reply::null), encoded(&BorrowedFrame::Null));
    }
}
