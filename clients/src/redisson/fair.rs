//! `redisson-fair`: waiters are served in order of arrival.
//! Source: `RedissonFairLock` of the version that [`super`] names. In a queue that is never empty,
//! **the script removes live waiters after a `wait` and a lease**. A waiter behind a dead one
//! **polls without a pause** while the lock is free.

use super::rlock::LockOptions;
use super::{DEFINITION, build};
use crate::lock::Definition;

/// Definition of `redisson-fair`.
pub const FAIR: Definition = Definition {
    name: "redisson-fair",
    about: "redisson with a queue: the scripts keep a list of waiters and their timeouts",
    build: |env, servers, settings| {
        build(env, servers, settings, LockOptions { fair: true, ..LockOptions::default() })
    },
    ..DEFINITION
};
