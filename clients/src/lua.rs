//! Locks that are written in Lua: `fencepost --lock lock.lua`. A script has `acquire(key, ttl)` and
//! `release(key, owner)`, and may have more; see docs/lock-in-lua.md. Each call is a coroutine,
//! which yields when it wants something of the host, and goes on when it has it. So a script is
//! stepped like any other lock, in both engines.
//!
//! Scripts see no clock, no file and no random number but those of [`Env`](crate::Env), and tables
//! are gone through in the order of their keys, so that a seed gives the same run every time.

mod actor;
mod elsewhere;
mod facts;
mod hands;
mod lint;
mod lock;
mod machine;
mod natives;
mod process;
mod script;
mod source;
mod words;

pub use script::{InvalidScript, Script};

#[cfg(test)]
mod tests;
