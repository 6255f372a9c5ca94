//! Scripts.
//!
//! In: a call of EVAL or its like. `evaluate` finds the script and checks what it may do, `engine`
//! has the thread's Lua state and calls the script, for which `prelude.lua` built a world; the
//! script's functions are in `functions`, `library`, `strings` and `wrappers`. They reach the
//! server through `lend`, and end at `limits`. Commands are executed by the room `calls`. Out: the
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
