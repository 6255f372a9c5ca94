//! Calls to an etcd cluster through its JSON gateway. Like clientv3 (`clientv3/retry.go`), the
//! client repeats reads, and grants and revocations of leases (`repeatable`). It repeats a change
//! of keys only if no earlier try can have reached a member (`nonRepeatable`). It waits 25 ms, plus
//! or minus a tenth, between tries (`defaultBackoffWaitBetween`). Unlike clientv3, it ends most
//! calls after the `command_timeout`.

use super::http::Link;
use super::{number, to_base64};
use crate::call_error::CallError;
use crate::env::{Address, Draw, Env, Monotonic};
use crate::lock::{Servers, Settings};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::time::Duration;

const UNAVAILABLE: i64 = 14;
const BACKOFF: std::ops::RangeInclusive<Duration> =
    Duration::from_micros(22_500)..=Duration::from_micros(27_500);

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    Refused(String),
    /// UNAVAILABLE, for example without a leader. The cluster may still execute the call.
    Unavailable(String),
    Lost(CallError),
}

impl Failure {
    pub fn may_have_applied(&self) -> bool {
        match self {
            Failure::Refused(_) => false,
            Failure::Unavailable(_) => true,
            Failure::Lost(error) => error.may_have_applied(),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(text) | Failure::Unavailable(text) => {
                write!(f, "the server answered {text}")
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

/// Sends requests to one member. After a lost call or UNAVAILABLE, moves on to the next member.
pub struct Gateway {
    env: Env,
    members: Vec<Address>,
    at: Cell<usize>,
    timeout: Duration,
    idle: RefCell<Option<Link>>,
}

impl Gateway {
    pub fn new(env: &Env, servers: &Servers, settings: &Settings) -> Gateway {
        let Servers::Ensemble(members) = servers else {
            panic!("a cluster is needed, but the servers are {servers:?}")
        };
        assert!(!members.is_empty(), "a cluster has a member");
        let first = (u128::from(env.random(Draw::Jitter)) * members.len() as u128) >> 64;
        Gateway {
            env: env.clone(),
            members: members.clone(),
            at: Cell::new(first as usize),
            timeout: settings.command_timeout,
            idle: RefCell::new(None),
        }
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    fn leave(&self) {
        self.idle.borrow_mut().take();
        self.at.set((self.at.get() + 1) % self.members.len());
    }

    pub(super) async fn link(&self) -> Result<Link, CallError> {
        Link::open(&self.env, &self.members[self.at.get()], self.timeout).await
    }

    pub async fn call(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let outcome = self.exchange(path, &body.to_string()).await;
        if let Err(Failure::Lost(_) | Failure::Unavailable(_)) = &outcome {
            self.leave();
        }
        outcome
    }

    async fn exchange(&self, path: &str, body: &str) -> Result<Value, Failure> {
        let idle = self.idle.borrow_mut().take();
        let mut link = match idle {
            Some(link) => link,
            None => self.link().await?,
        };
        let mut outcome = link.ask(path, body).await;
        if let Err(CallError::Unsent(_)) = outcome {
            link = self.link().await?;
            outcome = link.ask(path, body).await;
        }
        let (status, answer) = outcome?;
        *self.idle.borrow_mut() = Some(link);
        // A streamed answer has one value per line, of which the client needs only the first.
        let text = String::from_utf8_lossy(&answer);
        let first = text.lines().next().unwrap_or_default();
        let value: Value = serde_json::from_str(first)
            .map_err(|error| CallError::Malformed(format!("{error} in {status} {first:.80}")))?;
        if status == 200 {
            return Ok(value);
        }
        let told = value["message"].as_str().unwrap_or_default().to_owned();
        match number(&value["code"]) {
            UNAVAILABLE => Err(Failure::Unavailable(told)),
            _ => Err(Failure::Refused(told)),
        }
    }

    pub async fn non_repeatable(
        &self,
        path: &str,
        body: &Value,
        deadline: Monotonic,
    ) -> Result<Value, Failure> {
        loop {
            match self.call(path, body).await {
                Err(Failure::Lost(error))
                    if !error.may_have_applied() && self.wait_to_retry(deadline).await => {}
                outcome => return outcome,
            }
        }
    }

    pub async fn repeatable(
        &self,
        path: &str,
        body: &Value,
        deadline: Monotonic,
    ) -> Result<Value, Failure> {
        loop {
            match self.call(path, body).await {
                Err(Failure::Lost(_) | Failure::Unavailable(_))
                    if self.wait_to_retry(deadline).await => {}
                outcome => return outcome,
            }
        }
    }

    async fn wait_to_retry(&self, deadline: Monotonic) -> bool {
        let delay = self.env.jitter(&BACKOFF);
        if self.env.is_interrupted() || self.env.monotonic_clock().plus(delay) >= deadline {
            return false;
        }
        self.env.sleep(delay).await;
        !self.env.is_interrupted()
    }

    /// Watches the key from `revision` until its deletion, without a timeout (`waitDelete`).
    pub async fn wait_for_deletion(&self, key: &str, revision: i64) -> Result<(), Failure> {
        let (key, start_revision) = (to_base64(key), revision.to_string());
        let create = json!({"key": key, "start_revision": start_revision});
        let body = json!({"create_request": create}).to_string();
        loop {
            match self.watch(&body).await {
                Ok(outcome) => return outcome,
                Err(error) => {
                    self.leave();
                    if self.env.is_interrupted() {
                        return Err(error.into());
                    }
                    self.env.sleep(self.env.jitter(&BACKOFF)).await;
                }
            }
        }
    }

    async fn watch(&self, body: &str) -> Result<Result<(), Failure>, CallError> {
        let mut link = self.link().await?;
        let head = link.begin("watch", body).await?;
        link.wait_for_ever();
        while let Some(piece) = link.read_piece(head).await? {
            let value: Value = serde_json::from_slice(&piece)
                .map_err(|error| CallError::Malformed(error.to_string()))?;
            let result = &value["result"];
            let events = result["events"].as_array();
            if events.into_iter().flatten().any(|event| event["type"] == "DELETE") {
                return Ok(Ok(()));
            }
            if result["canceled"] == true || value.get("error").is_some() {
                let reason = result["cancel_reason"].as_str().unwrap_or("the watch is canceled");
                return Ok(Err(Failure::Refused(reason.to_owned())));
            }
        }
        Err(CallError::Closed(std::io::ErrorKind::UnexpectedEof))
    }
}
