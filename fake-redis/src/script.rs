//! Scripts.
//!
//! In: a call of EVAL or a related command. `evaluate` finds the script and checks its permissions,
//! `engine` owns the thread's Lua state and calls the script in the environment that `prelude.lua`
//! builds. The script's functions are in `functions`, `library`, `strings` and `wrappers`; they
//! reach the server through `lend`, and stop at `limits`. `calls` executes commands. Out: the
//! reply.

mod convert;
mod engine;
mod evaluate;
mod functions;
mod host;
mod lend;
mod library;
mod limits;
mod order;
mod pattern;
mod random;
mod run;
mod shared;
mod strings;
#[cfg(test)]
mod tests;
mod values;
mod walks;
mod watch;
mod wrappers;
