//! `redisson-fair`: waiters are served in the order in which they came.
//!
//! Source: `RedissonFairLock` of the version that [`super`] names; article 004 gives the idea (a
//! list as queue, all in Lua).
//!
//! Beside the lock stand a list, the queue, and a sorted set with the time until which each waiter
//! counts, by the **clock of the client** that came: what is left of the lock, and a `wait` for
//! each one before it. Whoever is past that time is removed from the head by the next one to ask. A
//! waiter that gives up takes itself out; one that died blocks the head of the queue until its time
//! is over, and no longer.
//!
//! Oddities of the library, kept. A newcomer's time is that of the last plus a `wait`, and each
//! grant takes a `wait` off everybody's, so in a queue that is never empty the times stand still
//! while the clock goes on, and **after a `wait` and a lease live waiters are removed**
//! (so its definition promises no order, and none is demanded of it). A waiter
//! behind a dead one **asks again and again without a pause** while the lock is free (the script
//! then says that nothing is left of it). The release of a lock that had expired **counts as
//! released**. A waiter listens to a channel of its own.

use super::rlock::Habits;
use super::{DEFINITION, build};
use crate::lock::Definition;

/// The entry in the table of locks.
pub const FAIR: Definition = Definition {
    name: "redisson-fair",
    about: "redisson with a queue: a list of waiters and their timeouts, kept by the scripts",
    build: |env, servers, settings| {
        build(env, servers, settings, Habits { fair: true, ..Habits::default() })
    },
    ..DEFINITION
};
