//! A connection to one Redis server. [`Connection::call`] takes the connection by value and returns
//! it only with a complete reply. A dropped call therefore closes the connection, so no later call
//! can receive its reply.

use crate::call_error::CallError;
use crate::env::{Address, Env, Socket};
use crate::reply::Reply;
use crate::stream::{connect, ended};
use bytes::{Bytes, BytesMut};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

pub struct Connection {
    socket: Socket,
    timeout: Duration,
    output: Vec<u8>,
    input: BytesMut,
}

impl Connection {
    pub async fn open(
        env: &Env,
        address: &Address,
        timeout: Duration,
    ) -> Result<Connection, CallError> {
        let socket = connect(env, address, timeout).await?;
        Ok(Connection { socket, timeout, output: Vec::new(), input: BytesMut::new() })
    }

    pub fn limit(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    pub async fn call(mut self, words: &[&[u8]]) -> Result<(Reply, Connection), CallError> {
        let reply = self.ask(words)?.await?;
        Ok((reply, self))
    }

    /// Starts a call. The caller must drop the connection unless the whole reply arrives.
    #[inline(always)]
    pub(crate) fn ask(&mut self, words: &[&[u8]]) -> Result<Exchange<'_>, CallError> {
        if !self.input.is_empty() {
            return Err(CallError::Unsent(io::ErrorKind::InvalidData));
        }
        let length = encode(&mut self.output, words);
        self.socket.limit(self.timeout);
        Ok(Exchange { connection: self, length, sent: 0 })
    }

    async fn receive(&mut self) -> Result<Reply, CallError> {
        std::future::poll_fn(|context| self.poll_receive(context)).await
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Reply, CallError>> {
        loop {
            if let Some(reply) = Reply::take_from(&mut self.input)? {
                return Poll::Ready(Ok(reply));
            }
            match ready!(self.socket.poll_read(context, &mut self.input)) {
                Ok(0) => return Poll::Ready(Err(CallError::Closed(io::ErrorKind::UnexpectedEof))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Err(ended(&error, self.timeout))),
            }
        }
    }
}

/// A call in progress. The future is hand-written, because an async function is slower here.
pub(crate) struct Exchange<'c> {
    connection: &'c mut Connection,
    length: usize,
    sent: usize,
}

impl Exchange<'_> {
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        let Connection { socket, output, timeout, .. } = &mut *self.connection;
        while self.sent < self.length {
            match ready!(socket.poll_write(context, &output[self.sent..self.length])) {
                Ok(written) => self.sent += written,
                Err(error) if self.sent == 0 => {
                    return Poll::Ready(Err(CallError::Unsent(error.kind())));
                }
                Err(error) => return Poll::Ready(Err(ended(&error, *timeout))),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Future for Exchange<'_> {
    type Output = Result<Reply, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(self.poll_send(context))?;
        let reply = ready!(self.connection.poll_receive(context));
        self.connection.socket.lift_limit();
        Poll::Ready(reply)
    }
}

/// Encodes a command as bulk strings and returns its length in bytes (cost: docs/speed.md).
fn encode(output: &mut Vec<u8>, words: &[&[u8]]) -> usize {
    const SPARE: usize = 32;
    if output.len() < SPARE {
        output.resize(SPARE, 0);
    }
    output[0] = b'*';
    let mut end = 1 + put_number(&mut output[1..], words.len());
    for word in words {
        let most = end + SPARE + word.len();
        if output.len() < most {
            output.resize(most.next_power_of_two(), 0);
        }
        let rest = &mut output[end..];
        let start = put_header(rest, word.len());
        copy_short(&mut rest[start..start + word.len()], word);
        end += start + word.len();
    }
    output[end..end + 2].copy_from_slice(b"\r\n");
    end + 2
}

#[inline(always)]
fn put_header(output: &mut [u8], length: usize) -> usize {
    if let Some(header) = SHORT_HEADERS.get(length) {
        // One store of 8 bytes covers a short header of 6 or 7 bytes. Later writes overwrite the
        // excess bytes.
        output[..8].copy_from_slice(header);
        return if length < 10 { 6 } else { 7 };
    }
    output[..3].copy_from_slice(b"\r\n$");
    let end = 3 + put_number(&mut output[3..], length);
    output[end..end + 2].copy_from_slice(b"\r\n");
    end + 2
}

#[inline(always)]
fn put_number(output: &mut [u8], number: usize) -> usize {
    if number < 10 {
        output[0] = b'0' + number as u8;
        return 1;
    }
    let digits = number.to_string();
    output[..digits.len()].copy_from_slice(digits.as_bytes());
    digits.len()
}

/// Copies a word. Avoids a call to memcpy for 2 to 8 bytes.
#[inline(always)]
fn copy_short(to: &mut [u8], from: &[u8]) {
    #[inline(always)]
    fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
        if let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) {
            to[..N].copy_from_slice(first);
            let tail = to.len() - N;
            to[tail..].copy_from_slice(last);
        }
    }
    match from.len() {
        2..=3 => copy_ends::<2>(to, from),
        4..=8 => copy_ends::<4>(to, from),
        _ => to.copy_from_slice(from),
    }
}

static SHORT_HEADERS: [[u8; 8]; 100] = {
    let (mut headers, mut length) = ([[0; 8]; 100], 0);
    while length < 100 {
        let (tens, ones) = (b'0' + length as u8 / 10, b'0' + length as u8 % 10);
        headers[length] = match length {
            0..10 => [b'\r', b'\n', b'$', ones, b'\r', b'\n', 0, 0],
            _ => [b'\r', b'\n', b'$', tens, ones, b'\r', b'\n', 0],
        };
        length += 1;
    }
    headers
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub channel: Bytes,
    pub payload: Bytes,
}

pub struct Subscription {
    connection: Connection,
}

impl Subscription {
    pub async fn open(
        env: &Env,
        address: &Address,
        channels: &[&[u8]],
        timeout: Duration,
    ) -> Result<Subscription, CallError> {
        Subscription::subscribe(Connection::open(env, address, timeout).await?, channels).await
    }

    pub async fn subscribe(
        connection: Connection,
        channels: &[&[u8]],
    ) -> Result<Subscription, CallError> {
        let words: Vec<&[u8]> =
            std::iter::once(&b"SUBSCRIBE"[..]).chain(channels.iter().copied()).collect();
        let (reply, connection) = connection.call(&words).await?;
        match reply {
            Reply::Error(text) => Err(CallError::Server(text)),
            reply if kind_of(&reply) == Some(b"subscribe") => Ok(Subscription { connection }),
            reply => Err(CallError::unexpected(&reply)),
        }
    }

    /// Waits for the next message, without a time limit.
    pub async fn next(&mut self) -> Result<Message, CallError> {
        loop {
            let reply = self.connection.receive().await?;
            if let Some(message) = message_of(reply) {
                return Ok(message);
            }
        }
    }
}

fn kind_of(reply: &Reply) -> Option<&[u8]> {
    reply.as_array()?.first()?.as_bytes()
}

fn message_of(reply: Reply) -> Option<Message> {
    let Reply::Array(elements) = reply else { return None };
    match <[Reply; 3]>::try_from(elements).ok()? {
        [Reply::Bulk(kind), Reply::Bulk(channel), Reply::Bulk(payload)]
            if kind.as_ref() == b"message" =>
        {
            Some(Message { channel, payload })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
