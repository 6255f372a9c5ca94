//! The libraries that Redis gives scripts besides Lua's own: cjson, cmsgpack, bit and struct. Must
//! never know servers.
//!
//! Each is made when a script first uses it; most scripts use none. What they accept, answer and
//! complain of is what the C sources in deps/lua/src of Redis 7.0.15 do: lua_cjson.c,
//! lua_cmsgpack.c, lua_bit.c, lua_struct.c.

mod bit;
pub(super) mod json;
mod json_decode;
mod json_encode;
mod message_pack;
mod message_unpack;
mod structure;
#[cfg(test)]
mod tests;

use super::functions::{complain, complain_plainly};
use mlua::{IntoLuaMulti, Lua, LuaString, MultiValue, Result, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// How deep data may nest on its way in or out, whatever a script sets: what cjson allows unless
/// told otherwise, and a thread has stack for.
const DEPTH_MAX: usize = 1_000;

/// Puts what a library holds into `table`.
pub(super) fn fill(
    lua: &Lua,
    json: &Rc<Cell<json::Settings>>,
    name: &str,
    table: &Table,
) -> Result<()> {
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
    let function = lua.create_function(move |lua, values| function(&Arguments { lua, values }))?;
    table.raw_set(name, function)
}

/// The arguments of one call, checked as lauxlib.c of Lua 5.1 does. Numbers count from 1.
struct Arguments<'l> {
    lua: &'l Lua,
    values: MultiValue,
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
            value @ (Value::String(_) | Value::Integer(_) | Value::Number(_)) => self
                .lua
                .coerce_string(value.clone())
                .and_then(|text| text.map_or_else(|| self.lua.create_string(""), Ok)),
            _ => self.wrong_type(number, "string"),
        }
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
