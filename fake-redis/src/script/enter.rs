//! Calling a script with KEYS and ARGV, straight on Lua's stack, and nothing that is rare.
//!
//! The tables of KEYS and ARGV are used again by the next script if it has as many of them and
//! nobody wrote to them: making and collecting two tables costs as much as a command. Lua watches
//! them (see lua/README.md), so that no script can tell. What raw.rs says of jumps and panics holds
//! here too.

use super::lua_state;
use super::raw::{resume_panic, string_at};
use crate::data::number;
use crate::protocol::args::Args;
use crate::protocol::reply::Reply;
use mlua::ffi::{self, lua_State};
use mlua::{Error, Function, Lua, Result, Value};
use std::cell::Cell;
use std::ffi::{c_int, c_uint};

/// What a script leaves behind: whether it returned, and its value or problem. Nothing if its value
/// is in the reply already.
pub(super) type Left = Option<(bool, Value)>;

// The upvalues of `enter`.
const HANDLER: c_int = ffi::lua_upvalueindex(1);
const GLOBALS: c_int = ffi::lua_upvalueindex(2);

/// What a script finds as KEYS or as ARGV.
#[derive(Clone, Copy)]
struct List {
    /// The upvalue with its name.
    name: c_int,
    /// The upvalue with its table, which is nil before the first script.
    table: c_int,
    /// The number of its table, whichever script it was made for.
    id: c_uint,
}

const LISTS: [List; 2] = [
    List { name: ffi::lua_upvalueindex(3), table: ffi::lua_upvalueindex(4), id: c_uint::MAX },
    List { name: ffi::lua_upvalueindex(5), table: ffi::lua_upvalueindex(6), id: c_uint::MAX - 1 },
];

/// Where scripts are called: a Lua state, and what does not change from call to call.
pub(super) struct Scope {
    lua: Lua,
    /// The main thread of `lua`, on which nothing but scripts runs.
    state: *mut lua_State,
    /// Where [`enter`] is in the registry.
    enter: c_int,
    /// How many elements the lists have.
    lengths: Cell<[usize; 2]>,
    /// The memory that Lua used when the last script ended.
    used_kilobytes: Cell<usize>,
}

/// A compiled script of one [`Scope`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Compiled {
    /// Where it is in the registry of its Lua state.
    place: c_int,
}

/// What one call is about; [`enter`] gets its address.
struct Job<'j> {
    script: Compiled,
    parts: [Args<'j>; 2],
    lengths: &'j Cell<[usize; 2]>,
    used_kilobytes: &'j Cell<usize>,
    reply: &'j mut Reply,
    /// Whether the script returned, and where its value or problem is in the registry; nothing if
    /// the value is in the reply.
    left: Option<(bool, c_int)>,
}

impl Scope {
    /// The scope of a Lua state, with what makes of every problem a table that says where it arose.
    pub(super) fn new(lua: &Lua, handle_problem: Function) -> Result<Scope> {
        let upvalues = (handle_problem, lua.globals(), "KEYS", Value::Nil, "ARGV", Value::Nil);
        let (mut state, mut place) = (std::ptr::null_mut(), 0);
        let keep_enter = |current| {
            // SAFETY: six values are on the stack, and become the upvalues of the one that goes to
            // the registry. Nobody but `call` knows its place, and so calls it as it wants to be
            // called. No coroutine runs, so that this is the main thread.
            unsafe {
                state = current;
                ffi::lua_pushcclosure(current, enter, 6);
                place = ffi::luaL_ref(current, ffi::LUA_REGISTRYINDEX);
            }
        };
        // SAFETY: what is called leaves nothing.
        unsafe { lua.exec_raw::<()>(upvalues, keep_enter)? };
        Ok(Scope {
            lua: lua.clone(),
            state,
            enter: place,
            lengths: Cell::default(),
            used_kilobytes: Cell::default(),
        })
    }

    /// The memory that Lua used when the last script ended.
    pub(super) fn used_kilobytes(&self) -> usize {
        self.used_kilobytes.get()
    }

    /// Keeps a compiled script.
    pub(super) fn keep(&self, script: Function) -> Result<Compiled> {
        let mut place = 0;
        let keep = |state| {
            // SAFETY: one value is on the stack, and goes to the registry.
            place = unsafe { ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX) };
        };
        // SAFETY: what is called leaves nothing.
        unsafe { self.lua.exec_raw::<()>(script, keep)? };
        Ok(Compiled { place })
    }

    /// Forgets a compiled script, which is not used any more.
    pub(super) fn forget(&self, script: Compiled) -> Result<()> {
        let forget = |state| {
            // SAFETY: the place came from `keep`.
            unsafe { ffi::luaL_unref(state, ffi::LUA_REGISTRYINDEX, script.place) };
        };
        // SAFETY: what is called takes and leaves nothing.
        unsafe { self.lua.exec_raw((), forget) }
    }

    /// Calls a script with KEYS and ARGV; a string or number that it returns is written to `reply`.
    ///
    /// # Errors
    /// If Lua itself fails.
    pub(super) fn call(
        &self,
        script: Compiled,
        parts: [Args<'_>; 2],
        reply: &mut Reply,
    ) -> Result<Left> {
        let (lengths, used_kilobytes) = (&self.lengths, &self.used_kilobytes);
        let mut job = Job { script, parts, lengths, used_kilobytes, reply, left: None };
        // SAFETY: the state is that of `self.lua`, which is alive and is not running anything; two
        // values fit on any stack that is not in use. What is called takes the address of a job and
        // leaves nothing; its errors stop here, and their values are thrown away.
        let has_failed = unsafe {
            let top = ffi::lua_gettop(self.state);
            ffi::lua_rawgeti_(self.state, ffi::LUA_REGISTRYINDEX, self.enter);
            ffi::lua_pushlightuserdata(self.state, (&raw mut job).cast());
            let status = ffi::lua_pcall(self.state, 1, 0, 0);
            ffi::lua_settop(self.state, top);
            status != ffi::LUA_OK
        };
        let left = job.left;
        resume_panic();
        if has_failed {
            return Err(Error::runtime("no script can be called: Lua has no memory left"));
        }
        left.map(|(has_returned, place)| Ok((has_returned, self.taken(place)?))).transpose()
    }

    /// Takes a value out of the registry.
    fn taken(&self, place: c_int) -> Result<Value> {
        let take = |state| {
            // SAFETY: the place came from `enter`, and is not used any more.
            unsafe {
                ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, place);
                ffi::luaL_unref(state, ffi::LUA_REGISTRYINDEX, place);
            }
        };
        // SAFETY: what is called leaves one value.
        unsafe { self.lua.exec_raw((), take) }
    }
}

/// Takes the address of a [`Job`], and tells it what is left of the script.
///
/// # Safety
/// Only [`Scope::call`] has it called, which keeps the job alive and untouched meanwhile.
unsafe extern "C-unwind" fn enter(state: *mut lua_State) -> c_int {
    // SAFETY: the address is that of a job of which nobody else makes use. Whatever jumps out of
    // here jumps over nothing that has to be dropped.
    unsafe {
        let job = &mut *ffi::lua_touserdata(state, 1).cast::<Job<'_>>();
        let lengths = job.parts.map(Args::len);
        let before = job.lengths.replace(lengths);
        for (index, (list, parts)) in LISTS.into_iter().zip(job.parts).enumerate() {
            fill(state, list, parts, before[index]);
        }
        ffi::lua_pushvalue(state, HANDLER);
        ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, job.script.place);
        lua_state::lua_beginscript(state);
        let has_returned = ffi::lua_pcall(state, 0, 1, 2) == ffi::LUA_OK;
        job.used_kilobytes.set(ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0).unsigned_abs() as usize);
        if !(has_returned && write_simple(state, -1, job.reply)) {
            job.left = Some((has_returned, ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX)));
        }
        0
    }
}

/// Has scripts find these parts in a list: in its table if that has as many elements and nobody
/// wrote to it, and in a new one otherwise.
///
/// # Safety
/// `state` is that of [`enter`].
unsafe fn fill(state: *mut lua_State, list: List, parts: Args<'_>, length: usize) {
    // SAFETY: the state is that of `enter`, whose stack has room for three values and holds the
    // list's table and name where `list` says.
    unsafe {
        ffi::lua_pushvalue(state, list.table);
        if !(length == parts.len() && is_as_filled(state)) {
            ffi::lua_pop(state, 1);
            renew(state, list, parts.len());
        }
        for (part, index) in parts.iter().zip(1..) {
            ffi::lua_pushlstring_(state, part.as_ptr().cast(), part.len());
            ffi::lua_rawseti_(state, -2, index);
        }
        lua_state::lua_enablereadonlytable(state, -1, lua_state::WATCHED);
        ffi::lua_pop(state, 1);
    }
}

/// Whether the value on the top of the stack is a table that nobody wrote to since it was filled.
///
/// # Safety
/// `state` has a value on its stack.
unsafe fn is_as_filled(state: *mut lua_State) -> bool {
    // SAFETY: there is a value on the top, and looking at its type changes nothing.
    unsafe {
        ffi::lua_type(state, -1) == ffi::LUA_TTABLE
            && lua_state::lua_isreadonlytable(state, -1) == lua_state::WATCHED
    }
}

/// Puts a new table in the place of a list's, and leaves it on the stack.
///
/// # Safety
/// As for [`fill`].
unsafe fn renew(state: *mut lua_State, list: List, length: usize) {
    // SAFETY: as for `fill`; GLOBALS is the table of the script's globals, which is open for as
    // long as it is written to.
    unsafe {
        ffi::lua_createtable(state, length as c_int, 0);
        lua_state::lua_numbertable(state, -1, list.id);
        ffi::lua_pushvalue(state, -1);
        ffi::lua_replace(state, list.table);
        lua_state::lua_enablereadonlytable(state, GLOBALS, lua_state::OPEN);
        ffi::lua_pushvalue(state, list.name);
        ffi::lua_pushvalue(state, -2);
        ffi::lua_rawset(state, GLOBALS);
        lua_state::lua_enablereadonlytable(state, GLOBALS, lua_state::READ_ONLY);
    }
}

/// Writes the value at `index` if it is a string or a number, as `luaReplyToRedisReply` in
/// script_lua.c.
///
/// # Safety
/// There is a value at `index`.
unsafe fn write_simple(state: *mut lua_State, index: c_int, reply: &mut Reply) -> bool {
    // SAFETY: the caller says that there is a value at `index`.
    match unsafe { ffi::lua_type(state, index) } {
        // SAFETY: it is a string, as just seen, and is copied before anything else happens.
        ffi::LUA_TSTRING => reply.bulk(unsafe { string_at(state, index) }),
        ffi::LUA_TNUMBER => {
            // SAFETY: it is a number, which reading leaves as it is.
            reply.integer(number::truncated(unsafe { ffi::lua_tonumber(state, index) }))
        }
        _ => return false,
    }
    true
}
