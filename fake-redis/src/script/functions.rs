//! The functions of the host that prelude.lua builds the redis library on. Must never know how scripts see them.
//!
//! None of them fails: what goes wrong is returned as a value, since an error of the host would reach scripts as something that they
//! cannot look into.

use super::engine::Shared;
use super::run::Run;
use super::{convert, lend};
use crate::client::ClientKey;
use crate::command;
use crate::error::CommandError;
use crate::number::{self, Decimal};
use crate::reply::Protocol;
use crate::server::Targets;
use mlua::{Lua, LuaString, MultiValue, Result, Table, Value};
use std::rc::Rc;

/// All functions, by name.
pub(crate) fn table(lua: &Lua, shared: &Rc<Shared>) -> Result<Table> {
    let native = lua.create_table()?;
    native.raw_set("call", lua.create_function(call)?)?;
    native.raw_set("sha1hex", lua.create_function(sha1hex)?)?;
    native.raw_set("setresp", lua.create_function(setresp)?)?;
    native.raw_set("set_repl", lua.create_function(set_repl)?)?;
    native.raw_set("is_command", lua.create_function(is_command)?)?;
    native.raw_set("script_line", lua.create_function(script_line)?)?;
    let random = Rc::clone(shared);
    native.raw_set("random", lua.create_function(move |_, ()| Ok(random.random.next()))?)?;
    let random = Rc::clone(shared);
    let seed = move |_: &Lua, seed: f64| {
        random.random.seed(seed as i64 as i32);
        Ok(())
    };
    native.raw_set("seed_random", lua.create_function(seed)?)?;
    Ok(native)
}

/// Executes a command; its reply and, if that is an error, true.
fn call(lua: &Lua, parts: MultiValue) -> Result<(Value, bool)> {
    let called = lend::borrow(|run| {
        gather(run, &parts)?;
        run.call()?;
        let is_error = run.reply.bytes().first() == Some(&b'-');
        let value = convert::to_lua(lua, run.reply.bytes());
        Ok::<_, CommandError>(value.map(|value| (value, is_error)))
    });
    match called {
        Some(Ok(result)) => result,
        Some(Err(error)) => problem(lua, &error.0),
        None => problem(lua, b"ERR redis.call was used outside of a script"),
    }
}

fn problem(lua: &Lua, text: &[u8]) -> Result<(Value, bool)> {
    let table = lua.create_table()?;
    table.raw_set("err", lua.create_string(text)?)?;
    Ok((Value::Table(table), true))
}

/// Copies the arguments of a command out of Lua, as `luaArgsToRedisArgv` in script_lua.c.
fn gather(run: &mut Run<'_>, parts: &MultiValue) -> std::result::Result<(), CommandError> {
    if parts.is_empty() {
        return Err(CommandError::fixed("ERR Please specify at least one argument for this redis lib call"));
    }
    run.arguments.clear();
    for part in parts {
        match part {
            Value::String(text) => run.arguments.push(&text.as_bytes()),
            Value::Integer(number) => run.arguments.push(integer_text(*number).as_ref()),
            Value::Number(number) => run.arguments.push(number::double_text(*number).as_bytes()),
            _ => return Err(CommandError::fixed("ERR Lua redis lib command arguments must be strings or integers")),
        }
    }
    Ok(())
}

/// C's `%.17g` of a whole number.
fn integer_text(number: i64) -> Vec<u8> {
    const PLAIN_MAX: u64 = 100_000_000_000_000_000;
    if number.unsigned_abs() < PLAIN_MAX {
        Decimal::of(number).as_bytes().to_vec()
    } else {
        number::double_text(number as f64).into_bytes()
    }
}

fn sha1hex(lua: &Lua, text: LuaString) -> Result<LuaString> {
    lua.create_string(super::sha_of(&text.as_bytes()))
}

fn setresp(_: &Lua, version: i64) -> Result<()> {
    let protocol = if version == 3 { Protocol::Resp3 } else { Protocol::Resp2 };
    lend::borrow(|run| run.server.client_mut(ClientKey::SCRIPT).protocol = protocol);
    Ok(())
}

fn set_repl(_: &Lua, (append_only, replicas): (bool, bool)) -> Result<()> {
    lend::borrow(|run| run.server.effect_targets = Targets { append_only, replicas });
    Ok(())
}

fn is_command(_: &Lua, name: Value) -> Result<bool> {
    Ok(name.as_string().is_some_and(|name| command::find(&name.as_bytes()).is_some()))
}

/// The line of the script that is being executed: the innermost one, if functions of the prelude are in between.
fn script_line(lua: &Lua, (): ()) -> Result<Option<usize>> {
    const LEVELS_MAX: usize = 200;
    for level in 1..LEVELS_MAX {
        let look = lua.inspect_stack(level, |debug| {
            let is_script = debug.source().source.as_deref() == Some("@user_script");
            is_script.then(|| debug.current_line())
        });
        match look {
            None => return Ok(None),
            Some(Some(line)) => return Ok(line),
            Some(None) => {}
        }
    }
    Ok(None)
}
