//! `redisson-fair`: a queue serves waiters in order of arrival.
//!
//! Source: `RedissonFairLock` of the version that [`super`] names. The lock has two further keys: a
//! list as the queue, and a sorted set with each waiter's expiry time. This time is on the **clock
//! of the waiting client**: the lock's remaining ttl plus a `wait` for the waiter and for each
//! earlier waiter. The scripts remove the first waiter once its expiry time has passed.
//!
//! The model keeps the library's oddities. While the queue is never empty, the first waiter's
//! expiry time does not change, so **the script removes live waiters after a `wait` and a lease**,
//! and the lock promises no fairness. A waiter behind a dead waiter **polls without a pause** while
//! the lock is free. The release of an expired lock that is free **counts as released**.

use super::rlock::LockOptions;
use super::{DEFINITION, build};
use crate::lock::Definition;

pub const FAIR: Definition = Definition {
    name: "redisson-fair",
    about: "redisson with a queue: the scripts keep a list of waiters and their timeouts",
    build: |env, servers, settings| {
        build(env, servers, settings, LockOptions { fair: true, ..LockOptions::default() })
    },
    ..DEFINITION
};
