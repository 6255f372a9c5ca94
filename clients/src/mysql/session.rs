//! A connection to a MySQL server, opened when it is needed, and kept until something goes wrong on
//! it.
//!
//! One that turns out to be broken before anything was sent is replaced, once, where nothing is
//! bound to it. A call that is dropped halfway closes it.

use super::protocol::{Answer, Refusal, Rows, login, query, session_of, take};
use crate::connection::CallError;
use crate::env::{Address, Env, Socket};
use bytes::{Bytes, BytesMut};
use std::io;
use std::time::Duration;

/// Statements to one server.
pub struct Session {
    env: Env,
    address: Address,
    timeout: Duration,
    open: Option<Open>,
}

struct Open {
    socket: Socket,
    input: BytesMut,
    /// The number of the session, which `CONNECTION_ID()` tells.
    id: u32,
}

/// Why a statement brought no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The server refused the statement.
    Refused(Refusal),
    /// No answer came.
    Lost(CallError),
}

impl Failure {
    /// Whether the statement may have been carried out all the same.
    pub fn may_have_applied(&self) -> bool {
        match self {
            Failure::Refused(_) => false,
            Failure::Lost(error) => error.may_have_applied(),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(Refusal { code, message }) => {
                write!(f, "the server answered {code}: {message}")
            }
            Failure::Lost(error) => error.fmt(f),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        Failure::Lost(error)
    }
}

impl Session {
    /// `timeout` bounds a connection that is being opened, and a statement that waits for nothing.
    pub fn new(env: &Env, address: &Address, timeout: Duration) -> Session {
        Session { env: env.clone(), address: address.clone(), timeout, open: None }
    }

    /// The number of the session, if a connection is open.
    pub fn id(&self) -> Option<u32> {
        self.open.as_ref().map(|open| open.id)
    }

    /// A statement of its own, which the server may take so long for.
    pub async fn run(&mut self, sql: &str, wait: Duration) -> Result<Rows, Failure> {
        let may_be_replaced = self.open.is_some();
        match self.attempt(sql, wait).await {
            Err(Failure::Lost(CallError::Unsent(_))) if may_be_replaced => {
                self.attempt(sql, wait).await
            }
            outcome => outcome,
        }
    }

    /// A statement on the connection that is open. Errors: nothing was sent if none is.
    pub async fn bound(&mut self, sql: &str) -> Result<Rows, Failure> {
        if self.open.is_none() {
            return Err(CallError::Unsent(io::ErrorKind::NotConnected).into());
        }
        self.attempt(sql, Duration::ZERO).await
    }

    /// The connection is out of the session's hands meanwhile: should the statement fail otherwise
    /// than by being refused, or be dropped halfway, it is closed.
    async fn attempt(&mut self, sql: &str, wait: Duration) -> Result<Rows, Failure> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        let timeout = self.timeout + wait;
        open.socket.limit(timeout);
        let outcome = open.ask(&query(sql), timeout).await;
        open.socket.lift_limit();
        if !matches!(outcome, Err(Failure::Lost(_))) {
            self.open = Some(open);
        }
        outcome
    }

    async fn connect(&self) -> Result<Open, Failure> {
        let failed =
            |reason: String| CallError::NoConnection { address: self.address.clone(), reason };
        let socket = match self.env.timeout(self.timeout, self.env.connect(&self.address)).await {
            Some(Ok(socket)) => socket,
            Some(Err(error)) => return Err(failed(error.kind().to_string()).into()),
            None => {
                return Err(failed(format!("not within {} ms", self.timeout.as_millis())).into());
            }
        };
        let mut open = Open { socket, input: BytesMut::new(), id: 0 };
        open.socket.limit(self.timeout);
        // No statement was sent: whatever goes wrong here, nothing was carried out.
        match open.log_in(self.timeout).await {
            Ok(()) => Ok(open),
            Err(error) => Err(failed(error.to_string()).into()),
        }
    }
}

impl Open {
    /// The server speaks first.
    async fn log_in(&mut self, timeout: Duration) -> Result<(), Failure> {
        let greeting = self.packet(timeout).await?;
        if greeting.first() == Some(&0xff) {
            let refused = Answer::default().read(&greeting)?;
            if let Some(Err(refusal)) = refused {
                return Err(Failure::Refused(refusal));
            }
        }
        self.id = session_of(&greeting)?;
        self.ask(&login(), timeout).await.map(|_| ())
    }

    /// Sends a request, and reads what is answered.
    async fn ask(&mut self, request: &[u8], timeout: Duration) -> Result<Rows, Failure> {
        let mut sent = 0;
        while sent < request.len() {
            match self.socket.write(&request[sent..]).await {
                Ok(written) => sent += written,
                Err(error) if sent == 0 => return Err(CallError::Unsent(error.kind()).into()),
                Err(error) => return Err(ended(&error, timeout).into()),
            }
        }
        let mut answer = Answer::default();
        loop {
            let body = self.packet(timeout).await?;
            match answer.read(&body)? {
                Some(Ok(rows)) => return Ok(rows),
                Some(Err(refusal)) => return Err(Failure::Refused(refusal)),
                None => {}
            }
        }
    }

    async fn packet(&mut self, timeout: Duration) -> Result<Bytes, CallError> {
        loop {
            if let Some(body) = take(&mut self.input)? {
                return Ok(body);
            }
            match self.socket.read(&mut self.input).await {
                Ok(0) => return Err(CallError::Closed(io::ErrorKind::UnexpectedEof)),
                Ok(_) => {}
                Err(error) => return Err(ended(&error, timeout)),
            }
        }
    }
}

fn ended(error: &io::Error, timeout: Duration) -> CallError {
    match error.kind() {
        io::ErrorKind::TimedOut => CallError::Timeout(timeout),
        kind => CallError::Closed(kind),
    }
}
