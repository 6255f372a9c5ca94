//! Redlock with a step left out, and Redlock as some libraries have it.
//!
//! Left out, one step each; the twin of each is `redlock`:
//!
//! - `redlock-no-validity-check`: **step 3 without the time, and no step 4**: a majority is enough,
//!   however late, and the lease states no validity.
//! - `redlock-unlock-answered`: **step 5 and the release ask only the masters that said that they
//!   locked**. One that locked and whose answer was lost keeps the key until it expires.
//! - `redlock-no-random-delay`: all masters at once, and a **delay that is the same for all**, the
//!   middle of the range: processes that split the votes once are soon at it again. Its twin is
//!   `redlock-parallel`: all masters at once, random delay.
//! - `redlock-fencing`: **the first 52 bits of the random value as fencing token**. No order of
//!   grants is in them: a storage that compares them as numbers rejects rightful holders and lets
//!   stale ones in. Its twin is `fencing`.
//!
//! Libraries. What concerns time, quorum and giving back is as they have it; connections and
//! timeouts are those of this crate. In all three, one random value serves all attempts of an
//! acquire.
//!
//! - `redlock-py` 1.0.8: masters one after the other; elapsed time by **`time.time()`, the wall
//!   clock**; drift 1 % and 2 ms; 3 attempts, 200 ms apart, not random; a lock taken **while one
//!   master gave an error raises** `MultipleRedlockException`, and the majority keeps the key.
//! - `node-redlock` 5 (main branch): all masters at once; drift 1 % and 2 ms; **the end of the
//!   validity is not compared with the time**; 10 retries 100 to 300 ms apart; what a failed
//!   attempt took is **given back only when the last one has failed**, so a process blocks itself.
//! - `redsync` 4: all masters at once; drift 1 %, without the 2 ms; 32 tries, 50 to 250 ms apart.

use super::{DEFINITION, lock};
use crate::env::{BoxFuture, Env, Monotonic};
use crate::lock::{Definition, FencingToken, Settings};
use bytes::Bytes;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

/// The entry of the lock that does not look at the time.
pub const NO_VALIDITY_CHECK: Definition = Definition {
    name: "redlock-no-validity-check",
    about: "redlock for which a majority is enough, however late it came",
    build: |env, servers, settings| {
        let habits = Habits { checks_validity: false, states_validity: false, ..Habits::default() };
        lock(env, servers, settings, habits)
    },
    ..DEFINITION
};

/// The entry of the lock that unlocks only where it knows that it locked.
pub const UNLOCK_ANSWERED: Definition = Definition {
    name: "redlock-unlock-answered",
    about: "redlock that unlocks only the masters that answered",
    build: |env, servers, settings| {
        lock(
            env,
            servers,
            settings,
            Habits { gives_back: GivesBack::Answered, ..Habits::default() },
        )
    },
    ..DEFINITION
};

/// The entry of the lock that asks all masters at once.
pub const PARALLEL: Definition = Definition {
    name: "redlock-parallel",
    about: "redlock that asks all masters at once",
    build: |env, servers, settings| {
        lock(env, servers, settings, Habits { together: true, ..Habits::default() })
    },
    ..DEFINITION
};

/// The entry of the lock whose retries are in step.
pub const NO_RANDOM_DELAY: Definition = Definition {
    name: "redlock-no-random-delay",
    about: "redlock-parallel with the same delay between all attempts",
    build: |env, servers, settings| {
        let middle = (*settings.retry.start() + *settings.retry.end()) / 2;
        let settings = every(settings, middle, middle);
        lock(env, servers, &settings, Habits { together: true, ..Habits::default() })
    },
    ..DEFINITION
};

/// The entry of the lock whose tokens are random.
pub const FENCING: Definition = Definition {
    name: "redlock-fencing",
    about: "redlock whose random value is used as fencing token, which no storage can order",
    has_tokens: true,
    build: |env, servers, settings| {
        lock(env, servers, settings, Habits { gives_token: true, ..Habits::default() })
    },
    ..DEFINITION
};

/// The entry of redlock-py.
pub const PYTHON: Definition = Definition {
    name: "redlock-py",
    about: "redlock by the wall clock, three attempts 200 ms apart, raising where a master gave \
     an error",
    models: Some("redlock-py 1.0.8"),
    build: |env, servers, settings| {
        let settings = every(settings, MS * 200, MS * 200);
        let habits = Habits {
            clock: Clock::Wall,
            raises: true,
            attempts_max: 3,
            keeps_owner: true,
            ..Habits::default()
        };
        lock(env, servers, &settings, habits)
    },
    ..DEFINITION
};

/// The entry of node-redlock.
pub const NODE: Definition = Definition {
    name: "node-redlock",
    about: "redlock at once on all masters, whose validity nobody compares with the time, given \
     back after the last attempt",
    models: Some("node-redlock 5 (main branch)"),
    build: |env, servers, settings| {
        let settings = every(settings, MS * 100, MS * 300);
        let habits = Habits {
            together: true,
            checks_validity: false,
            gives_back: GivesBack::AtTheEnd,
            attempts_max: 11,
            keeps_owner: true,
            ..Habits::default()
        };
        lock(env, servers, &settings, habits)
    },
    ..DEFINITION
};

/// The entry of redsync.
pub const REDSYNC: Definition = Definition {
    name: "redsync",
    about: "redlock at once on all masters, with a drift of 1 % and no more",
    models: Some("redsync 4"),
    build: |env, servers, settings| {
        let settings = every(settings, MS * 50, MS * 250);
        let habits = Habits {
            together: true,
            margin: Duration::ZERO,
            attempts_max: 32,
            keeps_owner: true,
            ..Habits::default()
        };
        lock(env, servers, &settings, habits)
    },
    ..DEFINITION
};

const MS: Duration = Duration::from_millis(1);

/// The settings with another delay between attempts.
fn every(settings: &Settings, least: Duration, most: Duration) -> Settings {
    Settings { retry: least..=most, ..settings.clone() }
}

/// What differs between the locks of this family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Habits {
    /// All masters at once, instead of one after the other.
    pub together: bool,
    /// What the elapsed time is read from.
    pub clock: Clock,
    /// What the validity is shorter by, besides 1 % of the ttl.
    pub margin: Duration,
    /// Whether a majority that came too late is none.
    pub checks_validity: bool,
    /// Whether the lease states how long it is valid.
    pub states_validity: bool,
    /// What a failed attempt and a release ask to remove the key.
    pub gives_back: GivesBack,
    /// How often it tries.
    pub attempts_max: usize,
    /// Whether all attempts of one acquire write the same value.
    pub keeps_owner: bool,
    /// Whether an error of one master makes a success an error.
    pub raises: bool,
    /// Whether the random value is handed out as a fencing token.
    pub gives_token: bool,
}

/// What the elapsed time is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// The clock that is never stepped.
    Monotonic,
    /// The clock that may be.
    Wall,
}

/// Which masters are asked to remove the key, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GivesBack {
    /// All of them, after each failed attempt.
    All,
    /// Those that answered that they locked.
    Answered,
    /// All of them, when no more attempts follow.
    AtTheEnd,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            together: false,
            clock: Clock::Monotonic,
            margin: MS * 2,
            checks_validity: true,
            states_validity: true,
            gives_back: GivesBack::All,
            attempts_max: usize::MAX,
            keeps_owner: false,
            raises: false,
            gives_token: false,
        }
    }
}

impl Clock {
    /// Microseconds, of which only differences mean something.
    pub fn read(self, env: &Env) -> i64 {
        match self {
            Clock::Monotonic => i64::try_from(env.monotonic_clock().0).unwrap_or(i64::MAX),
            Clock::Wall => env.wall_clock().0,
        }
    }
}

impl Habits {
    /// Start, plus the ttl, minus what the clocks may drift apart within it. A ttl no longer than
    /// that is never valid. By the monotonic clock, whatever the elapsed time was read from.
    pub fn validity_end(&self, env: &Env, start: i64, ttl: Duration) -> Monotonic {
        let validity = ttl.saturating_sub(ttl / 100 + self.margin);
        let elapsed = self.clock.read(env).saturating_sub(start);
        let now = env.monotonic_clock();
        let start = Monotonic(now.0.saturating_add_signed(elapsed.saturating_neg()));
        start.plus(validity)
    }

    /// The first 52 bits of the owner value, so that the number survives in JSON.
    pub fn token_of(&self, owner: &Bytes) -> Option<FencingToken> {
        let digits = std::str::from_utf8(owner.get(..13)?).ok()?;
        let token = u64::from_str_radix(digits, 16).ok()?;
        self.gives_token.then_some(FencingToken(token))
    }
}

/// Waits for all of them; each time something happens they are polled in order.
pub async fn join_all<T>(mut futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut outputs: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, output) in
            futures.iter_mut().zip(&mut outputs).filter(|(_, output)| output.is_none())
        {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *output = Some(value);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
