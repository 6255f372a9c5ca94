//! Trying again until a deadline, with a random delay between two attempts. Must never know what is tried.

use crate::env::{Env, Monotonic};
use crate::lock::Settings;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The delay that is forced when an attempt took no time at all, so that a loop without delays ends all the same.
const STANDSTILL_DELAY: Duration = Duration::from_millis(1);

/// The attempts of one `acquire`.
pub struct Retry {
    env: Env,
    delays: RangeInclusive<Duration>,
    deadline: Monotonic,
    attempt_began: Monotonic,
}

impl Retry {
    /// The first attempt begins now.
    pub fn start(env: &Env, settings: &Settings) -> Retry {
        let now = env.monotonic_clock();
        Retry {
            env: env.clone(),
            delays: settings.retry.clone(),
            deadline: now.plus(settings.acquire_timeout),
            attempt_began: now,
        }
    }

    /// Waits a random delay; `true` if another attempt begins, `false` at once if the delay would pass the deadline.
    ///
    /// The last attempt may end later than the deadline, by as long as it takes.
    pub async fn again(&mut self) -> bool {
        let now = self.env.monotonic_clock();
        let mut delay = self.env.jitter(&self.delays);
        if now == self.attempt_began {
            delay = delay.max(STANDSTILL_DELAY);
        }
        if now.plus(delay) >= self.deadline {
            return false;
        }
        self.env.sleep(delay).await;
        self.attempt_began = self.env.monotonic_clock();
        true
    }
}
