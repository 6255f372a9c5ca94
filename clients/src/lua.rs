//! Locks in Lua: `fencepost --lock lock.lua`. A script defines `acquire(key, ttl)`, `release(key,
//! owner)` and optional functions (docs/lock-in-lua.md). Each call is a coroutine, which yields its
//! requests to the host. A script sees simulated clocks and seeded random numbers, but no memory
//! addresses, so the same seed gives the same run.

mod actor;
mod connections;
mod coordinator_calls;
mod facts;
mod lint;
mod lock;
mod machine;
mod meter;
mod natives;
mod process;
mod script;
mod search;
mod source;
mod words;

pub use script::{InvalidScript, Script};

#[cfg(test)]
mod tests;
