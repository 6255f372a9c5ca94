//! A byte stream to one server, for protocols in which the client waits for each answer.

use crate::call_error::CallError;
use crate::env::{Address, Env, Socket};
use bytes::BytesMut;
use std::io;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure<R> {
    #[error("the server answered {0}")]
    Refused(R),
    #[error(transparent)]
    Lost(#[from] CallError),
}

impl<R> Failure<R> {
    pub fn may_have_applied(&self) -> bool {
        match self {
            Failure::Refused(_) => false,
            Failure::Lost(error) => error.may_have_applied(),
        }
    }
}

pub(crate) async fn connect(
    env: &Env,
    address: &Address,
    timeout: Duration,
) -> Result<Socket, CallError> {
    match env.timeout(timeout, env.connect(address)).await {
        Some(Ok(socket)) => Ok(socket),
        Some(Err(error)) => Err(no_connection(address, error.kind().to_string())),
        None => Err(no_connection(address, format!("not within {} ms", timeout.as_millis()))),
    }
}

pub(crate) fn no_connection(address: &Address, reason: String) -> CallError {
    CallError::NoConnection { address: address.clone(), reason }
}

pub(crate) fn ended(error: &io::Error, timeout: Duration) -> CallError {
    match error.kind() {
        io::ErrorKind::TimedOut => CallError::Timeout(timeout),
        kind => CallError::Closed(kind),
    }
}

pub(crate) struct Stream {
    socket: Socket,
    pub(crate) input: BytesMut,
    timeout: Duration,
}

impl Stream {
    pub(crate) fn new(socket: Socket, timeout: Duration) -> Stream {
        Stream { socket, input: BytesMut::new(), timeout }
    }

    pub(crate) async fn open(
        env: &Env,
        address: &Address,
        timeout: Duration,
    ) -> Result<Stream, CallError> {
        let mut stream = Stream::new(connect(env, address, timeout).await?, timeout);
        stream.limit(timeout);
        Ok(stream)
    }

    pub(crate) fn limit(&mut self, timeout: Duration) {
        self.timeout = timeout;
        self.socket.limit(timeout);
    }

    pub(crate) fn lift_limit(&mut self) {
        self.socket.lift_limit();
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<(), CallError> {
        let mut sent = 0;
        while sent < request.len() {
            match self.socket.write(&request[sent..]).await {
                Ok(written) => sent += written,
                Err(error) if sent == 0 => return Err(CallError::Unsent(error.kind())),
                Err(error) => return Err(ended(&error, self.timeout)),
            }
        }
        Ok(())
    }

    pub(crate) async fn exchange(&mut self, request: &str) -> Result<Vec<String>, CallError> {
        self.send(format!("{request}\n").as_bytes()).await?;
        loop {
            if let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
                let line = self.input.split_to(end + 1);
                let text = String::from_utf8_lossy(&line);
                return Ok(text.split_ascii_whitespace().map(str::to_owned).collect());
            }
            self.read().await?;
        }
    }

    pub(crate) async fn read(&mut self) -> Result<(), CallError> {
        match self.socket.read(&mut self.input).await {
            Ok(0) => Err(CallError::Closed(io::ErrorKind::UnexpectedEof)),
            Ok(_) => Ok(()),
            Err(error) => Err(ended(&error, self.timeout)),
        }
    }
}
