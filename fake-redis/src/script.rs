//! Scripts, in Redis's own Lua.
//!
//! In: a call of EVAL or its like. `evaluate` finds the script and checks what it may do, `engine`
//! has the thread's Lua state, `enter` calls the script in it, and `functions` and `library` are
//! what the script calls, which reach the server by what `lend` lent. Commands that it calls are
//! executed by the room `calls`. Out: the reply.

// Named for its feature `external`: the Lua that is linked is the one that build.rs builds.
use mlua_sys as _;

mod convert;
mod engine;
mod enter;
mod evaluate;
mod functions;
mod lend;
mod library;
mod long;
mod lua_state;
mod problem;
mod random;
mod raw;
mod run;
mod shared;
#[cfg(test)]
mod tests;
