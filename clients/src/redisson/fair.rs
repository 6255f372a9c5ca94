//! `redisson-fair`: waiters are served in order of arrival.
//!
//! Source: `RedissonFairLock` of the version that [`super`] names; article 004 gives the idea (a
//! list as queue, all in Lua).
//!
//! Next to the lock there are a list, the queue, and a sorted set with the time until which each
//! waiter counts, by the **clock of the client** that arrived: the rest of the lock's time, and a
//! `wait` for each waiter before it. The next process to ask removes a head whose time has passed.
//! A waiter that gives up leaves the queue; a dead one blocks the head of the queue until its time
//! has passed, and no longer.
//!
//! Oddities of the library, kept. A newcomer's time is that of the last plus a `wait`, and each
//! grant takes a `wait` off every waiter's, so in a queue that is never empty the times stay
//! constant while the clock advances, and **after a `wait` and a lease live waiters are removed**
//! (so its definition promises no order, and the checkers demand none). A waiter behind a dead one
//! **polls without a pause** while the lock is free (the script then answers that no time is left).
//! The release of an expired lock **counts as released**. Each waiter listens to its own channel.

use super::rlock::Habits;
use super::{DEFINITION, build};
use crate::lock::Definition;

/// The entry in the table of locks.
pub const FAIR: Definition = Definition {
    name: "redisson-fair",
    about: "redisson with a queue: the scripts keep a list of waiters and their timeouts",
    build: |env, servers, settings| {
        build(env, servers, settings, Habits { fair: true, ..Habits::default() })
    },
    ..DEFINITION
};
