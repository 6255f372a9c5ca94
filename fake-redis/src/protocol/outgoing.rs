//! A server's connection to another server, with pipelined commands and their expected replies.

use crate::protocol::reply::put_header;
use crate::protocol::request::short_header;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output, Outputs};
use redis_protocol::resp2::{decode::decode_bytes_mut, types::BytesFrame};
use std::collections::VecDeque;
use std::ops::Range;

/// Ids of connections that the server opens, counted down from `u32::MAX`.
#[derive(Debug)]
pub(crate) struct OutgoingIds {
    next: u32,
}

impl Default for OutgoingIds {
    fn default() -> Self {
        Self { next: u32::MAX }
    }
}

impl OutgoingIds {
    pub(crate) fn draw(&mut self) -> ConnectionId {
        let id = ConnectionId(self.next);
        self.next -= 1;
        id
    }
}

/// A connection that the server opens. Commands wait until the connection is open, as in hiredis.
#[derive(Debug)]
pub(crate) struct Outgoing<Expected> {
    pub(crate) id: ConnectionId,
    open: bool,
    unsent: BytesMut,
    received: BytesMut,
    expected: VecDeque<Expected>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the peer did not answer in the Redis protocol (RESP)")]
pub(crate) struct NotResp;

impl<Expected> Outgoing<Expected> {
    pub(crate) fn connect(ids: &mut OutgoingIds, host: &str, port: u16, out: &mut Outputs) -> Self {
        let id = ids.draw();
        out.list.push(Output::Connect { connection: id, host: host.to_owned(), port });
        Self {
            id,
            open: false,
            unsent: BytesMut::new(),
            received: BytesMut::new(),
            expected: VecDeque::new(),
        }
    }

    pub(crate) fn connected(&mut self) {
        self.open = true;
    }

    pub(crate) fn command(&mut self, words: &[&[u8]], expected: Expected) {
        self.command_without_reply(words);
        self.expected.push_back(expected);
    }

    pub(crate) fn command_without_reply(&mut self, words: &[&[u8]]) {
        encode_command(words, &mut self.unsent);
    }

    pub(crate) fn pending(&self) -> usize {
        self.expected.len()
    }

    pub(crate) fn take_message(&mut self) -> Option<Output> {
        let ready = self.open && !self.unsent.is_empty();
        ready.then(|| Output::Send { connection: self.id, bytes: self.unsent.split().freeze() })
    }

    pub(crate) fn flush(&mut self, out: &mut Outputs) {
        if !self.unsent.is_empty() {
            out.list.extend(self.take_message());
        }
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    pub(crate) fn next_reply(&mut self) -> Result<Option<(Option<Expected>, BytesFrame)>, NotResp> {
        if self.received.is_empty() {
            return Ok(None);
        }
        if let Some(frame) = take_plain(&mut self.received) {
            return Ok(Some((self.expected.pop_front(), frame)));
        }
        match decode_bytes_mut(&mut self.received) {
            Ok(Some((frame, _, _))) => Ok(Some((self.expected.pop_front(), frame))),
            Ok(None) => Ok(None),
            Err(_) => Err(NotResp),
        }
    }

    pub(crate) fn undecoded(&mut self) -> &mut BytesMut {
        &mut self.received
    }

    pub(crate) fn close(self, out: &mut Outputs) {
        out.list.push(Output::Close { connection: self.id });
    }
}

pub(crate) fn encode_command(words: &[&[u8]], buffer: &mut BytesMut) {
    const HEADER_LENGTH_MAX: usize = 26;
    buffer.reserve(
        words.iter().map(|word| word.len() + HEADER_LENGTH_MAX).sum::<usize>() + HEADER_LENGTH_MAX,
    );
    put_header(buffer, b'*', words.len());
    for word in words {
        put_header(buffer, b'$', word.len());
        buffer.extend_from_slice(word);
        buffer.extend_from_slice(b"\r\n");
    }
}

fn take_plain(received: &mut BytesMut) -> Option<BytesFrame> {
    match received.first()? {
        b'+' => {
            let end = memchr::memchr(b'\r', received)
                .filter(|end| received.get(end + 1) == Some(&b'\n'))?;
            let line = received.split_to(end + 2).freeze();
            Some(BytesFrame::SimpleString(line.slice(1..end)))
        }
        b'*' => {
            let (spans, length) = bulk_spans(received)?;
            let bytes = received.split_to(length).freeze();
            let element = |span| BytesFrame::BulkString(bytes.slice(span));
            Some(BytesFrame::Array(spans.into_iter().flatten().map(element).collect()))
        }
        _ => None,
    }
}

fn bulk_spans(bytes: &[u8]) -> Option<([Option<Range<usize>>; 4], usize)> {
    let (mut spans, mut at) = ([const { None }; 4], 0);
    let count = exact_header(bytes, &mut at, b'*')?;
    for span in spans.get_mut(..count).filter(|spans| !spans.is_empty())? {
        let length = exact_header(bytes, &mut at, b'$')?;
        let (start, end) = (at, at + length);
        if bytes.get(end..end + 2)? != b"\r\n" {
            return None;
        }
        (*span, at) = (Some(start..end), end + 2);
    }
    Some((spans, at))
}

fn exact_header(bytes: &[u8], at: &mut usize, kind: u8) -> Option<usize> {
    let (number, length) = short_header(bytes.get(*at..)?, kind)?;
    *at += length;
    (bytes[*at - 1] == b'\n').then_some(number)
}

pub(crate) fn status_text(frame: &BytesFrame) -> Option<&[u8]> {
    match frame {
        BytesFrame::SimpleString(text) => Some(text),
        BytesFrame::Error(text) => Some(text.as_bytes()),
        _ => None,
    }
}

pub(crate) fn bulk(frame: &BytesFrame) -> Option<&Bytes> {
    match frame {
        BytesFrame::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use redis_protocol::resp2::{encode::extend_encode_borrowed, types::BorrowedFrame};

    fn reply() -> impl Strategy<Value = Vec<u8>> {
        let text = proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(b'$')],
            0..40,
        );
        let bulk = text.prop_map(|text| {
            [format!("${}\r\n", text.len()).into_bytes(), text, b"\r\n".to_vec()].concat()
        });
        let array = proptest::collection::vec(bulk.clone(), 0..6).prop_map(|elements| {
            [format!("*{}\r\n", elements.len()).into_bytes(), elements.concat()].concat()
        });
        let line = "[+:-][A-Z\r0-9 ]{0,12}".prop_map(|line| format!("{line}\r\n").into_bytes());
        let others = prop_oneof![
            Just(b"$-1\r\n".to_vec()),
            Just(b"*2\r\n:1\r\n+a\r\n".to_vec()),
            Just(b"*-1\r\n".to_vec())
        ];
        let whole = prop_oneof![line, bulk, array, others];
        (whole, 0..200_usize).prop_map(|(bytes, cut)| bytes[..bytes.len().min(cut + 1)].to_vec())
    }

    proptest! {
        #[test]
        fn commands_are_written_as_redis_protocol_writes_them(
            words in proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..300),
                1..12,
            ),
        ) {
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            let (mut ours, mut theirs) = (BytesMut::new(), BytesMut::new());
            encode_command(&words, &mut ours);
            let frames: Vec<BorrowedFrame<'_>> =
                words.iter().map(|word| BorrowedFrame::BulkString(word)).collect();
            extend_encode_borrowed(&mut theirs, &BorrowedFrame::Array(&frames), false).unwrap();
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn what_is_taken_off_plainly_is_what_redis_protocol_takes_off(
            first in reply(),
            second in reply(),
        ) {
            let mut ours = BytesMut::from([first, second].concat().as_slice());
            let mut theirs = ours.clone();
            if let Some(frame) = take_plain(&mut ours) {
                let decoded = decode_bytes_mut(&mut theirs).unwrap().map(|(frame, _, _)| frame);
                prop_assert_eq!(Some(frame), decoded);
                prop_assert_eq!(ours, theirs);
            }
        }
    }

    #[test]
    fn commands_wait_for_the_connection_and_leave_as_one_message() {
        let (mut ids, mut out) = (OutgoingIds::default(), Outputs::default());
        let mut outgoing = Outgoing::connect(&mut ids, "redis-1", 6379, &mut out);
        outgoing.command(&[b"PING"], 1);
        outgoing.command(&[b"INFO"], 2);
        outgoing.flush(&mut out);
        assert_eq!(out.list.len(), 1, "nothing is sent before the connection is open");
        outgoing.connected();
        outgoing.flush(&mut out);
        outgoing.flush(&mut out);
        let bytes = Bytes::from_static(b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nINFO\r\n");
        assert_eq!(out.list[1..], [Output::Send { connection: ConnectionId(u32::MAX), bytes }]);
    }

    #[test]
    fn replies_meet_their_commands_in_order_however_the_bytes_are_split() {
        let (mut ids, mut out) = (OutgoingIds::default(), Outputs::default());
        let mut outgoing = Outgoing::connect(&mut ids, "redis-1", 6379, &mut out);
        outgoing.command(&[b"PING"], 1);
        outgoing.command(&[b"GET", b"k"], 2);
        let mut seen = Vec::new();
        for byte in b"+PONG\r\n$3\r\nabc\r\n:7\r\n" {
            outgoing.receive(&[*byte]);
            while let Some(reply) = outgoing.next_reply().unwrap() {
                seen.push(reply);
            }
        }
        assert_eq!(
            seen,
            [
                (Some(1), BytesFrame::SimpleString(Bytes::from_static(b"PONG"))),
                (Some(2), BytesFrame::BulkString(Bytes::from_static(b"abc"))),
                (None, BytesFrame::Integer(7)),
            ]
        );
    }

    #[test]
    fn an_answer_that_is_not_resp_is_an_error() {
        let (mut ids, mut out) = (OutgoingIds::default(), Outputs::default());
        let mut outgoing = Outgoing::<()>::connect(&mut ids, "redis-1", 6379, &mut out);
        outgoing.receive(b"HTTP/1.1 400\r\n");
        assert_eq!(outgoing.next_reply(), Err(NotResp));
    }
}
