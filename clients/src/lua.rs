//! Locks in Lua: `fencepost --lock lock.lua` (docs/lock-in-lua.md). Each call of a script is a
//! coroutine that yields when it needs the host. The same seed always gives the same run.

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
mod source;
mod words;

pub use script::{InvalidScript, Script};

#[cfg(test)]
mod tests;
