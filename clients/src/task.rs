//! Tasks that return a result ([`Task`]), and notifications between tasks ([`Notify`]). This
//! example renews a lock during a critical section:
//!
//! ```
//! # use fencepost_clients::task::Notify;
//! # use fencepost_clients::{Env, Session};
//! # use std::time::Duration;
//! async fn renew_until_lost(env: Env, mut redis: Session, lost: Notify) {
//!     loop {
//!         env.sleep(Duration::from_secs(3)).await;
//!         if redis.call(&[b"PEXPIRE", b"lock", b"10000"]).await.is_err() {
//!             return lost.notify_all();
//!         }
//!     }
//! }
//!
//! async fn hold(env: Env, redis: Session) {
//!     let lost = Notify::new();
//!     let renewal = env.task(renew_until_lost(env.clone(), redis, lost.clone()));
//!     env.timeout(Duration::from_secs(30), lost.notified()).await;
//!     renewal.cancel();
//! }
//! ```

use crate::env::{Env, Spawned};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

impl Env {
    pub fn task<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Task<T> {
        let slot = Rc::new(RefCell::new(Slot { state: State::Runs, waiter: None }));
        let result = slot.clone();
        let spawned = self.spawn(async move {
            let value = future.await;
            result.borrow_mut().end(State::Done(value));
        });
        Task { slot, spawned: Some(spawned) }
    }
}

/// A handle to a task. Dropping the handle does not end the task.
pub struct Task<T> {
    slot: Rc<RefCell<Slot<T>>>,
    spawned: Option<Spawned>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the task was cancelled, or its result was already taken")]
pub struct NoResult;

struct Slot<T> {
    state: State<T>,
    waiter: Option<Waker>,
}

enum State<T> {
    Runs,
    Done(T),
    Over,
}

impl<T> Slot<T> {
    fn end(&mut self, state: State<T>) {
        self.state = state;
        if let Some(waiter) = self.waiter.take() {
            waiter.wake();
        }
    }
}

impl<T> Task<T> {
    pub fn cancel(mut self) {
        self.stop();
    }

    /// Cancels the task if it still runs. The handle of a cancelled task returns [`NoResult`].
    pub fn stop(&mut self) {
        if matches!(self.slot.borrow().state, State::Runs) {
            if let Some(spawned) = self.spawned.take() {
                spawned.abort();
            }
            self.slot.borrow_mut().end(State::Over);
        }
    }

    pub fn is_over(&self) -> bool {
        !matches!(self.slot.borrow().state, State::Runs)
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, NoResult>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.slot.borrow_mut();
        match std::mem::replace(&mut slot.state, State::Over) {
            State::Done(value) => Poll::Ready(Ok(value)),
            State::Over => Poll::Ready(Err(NoResult)),
            State::Runs => {
                slot.state = State::Runs;
                slot.waiter = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Wakes tasks of the same host, like `tokio::sync::Notify`. Clones share their waiters.
#[derive(Clone, Default)]
pub struct Notify {
    inner: Rc<RefCell<Waiters>>,
}

#[derive(Default)]
struct Waiters {
    queue: VecDeque<Rc<RefCell<Waiter>>>,
    is_kept: bool,
}

#[derive(Default)]
struct Waiter {
    woken: Option<Wakeup>,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wakeup {
    One,
    All,
}

impl Waiter {
    fn wake(&mut self, meant: Wakeup) {
        self.woken = Some(meant);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Notify {
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Wakes the first waiter in the queue, or else keeps the notification for the next waiter.
    pub fn notify_one(&self) {
        let mut waiters = self.inner.borrow_mut();
        match waiters.queue.pop_front() {
            Some(first) => first.borrow_mut().wake(Wakeup::One),
            None => waiters.is_kept = true,
        }
    }

    pub fn notify_all(&self) {
        let waiting = std::mem::take(&mut self.inner.borrow_mut().queue);
        waiting.iter().for_each(|one| one.borrow_mut().wake(Wakeup::All));
    }

    /// Completes at the next notification, or immediately if [`Notify::notify_one`] has left one.
    /// If dropped first, passes on a notification of [`Notify::notify_one`] to the next waiter.
    pub fn notified(&self) -> Notified {
        let waiter = Rc::new(RefCell::new(Waiter::default()));
        let mut waiters = self.inner.borrow_mut();
        if std::mem::take(&mut waiters.is_kept) {
            waiter.borrow_mut().woken = Some(Wakeup::One);
        } else {
            waiters.queue.push_back(waiter.clone());
        }
        Notified { notify: self.clone(), waiter, is_taken: false }
    }
}

pub struct Notified {
    notify: Notify,
    waiter: Rc<RefCell<Waiter>>,
    is_taken: bool,
}

impl Future for Notified {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.waiter.borrow().woken.is_some() {
            self.is_taken = true;
            return Poll::Ready(());
        }
        self.waiter.borrow_mut().waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Notified {
    fn drop(&mut self) {
        self.notify.inner.borrow_mut().queue.retain(|one| !Rc::ptr_eq(one, &self.waiter));
        if !self.is_taken && self.waiter.borrow().woken == Some(Wakeup::One) {
            self.notify.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestWorld;
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_result_of_a_task_is_awaited() {
        let world = TestWorld::new();
        let env = world.env();
        let told = world.run(async move {
            let later = env.clone();
            let task = env.task(async move {
                later.sleep(SECOND).await;
                42
            });
            task.await
        });
        assert_eq!(told, Ok(42));
    }

    #[test]
    fn a_cancelled_task_does_nothing_more_and_has_no_result() {
        let world = TestWorld::new();
        let env = world.env();
        let done = Rc::new(RefCell::new(false));
        let (mark, later) = (done.clone(), env.clone());
        let told = world.run(async move {
            let mut task = env.task(async move {
                later.sleep(SECOND).await;
                *mark.borrow_mut() = true;
            });
            task.stop();
            assert!(task.is_over());
            env.sleep(2 * SECOND).await;
            task.await
        });
        assert_eq!((told, *done.borrow()), (Err(NoResult), false));
    }

    #[test]
    fn one_notification_wakes_one_and_is_kept_if_nobody_waits() {
        let world = TestWorld::new();
        let env = world.env();
        let woken = world.run(async move {
            let notify = Notify::new();
            notify.notify_one();
            notify.notify_one();
            let mut woken = Vec::new();
            for _ in 0..2 {
                woken.push(env.timeout(SECOND, notify.notified()).await.is_some());
            }
            let (first, second) = (notify.notified(), notify.notified());
            notify.notify_one();
            woken.push(env.timeout(SECOND, second).await.is_some());
            woken.push(env.timeout(SECOND, first).await.is_some());
            notify.notify_all();
            woken.push(env.timeout(SECOND, notify.notified()).await.is_some());
            woken
        });
        assert_eq!(woken, [true, false, false, true, false]);
    }

    #[test]
    fn a_notification_for_one_that_nobody_took_passes_to_the_next_and_one_for_all_does_not() {
        let world = TestWorld::new();
        let env = world.env();
        let woken = world.run(async move {
            let notify = Notify::new();
            let (first, second) = (notify.notified(), notify.notified());
            notify.notify_one();
            drop(first);
            let passed = env.timeout(SECOND, second).await.is_some();
            let (first, later) = (notify.notified(), notify.clone());
            notify.notify_all();
            drop(first);
            (passed, env.timeout(SECOND, later.notified()).await.is_some())
        });
        assert_eq!(woken, (true, false));
    }
}
