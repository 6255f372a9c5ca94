//! The watchdog (`LockTask`, `LockEntry`), which renews a lock at intervals of a third of its ttl.

use super::evaluation::{Evaluator, RETRY_ATTEMPTS};
use super::script::RENEW;
use crate::env::Spawned;
use crate::reply::Reply;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Number of times that a client's thread holds the lock. The watchdog renews while it is above 0.
#[derive(Default)]
pub(super) struct Watchdog {
    holds: Rc<Cell<usize>>,
    task: Option<Spawned>,
}

impl Watchdog {
    pub(super) fn add(
        &mut self,
        key: &str,
        id: &str,
        ttl: Duration,
        evaluator: impl FnOnce() -> Evaluator,
    ) {
        self.holds.set(self.holds.get() + 1);
        if self.holds.get() == 1 {
            let evaluator = evaluator();
            let env = evaluator.env.clone();
            let renewals = renew(evaluator, key.to_owned(), id.to_owned(), ttl, self.holds.clone());
            self.task = Some(env.spawn(renewals));
        }
    }

    /// The client decrements its hold count after each unlock, even after a failed unlock.
    pub(super) fn remove(&mut self) {
        self.holds.set(self.holds.get().saturating_sub(1));
        if self.holds.get() == 0
            && let Some(task) = self.task.take()
        {
            task.abort();
        }
    }
}

/// After a renewal that found no lock, the client decrements its hold count, and reports no loss.
async fn renew(
    mut evaluator: Evaluator,
    key: String,
    id: String,
    ttl: Duration,
    holds: Rc<Cell<usize>>,
) {
    let ttl_ms = ttl.as_millis().to_string();
    loop {
        evaluator.env.sleep(ttl / 3).await;
        for attempt in 0..=RETRY_ATTEMPTS {
            match evaluator.evaluate(&RENEW, &[&key], &[&ttl_ms, &id]).await {
                Ok(renewed) if renewed.reply == Reply::Integer(0) => {
                    holds.set(holds.get().saturating_sub(1));
                    break;
                }
                Ok(_) => break,
                Err(_) if attempt < RETRY_ATTEMPTS => evaluator.pause().await,
                Err(_) => {}
            }
        }
        if holds.get() == 0 {
            return;
        }
    }
}
