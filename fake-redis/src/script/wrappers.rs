//! Wraps Lua's own functions, for example to enforce limits and to protect shared tables.

use super::host::{Native, Result, answer, raise_text, string};
use super::limits::{self, MEMORY_MAX};
use super::watch::Ending;
use super::{lend, shared};
use luna_core::runtime::Value;
use luna_core::vm::Vm;

const BYTES_PER_INSTRUCTION: usize = 16;
const LONG: usize = 256;

pub(super) const WRAPPERS: [(&str, Native); 10] = [
    ("metered", |vm, slot, count| around(vm, slot, count, metered)),
    ("rep", |vm, slot, count| around(vm, slot, count, rep)),
    ("concat", |vm, slot, count| around(vm, slot, count, concat)),
    ("insert", |vm, slot, count| around(vm, slot, count, insert)),
    ("refusing", |vm, slot, count| around(vm, slot, count, refuse_if_shared)),
    ("rawget", |vm, slot, count| around(vm, slot, count, rawget)),
    ("getmetatable", |vm, slot, count| around(vm, slot, count, getmetatable)),
    ("thread", |vm, slot, count| around(vm, slot, count, thread)),
    ("tostring", |vm, slot, count| around(vm, slot, count, tostring)),
    ("second_first", |vm, slot, count| around(vm, slot, count, check_second_first)),
];

const INNER: usize = 4;

pub(super) fn around(vm: &mut Vm, slot: u32, count: u32, function: Native) -> Result<u32> {
    let inner = vm.nat_arg(slot, count, 0);
    let mut captured = match inner {
        Value::Native(inner) => inner.upvals.to_vec(),
        _ => Vec::new(),
    };
    captured.resize(INNER, Value::Nil);
    captured.push(inner);
    let made = vm.native_with(function, captured.into());
    Ok(vm.nat_return(slot, &[made]))
}

pub(super) fn inner(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    match vm.nat_upval(slot, INNER) {
        Value::Native(inner) => (inner.f)(vm, slot, count),
        _ => Ok(0),
    }
}

fn work(vm: &mut Vm, units: usize) -> Result<()> {
    if units < LONG { Ok(()) } else { limits::work(vm, units) }
}

fn size_of(value: Value) -> (usize, usize) {
    match value {
        Value::Str(text) => (text.as_bytes().len(), 0),
        Value::Table(table) => (0, usize::try_from(table.len()).unwrap_or(0)),
        _ => (0, 0),
    }
}

fn metered(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let (mut bytes, mut elements) = (0_usize, 0_usize);
    for index in 0..count {
        let (more_bytes, more_elements) = size_of(vm.nat_arg(slot, count, index));
        bytes = bytes.saturating_add(more_bytes);
        elements += more_elements;
    }
    work(vm, bytes / BYTES_PER_INSTRUCTION + 8 * elements)?;
    if bytes > MEMORY_MAX {
        return Err(limits::stop(vm, Ending::Memory));
    }
    inner(vm, slot, count)
}

fn make_room(vm: &mut Vm, bytes: usize) -> Result<()> {
    if bytes >= LONG {
        limits::check_memory(vm, bytes)?;
    }
    work(vm, bytes / BYTES_PER_INSTRUCTION)
}

fn rep(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let text = size_of(vm.nat_arg(slot, count, 0)).0;
    let times = super::host::to_number(vm.nat_arg(slot, count, 1)).unwrap_or_default();
    // A saturated length exceeds the memory limit, so an enormous repetition fails.
    let bytes = (times as usize).saturating_mul(text);
    if text == 0 {
        work(vm, times as usize)?
    } else {
        make_room(vm, bytes)?
    }
    inner(vm, slot, count)
}

fn concat(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    if let Value::Table(table) = vm.nat_arg(slot, count, 0) {
        let separator = size_of(vm.nat_arg(slot, count, 1)).0;
        let mut bytes = 0_usize;
        for index in 1..=table.len() {
            let part = size_of(table.get_int(index)).0;
            bytes = bytes.saturating_add(part).saturating_add(separator);
        }
        work(vm, usize::try_from(table.len()).unwrap_or(0))?;
        make_room(vm, bytes)?;
    }
    inner(vm, slot, count)
}

fn insert(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let list = vm.nat_arg(slot, count, 0);
    if let (Value::Table(list), 3) = (list, count) {
        let place = super::host::to_number(vm.nat_arg(slot, count, 1)).unwrap_or_default();
        let moved = list.len().saturating_sub(place as i64);
        work(vm, usize::try_from(moved).unwrap_or(0))?;
    }
    refuse_if_shared(vm, slot, count)
}

fn refuse_if_shared(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    if shared::is_shared(vm.nat_arg(slot, count, 0)) {
        return Err(raise_text(vm, b"Attempt to modify a readonly table"));
    }
    inner(vm, slot, count)
}

fn rawget(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let first = vm.nat_arg(slot, count, 0);
    let Value::Table(table) = first else { return inner(vm, slot, count) };
    if count < 2 || !shared::is_shared(first) {
        return inner(vm, slot, count);
    }
    let value = shared::real(table).get(vm.nat_arg(slot, count, 1));
    Ok(vm.nat_return(slot, &[value]))
}

fn getmetatable(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    match shared::metatable(vm.nat_arg(slot, count, 0)) {
        Some(metatable) => Ok(vm.nat_return(slot, &[metatable])),
        None => inner(vm, slot, count),
    }
}

/// Creates a coroutine that enables polling for itself, as Lua requires for each thread.
fn thread(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let body = vm.nat_arg(slot, count, 0);
    if !matches!(body, Value::Closure(_)) || !limits::has_driver() {
        return inner(vm, slot, count);
    }
    let watched = vm.load(
        b"local watch, body = ... return function(...) watch() return body(...) end",
        b"=prelude",
    );
    let Ok(watched) = watched else { return inner(vm, slot, count) };
    let watch = vm.native(|vm, _, _| {
        limits::start_polling(vm);
        Ok(0)
    });
    let watched = vm.call_value(Value::Closure(watched), &[watch, body])?;
    let made = vm.nat_upval(slot, INNER);
    let made = vm.call_value(made, &watched)?;
    Ok(vm.nat_return(slot, &made))
}

/// Shows numbers instead of addresses, because addresses differ between runs.
fn tostring(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let value = vm.nat_arg(slot, count, 0);
    let kind = match value {
        Value::LightUserdata(pointer) if pointer.is_null() => {
            let text = string(vm, b"userdata: (nil)");
            return Ok(vm.nat_return(slot, &[text]));
        }
        Value::Closure(_) | Value::Native(_) => "function",
        Value::Coro(_) => "thread",
        Value::Table(_) if vm.metafield(value, "__tostring").is_nil() => "table",
        _ => return inner(vm, slot, count),
    };
    let Some(number) = lend::borrow(|run| run.walks.number(vm, value)) else {
        return inner(vm, slot, count);
    };
    let text = string(vm, format!("{kind}: 0x{number:012x}").as_bytes());
    Ok(vm.nat_return(slot, &[text]))
}

/// Checks the second number before the first, as compiled Redis does.
fn check_second_first(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    answer(vm, slot, count, |call| call.number(2).map(|_| ()))?;
    inner(vm, slot, count)
}
