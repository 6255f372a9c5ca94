//! The library cjson and its settings, which scripts may change. See lua_cjson.c of Redis.

use super::{Arguments, add, json_decode, json_encode};
use mlua::{Lua, Result, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

use crate::state::scripts::{Invalid, Settings};

type Shared = Rc<Cell<Settings>>;

pub(super) fn fill(lua: &Lua, table: &Table, settings: &Shared) -> Result<()> {
    add_with(lua, table, settings, "encode", |call, settings| {
        json_encode::encode(call, settings.get())
    })?;
    add_with(lua, table, settings, "decode", |call, settings| {
        json_decode::decode(call, settings.get())
    })?;
    add_with(lua, table, settings, "encode_sparse_array", sparse_array)?;
    add_with(lua, table, settings, "encode_max_depth", |call, settings| {
        set_integer(call, settings, 1, (1, i32::MAX), |settings| &mut settings.encode_depth_max)
    })?;
    add_with(lua, table, settings, "decode_max_depth", |call, settings| {
        set_integer(call, settings, 1, (1, i32::MAX), |settings| &mut settings.decode_depth_max)
    })?;
    add_with(lua, table, settings, "encode_number_precision", |call, settings| {
        set_integer(call, settings, 1, (1, 14), |settings| &mut settings.precision)
    })?;
    add_with(lua, table, settings, "encode_keep_buffer", |call, settings| {
        set_switch(call, settings, 1, |settings| &mut settings.keep_buffer)
    })?;
    add_with(lua, table, settings, "encode_invalid_numbers", encode_invalid_numbers)?;
    add_with(lua, table, settings, "decode_invalid_numbers", |call, settings| {
        set_switch(call, settings, 1, |settings| &mut settings.takes_invalid)
    })?;
    add(lua, table, "new", |call| {
        let table = call.lua.create_table()?;
        fill(call.lua, &table, &Shared::default())?;
        Ok(table)
    })?;
    table.raw_set("null", Value::NULL)?;
    table.raw_set("_NAME", "cjson")?;
    table.raw_set("_VERSION", "2.1.0")
}

fn add_with<R: mlua::IntoLuaMulti + 'static>(
    lua: &Lua,
    table: &Table,
    settings: &Shared,
    name: &str,
    function: fn(&Arguments<'_>, &Shared) -> Result<R>,
) -> Result<()> {
    let settings = Rc::clone(settings);
    add(lua, table, name, move |call| function(call, &settings))
}

/// Settings take so many arguments, all of them optional.
fn check_count(call: &Arguments<'_>, most: usize) -> Result<()> {
    if call.len() <= most { Ok(()) } else { call.wrong(most + 1, "found too many arguments") }
}

fn set_integer(
    call: &Arguments<'_>,
    settings: &Shared,
    number: usize,
    (least, most): (i32, i32),
    field: fn(&mut Settings) -> &mut i32,
) -> Result<f64> {
    // The one setting with three arguments counts them itself.
    if number == 1 {
        check_count(call, 1)?;
    }
    let mut changed = settings.get();
    if !call.value(number).is_nil() {
        let value = call.integer(number)?;
        match i32::try_from(value) {
            Ok(value) if (least..=most).contains(&value) => *field(&mut changed) = value,
            _ => return call.wrong(1, &format!("expected integer between {least} and {most}")),
        }
    }
    settings.set(changed);
    Ok(f64::from(*field(&mut changed)))
}

fn set_switch(
    call: &Arguments<'_>,
    settings: &Shared,
    most: usize,
    field: fn(&mut Settings) -> &mut bool,
) -> Result<bool> {
    check_count(call, most)?;
    let mut changed = settings.get();
    match call.value(1) {
        Value::Nil => {}
        Value::Boolean(value) => *field(&mut changed) = *value,
        _ => *field(&mut changed) = option(call, &["off", "on"])? == 1,
    }
    settings.set(changed);
    Ok(*field(&mut changed))
}

/// `luaL_checkoption` of the first argument.
fn option(call: &Arguments<'_>, options: &[&str]) -> Result<usize> {
    let text = call.string(1)?;
    match options.iter().position(|option| text.as_bytes() == option.as_bytes()) {
        Some(index) => Ok(index),
        None => call.wrong(1, &format!("invalid option '{}'", text.to_string_lossy())),
    }
}

fn sparse_array(call: &Arguments<'_>, settings: &Shared) -> Result<(bool, f64, f64)> {
    const RANGE: (i32, i32) = (0, i32::MAX);
    let converts = set_switch(call, settings, 3, |settings| &mut settings.sparse_convert)?;
    let ratio = set_integer(call, settings, 2, RANGE, |settings| &mut settings.sparse_ratio)?;
    let safe = set_integer(call, settings, 3, RANGE, |settings| &mut settings.sparse_safe)?;
    Ok((converts, ratio, safe))
}

fn encode_invalid_numbers(call: &Arguments<'_>, settings: &Shared) -> Result<Value> {
    check_count(call, 1)?;
    let mut changed = settings.get();
    match call.value(1) {
        Value::Nil => {}
        Value::Boolean(value) => {
            changed.invalid_out = if *value { Invalid::Write } else { Invalid::Refuse }
        }
        _ => {
            changed.invalid_out = match option(call, &["off", "on", "null"])? {
                0 => Invalid::Refuse,
                1 => Invalid::Write,
                _ => Invalid::Null,
            }
        }
    }
    settings.set(changed);
    match changed.invalid_out {
        Invalid::Refuse => Ok(Value::Boolean(false)),
        Invalid::Write => Ok(Value::Boolean(true)),
        Invalid::Null => call.lua.create_string("null").map(Value::String),
    }
}
