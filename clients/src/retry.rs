use crate::env::{Env, Monotonic};
use crate::lock::{Acquisition, Settings};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Minimum delay after an attempt that took no time, so that a loop without delays ends.
const STANDSTILL_DELAY: Duration = Duration::from_millis(1);

pub struct Retry {
    env: Env,
    delays: RangeInclusive<Duration>,
    deadline: Monotonic,
    attempt_began: Monotonic,
}

impl Retry {
    pub fn start(env: &Env, settings: &Settings) -> Retry {
        let now = env.monotonic_clock();
        Retry {
            env: env.clone(),
            delays: settings.retry.clone(),
            deadline: now.plus(settings.acquire_timeout),
            attempt_began: now,
        }
    }

    /// Repeats the attempt. Returns a refusal only if the outcome of every attempt is known.
    pub async fn until_granted(
        mut self,
        mut attempt: impl AsyncFnMut() -> Acquisition,
    ) -> Acquisition {
        let mut standing = None;
        loop {
            let reason = match attempt().await {
                Acquisition::Granted(lease) => return Acquisition::Granted(lease),
                Acquisition::Refused(reason) => reason,
                Acquisition::Unknown(reason) => standing.insert(reason).clone().into(),
            };
            // Calling `wait_to_retry` here would enlarge the future of every acquire.
            let Some(delay) = self.delay() else {
                return standing.map_or(Acquisition::Refused(reason), Acquisition::Unknown);
            };
            self.env.sleep(delay).await;
            if self.env.is_interrupted() {
                return standing.map_or(Acquisition::Refused(reason), Acquisition::Unknown);
            }
            self.attempt_began = self.env.monotonic_clock();
        }
    }

    /// Waits until the next attempt is due. Returns `false` if interrupted or past the deadline.
    pub async fn wait_to_retry(&mut self) -> bool {
        let Some(delay) = self.delay() else { return false };
        self.env.sleep(delay).await;
        self.attempt_began = self.env.monotonic_clock();
        !self.env.is_interrupted()
    }

    fn delay(&self) -> Option<Duration> {
        if self.env.is_interrupted() {
            return None;
        }
        let now = self.env.monotonic_clock();
        let mut delay = self.env.jitter(&self.delays);
        if now == self.attempt_began {
            delay = delay.max(STANDSTILL_DELAY);
        }
        (now.plus(delay) < self.deadline).then_some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestWorld, settings};

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn jitter_stays_within_its_range_and_reaches_all_of_it() {
        let env = TestWorld::new().env();
        let draws: Vec<Duration> = (0..2_000).map(|_| env.jitter(&(50 * MS..=200 * MS))).collect();
        assert!(draws.iter().all(|draw| (50 * MS..=200 * MS).contains(draw)));
        assert!(
            draws.iter().any(|draw| *draw < 52 * MS) && draws.iter().any(|draw| *draw > 198 * MS)
        );
        assert_eq!(env.jitter(&(7 * MS..=7 * MS)), 7 * MS);
        let reversed = 9 * MS..=3 * MS;
        assert_eq!(env.jitter(&reversed), 9 * MS);
    }

    #[test]
    fn no_attempt_begins_at_or_after_the_deadline() {
        let world = TestWorld::new();
        let fixed =
            Settings { retry: 100 * MS..=100 * MS, acquire_timeout: 500 * MS, ..settings() };
        let mut retry = Retry::start(&world.env(), &fixed);
        let mut began = vec![world.now()];
        while world.run(retry.wait_to_retry()) {
            began.push(world.now());
        }
        assert_eq!(began, [0, 100_000, 200_000, 300_000, 400_000]);
    }

    #[test]
    fn a_timeout_of_zero_allows_one_attempt() {
        let world = TestWorld::new();
        let mut retry =
            Retry::start(&world.env(), &Settings { acquire_timeout: Duration::ZERO, ..settings() });
        assert!(!world.run(retry.wait_to_retry()));
        assert_eq!(world.now(), 0);
    }

    #[test]
    fn attempts_without_delay_end_all_the_same() {
        let world = TestWorld::new();
        let mut retry = Retry::start(
            &world.env(),
            &Settings { retry: Duration::ZERO..=Duration::ZERO, ..settings() },
        );
        let attempts = (0..5_000).take_while(|_| world.run(retry.wait_to_retry())).count();
        assert_eq!(attempts, 999);
    }
}
