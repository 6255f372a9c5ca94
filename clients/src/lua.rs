//! Locks in Lua: `fencepost --lock lock.lua`. A script defines `acquire(key, ttl)`, `release(key,
//! owner)` and optional functions (docs/lock-in-lua.md). Each call is a coroutine, which yields its
//! requests to the host. Memory addresses are not visible to a script, so the same seed always
//! gives the same run.

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
