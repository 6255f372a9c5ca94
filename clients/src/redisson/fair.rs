//! `redisson-fair`: a queue serves waiters in order of arrival.
//!
//! Source: `RedissonFairLock` of the version that [`super`] names; article 004 describes the idea.
//! The lock has two further keys: a list as the queue, and a sorted set with an expiry time for
//! each waiter, by the **clock of the client** that arrived. That time is the lock's remaining ttl
//! plus a `wait` for each earlier waiter. The next acquire removes the first waiter if its time has
//! passed. A waiter that gives up leaves the queue, and each waiter listens to its own channel.
//!
//! The model keeps the library's oddities. A new waiter's time is that of the last waiter plus a
//! `wait`, and each grant subtracts a `wait` from every waiter's time. If the queue is never empty,
//! the times stay constant while the clock advances, so **the script removes live waiters after a
//! `wait` and a lease**, and the definition promises no fairness. A waiter behind a dead waiter
//! **polls without a pause** while the lock is free, because the script returns a waiting time of
//! zero. The release of an expired lock **counts as released**.

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
