//! An etcd session: a lease that a background task keeps alive.
//!
//! Source: etcd 3.4.23, `clientv3/concurrency/session.go` and `clientv3/lease.go`. The client
//! renews the lease a third of its ttl after the last answer. After a failed renewal it tries again
//! after 500 ms (`retryConnWait`). The session is done when a server reports that the lease is
//! gone, or when the ttl passes without an answer (5 s for the first answer). The client repeats a
//! failed grant or revocation; it stops repeating a revocation after one ttl (`Session.Close`).

use super::gateway::{Failure, Gateway};
use super::number;
use crate::env::{Monotonic, Spawned};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// Time limit for the first answer to a keep-alive (`defaultTTL`).
const FIRST_ANSWER: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(500);

pub struct Session {
    gateway: Rc<Gateway>,
    pub lease: i64,
    ttl: Duration,
    shared: Rc<Shared>,
    task: Option<Spawned>,
}

#[derive(Default)]
struct Shared {
    is_done: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Session {
    pub async fn open(
        gateway: &Rc<Gateway>,
        ttl: Duration,
        deadline: Monotonic,
    ) -> Result<Session, Failure> {
        let ttl = Duration::from_secs(whole_seconds(ttl));
        let request = json!({"TTL": ttl.as_secs()});
        let granted = gateway.repeatable("lease/grant", &request, deadline).await?;
        let (lease, shared) = (number(&granted["ID"]), Rc::<Shared>::default());
        let task = gateway.env().spawn(keep_alive(gateway.clone(), lease, shared.clone()));
        Ok(Session { gateway: gateway.clone(), lease, ttl, shared, task: Some(task) })
    }

    pub async fn done(&self) {
        std::future::poll_fn(|context| {
            if self.shared.is_done.get() {
                return Poll::Ready(());
            }
            *self.shared.waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    pub async fn close(mut self) -> Result<(), Failure> {
        self.stop_keep_alive();
        let request = json!({"ID": self.lease.to_string()});
        let deadline = self.gateway.env().monotonic_clock().plus(self.ttl);
        self.gateway.repeatable("lease/revoke", &request, deadline).await.map(|_| ())
    }

    fn stop_keep_alive(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop_keep_alive();
    }
}

/// Rounds up, because etcd counts ttls in whole seconds.
pub fn whole_seconds(ttl: Duration) -> u64 {
    ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0)
}

async fn keep_alive(gateway: Rc<Gateway>, lease: i64, shared: Rc<Shared>) {
    let env = gateway.env().clone();
    let body = json!({"ID": lease.to_string()});
    let mut deadline = env.monotonic_clock().plus(FIRST_ANSWER);
    loop {
        let left = deadline.since(env.monotonic_clock());
        if left.is_zero() {
            break;
        }
        match env.timeout(left, gateway.call("lease/keepalive", &body)).await {
            Some(Ok(told)) => {
                let ttl = u64::try_from(number(&told["result"]["TTL"])).unwrap_or(0);
                if ttl == 0 {
                    break;
                }
                let ttl = Duration::from_secs(ttl);
                deadline = env.monotonic_clock().plus(ttl);
                env.sleep(ttl / 3).await;
            }
            Some(Err(_)) => env.sleep(RETRY).await,
            None => break,
        }
    }
    shared.is_done.set(true);
    if let Some(waker) = shared.waker.borrow_mut().take() {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, Call, TestWorld, settings};

    const TTL: Duration = Duration::from_secs(10);
    const NO_LEADER: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 33\r\n\r\n\
                             {\"code\":14,\"message\":\"no leader\"}";

    /// Opens and closes a session. Returns the number of calls to `path`, outcome, and end in ms.
    fn calls_of(
        path: &'static str,
        answer: impl Fn(usize) -> Answer + 'static,
    ) -> (usize, Result<(), Failure>, u64) {
        let (world, calls) = (TestWorld::new(), Rc::new(Cell::new(0)));
        let counter = calls.clone();
        let servers = world.serve_etcd("etcd", move |call: &Call<'_>| {
            if call.name() != path {
                return Answer::Normal;
            }
            counter.set(counter.get() + 1);
            answer(counter.get())
        });
        let gateway = Rc::new(Gateway::new(&world.env(), &servers, &settings()));
        let outcome = world.run(async {
            let deadline = gateway.env().monotonic_clock().plus(Duration::from_secs(30));
            Session::open(&gateway, TTL, deadline).await?.close().await
        });
        (calls.get(), outcome, world.now() / 1_000)
    }

    #[test]
    fn a_grant_and_a_revocation_are_repeated_after_a_lost_or_unavailable_answer() {
        for path in ["lease/grant", "lease/revoke"] {
            for mishap in [Answer::Lost, Answer::ResetAfter, Answer::Says(NO_LEADER)] {
                let answer = mishap.clone();
                let first = move |number| if number == 1 { answer.clone() } else { Answer::Normal };
                let (calls, outcome, _) = calls_of(path, first);
                assert_eq!((calls, outcome), (2, Ok(())), "{path}: {mishap:?}");
            }
        }
    }

    #[test]
    fn a_revocation_ends_with_the_ttl() {
        let (calls, outcome, ms) = calls_of("lease/revoke", |_| Answer::Dropped);
        assert!(matches!(outcome, Err(Failure::Lost(_))), "{outcome:?}");
        assert!(calls > 10 && (9_500..10_500).contains(&ms), "{calls} calls until {ms} ms");
    }

    #[test]
    fn a_ttl_is_rounded_up_to_whole_seconds() {
        let seconds = |ms| whole_seconds(Duration::from_millis(ms));
        assert_eq!([seconds(1), seconds(1_000), seconds(1_001)], [1, 1, 2]);
    }
}
