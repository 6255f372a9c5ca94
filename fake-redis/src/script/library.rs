//! The libraries that Redis gives scripts besides Lua's own: cjson, cmsgpack, bit and struct.
//!
//! They are of Rust, and stay so: Redis's own C is as long, keeps its settings in the Lua state,
//! where a script could leave something for the next, and had to be patched for overflows time and
//! again. What they accept, answer and complain of is what the C sources in deps/lua/src of Redis
//! 7.0.15 do: lua_cjson.c, lua_cmsgpack.c, lua_bit.c, lua_struct.c.

mod bit;
pub(super) mod json;
mod json_decode;
mod json_encode;
mod message_pack;
mod message_unpack;
mod structure;
#[cfg(test)]
mod tests;

use super::lua_state;
use super::problem::{check_memory, complain, complain_plainly};
use crate::state::scripts::Settings;
use mlua::{IntoLuaMulti, Lua, LuaString, MultiValue, Result, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// How deep data may nest on its way in or out, whatever a script sets: what cjson allows unless
/// told otherwise, and a thread has stack for.
const DEPTH_MAX: usize = 1_000;

/// How many bytes take as long as an instruction.
const BYTES_PER_INSTRUCTION: usize = 16;
/// Data of fewer bytes takes no time worth counting.
const LONG: usize = 4_096;

/// How many values a library goes through before the run may be looked at.
const STEPS_PER_LOOK: u32 = 1_024;
/// A value takes as long as so many instructions.
const INSTRUCTIONS_PER_STEP: usize = 16;

/// Counts the time that going through so many bytes takes, as instructions.
pub(super) fn charge(lua: &Lua, bytes: usize) -> Result<()> {
    if bytes < LONG { Ok(()) } else { lua_state::charge(lua, bytes / BYTES_PER_INSTRUCTION) }
}

/// Puts what a library holds into `table`.
pub(super) fn fill(lua: &Lua, json: &Rc<Cell<Settings>>, name: &str, table: &Table) -> Result<()> {
    match name {
        "cjson" => json::fill(lua, table, json),
        "cmsgpack" => message_pack::fill(lua, table),
        "bit" => bit::fill(lua, table),
        _ => structure::fill(lua, table),
    }
}

/// Adds a function to a library.
fn add<R: IntoLuaMulti>(
    lua: &Lua,
    table: &Table,
    name: &str,
    function: impl Fn(&Arguments<'_>) -> Result<R> + 'static,
) -> Result<()> {
    let call = move |lua: &Lua, values| function(&Arguments { lua, values, steps: Cell::new(0) });
    let function = lua.create_function(call)?;
    table.raw_set(name, function)
}

/// The arguments of one call, checked as lauxlib.c of Lua 5.1 does. Numbers count from 1.
struct Arguments<'l> {
    lua: &'l Lua,
    values: MultiValue,
    /// How many values the library has gone through in this call.
    steps: Cell<u32>,
}

impl Arguments<'_> {
    fn len(&self) -> usize {
        self.values.len()
    }

    /// The argument, or nil if there is none.
    fn value(&self, number: usize) -> &Value {
        self.values.get(number - 1).unwrap_or(&Value::Nil)
    }

    /// `luaL_checknumber`.
    fn number(&self, number: usize) -> Result<f64> {
        match self.lua.coerce_number(self.value(number).clone())? {
            Some(value) => Ok(value),
            None => self.wrong_type(number, "number"),
        }
    }

    /// `luaL_checkinteger`.
    fn integer(&self, number: usize) -> Result<i64> {
        self.number(number).map(|value| value as i64)
    }

    /// `luaL_optinteger`.
    fn integer_or(&self, number: usize, default: i64) -> Result<i64> {
        if self.value(number).is_nil() { Ok(default) } else { self.integer(number) }
    }

    /// `luaL_checklstring`.
    fn string(&self, number: usize) -> Result<LuaString> {
        match self.value(number) {
            value @ (Value::String(_) | Value::Integer(_) | Value::Number(_)) => {
                let text = self.lua.coerce_string(value.clone())?;
                let text = text.map_or_else(|| self.lua.create_string(""), Ok)?;
                charge(self.lua, text.as_bytes().len()).map(|()| text)
            }
            _ => self.wrong_type(number, "string"),
        }
    }

    /// Comes before every value that is read or written: the run is looked at now and then, and
    /// ends if it uses too much memory, `bytes` among it that Lua does not know of.
    fn step(&self, bytes: usize) -> Result<()> {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if !steps.is_multiple_of(STEPS_PER_LOOK) {
            return Ok(());
        }
        lua_state::work(self.lua, STEPS_PER_LOOK as usize * INSTRUCTIONS_PER_STEP)?;
        check_memory(self.lua.used_memory().saturating_add(bytes))
    }

    /// `luaL_typerror`.
    fn wrong_type<R>(&self, number: usize, wanted: &str) -> Result<R> {
        let given = if number > self.len() { "no value" } else { kind_of(self.value(number)) };
        self.wrong(number, &format!("{wanted} expected, got {given}"))
    }

    /// `luaL_argerror`.
    fn wrong<R>(&self, number: usize, problem: &str) -> Result<R> {
        let name =
            self.lua.inspect_stack(0, |debug| debug.names().name.map(|name| name.into_owned()));
        let name = name.flatten().unwrap_or_else(|| String::from("?"));
        complain(self.lua, &format!("bad argument #{number} to '{name}' ({problem})"))
    }

    /// `luaL_error`.
    fn fail<R>(&self, problem: &str) -> Result<R> {
        complain(self.lua, problem)
    }

    /// `luaG_runerror` within C: it says no place.
    fn fail_plainly<R>(&self, problem: &str) -> Result<R> {
        complain_plainly(problem)
    }
}

/// `lua_typename`: the name of a value's type as scripts know it.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::LightUserData(_) => "userdata",
        Value::Integer(_) => "number",
        other => other.type_name(),
    }
}

/// A number, if it is one.
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}
