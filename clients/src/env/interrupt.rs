//! Interrupts of lock calls. An interrupt ends a lock call's current or next wait and stops its
//! retries, but not its cleanup.

use super::{Env, Monotonic};
use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Stage {
    #[default]
    None,
    Pending,
    Polled,
    Delivered,
}

#[derive(Debug, Default)]
pub(super) struct Interrupt(Cell<Stage>);

impl Interrupt {
    #[inline(always)]
    pub(super) fn claim(&self) -> bool {
        let is_heard = self.0.get() == Stage::Polled;
        if is_heard {
            self.0.set(Stage::Delivered);
        }
        is_heard
    }

    #[inline(always)]
    pub(super) fn fail_if_interrupted<T>(&self, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_pending() && self.claim() {
            return Poll::Ready(Err(io::ErrorKind::Interrupted.into()));
        }
        poll
    }

    fn change_stage(&self, from: Stage, to: Stage) {
        if self.0.get() == from {
            self.0.set(to);
        }
    }
}

impl Env {
    pub async fn interrupting<T>(&self, mut call: Pin<&mut impl Future<Output = T>>) -> T {
        self.interrupt.0.set(Stage::Pending);
        let _ends = Ends(&self.interrupt);
        std::future::poll_fn(|context| {
            self.interrupt.change_stage(Stage::Pending, Stage::Polled);
            let poll = call.as_mut().poll(context);
            self.interrupt.change_stage(Stage::Polled, Stage::Pending);
            poll
        })
        .await
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupt.0.get() == Stage::Delivered
    }

    pub fn left(&self, deadline: Monotonic) -> Duration {
        match self.is_interrupted() {
            true => Duration::ZERO,
            false => deadline.since(self.monotonic_clock()),
        }
    }
}

struct Ends<'i>(&'i Interrupt);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.0.set(Stage::None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::{Acquisition, Settings};
    use crate::retry::Retry;
    use crate::testing::{TestWorld, settings};
    use std::pin::pin;

    const MS: Duration = Duration::from_millis(1);

    async fn interrupted<T>(env: &Env, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        match env.timeout(5 * MS, call.as_mut()).await {
            Some(outcome) => outcome,
            None => env.interrupting(call).await,
        }
    }

    #[test]
    fn what_is_waited_for_on_a_clock_is_over_once() {
        let world = TestWorld::new();
        let env = world.env();
        let sleeps = async {
            env.sleep(60 * MS).await;
            let heard_at = env.monotonic_clock().0;
            env.sleep(20 * MS).await;
            (heard_at, env.is_interrupted())
        };
        assert_eq!(world.run(interrupted(&env, sleeps)), (5_000, true));
        assert_eq!(world.now(), 25_000);
        assert!(!env.is_interrupted(), "the call is over");
        assert_eq!(env.left(env.monotonic_clock().plus(MS)), MS);
    }

    #[test]
    fn a_call_that_has_come_to_its_end_is_not_interrupted() {
        let world = TestWorld::new();
        let env = world.env();
        assert!(!world.run(interrupted(&env, async {
            env.sleep(4 * MS).await;
            env.is_interrupted()
        })));
    }

    #[test]
    fn attempts_end_and_what_may_stand_is_unknown() {
        let outcome = |reason: Acquisition| {
            let world = TestWorld::new();
            let env = world.env();
            let settings = Settings { retry: 3 * MS..=3 * MS, ..settings() };
            let attempts = Retry::start(&env, &settings).until_granted(async || reason.clone());
            let outcome = world.run(interrupted(&env, attempts));
            assert!((5_000..6_000).contains(&world.now()), "{}", world.now());
            outcome
        };
        let refused = Acquisition::Refused("held by another".into());
        assert_eq!(outcome(refused.clone()), refused);
        let unknown = Acquisition::Unknown("a reply was lost".to_owned());
        assert_eq!(outcome(unknown.clone()), unknown);
    }

    #[test]
    fn a_task_beside_the_call_and_another_thread_hear_nothing() {
        let world = TestWorld::new();
        let (env, other) = (world.env(), world.env().for_thread(2));
        let beside = env.clone();
        let task = env.task(async move {
            beside.sleep(30 * MS).await;
            beside.monotonic_clock().0
        });
        world.run(interrupted(&env, env.sleep(90 * MS)));
        assert!(!other.is_interrupted());
        assert_eq!(world.run(task), Ok(30_000));
    }
}
