//! The cjson library, as in Redis's lua_cjson.c. Scripts may change its settings.

use super::json_decode::{self, NULL};
use super::json_encode;
use crate::script::host::{Arguments, Native, Result, native, string, table};
use crate::script::lend;
use crate::state::scripts::{Invalid, Settings};
use luna_core::runtime::Value;
use luna_core::vm::Vm;

const RANGE_OF_DEPTHS: (i32, i32) = (1, i32::MAX);

const FUNCTIONS: [(&str, Native); 10] = [
    ("encode", native!(|call| json_encode::encode(call, settings(call)))),
    ("decode", native!(|call| json_decode::decode(call, settings(call)))),
    ("encode_sparse_array", native!(sparse_array)),
    (
        "encode_max_depth",
        native!(|call| set_integer(call, 1, RANGE_OF_DEPTHS, |s| &mut s.encode_depth_max)),
    ),
    (
        "decode_max_depth",
        native!(|call| set_integer(call, 1, RANGE_OF_DEPTHS, |s| &mut s.decode_depth_max)),
    ),
    (
        "encode_number_precision",
        native!(|call| set_integer(call, 1, (1, 14), |s| &mut s.precision)),
    ),
    ("encode_keep_buffer", native!(|call| set_switch(call, 1, |s| &mut s.keep_buffer))),
    ("encode_invalid_numbers", native!(encode_invalid_numbers)),
    ("decode_invalid_numbers", native!(|call| set_switch(call, 1, |s| &mut s.takes_invalid))),
    ("new", native!(new)),
];

pub(super) fn library(vm: &mut Vm, settings: usize) -> Value {
    let settings = Value::Float(settings as f64);
    let mut pairs = vec![(string(vm, b"null"), NULL)];
    for (name, function) in FUNCTIONS {
        let function = vm.native_with(function, Box::new([settings]));
        pairs.push((string(vm, name.as_bytes()), function));
    }
    for (name, text) in [("_NAME", "cjson"), ("_VERSION", "2.1.0")] {
        pairs.push((string(vm, name.as_bytes()), string(vm, text.as_bytes())));
    }
    table(vm, pairs)
}

fn new(call: &Arguments<'_>) -> Result<Value> {
    let settings = lend::borrow(|run| {
        run.json.push(Settings::default());
        run.json.len() - 1
    });
    Ok(library(&mut call.vm(), settings.unwrap_or(0)))
}

fn place(call: &Arguments<'_>) -> usize {
    match call.captured(0) {
        Value::Float(place) => place as usize,
        _ => 0,
    }
}

fn settings(call: &Arguments<'_>) -> Settings {
    let place = place(call);
    lend::borrow(|run| run.json.get(place).copied()).flatten().unwrap_or_default()
}

fn set(call: &Arguments<'_>, settings: Settings) {
    let place = place(call);
    lend::borrow(|run| {
        if let Some(kept) = run.json.get_mut(place) {
            *kept = settings;
        }
    });
}

fn check_count(call: &Arguments<'_>, most: usize) -> Result<()> {
    if call.len() <= most { Ok(()) } else { call.wrong(most + 1, "found too many arguments") }
}

fn set_integer(
    call: &Arguments<'_>,
    number: usize,
    (least, most): (i32, i32),
    field: fn(&mut Settings) -> &mut i32,
) -> Result<f64> {
    if number == 1 {
        check_count(call, 1)?;
    }
    let mut changed = settings(call);
    if !call.value(number).is_nil() {
        let value = call.integer(number)?;
        match i32::try_from(value) {
            Ok(value) if (least..=most).contains(&value) => *field(&mut changed) = value,
            _ => return call.wrong(1, &format!("expected integer between {least} and {most}")),
        }
    }
    set(call, changed);
    Ok(f64::from(*field(&mut changed)))
}

fn set_switch(
    call: &Arguments<'_>,
    most: usize,
    field: fn(&mut Settings) -> &mut bool,
) -> Result<bool> {
    check_count(call, most)?;
    let mut changed = settings(call);
    match call.value(1) {
        Value::Nil => {}
        Value::Bool(value) => *field(&mut changed) = value,
        _ => *field(&mut changed) = option(call, &["off", "on"])? == 1,
    }
    set(call, changed);
    Ok(*field(&mut changed))
}

fn option(call: &Arguments<'_>, options: &[&str]) -> Result<usize> {
    let text = call.string(1)?;
    match options.iter().position(|option| text.as_bytes() == option.as_bytes()) {
        Some(index) => Ok(index),
        None => {
            let text = String::from_utf8_lossy(text.as_bytes()).into_owned();
            call.wrong(1, &format!("invalid option '{text}'"))
        }
    }
}

fn sparse_array(call: &Arguments<'_>) -> Result<Vec<Value>> {
    const RANGE: (i32, i32) = (0, i32::MAX);
    let converts = set_switch(call, 3, |settings| &mut settings.sparse_convert)?;
    let ratio = set_integer(call, 2, RANGE, |settings| &mut settings.sparse_ratio)?;
    let safe = set_integer(call, 3, RANGE, |settings| &mut settings.sparse_safe)?;
    Ok(vec![Value::Bool(converts), Value::Float(ratio), Value::Float(safe)])
}

fn encode_invalid_numbers(call: &Arguments<'_>) -> Result<Value> {
    check_count(call, 1)?;
    let mut changed = settings(call);
    match call.value(1) {
        Value::Nil => {}
        Value::Bool(value) => {
            changed.invalid_out = if value { Invalid::Write } else { Invalid::Refuse }
        }
        _ => {
            changed.invalid_out = match option(call, &["off", "on", "null"])? {
                0 => Invalid::Refuse,
                1 => Invalid::Write,
                _ => Invalid::Null,
            }
        }
    }
    set(call, changed);
    Ok(match changed.invalid_out {
        Invalid::Refuse => Value::Bool(false),
        Invalid::Write => Value::Bool(true),
        Invalid::Null => call.make_string(b"null"),
    })
}
