//! A connection that a server opens to another one: pipelined commands, each with what its reply is expected to be.
//!
//! Used by Sentinel for its links and by a replica for the handshake with its primary. Must never know what a reply means.

use crate::machine::{ConnectionId, Output, Outputs};
use bytes::{Bytes, BytesMut};
use redis_protocol::resp2::{
    decode::decode_bytes_mut,
    encode::extend_encode_borrowed,
    types::{BorrowedFrame, BytesFrame},
};
use std::collections::VecDeque;

/// Hands out the ids of outgoing connections, counting down from `u32::MAX` as [`Output::Connect`] demands.
#[derive(Debug)]
pub(crate) struct OutgoingIds {
    next: u32,
}

impl OutgoingIds {
    /// Ids that nobody has used yet.
    pub(crate) fn new() -> Self {
        Self { next: u32::MAX }
    }

    /// The next id. It never comes again.
    pub(crate) fn draw(&mut self) -> ConnectionId {
        let id = ConnectionId(self.next);
        self.next -= 1;
        id
    }
}

/// A connection to another server, from the attempt to open it until it breaks. Commands may be sent from the start: they leave once it
/// is open, as hiredis does it.
#[derive(Debug)]
pub(crate) struct Outgoing<Expected> {
    /// Its id towards the driver.
    pub(crate) id: ConnectionId,
    open: bool,
    unsent: BytesMut,
    received: BytesMut,
    expected: VecDeque<Expected>,
}

/// The peer sent something that is not RESP: the connection is of no more use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the peer's answer is not resp")]
pub(crate) struct NotResp;

impl<Expected> Outgoing<Expected> {
    /// Asks the driver for a connection.
    pub(crate) fn connect(ids: &mut OutgoingIds, host: &str, port: u16, out: &mut Outputs) -> Self {
        let id = ids.draw();
        out.list.push(Output::Connect { connection: id, host: host.to_owned(), port });
        Self { id, open: false, unsent: BytesMut::new(), received: BytesMut::new(), expected: VecDeque::new() }
    }

    /// The driver says that the connection is open.
    pub(crate) fn connected(&mut self) {
        self.open = true;
    }

    /// Queues a command whose reply will be handed back with `expected`. It leaves at the next [`Outgoing::flush`].
    pub(crate) fn command(&mut self, words: &[&[u8]], expected: Expected) {
        self.command_without_reply(words);
        self.expected.push_back(expected);
    }

    /// Queues a command that the peer answers with nothing, such as `REPLCONF ACK`.
    pub(crate) fn command_without_reply(&mut self, words: &[&[u8]]) {
        encode_command(words, &mut self.unsent);
    }

    /// How many commands still wait for their reply.
    pub(crate) fn pending(&self) -> usize {
        self.expected.len()
    }

    /// What has gathered, as one message, if the connection is open.
    pub(crate) fn take_message(&mut self) -> Option<Output> {
        let ready = self.open && !self.unsent.is_empty();
        ready.then(|| Output::Send { connection: self.id, bytes: self.unsent.split().freeze() })
    }

    /// Sends what has gathered, as one message, if the connection is open.
    pub(crate) fn flush(&mut self, out: &mut Outputs) {
        out.list.extend(self.take_message());
    }

    /// Takes bytes from the peer.
    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// The next frame if it is complete, with what was expected: `None` for a frame that answers no command (a published message).
    pub(crate) fn next_reply(&mut self) -> Result<Option<(Option<Expected>, BytesFrame)>, NotResp> {
        if self.received.is_empty() {
            return Ok(None);
        }
        match decode_bytes_mut(&mut self.received) {
            Ok(Some((frame, _, _))) => Ok(Some((self.expected.pop_front(), frame))),
            Ok(None) => Ok(None),
            Err(_) => Err(NotResp),
        }
    }

    /// The bytes that were received and not yet decoded, for a stream that stops being RESP (the payload that follows `PSYNC`).
    pub(crate) fn undecoded(&mut self) -> &mut BytesMut {
        &mut self.received
    }

    /// Closes the connection from this side.
    pub(crate) fn close(self, out: &mut Outputs) {
        out.list.push(Output::Close { connection: self.id });
    }
}

/// Appends a command in the form in which clients send it, an array of bulk strings.
pub(crate) fn encode_command(words: &[&[u8]], buffer: &mut BytesMut) {
    let words: Vec<BorrowedFrame<'_>> = words.iter().map(|word| BorrowedFrame::BulkString(word)).collect();
    extend_encode_borrowed(buffer, &BorrowedFrame::Array(&words), false).expect("a buffer in memory always has room");
}

/// The text of a status or an error reply, nothing for any other.
pub(crate) fn status_text(frame: &BytesFrame) -> Option<&[u8]> {
    match frame {
        BytesFrame::SimpleString(text) => Some(text),
        BytesFrame::Error(text) => Some(text.as_bytes()),
        _ => None,
    }
}

/// The bytes of a bulk string, nothing for any other reply.
pub(crate) fn bulk(frame: &BytesFrame) -> Option<&Bytes> {
    match frame {
        BytesFrame::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_wait_for_the_connection_and_leave_as_one_message() {
        let (mut ids, mut out) = (OutgoingIds::new(), Outputs::default());
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
        let (mut ids, mut out) = (OutgoingIds::new(), Outputs::default());
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
        let (mut ids, mut out) = (OutgoingIds::new(), Outputs::default());
        let mut outgoing = Outgoing::<()>::connect(&mut ids, "redis-1", 6379, &mut out);
        outgoing.receive(b"HTTP/1.1 400\r\n");
        assert_eq!(outgoing.next_reply(), Err(NotResp));
    }
}
