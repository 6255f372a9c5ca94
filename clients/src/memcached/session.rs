//! One memcached server, connected to when needed.

use super::protocol::Answer;
use crate::connection::CallError;
use crate::env::{Address, Env, Socket};
use bytes::BytesMut;
use std::io;
use std::time::Duration;

/// Commands to one server, over one connection at a time. After any failure the next call opens a
/// new connection, so that a late answer is never taken for that of the next command.
pub struct Session {
    env: Env,
    address: Address,
    timeout: Duration,
    open: Option<Open>,
}

struct Open {
    socket: Socket,
    input: BytesMut,
}

impl Session {
    /// `timeout` bounds each connection and each call.
    pub fn new(env: &Env, address: &Address, timeout: Duration) -> Session {
        Session { env: env.clone(), address: address.clone(), timeout, open: None }
    }

    /// Sends one command and waits for its answer. What the server refuses comes back as
    /// [`CallError::Server`].
    ///
    /// Never sends a command twice: what to do when the outcome is unknown is the lock's decision.
    /// Only a connection that turns out to be broken before anything was sent is replaced, once.
    pub async fn call(&mut self, request: &[u8]) -> Result<Answer, CallError> {
        let may_be_replaced = self.open.is_some();
        match self.attempt(request).await {
            Err(CallError::Unsent(_)) if may_be_replaced => self.attempt(request).await,
            outcome => outcome,
        }
    }

    /// The connection is out of the session's hands meanwhile: should the call fail or be dropped
    /// halfway, it is closed.
    async fn attempt(&mut self, request: &[u8]) -> Result<Answer, CallError> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        open.socket.limit(self.timeout);
        let answer = open.exchange(request, self.timeout).await;
        open.socket.lift_limit();
        if matches!(answer, Ok(_) | Err(CallError::Server(_))) && open.input.is_empty() {
            self.open = Some(open);
        }
        answer
    }

    async fn connect(&self) -> Result<Open, CallError> {
        let failed =
            |reason: String| CallError::NoConnection { address: self.address.clone(), reason };
        match self.env.timeout(self.timeout, self.env.connect(&self.address)).await {
            Some(Ok(socket)) => Ok(Open { socket, input: BytesMut::new() }),
            Some(Err(error)) => Err(failed(error.kind().to_string())),
            None => Err(failed(format!("not within {} ms", self.timeout.as_millis()))),
        }
    }
}

impl Open {
    async fn exchange(&mut self, request: &[u8], timeout: Duration) -> Result<Answer, CallError> {
        let ended = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut => CallError::Timeout(timeout),
            kind => CallError::Closed(kind),
        };
        let mut sent = 0;
        while sent < request.len() {
            match self.socket.write(&request[sent..]).await {
                Ok(written) => sent += written,
                Err(error) if sent == 0 => return Err(CallError::Unsent(error.kind())),
                Err(error) => return Err(ended(error)),
            }
        }
        loop {
            if let Some(answer) = Answer::take_from(&mut self.input)? {
                return Ok(answer);
            }
            match self.socket.read(&mut self.input).await {
                Ok(0) => return Err(CallError::Closed(io::ErrorKind::UnexpectedEof)),
                Ok(_) => {}
                Err(error) => return Err(ended(error)),
            }
        }
    }
}
