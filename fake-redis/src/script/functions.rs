//! The redis library, `math.random`, and the other native functions of prelude.lua.

use super::host::{
    Answer, Arguments, Native, Result, argument_text, as_number, native, raise_reply, string,
    table, text_of, to_string,
};
use super::limits;
use super::run::Run;
use super::watch::Ending;
use super::{convert, lend, library, order, shared, strings, wrappers};
use crate::protocol::error::CommandError;
use crate::protocol::reply::Protocol;
use crate::state::client_key::ClientKey;
use crate::state::effects::Targets;
use luna_core::runtime::Value;
use luna_core::vm::Vm;
use luna_core::vm::inspect::frames_for_profile;

/// Constant result of `collectgarbage("count")` in kB, because real values may differ between runs.
const HEAP_SHOWN: f64 = 64.0;

const NATIVES: [(&str, Native); 16] = [
    ("call", |vm, slot, count| execute(vm, slot, count, Errors::Raised)),
    ("pcall", |vm, slot, count| execute(vm, slot, count, Errors::Returned)),
    ("sha1hex", native!(sha1hex)),
    ("log", native!(log)),
    ("setresp", native!(setresp)),
    ("set_repl", native!(set_repl)),
    ("acl_check_cmd", native!(acl_check_cmd)),
    ("random", native!(random)),
    ("randomseed", native!(randomseed)),
    ("collectgarbage", native!(collectgarbage)),
    ("gcinfo", native!(|_| Ok(HEAP_SHOWN))),
    ("place", native!(place)),
    ("has_to_end", native!(ending_text)),
    ("functions_of", native!(library::library)),
    ("protect", native!(shared::protect)),
    ("share_strings", native!(shared::share_strings)),
];

pub(super) fn natives(vm: &mut Vm) -> Value {
    let strings = strings::library(vm);
    let functions: Vec<(&str, Value)> = NATIVES
        .into_iter()
        .chain(wrappers::WRAPPERS)
        .chain(order::WRAPPERS)
        .map(|(name, function)| (name, vm.native(function)))
        .chain([("strings", strings), ("are_writable", Value::Bool(shared::are_writable()))])
        .collect();
    let pairs: Vec<(Value, Value)> = functions
        .into_iter()
        .map(|(name, function)| (string(vm, name.as_bytes()), function))
        .collect();
    table(vm, pairs)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Errors {
    Raised,
    Returned,
}

enum Called {
    Value(Value),
    Error(Vec<u8>),
    Refused(CommandError),
}

fn execute(vm: &mut Vm, slot: u32, count: u32, errors: Errors) -> Result<u32> {
    let called = limits::keep_panic(|| {
        lend::borrow(|run| call(run, vm, slot, count)).unwrap_or(Called::Refused(
            CommandError::fixed("ERR redis.call was used outside of a script"),
        ))
    });
    let value = match (called, errors) {
        (None, _) => return Err(limits::stop(vm, Ending::Panicked)),
        (Some(Called::Value(value)), _) => value,
        (Some(Called::Error(text)), Errors::Raised) => return Err(raise_reply(vm, &text)),
        (Some(Called::Refused(error)), Errors::Raised) => return Err(raise_reply(vm, &error.0)),
        (Some(Called::Error(text)), Errors::Returned) => convert::counted_error(vm, &text),
        (Some(Called::Refused(error)), Errors::Returned) => convert::counted_error(vm, &error.0),
    };
    Ok(vm.nat_return(slot, &[value]))
}

fn call(run: &mut Run<'_>, vm: &mut Vm, slot: u32, count: u32) -> Called {
    if let Err(error) = collect_arguments(run, vm, slot, count).and_then(|()| run.call()) {
        return Called::Refused(error);
    }
    let reply = run.reply.bytes();
    match reply.strip_prefix(b"-") {
        Some(text) => Called::Error(convert::line_of(text).to_vec()),
        None => Called::Value(convert::to_lua(vm, reply)),
    }
}

fn collect_arguments(
    run: &mut Run<'_>,
    vm: &Vm,
    slot: u32,
    count: u32,
) -> std::result::Result<(), CommandError> {
    const NONE: CommandError =
        CommandError::fixed("ERR Please specify at least one argument for this redis lib call");
    const WRONG: CommandError =
        CommandError::fixed("ERR Lua redis lib command arguments must be strings or integers");
    if count == 0 {
        return Err(NONE);
    }
    run.arguments.clear();
    for index in 0..count {
        match vm.nat_arg(slot, count, index) {
            Value::Str(text) => run.arguments.push(text.as_bytes()),
            other => match as_number(other) {
                Some(number) => argument_text(number, run.server.config.version, |text| {
                    run.arguments.push(text)
                }),
                None => return Err(WRONG),
            },
        }
    }
    Ok(())
}

fn raise<T>(call: &Arguments<'_>, text: &str) -> Result<T> {
    Err(raise_reply(&mut call.vm(), text.as_bytes()))
}

fn sha1hex(call: &Arguments<'_>) -> Result<Vec<u8>> {
    if call.len() != 1 {
        return raise(call, "ERR wrong number of arguments");
    }
    let value = call.value(1);
    let text = to_string(&mut call.vm(), value).and_then(|text| text_of(Value::Str(text)));
    let text = text.unwrap_or_default();
    call.charge(4 * text.len())?;
    Ok(crate::state::scripts::sha_of(&text).to_vec())
}

fn log(call: &Arguments<'_>) -> Result<()> {
    if call.len() < 2 {
        return raise(call, "ERR redis.log() requires two arguments or more.");
    }
    match as_number(call.value(1)) {
        None => raise(call, "ERR First argument must be a number (log level)."),
        Some(level) if !(0.0..=3.0).contains(&level) => raise(call, "ERR Invalid debug level."),
        Some(_) => Ok(()),
    }
}

fn whole_number(call: &Arguments<'_>) -> Option<i64> {
    let number = as_number(call.value(1))?;
    let whole = number as i64;
    (whole as f64 == number).then_some(whole)
}

fn setresp(call: &Arguments<'_>) -> Result<()> {
    if call.len() != 1 {
        return raise(call, "ERR redis.setresp() requires one argument.");
    }
    let protocol = match whole_number(call) {
        Some(2) => Protocol::Resp2,
        Some(3) => Protocol::Resp3,
        _ => return raise(call, "ERR RESP version must be 2 or 3."),
    };
    lend::borrow(|run| run.server.client_mut(ClientKey::SCRIPT).protocol = protocol);
    Ok(())
}

fn set_repl(call: &Arguments<'_>) -> Result<()> {
    if call.len() != 1 {
        return raise(call, "ERR redis.set_repl() requires two arguments.");
    }
    let Some(flags @ 0..=3) = whole_number(call) else {
        return raise(
            call,
            "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
        );
    };
    let targets = Targets { append_only: flags & 1 != 0, replicas: flags & 2 != 0 };
    lend::borrow(|run| run.server.changes.targets = targets);
    Ok(())
}

fn acl_check_cmd(call: &Arguments<'_>) -> Result<bool> {
    if call.len() == 0 {
        return raise(call, "ERR Please specify at least one argument for this redis lib call");
    }
    let name = text_of(call.value(1));
    let is_command = name.and_then(|name| {
        lend::borrow(|run| {
            let command = run.server.commands.table.find(&name);
            command.is_some_and(|command| run.server.has(command))
        })
    });
    if is_command != Some(true) {
        return raise(call, "ERR Invalid command passed to redis.acl_check_cmd()");
    }
    Ok(true)
}

fn random(call: &Arguments<'_>) -> Result<f64> {
    let r = lend::borrow(|run| run.random.next()).unwrap_or_default();
    let (low, high) = match call.len() {
        0 => return Ok(r),
        1 => (1.0, limit(call, 1)?),
        2 => (limit(call, 1)?, limit(call, 2)?),
        _ => return call.fail("wrong number of arguments"),
    };
    if low > high {
        return call.wrong(call.len(), "interval is empty");
    }
    let span = if call.len() == 1 { high } else { high - low + 1.0 };
    Ok((r * span).floor() + low)
}

fn limit(call: &Arguments<'_>, number: usize) -> Result<f64> {
    call.number(number).map(|limit| f64::from(limit as i32))
}

fn randomseed(call: &Arguments<'_>) -> Result<()> {
    let seed = limit(call, 1)? as i32;
    lend::borrow(|run| run.random.seed(seed));
    Ok(())
}

fn collectgarbage(call: &Arguments<'_>) -> Result<Value> {
    const OPTIONS: [&[u8]; 7] =
        [b"stop", b"restart", b"collect", b"count", b"step", b"setpause", b"setstepmul"];
    let option = if call.value(1).is_nil() {
        b"collect".to_vec()
    } else {
        call.string(1)?.as_bytes().to_vec()
    };
    if !OPTIONS.contains(&&*option) {
        let option = String::from_utf8_lossy(&option);
        return call.wrong(1, &format!("invalid option '{option}'"));
    }
    call.integer_or(2, 0)?;
    Ok(match &*option {
        b"step" => Value::Bool(true),
        b"count" => Value::Float(HEAP_SHOWN),
        _ => Value::Float(0.0),
    })
}

fn place(call: &Arguments<'_>) -> Result<Vec<Value>> {
    let frames = frames_for_profile(&call.vm());
    Ok(frames
        .iter()
        .rev()
        .find(|frame| !frame.source.starts_with('='))
        .map(|frame| {
            vec![call.make_string(frame.source.as_bytes()), Value::Float(f64::from(frame.line))]
        })
        .unwrap_or_default())
}

fn ending_text(call: &Arguments<'_>) -> Result<Option<Vec<u8>>> {
    let ending = limits::ending(&call.vm());
    Ok(ending.map(|ending| ending.to_string().into_bytes()))
}

impl Answer for Option<Vec<u8>> {
    fn into_values(self, vm: &mut Vm) -> Vec<Value> {
        self.map_or_else(Vec::new, |text| text.into_values(vm))
    }
}
