//! The path of every script, straight on Lua's stack: calling a script with KEYS and ARGV, and redis.call from it. Must never know
//! commands, nor do anything that is rare: that is the host's other functions', through mlua.
//!
//! mlua keeps every value that it hands to Rust in a place of its own, and guards every call of a function of the host. That is 10,000
//! instructions for a compare-and-delete, as many as all the rest of a command costs, so that what every script does is done here.
//!
//! An error of Lua leaves C by a jump. Frames that Lua may jump over therefore hold nothing that has to be dropped, and no Rust panic
//! gets into Lua: it is kept, an error of Lua takes its place, and it goes on where the script was called.

use super::lend;
use super::run::Run;
use crate::args::Args;
use crate::number::{self, Decimal};
use crate::reply::Reply;
use mlua::ffi::{self, lua_State};
use mlua::{Function, LightUserData, Lua, Result, Table, Value};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice;

thread_local! {
    /// A panic that is on its way through Lua.
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

/// C's `%.17g` prints whole numbers below this without an exponent.
pub(super) const PLAIN_MAX: u64 = 100_000_000_000_000_000;

/// What a script leaves behind: whether it returned, and its value or problem. Nothing if its value is in the reply already.
pub(super) type Left = (Option<bool>, Value);

/// The parts of prelude.lua that a call needs.
pub(super) struct Scope {
    /// Where scripts find KEYS and ARGV.
    #[cfg(test)]
    pub(super) globals: Table,
    /// [`enter`], with what does not change from call to call.
    pub(super) enter: Function,
}

/// What one call is about; [`enter`] gets its address.
struct Job<'j> {
    keys: Args<'j>,
    arguments: Args<'j>,
    reply: &'j mut Reply,
}

impl Scope {
    /// The scope of a Lua state: where scripts find KEYS and ARGV, and what makes of every problem a table that says where it arose.
    pub(super) fn new(lua: &Lua, globals: Table, handle_problem: Function) -> Result<Scope> {
        // SAFETY: four values are on the stack, and become the upvalues of the one that is left there. Nobody but `call_script` has it,
        // and so calls it as it wants to be called.
        let closure = unsafe {
            lua.exec_raw((handle_problem, &globals, "KEYS", "ARGV"), |state| ffi::lua_pushcclosure(state, enter, 4))?
        };
        Ok(Scope {
            #[cfg(test)]
            globals,
            enter: closure,
        })
    }
}

/// Calls a script with KEYS and ARGV; a string or number that it returns is written to `reply`.
///
/// # Errors
/// If Lua itself fails.
pub(super) fn call_script(
    scope: &Scope,
    script: &Function,
    (keys, arguments): (Args<'_>, Args<'_>),
    reply: &mut Reply,
) -> Result<Left> {
    let mut job = Job { keys, arguments, reply };
    let address = LightUserData((&raw mut job).cast());
    let left = scope.enter.call::<Left>((script, address));
    if let Some(panic) = PANIC.take() {
        resume_unwind(panic);
    }
    left
}

/// Calls `body`; `None` if it panics, which then goes on where the script was called.
pub(super) fn keep_panic<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| PANIC.set(Some(panic))).ok()
}

/// Takes a script and the address of a [`Job`]; its upvalues are the handler of problems, the table of globals, and the names of KEYS
/// and ARGV. Returns what [`Left`] says.
///
/// # Safety
/// Only [`call_script`] has it called, which keeps the job alive and untouched meanwhile.
unsafe extern "C-unwind" fn enter(state: *mut lua_State) -> c_int {
    // SAFETY: the address is that of a job of which nobody else makes use. No error of Lua jumps out of here but for want of memory, and
    // then over nothing that has to be dropped.
    unsafe {
        let job = &mut *ffi::lua_touserdata(state, 2).cast::<Job<'_>>();
        ffi::lua_pushvalue(state, ffi::lua_upvalueindex(1));
        for (name, list) in [(3, job.keys), (4, job.arguments)] {
            ffi::lua_pushvalue(state, ffi::lua_upvalueindex(name));
            push_list(state, list);
            ffi::lua_rawset(state, ffi::lua_upvalueindex(2));
        }
        ffi::lua_pushvalue(state, 1);
        let has_returned = ffi::lua_pcall(state, 0, 1, 3) == ffi::LUA_OK;
        if has_returned && write_simple(state, -1, job.reply) {
            return 0;
        }
        ffi::lua_pushboolean(state, c_int::from(has_returned));
        ffi::lua_insert(state, -2);
        2
    }
}

/// # Safety
/// `state` is a Lua state that has room for three values.
unsafe fn push_list(state: *mut lua_State, parts: Args<'_>) {
    unsafe {
        ffi::lua_createtable(state, parts.len() as c_int, 0);
        for (part, index) in parts.iter().zip(1..) {
            ffi::lua_pushlstring_(state, part.as_ptr().cast(), part.len());
            ffi::lua_rawseti_(state, -2, index);
        }
    }
}

/// Writes the value at `index` if it is a string or a number, as `luaReplyToRedisReply` in script_lua.c.
///
/// # Safety
/// There is a value at `index`.
unsafe fn write_simple(state: *mut lua_State, index: c_int, reply: &mut Reply) -> bool {
    match unsafe { ffi::lua_type(state, index) } {
        ffi::LUA_TSTRING => reply.bulk(unsafe { string_at(state, index) }),
        ffi::LUA_TNUMBER => reply.integer(number::truncated(unsafe { ffi::lua_tonumber(state, index) })),
        _ => return false,
    }
    true
}

/// The string at `index`, which lives as long as it is on the stack.
///
/// # Safety
/// There is a string at `index`, and it stays there as long as what is returned is used.
unsafe fn string_at<'a>(state: *mut lua_State, index: c_int) -> &'a [u8] {
    let mut length = 0;
    unsafe {
        let start = ffi::lua_tolstring(state, index, &raw mut length);
        slice::from_raw_parts(start.cast(), length)
    }
}

/// How a call of redis.call goes on.
enum Next {
    /// The answer is on the stack.
    Return,
    /// An error is on the stack.
    Raise,
    /// The reply has to be converted by the host.
    Convert,
    /// Nothing has been done: the host's function does it all.
    Delegate,
}

/// redis.call. `general` does whatever is not done here, `reply` converts the reply of the run that is lent.
pub(super) fn redis_call(lua: &Lua, general: &Function, reply: &Function) -> Result<Function> {
    // SAFETY: two values are on the stack, and become the upvalues of the one that is left there.
    unsafe { lua.exec_raw((general, reply), |state| ffi::lua_pushcclosure(state, call, 2)) }
}

/// redis.call as a function of C. Its upvalues are the host's function for whatever is not done here, and the one that converts the
/// reply of the run that is lent.
///
/// # Safety
/// Only Lua calls it.
unsafe extern "C-unwind" fn call(state: *mut lua_State) -> c_int {
    unsafe {
        let next = keep_panic(|| execute(state)).unwrap_or_else(|| {
            ffi::lua_pushlstring_(state, c"the server panicked".as_ptr(), 19);
            Next::Raise
        });
        match next {
            Next::Return => 1,
            Next::Raise => ffi::lua_error(state),
            Next::Convert => {
                ffi::lua_pushvalue(state, ffi::lua_upvalueindex(2));
                ffi::lua_call(state, 0, 1);
                1
            }
            Next::Delegate => {
                let arguments = ffi::lua_gettop(state);
                ffi::lua_pushvalue(state, ffi::lua_upvalueindex(1));
                ffi::lua_insert(state, 1);
                ffi::lua_call(state, arguments, 1);
                1
            }
        }
    }
}

/// # Safety
/// `state` is that of a function that Lua called just now.
unsafe fn execute(state: *mut lua_State) -> Next {
    lend::borrow(|run| {
        // SAFETY: the stack is what the caller says; nothing below jumps while `run` is in use but for want of memory, which aborts.
        unsafe {
            if !gather(state, run) {
                return Next::Delegate;
            }
            match run.call() {
                Ok(()) => answer(state, run.reply.bytes()),
                Err(error) => {
                    push_problem(state, &error.0);
                    Next::Raise
                }
            }
        }
    })
    .unwrap_or(Next::Delegate)
}

/// Copies the arguments out of Lua; false if one is neither a string nor a whole number, or if there is none.
///
/// # Safety
/// As for [`execute`].
unsafe fn gather(state: *mut lua_State, run: &mut Run<'_>) -> bool {
    run.arguments.clear();
    let count = unsafe { ffi::lua_gettop(state) };
    for index in 1..=count {
        match unsafe { ffi::lua_type(state, index) } {
            ffi::LUA_TSTRING => run.arguments.push(unsafe { string_at(state, index) }),
            ffi::LUA_TNUMBER => {
                let number = unsafe { ffi::lua_tonumber(state, index) };
                let whole = number as i64;
                if (whole as f64).to_bits() != number.to_bits() || whole.unsigned_abs() >= PLAIN_MAX {
                    return false;
                }
                run.arguments.push(Decimal::of(whole).as_bytes());
            }
            _ => return false,
        }
    }
    count > 0
}

/// Pushes what a reply is to a script, if it is a simple one.
///
/// # Safety
/// As for [`execute`].
unsafe fn answer(state: *mut lua_State, reply: &[u8]) -> Next {
    let Some((kind, rest)) = reply.split_first() else { return Next::Convert };
    let Some(end) = rest.iter().position(|byte| *byte == b'\r') else { return Next::Convert };
    let line = &rest[..end];
    unsafe {
        match kind {
            b'$' => match number::parse_integer(line).map(usize::try_from) {
                Some(Ok(length)) => {
                    let Some(content) = rest.get(end + 2..end + 2 + length) else { return Next::Convert };
                    ffi::lua_pushlstring_(state, content.as_ptr().cast(), length);
                }
                _ => ffi::lua_pushboolean(state, 0),
            },
            b':' => match number::parse_integer(line) {
                Some(number) => ffi::lua_pushnumber(state, number as f64),
                None => return Next::Convert,
            },
            b'+' => push_named(state, c"ok", line),
            b'-' => {
                push_problem(state, line);
                return Next::Raise;
            }
            _ => return Next::Convert,
        }
    }
    Next::Return
}

/// Pushes a table with the text of an error, which is what scripts meet of it.
///
/// # Safety
/// As for [`execute`].
unsafe fn push_problem(state: *mut lua_State, text: &[u8]) {
    unsafe { push_named(state, c"err", text) }
}

/// Pushes a table with one string in it.
///
/// # Safety
/// As for [`execute`].
unsafe fn push_named(state: *mut lua_State, name: &std::ffi::CStr, text: &[u8]) {
    unsafe {
        ffi::lua_createtable(state, 0, 1);
        ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len());
        ffi::lua_setfield(state, -2, name.as_ptr());
    }
}
