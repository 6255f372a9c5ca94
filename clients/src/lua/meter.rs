//! Limits a script's instructions and memory. A long library call also uses up instructions.

use luna_core::runtime::Value;
use luna_core::vm::{LuaError, Vm};

/// Limit on a script's memory, in bytes.
pub(super) const MEMORY: usize = 16 << 20;
const BYTES_PER_INSTRUCTION: usize = 16;
/// Pattern-matching steps that count as one instruction.
const STEPS_PER_INSTRUCTION: usize = 4;
/// Fewer instructions than this cost nothing; fewer bytes are not checked against [`MEMORY`].
const LONG: usize = 256;

type Native = fn(&mut Vm, u32, u32) -> Result<u32, LuaError>;

pub(super) const METERS: [Native; 6] = [
    |vm, slot, _| {
        let is_over = has_ended(vm);
        Ok(vm.nat_return(slot, &[Value::Bool(is_over)]))
    },
    charge_elements,
    charge_bytes,
    charge_strings,
    charge_plain_search,
    charge_list,
];

fn has_ended(vm: &Vm) -> bool {
    vm.instr_budget_remaining().is_none() || vm.memory_used() > MEMORY
}

fn charge_elements(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let elements = number(vm.nat_arg(slot, count, 0));
    work(vm, elements)?;
    Ok(0)
}

fn charge_bytes(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let bytes = number(vm.nat_arg(slot, count, 0));
    make_room(vm, bytes)?;
    Ok(0)
}

fn charge_strings(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let sizes = (0..count).map(|place| size_of(vm.nat_arg(slot, count, place)));
    let bytes = sizes.fold(0_usize, usize::saturating_add);
    make_room(vm, bytes)?;
    Ok(0)
}

/// Charges for the worst case: a comparison with the whole wanted text at each byte of the text.
fn charge_plain_search(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let [text, wanted] = [0, 1].map(|place| size_of(vm.nat_arg(slot, count, place)));
    work(vm, text.saturating_mul(1 + wanted / BYTES_PER_INSTRUCTION) / BYTES_PER_INSTRUCTION)?;
    Ok(0)
}

fn charge_list(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let Value::Table(list) = vm.nat_arg(slot, count, 0) else { return Ok(0) };
    let separator = size_of(vm.nat_arg(slot, count, 1));
    let bound = |place, default| match vm.nat_arg(slot, count, place) {
        Value::Int(bound) => bound,
        _ => default,
    };
    let (mut bytes, mut elements) = (0_usize, 0_usize);
    for place in bound(2, 1)..=bound(3, list.len()) {
        let element = list.get_int(place);
        if !matches!(element, Value::Str(_) | Value::Int(_) | Value::Float(_)) {
            break;
        }
        elements += 1;
        bytes = bytes.saturating_add(size_of(element)).saturating_add(separator);
        if bytes > MEMORY {
            break;
        }
    }
    work(vm, elements)?;
    make_room(vm, bytes)?;
    Ok(0)
}

fn number(value: Value) -> usize {
    match value {
        Value::Int(number) => usize::try_from(number).unwrap_or(0),
        Value::Float(number) => number as usize,
        _ => 0,
    }
}

fn size_of(value: Value) -> usize {
    match value {
        Value::Str(text) => text.as_bytes().len(),
        _ => 0,
    }
}

fn make_room(vm: &mut Vm, bytes: usize) -> Result<(), LuaError> {
    if bytes >= LONG && vm.memory_used().saturating_add(bytes) > MEMORY {
        return Err(end(vm, "memory cap exceeded"));
    }
    work(vm, bytes / BYTES_PER_INSTRUCTION)
}

pub(super) fn work(vm: &mut Vm, units: usize) -> Result<(), LuaError> {
    let left = vm.instr_budget_remaining().filter(|_| units >= LONG);
    let Some(left) = left else { return Ok(()) };
    let left = left.saturating_sub(i64::try_from(units).unwrap_or(i64::MAX));
    if left <= 0 {
        return Err(end(vm, "instruction budget exceeded"));
    }
    vm.set_instr_budget(Some(left));
    Ok(())
}

pub(super) fn steps(vm: &mut Vm, steps: usize) -> Result<(), LuaError> {
    work(vm, steps / STEPS_PER_INSTRUCTION)
}

/// Sets the instruction budget to zero, so that the script ends even if it catches the error.
fn end(vm: &mut Vm, reason: &str) -> LuaError {
    vm.set_instr_budget(None);
    vm.rt_err(reason)
}
