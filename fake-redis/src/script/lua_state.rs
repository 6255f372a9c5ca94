//! What fencepost's Lua can do besides Lua 5.1; see lua/README.md and lua/lscript.c.

use mlua::ffi::{self, lua_State};
use mlua::{Lua, Result, Table};
use std::ffi::{c_int, c_uint};

/// Anybody may write to a table.
pub(super) const OPEN: c_int = 0;
/// Nobody may.
pub(super) const READ_ONLY: c_int = 1;
/// Anybody may, and the first who does makes it [`OPEN`].
pub(super) const WATCHED: c_int = 2;

unsafe extern "C-unwind" {
    /// Makes the table at `index` one of the above.
    pub(super) fn lua_enablereadonlytable(state: *mut lua_State, index: c_int, kind: c_int);
    /// Which of the above the table at `index` is.
    pub(super) fn lua_isreadonlytable(state: *mut lua_State, index: c_int) -> c_int;
    /// Gives the table at `index` a number, by which other tables order it.
    pub(super) fn lua_numbertable(state: *mut lua_State, index: c_int, id: c_uint);
    /// Begins to count objects and instructions anew.
    pub(super) fn lua_beginscript(state: *mut lua_State);
    fn lua_sealstate(state: *mut lua_State);
    fn lua_charge(state: *mut lua_State, units: usize);
    fn lua_work(state: *mut lua_State, units: usize);
    fn lua_wanted(state: *mut lua_State) -> usize;
    fn lua_endscript(state: *mut lua_State);
}

/// Makes a table read-only. mlua does not know of such tables: its functions must not write to it
/// any more.
pub(super) fn freeze(table: &Table, lua: &Lua) -> Result<()> {
    #[cfg(feature = "planted-leak")]
    if crate::planted::scripts_share_tables() {
        return Ok(());
    }
    set_kind(table, lua, READ_ONLY)
}

/// Makes a table open.
pub(super) fn thaw(table: &Table, lua: &Lua) -> Result<()> {
    set_kind(table, lua, OPEN)
}

/// Whether anybody may write to a table.
#[cfg(test)]
pub(super) fn is_open(table: &Table, lua: &Lua) -> Result<bool> {
    let mut kind = READ_ONLY;
    // SAFETY: a table is on the stack, and is taken away again.
    unsafe {
        lua.exec_raw::<()>(table, |state| {
            kind = lua_isreadonlytable(state, -1);
            ffi::lua_pop(state, 1);
        })?;
    }
    Ok(kind != READ_ONLY)
}

fn set_kind(table: &Table, lua: &Lua, kind: c_int) -> Result<()> {
    // SAFETY: a table is on the stack, and is taken away again.
    unsafe {
        lua.exec_raw(table, |state| {
            lua_enablereadonlytable(state, -1, kind);
            ffi::lua_pop(state, 1);
        })
    }
}

/// Whatever there is in the state now is shared by all scripts.
pub(super) fn seal(lua: &Lua) -> Result<()> {
    // SAFETY: what is called takes and leaves nothing.
    unsafe { lua.exec_raw((), |state| lua_sealstate(state)) }
}

/// Counts as many instructions for work that was done for a script.
pub(super) fn charge(lua: &Lua, units: usize) -> Result<()> {
    // SAFETY: what is called takes and leaves nothing, and raises no error.
    unsafe { lua.exec_raw((), |state| lua_charge(state, units)) }
}

/// As [`charge`], but looks at the run at once if it is time.
///
/// # Errors
/// If the run has to end.
pub(super) fn work(lua: &Lua, units: usize) -> Result<()> {
    // SAFETY: what is called takes and leaves nothing; its errors stop in `exec_raw`.
    unsafe { lua.exec_raw((), |state| lua_work(state, units)) }
}

/// A Lua state without a call of Lua, for the hook: it may run where the stack of C is full, and
/// nothing can be called.
#[derive(Clone, Copy)]
pub(super) struct Raw(*mut lua_State);

impl Raw {
    /// The state of `lua`, which whoever holds this keeps alive.
    pub(super) fn of(lua: &Lua) -> Result<Raw> {
        let mut raw = Raw(std::ptr::null_mut());
        // SAFETY: what is called takes and leaves nothing.
        unsafe { lua.exec_raw::<()>((), |state| raw.0 = state)? };
        Ok(raw)
    }

    /// How many bytes are about to be allocated, if they are many.
    pub(super) fn wanted(self) -> usize {
        // SAFETY: the state is alive, and what is called neither uses its stack nor raises errors.
        unsafe { lua_wanted(self.0) }
    }

    /// Has the hook called at every instruction until the next script begins.
    pub(super) fn end_script(self) {
        // SAFETY: as above.
        unsafe { lua_endscript(self.0) };
    }
}
