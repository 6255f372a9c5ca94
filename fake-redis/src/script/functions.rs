//! The functions of the host that prelude.lua builds the world of scripts on.

use super::long::Ending;
use super::problem::{Problem, complain, raise, stop};
use super::run::Run;
use super::shared::Shared;
use super::{convert, lend, library, lua_state, raw};
use crate::data::number;
use crate::protocol::error::CommandError;
use crate::protocol::reply::Protocol;
use crate::state::client_key::ClientKey;
use crate::state::effects::Targets;
use mlua::{Error, Lua, LuaString, MultiValue, Result, Table, Value};
use std::rc::Rc;

/// All functions, by name.
pub(crate) fn table(lua: &Lua, shared: &Rc<Shared>) -> Result<Table> {
    let native = lua.create_table()?;
    let (general, reply) = (lua.create_function(call)?, lua.create_function(reply)?);
    native.raw_set("call", raw::redis_call(lua, &general, &reply)?)?;
    native.raw_set("pcall", lua.create_function(pcall)?)?;
    native.raw_set("open_problem", lua.create_function(open_problem)?)?;
    native.raw_set("sha1hex", lua.create_function(sha1hex)?)?;
    native.raw_set("log", lua.create_function(log)?)?;
    native.raw_set("setresp", lua.create_function(setresp)?)?;
    native.raw_set("set_repl", lua.create_function(set_repl)?)?;
    native.raw_set("acl_check_cmd", lua.create_function(acl_check_cmd)?)?;
    native.raw_set("place", lua.create_function(place)?)?;
    let state = Rc::clone(shared);
    native
        .raw_set("random", lua.create_function(move |lua, limits| random(lua, &state, &limits))?)?;
    let state = Rc::clone(shared);
    native.raw_set(
        "randomseed",
        lua.create_function(move |lua, seed| randomseed(lua, &state, &seed))?,
    )?;
    let json = Rc::clone(&shared.json);
    let fill =
        move |lua: &Lua, (name, table): (String, Table)| library::fill(lua, &json, &name, &table);
    native.raw_set("fill", lua.create_function(fill)?)?;
    let freeze = |lua: &Lua, table: Table| lua_state::freeze(&table, lua);
    native.raw_set("freeze", lua.create_function(freeze)?)?;
    Ok(native)
}

/// As [`execute_now`], but that a panic waits until the script has ended.
fn execute(
    lua: &Lua,
    parts: &MultiValue,
) -> Result<std::result::Result<(Value, bool), CommandError>> {
    raw::keep_panic(|| execute_now(lua, parts)).unwrap_or_else(|| Err(stop(Ending::Panicked)))
}

/// Executes a command; its reply, and whether that is an error.
fn execute_now(
    lua: &Lua,
    parts: &MultiValue,
) -> Result<std::result::Result<(Value, bool), CommandError>> {
    let called = lend::borrow(|run| {
        gather(run, parts)?;
        run.call()?;
        let is_error = run.reply.bytes().first() == Some(&b'-');
        Ok(convert::to_lua(lua, run.reply.bytes()).map(|value| (value, is_error)))
    });
    match called {
        Some(Ok(value)) => value.map(Ok),
        Some(Err(error)) => Ok(Err(error)),
        None => raise("ERR redis.call was used outside of a script"),
    }
}

/// What the reply of the command that was called last is to a script.
fn reply(lua: &Lua, (): ()) -> Result<Value> {
    lend::borrow(|run| convert::to_lua(lua, run.reply.bytes())).unwrap_or(Ok(Value::Nil))
}

/// redis.call for whatever raw.rs leaves to it: an error reply is raised.
fn call(lua: &Lua, parts: MultiValue) -> Result<Value> {
    match execute(lua, &parts)? {
        Ok((value, false)) => Ok(value),
        Ok((value, true)) => {
            let text: LuaString = value
                .as_table()
                .map_or(Err(Error::runtime("no table")), |table| table.raw_get("err"))?;
            Err(Error::external(Problem::Reply(CommandError::text(&*text.as_bytes()))))
        }
        Err(error) => Err(Error::external(Problem::Reply(error))),
    }
}

/// redis.pcall: an error reply is a table.
fn pcall(lua: &Lua, parts: MultiValue) -> Result<Value> {
    match execute(lua, &parts)? {
        Ok((value, _)) => Ok(value),
        Err(error) => {
            let problem = problem_table(lua, &error.0)?;
            if let Value::Table(table) = &problem {
                table.raw_set("ignore_error_stats_update", true)?;
            }
            Ok(problem)
        }
    }
}

fn problem_table(lua: &Lua, text: &[u8]) -> Result<Value> {
    let table = lua.create_table_with_capacity(0, 2)?;
    table.raw_set("err", lua.create_string(text)?)?;
    Ok(Value::Table(table))
}

/// What scripts meet of an error that the host raised, and whether they may not catch it. Anything
/// else stays as it is.
fn open_problem(lua: &Lua, value: Value) -> Result<(Value, bool)> {
    let Value::Error(error) = &value else { return Ok((value, false)) };
    let mut cause: &Error = error;
    while let Error::CallbackError { cause: inner, .. } = cause {
        cause = inner;
    }
    let problem = cause.downcast_ref::<Problem>();
    let opened = match problem {
        Some(Problem::Reply(error)) => problem_table(lua, &error.0),
        Some(Problem::Text(text)) => lua.create_string(text).map(Value::String),
        Some(Problem::Stop(ending)) => lua.create_string(ending.to_string()).map(Value::String),
        None => problem_table(lua, format!("ERR {cause}").as_bytes()),
    };
    Ok((opened?, matches!(problem, Some(Problem::Stop(_)))))
}

/// Copies the arguments of a command out of Lua, as `luaArgsToRedisArgv` in script_lua.c.
fn gather(run: &mut Run<'_>, parts: &MultiValue) -> std::result::Result<(), CommandError> {
    const NONE: CommandError =
        CommandError::fixed("ERR Please specify at least one argument for this redis lib call");
    const WRONG: CommandError =
        CommandError::fixed("ERR Lua redis lib command arguments must be strings or integers");
    if parts.is_empty() {
        return Err(NONE);
    }
    run.arguments.clear();
    for part in parts {
        match part {
            Value::String(text) => run.arguments.push(&text.as_bytes()),
            Value::Integer(number) => push_integer(run, *number),
            Value::Number(number) => run.arguments.push(number::double_text(*number).as_bytes()),
            _ => return Err(WRONG),
        }
    }
    Ok(())
}

/// C's `%.17g` of a whole number.
fn push_integer(run: &mut Run<'_>, number: i64) {
    if number.unsigned_abs() < raw::PLAIN_MAX {
        run.arguments.push(itoa::Buffer::new().format(number).as_bytes());
    } else {
        run.arguments.push(number::double_text(number as f64).as_bytes());
    }
}

fn sha1hex(lua: &Lua, parts: MultiValue) -> Result<LuaString> {
    let (Some(text), 1) = (parts.front(), parts.len()) else {
        return raise("ERR wrong number of arguments");
    };
    let text = lua.coerce_string(text.clone())?;
    library::charge(lua, text.as_ref().map_or(0, |text| 4 * text.as_bytes().len()))?;
    lua.create_string(crate::state::scripts::sha_of(
        text.as_ref().map(LuaString::as_bytes).as_deref().unwrap_or_default(),
    ))
}

/// There is no log to write to; what is wrong with the arguments is said all the same.
fn log(_: &Lua, parts: MultiValue) -> Result<()> {
    if parts.len() < 2 {
        return raise("ERR redis.log() requires two arguments or more.");
    }
    match parts
        .front()
        .and_then(Value::as_number)
        .or_else(|| parts.front()?.as_integer().map(|level| level as f64))
    {
        None => raise("ERR First argument must be a number (log level)."),
        Some(level) if !(0.0..=3.0).contains(&level) => raise("ERR Invalid debug level."),
        Some(_) => Ok(()),
    }
}

fn setresp(_: &Lua, parts: MultiValue) -> Result<()> {
    let (Some(version), 1) = (parts.front(), parts.len()) else {
        return raise("ERR redis.setresp() requires one argument.");
    };
    let protocol = match version.as_integer() {
        Some(2) => Protocol::Resp2,
        Some(3) => Protocol::Resp3,
        _ => return raise("ERR RESP version must be 2 or 3."),
    };
    lend::borrow(|run| run.server.client_mut(ClientKey::SCRIPT).protocol = protocol);
    Ok(())
}

fn set_repl(_: &Lua, parts: MultiValue) -> Result<()> {
    let (Some(flags), 1) = (parts.front(), parts.len()) else {
        return raise("ERR redis.set_repl() requires two arguments.");
    };
    let Some(flags @ 0..=3) = flags.as_integer() else {
        return raise(
            "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
        );
    };
    let targets = Targets { append_only: flags & 1 != 0, replicas: flags & 2 != 0 };
    lend::borrow(|run| run.server.changes.set_targets(targets));
    Ok(())
}

/// The one user may do everything.
fn acl_check_cmd(_: &Lua, parts: MultiValue) -> Result<bool> {
    let Some(name) = parts.front() else {
        return raise("ERR Please specify at least one argument for this redis lib call");
    };
    let is_command =
        |name: &[u8]| lend::borrow(|run| run.server.commands.table().find(name).is_some());
    if name.as_string().is_none_or(|name| is_command(&name.as_bytes()) != Some(true)) {
        return raise("ERR Invalid command passed to redis.acl_check_cmd()");
    }
    Ok(true)
}

/// `math.random` of script_lua.c.
fn random(lua: &Lua, shared: &Shared, limits: &MultiValue) -> Result<f64> {
    let r = shared.random.next();
    let (low, high) = match limits.len() {
        0 => return Ok(r),
        1 => (1.0, limit(lua, limits, 0)?),
        2 => (limit(lua, limits, 0)?, limit(lua, limits, 1)?),
        _ => return complain(lua, "wrong number of arguments"),
    };
    if low > high {
        let number = limits.len();
        return complain(lua, &format!("bad argument #{number} to 'random' (interval is empty)"));
    }
    let span = if limits.len() == 1 { high } else { high - low + 1.0 };
    Ok((r * span).floor() + low)
}

fn limit(lua: &Lua, limits: &MultiValue, index: usize) -> Result<f64> {
    let value = limits.get(index).cloned().unwrap_or(Value::Nil);
    let kind = value.type_name();
    match lua.coerce_number(value)? {
        // C truncates to an int.
        Some(number) => Ok(f64::from(number as i32)),
        None => {
            let number = index + 1;
            complain(
                lua,
                &format!("bad argument #{number} to 'random' (number expected, got {kind})"),
            )
        }
    }
}

fn randomseed(lua: &Lua, shared: &Shared, seed: &MultiValue) -> Result<()> {
    shared.random.seed(limit(lua, seed, 0)? as i32);
    Ok(())
}

/// Where a problem arose: the chunk and the line of the innermost function that is neither the
/// host's nor the prelude's.
fn place(lua: &Lua, (): ()) -> Result<(Option<String>, Option<usize>)> {
    const LEVELS_MAX: usize = 200;
    for level in 1..LEVELS_MAX {
        let look = lua.inspect_stack(level, |debug| {
            let source = debug.source().source?.into_owned();
            Some((source, debug.current_line()?))
        });
        match look {
            None => break,
            Some(Some((source, line))) if !source.starts_with('=') => {
                return Ok((Some(source), Some(line)));
            }
            Some(_) => {}
        }
    }
    Ok((None, None))
}
