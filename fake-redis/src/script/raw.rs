//! redis.call straight on Lua's stack, as every script calls it.
//!
//! mlua keeps every value that it hands to Rust in a place of its own, and guards every call of a
//! function of the host. That is 10,000 instructions for a compare-and-delete, as many as all the
//! rest of a command costs, so that what every script does is done here.
//!
//! An error of Lua leaves C by a jump. Frames that Lua may jump over therefore hold nothing that
//! has to be dropped, and no Rust panic gets into Lua: it is kept, an error of Lua takes its place,
//! and it goes on where the script was called.

use super::lend;
use super::run::Run;
use mlua::ffi::{self, lua_State};
use mlua::{Function, Lua, Result};
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

/// Goes on with a panic that was kept, once the script has ended.
pub(super) fn resume_panic() {
    if let Some(panic) = PANIC.take() {
        resume_unwind(panic);
    }
}

/// Calls `body`; `None` if it panics, which then goes on where the script was called.
pub(super) fn keep_panic<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| PANIC.set(Some(panic))).ok()
}

/// The string at `index`, which lives as long as it is on the stack.
///
/// # Safety
/// There is a string at `index`, and it stays there as long as what is returned is used.
pub(super) unsafe fn string_at<'a>(state: *mut lua_State, index: c_int) -> &'a [u8] {
    let mut length = 0;
    // SAFETY: the caller says that there is a string at `index`, so Lua gives its start and
    // length, and it stays on the stack, where it is not collected.
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

/// redis.call. `general` does whatever is not done here, `reply` converts the reply of the run that
/// is lent.
pub(super) fn redis_call(lua: &Lua, general: &Function, reply: &Function) -> Result<Function> {
    // SAFETY: two values are on the stack, and become the upvalues of the one that is left there.
    unsafe { lua.exec_raw((general, reply), |state| ffi::lua_pushcclosure(state, call, 2)) }
}

/// redis.call as a function of C. Its upvalues are the host's function for whatever is not done
/// here, and the one that converts the reply of the run that is lent.
///
/// # Safety
/// Only Lua calls it.
unsafe extern "C-unwind" fn call(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls with its own state and room for what is pushed; what panics is kept here
    // and crosses no frame of C.
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
        // SAFETY: the stack is what the caller says; nothing below jumps while `run` is in use but
        // for want of memory, which aborts.
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

/// Copies the arguments out of Lua; false if one is neither a string nor a whole number, or if
/// there is none.
///
/// # Safety
/// As for [`execute`].
unsafe fn gather(state: *mut lua_State, run: &mut Run<'_>) -> bool {
    run.arguments.clear();
    // SAFETY: every state has a top.
    let count = unsafe { ffi::lua_gettop(state) };
    for index in 1..=count {
        // SAFETY: `index` is within the stack; the arguments stay there for the whole call.
        match unsafe { ffi::lua_type(state, index) } {
            // SAFETY: it is a string, as just seen.
            ffi::LUA_TSTRING => run.arguments.push(unsafe { string_at(state, index) }),
            ffi::LUA_TNUMBER => {
                // SAFETY: as above, a number; reading it converts nothing.
                let number = unsafe { ffi::lua_tonumber(state, index) };
                let whole = number as i64;
                if (whole as f64).to_bits() != number.to_bits() || whole.unsigned_abs() >= PLAIN_MAX
                {
                    return false;
                }
                run.arguments.push(itoa::Buffer::new().format(whole).as_bytes());
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
    // SAFETY: the state is that of a call from Lua, with room for what is pushed here.
    unsafe {
        match (kind, number_in(rest)) {
            (b'$', Some((length, content))) => {
                match usize::try_from(length).map(|length| content.get(..length)) {
                    Ok(Some(content)) => {
                        ffi::lua_pushlstring_(state, content.as_ptr().cast(), content.len())
                    }
                    Ok(None) => return Next::Convert,
                    Err(_) => ffi::lua_pushboolean(state, 0),
                }
            }
            (b':', Some((number, _))) => ffi::lua_pushnumber(state, number as f64),
            (b'+', _) => push_named(state, c"ok", line_of(rest)),
            (b'-', _) => {
                push_problem(state, line_of(rest));
                return Next::Raise;
            }
            _ => return Next::Convert,
        }
    }
    Next::Return
}

/// The number that a line begins with and consists of, and what follows the line.
fn number_in(reply: &[u8]) -> Option<(i64, &[u8])> {
    let (sign, digits) = reply.strip_prefix(b"-").map_or((1, reply), |digits| (-1, digits));
    let mut number: i64 = 0;
    for (at, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                number = number.checked_mul(10)?.checked_add(sign * i64::from(byte - b'0'))?
            }
            b'\r' if at > 0 => return Some((number, digits.get(at + 2..)?)),
            _ => return None,
        }
    }
    None
}

fn line_of(reply: &[u8]) -> &[u8] {
    reply.split(|byte| *byte == b'\r').next().unwrap_or_default()
}

/// Pushes a table with the text of an error, which is what scripts meet of it.
///
/// # Safety
/// As for [`execute`].
unsafe fn push_problem(state: *mut lua_State, text: &[u8]) {
    // SAFETY: as the caller says, for `push_named` too.
    unsafe { push_named(state, c"err", text) }
}

/// Pushes a table with one string in it.
///
/// # Safety
/// As for [`execute`].
unsafe fn push_named(state: *mut lua_State, name: &std::ffi::CStr, text: &[u8]) {
    // SAFETY: the state is that of a call from Lua, with room for two values; the texts have the
    // lengths that are given.
    unsafe {
        ffi::lua_createtable(state, 0, 1);
        ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len());
        ffi::lua_setfield(state, -2, name.as_ptr());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_elsewhere(
            number in any::<i64>(),
            rest in proptest::collection::vec(any::<u8>(), 0..3),
        ) {
            let line = [number.to_string().as_bytes(), b"\r\n", &rest].concat();
            prop_assert_eq!(number_in(&line), Some((number, &rest[..])));
        }
    }

    #[test]
    fn what_is_not_a_number_is_none() {
        for line in [
            "",
            "-",
            "\r\n",
            "-\r\n",
            "1",
            "1\n",
            "x\r\n",
            "1x\r\n",
            "OK\r\n",
            "9223372036854775808\r\n",
        ] {
            assert_eq!(number_in(line.as_bytes()), None, "{line:?}");
        }
    }
}
