//! Sends a lock's scripts, alone or together with WAIT (`CommandAsyncService.syncedEval`,
//! `RedisExecutor`).

use crate::call_error::CallError;
use crate::env::Env;
use crate::lock::Settings;
use crate::reply::Reply;
use crate::script::Script;
use crate::session::Session;
use std::io::ErrorKind;

/// How often the library repeats a failed step (`retryAttempts`).
pub(super) const RETRY_ATTEMPTS: u32 = 4;

pub(super) struct Evaluator {
    pub(super) env: Env,
    pub(super) redis: Session,
    settings: Settings,
    is_synchronous: bool,
    /// `connected_slaves` of the primary. If WAIT counts another number of replicas, the client
    /// asks again. After 0 it never asks again, because it sends no more WAIT.
    replicas: Option<i64>,
}

pub(super) struct Evaluated {
    pub(super) reply: Reply,
    /// `false` if the primary has replicas, but none of them acknowledged the script.
    pub(super) is_synced: bool,
}

impl Evaluator {
    pub(super) fn new(env: Env, redis: Session, settings: &Settings, is_synchronous: bool) -> Self {
        Evaluator { env, redis, settings: settings.clone(), is_synchronous, replicas: None }
    }

    /// Sends a script alone at most once. If a reply to a batch with WAIT is lost, sends the batch
    /// again, because `CommandBatchService` ignores the caller's request not to retry.
    pub(super) async fn evaluate(
        &mut self,
        script: &Script,
        keys: &[&str],
        arguments: &[&str],
    ) -> Result<Evaluated, CallError> {
        let [keys, arguments] = [keys, arguments]
            .map(|texts| texts.iter().map(|text| text.as_bytes()).collect::<Vec<_>>());
        let mut attempt = 0;
        loop {
            let ends = self.env.monotonic_clock().plus(self.settings.command_timeout);
            let outcome = self.batch(script, &keys, &arguments).await;
            if !outcome.as_ref().is_err_and(is_unanswered) {
                return outcome;
            }
            // After a reset, the library still waits until the timeout.
            self.env.sleep(self.env.left(ends)).await;
            self.stop_if_interrupted()?;
            if !self.is_synchronous || attempt == RETRY_ATTEMPTS {
                return outcome;
            }
            attempt += 1;
            self.pause().await;
            self.stop_if_interrupted()?;
        }
    }

    /// After an interrupt, `CommandAsyncService.get` throws a RedisException that is not a timeout.
    pub(super) fn stop_if_interrupted(&self) -> Result<(), CallError> {
        match self.env.is_interrupted() {
            true => Err(CallError::Closed(ErrorKind::Interrupted)),
            false => Ok(()),
        }
    }

    /// Redisson sends the script and WAIT in one batch; the model sends WAIT after the reply.
    async fn batch(
        &mut self,
        script: &Script,
        keys: &[&[u8]],
        arguments: &[&[u8]],
    ) -> Result<Evaluated, CallError> {
        let replicas = if self.is_synchronous { self.connected_replicas().await? } else { 0 };
        self.replicas = Some(replicas);
        let reply = script.call(&mut self.redis, keys, arguments).await?;
        if replicas == 0 {
            return Ok(Evaluated { reply, is_synced: true });
        }
        let acknowledged = self.wait_for(replicas).await?;
        self.replicas = self.replicas.filter(|known| *known == acknowledged);
        Ok(Evaluated { reply, is_synced: acknowledged > 0 })
    }

    async fn connected_replicas(&mut self) -> Result<i64, CallError> {
        if let Some(replicas) = self.replicas {
            return Ok(replicas);
        }
        let reply = self.redis.call(&[b"INFO", b"ALL"]).await?;
        let Reply::Bulk(text) = &reply else { return Err(CallError::unexpected(&reply)) };
        let text = String::from_utf8_lossy(text);
        let stated = text.lines().find_map(|line| line.strip_prefix("connected_slaves:"));
        Ok(stated.and_then(|number| number.trim().parse().ok()).unwrap_or(0))
    }

    /// Sends WAIT. Its timeout is a third of the reply timeout (`slavesSyncTimeout`).
    async fn wait_for(&mut self, replicas: i64) -> Result<i64, CallError> {
        let [replicas, patience_ms] =
            [replicas.to_string(), (self.settings.command_timeout / 3).as_millis().to_string()];
        let words: [&[u8]; 3] = [b"WAIT", replicas.as_bytes(), patience_ms.as_bytes()];
        match self.redis.call_on_the_same_connection(&words).await {
            Ok(Reply::Integer(acknowledged)) => Ok(acknowledged),
            Ok(reply) => Err(CallError::unexpected(&reply)),
            // The batch lacks WAIT's reply, so it counts as unanswered.
            Err(CallError::Unsent(kind)) => Err(CallError::Closed(kind)),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn pause(&self) {
        self.env.sleep(self.env.jitter(&self.settings.retry)).await;
    }
}

/// `true` if the library ends the call with a `RedisResponseTimeoutException`.
pub(super) fn is_unanswered(error: &CallError) -> bool {
    match error {
        CallError::Timeout(_) => true,
        CallError::Closed(kind) => *kind != ErrorKind::Interrupted,
        _ => false,
    }
}
