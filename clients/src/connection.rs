//! RESP over a connection, with the failures of a network told apart. Must never know what a command means.
//!
//! A connection on which anything went wrong is closed and never used again: a reply that comes late must not answer the next command.

use crate::env::{Address, Env, Socket};
use bytes::BytesMut;
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::encode::extend_encode_borrowed;
use redis_protocol::resp2::types::{BorrowedFrame, BytesFrame};
use std::time::Duration;

/// What a server answers.
pub type Reply = BytesFrame;

/// Why a command has no reply, told apart by what may have happened at the server.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// The command never left: it certainly was not applied.
    #[error("not sent: {0}")]
    NotSent(String),
    /// The server refused it with an error: it certainly was not applied.
    #[error("{0}")]
    Refused(String),
    /// It was sent and no reply came: it may or may not have been applied, or may still be.
    #[error("no reply: {0}")]
    Lost(String),
}

/// An open connection.
pub struct Connection {
    socket: Socket,
    inbound: BytesMut,
    outbound: BytesMut,
}

impl Connection {
    /// Connects, within `timeout`.
    pub async fn open(env: &Env, address: &Address, timeout: Duration) -> Result<Connection, CallError> {
        match env.timeout(timeout, env.connect(address)).await {
            Some(Ok(socket)) => Ok(Connection { socket, inbound: BytesMut::new(), outbound: BytesMut::new() }),
            Some(Err(error)) => Err(CallError::NotSent(format!("{address}: {error}"))),
            None => Err(CallError::NotSent(format!("{address}: no connection within {timeout:?}"))),
        }
    }

    /// Sends a command.
    pub async fn send(&mut self, command: &[&[u8]]) -> Result<(), CallError> {
        let words: Vec<BorrowedFrame<'_>> = command.iter().map(|word| BorrowedFrame::BulkString(word)).collect();
        self.outbound.clear();
        extend_encode_borrowed(&mut self.outbound, &BorrowedFrame::Array(&words), false)
            .map_err(|error| CallError::NotSent(error.to_string()))?;
        // A write that fails may have sent a part: only what never began is certain.
        self.socket.write_all(&self.outbound).await.map_err(|error| CallError::Lost(error.to_string()))
    }

    /// Waits for the next reply or message of the server.
    pub async fn receive(&mut self) -> Result<Reply, CallError> {
        loop {
            match decode_bytes_mut(&mut self.inbound) {
                Ok(Some((reply, ..))) => return Ok(reply),
                Ok(None) => {}
                Err(error) => return Err(CallError::Lost(format!("the server spoke no RESP: {error}"))),
            }
            match self.socket.read(&mut self.inbound).await {
                Ok(0) => return Err(CallError::Lost("the server closed the connection".to_owned())),
                Ok(_) => {}
                Err(error) => return Err(CallError::Lost(error.to_string())),
            }
        }
    }
}

/// A connection to one server that is opened when it is needed, and anew after it failed.
pub struct Session {
    env: Env,
    address: Address,
    timeout: Duration,
    connection: Option<Connection>,
}

impl Session {
    /// A session with the server at `address`. `timeout` bounds the connect and each reply.
    pub fn new(env: Env, address: Address, timeout: Duration) -> Session {
        Session { env, address, timeout, connection: None }
    }

    /// Where the server is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a command and waits for its reply. An error reply is [`CallError::Refused`].
    pub async fn call(&mut self, command: &[&[u8]]) -> Result<Reply, CallError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.env, &self.address, self.timeout).await?,
        };
        let exchange = async {
            connection.send(command).await?;
            connection.receive().await
        };
        match self.env.clone().timeout(self.timeout, exchange).await {
            Some(Ok(Reply::Error(text))) => {
                self.connection = Some(connection);
                Err(CallError::Refused(text.to_string()))
            }
            Some(Ok(reply)) => {
                self.connection = Some(connection);
                Ok(reply)
            }
            Some(Err(error)) => Err(error),
            None => Err(CallError::Lost(format!("{}: nothing within {:?}", self.address, self.timeout))),
        }
    }

    /// Closes the connection; the next call opens a new one.
    pub fn close(&mut self) {
        self.connection = None;
    }
}
