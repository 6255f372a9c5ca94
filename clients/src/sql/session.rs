//! A client of a PostgreSQL server ([`Session`]). [`Session::run`] and [`Session::begin`] replace a
//! connection that broke before the client sent anything. With several hosts, a session connects to
//! the first host that accepts writes (`target_session_attrs=read-write` of libpq,
//! `targetServerType=primary` of pgjdbc).

use super::protocol::{Answer, Parameter, Refusal, StatementResult, startup, statement, sync};
use crate::call_error::CallError;
use crate::env::{Address, Env};
use crate::stream::{self, Stream, no_connection};
use std::io;
use std::time::Duration;

pub struct Session {
    env: Env,
    hosts: Vec<Address>,
    timeout: Duration,
    open: Option<Open>,
}

struct Open {
    stream: Stream,
    backend: u32,
    in_transaction: bool,
    is_standby: bool,
}

/// Why a statement failed. After a refusal, the caller must roll back its transaction.
pub type Failure = stream::Failure<Refusal>;

impl Failure {
    pub fn is(&self, code: &str) -> bool {
        matches!(self, Failure::Refused(refusal) if refusal.code == code)
    }
}

pub struct Failed {
    pub error: Failure,
    /// `true` if the COMMIT failed, `false` if an earlier statement failed.
    pub at_commit: bool,
}

impl Failed {
    /// `true` if Spring throws a TransactionSystemException: the COMMIT failed, or the connection
    /// broke in the transaction, so the rollback fails too.
    pub fn is_of_transaction_system(&self) -> bool {
        match &self.error {
            Failure::Lost(CallError::Closed(io::ErrorKind::Interrupted)) => false,
            _ if self.at_commit => true,
            Failure::Refused(refusal) => refusal.is_fatal,
            Failure::Lost(error) => !matches!(error, CallError::NoConnection { .. }),
        }
    }
}

impl Session {
    pub fn new(env: &Env, hosts: &[Address], timeout: Duration) -> Session {
        Session { env: env.clone(), hosts: hosts.to_vec(), timeout, open: None }
    }

    pub fn backend(&self) -> Option<u32> {
        self.open.as_ref().map(|open| open.backend)
    }

    pub fn close(&mut self) {
        self.open = None;
    }

    /// Runs a statement on any connection. The statement must not rely on a lock or a transaction.
    pub async fn run(
        &mut self,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<StatementResult, Failure> {
        self.fresh(&[(sql, parameters)], self.timeout).await
    }

    /// Sends `begin` and the first statement of the transaction in one write.
    pub async fn begin(
        &mut self,
        begin: &str,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<StatementResult, Failure> {
        self.fresh(&[(begin, &[]), (sql, parameters)], self.timeout).await
    }

    pub async fn bound(
        &mut self,
        sql: &str,
        parameters: &[Parameter],
        timeout: Duration,
    ) -> Result<StatementResult, Failure> {
        if self.open.is_none() {
            return Err(CallError::Unsent(io::ErrorKind::NotConnected).into());
        }
        self.attempt(&[(sql, parameters)], timeout).await
    }

    pub async fn run_next(
        &mut self,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<StatementResult, Failure> {
        self.bound(sql, parameters, self.timeout).await
    }

    /// Returns `false` if the server rolled back the transaction after a failed statement.
    pub async fn commit(&mut self) -> Result<bool, Failure> {
        Ok(self.run_next("COMMIT", &[]).await?.tag == "COMMIT")
    }

    pub async fn roll_back(&mut self) {
        if self.run_next("ROLLBACK", &[]).await.is_err() {
            self.open = None;
        }
    }

    /// Runs a one-statement transaction. Returns `true` if the statement changed a row.
    pub async fn transact(
        &mut self,
        begin: &str,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<bool, Failed> {
        let done = match self.begin(begin, sql, parameters).await {
            Ok(done) => done,
            Err(error) => return Err(self.rolled_back(error).await),
        };
        Ok(self.committed().await? && done.count() > 0)
    }

    pub async fn rolled_back(&mut self, error: Failure) -> Failed {
        if let Failure::Refused(_) = error {
            self.roll_back().await;
        }
        Failed { error, at_commit: false }
    }

    pub async fn committed(&mut self) -> Result<bool, Failed> {
        self.commit().await.map_err(|error| Failed { error, at_commit: true })
    }

    async fn fresh(
        &mut self,
        statements: &[(&str, &[Parameter])],
        timeout: Duration,
    ) -> Result<StatementResult, Failure> {
        if self.open.as_ref().is_some_and(|open| open.in_transaction) {
            self.open = None;
        }
        let may_be_replaced = self.open.is_some();
        match self.attempt(statements, timeout).await {
            Err(Failure::Lost(CallError::Unsent(_))) if may_be_replaced => {
                self.attempt(statements, timeout).await
            }
            outcome => outcome,
        }
    }

    async fn attempt(
        &mut self,
        statements: &[(&str, &[Parameter])],
        timeout: Duration,
    ) -> Result<StatementResult, Failure> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        let mut request = Vec::new();
        for (sql, parameters) in statements {
            statement(&mut request, sql, parameters);
        }
        sync(&mut request);
        open.stream.limit(timeout);
        let outcome = open.exchange(&request).await;
        open.stream.lift_limit();
        let is_usable = match &outcome {
            Ok(_) => true,
            Err(Failure::Refused(refusal)) => !refusal.is_fatal,
            Err(Failure::Lost(_)) => false,
        };
        if is_usable {
            self.open = Some(open);
        }
        outcome
    }

    async fn connect(&self) -> Result<Open, Failure> {
        let mut outcome = Err(CallError::Unsent(io::ErrorKind::NotConnected).into());
        for host in &self.hosts {
            outcome = self.connect_to(host).await;
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    async fn connect_to(&self, host: &Address) -> Result<Open, Failure> {
        let stream = Stream::open(&self.env, host, self.timeout).await?;
        let mut open = Open { stream, backend: 0, in_transaction: false, is_standby: false };
        let failed = |reason: String| no_connection(host, reason);
        match open.exchange(&startup()).await {
            Ok(_) if open.is_standby && self.hosts.len() > 1 => {
                Err(failed("session is read-only".to_owned()).into())
            }
            Ok(_) => Ok(open),
            Err(error) => Err(failed(error.to_string()).into()),
        }
    }
}

impl Open {
    async fn exchange(&mut self, request: &[u8]) -> Result<StatementResult, Failure> {
        self.stream.send(request).await?;
        let (mut done, mut refused) = (StatementResult::default(), None);
        loop {
            match Answer::take_from(&mut self.stream.input)? {
                Some(Answer::Key(backend)) => self.backend = backend,
                Some(Answer::Row(row)) => done.rows.push(row),
                Some(Answer::Complete(tag)) => done.tag = tag,
                Some(Answer::Error(refusal)) if refusal.is_fatal => {
                    return Err(Failure::Refused(refusal));
                }
                Some(Answer::Error(refusal)) => refused = refused.or(Some(refusal)),
                Some(Answer::Ready { in_transaction }) => {
                    self.in_transaction = in_transaction;
                    return refused.map_or(Ok(done), |refusal| Err(Failure::Refused(refusal)));
                }
                Some(Answer::IsStandby(is_standby)) => self.is_standby = is_standby,
                Some(Answer::Other) => {}
                None => self.stream.read().await?,
            }
        }
    }
}
