#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../cli/answer.rs"]
mod answer;
mod drawn;
mod pinned;
mod planted;
#[path = "../cli/schema.rs"]
mod schema;

mod aimed;
mod anomalies;
mod availability;
mod databases;
mod dating;
mod determinism;
mod disks;
mod engines;
mod etcd_waiters;
mod extensions;
mod fair_queues;
mod fixtures;
mod frozen;
mod gallery;
mod given_up;
mod lock_tests;
mod lua_locks;
mod minimal;
mod must_find;
mod priorities;
mod redlock_optimum;
mod remedies;
mod sections;
mod switches;
mod threads;
mod turns;
mod waiting;
mod wrong_answers;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
