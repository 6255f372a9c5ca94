//! Calling a script with KEYS and ARGV, straight on Lua's stack. Must never know commands, nor do
//! anything that is rare.
//!
//! The tables of KEYS and ARGV are used again by the next script if it has as many and the last one
//! left tables alone, so that nothing can be told from them: making and collecting two tables costs
//! as much as a command. What raw.rs says of jumps and panics holds here too.

use super::harm::Harm;
use super::raw::{resume_panic, string_at};
use crate::args::Args;
use crate::number;
use crate::reply::Reply;
use mlua::ffi::{self, lua_State};
use mlua::{Error, Function, Lua, Result, Table, Value};
use std::cell::Cell;
use std::ffi::c_int;

/// What a script leaves behind: whether it returned, and its value or problem. Nothing if its value
/// is in the reply already.
pub(super) type Left = Option<(bool, Value)>;

// The upvalues of `enter`.
const HANDLER: c_int = ffi::lua_upvalueindex(1);
const GLOBALS: [c_int; 2] = [ffi::lua_upvalueindex(2), ffi::lua_upvalueindex(7)];

/// What a script finds as KEYS or as ARGV.
#[derive(Clone, Copy)]
struct List {
    /// The upvalue with its name.
    name: c_int,
    /// The upvalue with its table, which is nil before the first script.
    table: c_int,
}

const LISTS: [List; 2] = [
    List { name: ffi::lua_upvalueindex(3), table: ffi::lua_upvalueindex(4) },
    List { name: ffi::lua_upvalueindex(5), table: ffi::lua_upvalueindex(6) },
];

/// The parts of prelude.lua that a call needs.
pub(super) struct Scope {
    /// Where scripts find KEYS and ARGV.
    #[cfg(test)]
    pub(super) globals: [Table; 2],
    /// The main thread of Lua, on which nothing but scripts runs.
    state: *mut lua_State,
    /// Where [`enter`] is in the registry, with what does not change from call to call.
    enter: c_int,
    /// How many elements the lists have, if they are as good as new but for these.
    lengths: Cell<Option<[usize; 2]>>,
}

/// A compiled script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Compiled {
    /// Where it is in the registry of its Lua state.
    place: c_int,
    /// Whether it leaves KEYS and ARGV as it finds them.
    spares_tables: bool,
}

/// What one call is about; [`enter`] gets its address.
struct Job<'j> {
    script: Compiled,
    parts: [Args<'j>; 2],
    lengths: &'j Cell<Option<[usize; 2]>>,
    reply: &'j mut Reply,
    /// Whether the script returned, and where its value or problem is in the registry; nothing if
    /// the value is in the reply.
    left: Option<(bool, c_int)>,
}

impl Scope {
    /// The scope of a Lua state: the two places where scripts find KEYS and ARGV, and what makes of
    /// every problem a table that says where it arose.
    pub(super) fn new(lua: &Lua, globals: [Table; 2], handle_problem: Function) -> Result<Scope> {
        let upvalues =
            (handle_problem, &globals[0], "KEYS", Value::Nil, "ARGV", Value::Nil, &globals[1]);
        let (mut main, mut place) = (std::ptr::null_mut(), 0);
        let keep_enter = |state| {
            main = state;
            // SAFETY: seven values are on the stack, and become the upvalues of the one that goes
            // to the registry. Nobody but `call_script` knows its place, and so calls it as it
            // wants to be called.
            unsafe {
                ffi::lua_pushcclosure(state, enter, 7);
                place = ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX);
            }
        };
        // SAFETY: what is called leaves nothing.
        unsafe { lua.exec_raw::<()>(upvalues, keep_enter)? };
        Ok(Scope {
            #[cfg(test)]
            globals,
            state: main,
            enter: place,
            lengths: Cell::default(),
        })
    }
}

/// Keeps a compiled script.
pub(super) fn keep(lua: &Lua, script: Function, harm: Harm) -> Result<Compiled> {
    let mut place = 0;
    // SAFETY: one value is on the stack, and goes to the registry.
    unsafe {
        lua.exec_raw::<()>(script, |state| place = ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX))?
    };
    Ok(Compiled { place, spares_tables: harm < Harm::Tables })
}

/// Forgets compiled scripts.
pub(super) fn forget(lua: &Lua, scripts: impl IntoIterator<Item = Compiled>) -> Result<()> {
    let forget_all = |state| {
        for script in scripts {
            // SAFETY: the place came from `keep`, and is not used any more.
            unsafe { ffi::luaL_unref(state, ffi::LUA_REGISTRYINDEX, script.place) };
        }
    };
    // SAFETY: what is called takes and leaves nothing.
    unsafe { lua.exec_raw((), forget_all) }
}

/// Calls a script with KEYS and ARGV; a string or number that it returns is written to `reply`.
///
/// # Errors
/// If Lua itself fails.
pub(super) fn call_script(
    lua: &Lua,
    scope: &Scope,
    script: Compiled,
    parts: [Args<'_>; 2],
    reply: &mut Reply,
) -> Result<Left> {
    let mut job = Job { script, parts, lengths: &scope.lengths, reply, left: None };
    // SAFETY: the state is that of `lua`, which is not running anything; two values fit on any
    // stack that is not in use. What is called takes the address of a job and leaves nothing; its
    // errors stop here, and their values are thrown away.
    let has_failed = unsafe {
        let top = ffi::lua_gettop(scope.state);
        ffi::lua_rawgeti_(scope.state, ffi::LUA_REGISTRYINDEX, scope.enter);
        ffi::lua_pushlightuserdata(scope.state, (&raw mut job).cast());
        let status = ffi::lua_pcall(scope.state, 1, 0, 0);
        ffi::lua_settop(scope.state, top);
        status != ffi::LUA_OK
    };
    let left = job.left;
    resume_panic();
    if has_failed {
        return Err(Error::runtime("no script can be called: Lua has no memory left"));
    }
    left.map(|(has_returned, place)| Ok((has_returned, taken(lua, place)?))).transpose()
}

/// Takes a value out of the registry.
fn taken(lua: &Lua, place: c_int) -> Result<Value> {
    let take = |state| {
        // SAFETY: the place came from `enter`, and is not used any more.
        unsafe {
            ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, place);
            ffi::luaL_unref(state, ffi::LUA_REGISTRYINDEX, place);
        }
    };
    // SAFETY: what is called leaves one value.
    unsafe { lua.exec_raw((), take) }
}

/// Takes the address of a [`Job`], and tells it what is left of the script.
///
/// # Safety
/// Only [`call_script`] has it called, which keeps the job alive and untouched meanwhile.
unsafe extern "C-unwind" fn enter(state: *mut lua_State) -> c_int {
    // SAFETY: the address is that of a job of which nobody else makes use. No error of Lua jumps
    // out of here but for want of memory, and then over nothing that has to be dropped.
    unsafe {
        let job = &mut *ffi::lua_touserdata(state, 1).cast::<Job<'_>>();
        let lengths = job.parts.map(Args::len);
        let before = job.lengths.replace(job.script.spares_tables.then_some(lengths));
        for (index, (list, parts)) in LISTS.into_iter().zip(job.parts).enumerate() {
            fill(state, list, parts, before.is_some_and(|before| before[index] == parts.len()));
        }
        ffi::lua_pushvalue(state, HANDLER);
        ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, job.script.place);
        let has_returned = ffi::lua_pcall(state, 0, 1, 2) == ffi::LUA_OK;
        if !has_returned {
            // Whatever a script raises is told where that was, be it KEYS itself.
            job.lengths.take();
        }
        if !(has_returned && write_simple(state, -1, job.reply)) {
            job.left = Some((has_returned, ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX)));
        }
        0
    }
}

/// Has scripts find these parts in a list, in its table if that is as good as new, and in a new one
/// otherwise.
///
/// # Safety
/// `state` is that of [`enter`].
unsafe fn fill(state: *mut lua_State, list: List, parts: Args<'_>, is_as_new: bool) {
    unsafe {
        if is_as_new {
            ffi::lua_pushvalue(state, list.table);
        } else {
            renew(state, list, parts.len());
        }
        for (part, index) in parts.iter().zip(1..) {
            ffi::lua_pushlstring_(state, part.as_ptr().cast(), part.len());
            ffi::lua_rawseti_(state, -2, index);
        }
        ffi::lua_pop(state, 1);
    }
}

/// Puts a new table in the place of a list's, and leaves it on the stack.
///
/// # Safety
/// As for [`fill`].
unsafe fn renew(state: *mut lua_State, list: List, length: usize) {
    unsafe {
        ffi::lua_createtable(state, length as c_int, 0);
        ffi::lua_pushvalue(state, -1);
        ffi::lua_replace(state, list.table);
        for globals in GLOBALS {
            ffi::lua_pushvalue(state, list.name);
            ffi::lua_pushvalue(state, -2);
            ffi::lua_rawset(state, globals);
        }
    }
}

/// Writes the value at `index` if it is a string or a number, as `luaReplyToRedisReply` in
/// script_lua.c.
///
/// # Safety
/// There is a value at `index`.
unsafe fn write_simple(state: *mut lua_State, index: c_int, reply: &mut Reply) -> bool {
    match unsafe { ffi::lua_type(state, index) } {
        ffi::LUA_TSTRING => reply.bulk(unsafe { string_at(state, index) }),
        ffi::LUA_TNUMBER => {
            reply.integer(number::truncated(unsafe { ffi::lua_tonumber(state, index) }))
        }
        _ => return false,
    }
    true
}
