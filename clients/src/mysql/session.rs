//! A client of a MySQL server ([`Session`]). [`Session::run`] replaces a connection that broke
//! before the statement was sent. [`Session::bound`] does not: a lock belongs to its connection.

use super::protocol::{Answer, Refusal, Rows, login, query, session_of, take};
use crate::call_error::CallError;
use crate::env::{Address, Env};
use crate::stream::{self, Stream, no_connection};
use bytes::Bytes;
use std::io;
use std::time::Duration;

pub struct Session {
    env: Env,
    address: Address,
    timeout: Duration,
    open: Option<Open>,
}

struct Open {
    stream: Stream,
    id: u32,
}

pub type Failure = stream::Failure<Refusal>;

impl Session {
    pub fn new(env: &Env, address: &Address, timeout: Duration) -> Session {
        Session { env: env.clone(), address: address.clone(), timeout, open: None }
    }

    pub fn id(&self) -> Option<u32> {
        self.open.as_ref().map(|open| open.id)
    }

    /// Adds `wait` to the statement's time limit.
    pub async fn run(&mut self, sql: &str, wait: Duration) -> Result<Rows, Failure> {
        let may_be_replaced = self.open.is_some();
        match self.attempt(sql, wait).await {
            Err(Failure::Lost(CallError::Unsent(_))) if may_be_replaced => {
                self.attempt(sql, wait).await
            }
            outcome => outcome,
        }
    }

    pub async fn bound(&mut self, sql: &str) -> Result<Rows, Failure> {
        if self.open.is_none() {
            return Err(CallError::Unsent(io::ErrorKind::NotConnected).into());
        }
        self.attempt(sql, Duration::ZERO).await
    }

    async fn attempt(&mut self, sql: &str, wait: Duration) -> Result<Rows, Failure> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        let timeout = self.timeout + wait;
        open.stream.limit(timeout);
        let outcome = open.ask(&query(sql)).await;
        open.stream.lift_limit();
        if !matches!(outcome, Err(Failure::Lost(_))) {
            self.open = Some(open);
        }
        outcome
    }

    async fn connect(&self) -> Result<Open, Failure> {
        let stream = Stream::open(&self.env, &self.address, self.timeout).await?;
        let mut open = Open { stream, id: 0 };
        match open.log_in().await {
            Ok(()) => Ok(open),
            Err(error) => Err(no_connection(&self.address, error.to_string()).into()),
        }
    }
}

impl Open {
    async fn log_in(&mut self) -> Result<(), Failure> {
        let greeting = self.packet().await?;
        if greeting.first() == Some(&0xff) {
            let refused = Answer::default().read(&greeting)?;
            if let Some(Err(refusal)) = refused {
                return Err(Failure::Refused(refusal));
            }
        }
        self.id = session_of(&greeting)?;
        self.ask(&login()).await.map(|_| ())
    }

    async fn ask(&mut self, request: &[u8]) -> Result<Rows, Failure> {
        self.stream.send(request).await?;
        let mut answer = Answer::default();
        loop {
            let body = self.packet().await?;
            match answer.read(&body)? {
                Some(Ok(rows)) => return Ok(rows),
                Some(Err(refusal)) => return Err(Failure::Refused(refusal)),
                None => {}
            }
        }
    }

    async fn packet(&mut self) -> Result<Bytes, CallError> {
        loop {
            if let Some(body) = take(&mut self.stream.input)? {
                return Ok(body);
            }
            self.stream.read().await?;
        }
    }
}
