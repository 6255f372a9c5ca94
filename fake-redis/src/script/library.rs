//! The libraries cjson, cmsgpack and bit for scripts, as in deps/lua/src of Redis 7.0.15.

mod bit;
mod json;
mod json_decode;
mod json_encode;
mod message_pack;
mod message_unpack;
#[cfg(test)]
mod tests;

use super::host::{Arguments, Native, Result, string, table};
use luna_core::runtime::Value;
use luna_core::vm::Vm;

/// Maximum nesting of data: cjson's default, which fits on a thread's stack.
const DEPTH_MAX: usize = 1_000;

pub(super) fn library(call: &Arguments<'_>) -> Result<Value> {
    let name = call.string(1)?;
    let mut vm = call.vm();
    Ok(match name.as_bytes() {
        b"cjson" => json::library(&mut vm, 0),
        b"cmsgpack" => of(&mut vm, &message_pack::FUNCTIONS, &message_pack::NOTES),
        _ => of(&mut vm, &bit::FUNCTIONS, &[]),
    })
}

fn of(vm: &mut Vm, functions: &[(&str, Native)], notes: &[(&str, &str)]) -> Value {
    let mut pairs = Vec::new();
    for (name, function) in functions {
        pairs.push((string(vm, name.as_bytes()), vm.native(*function)));
    }
    for (name, note) in notes {
        pairs.push((string(vm, name.as_bytes()), string(vm, note.as_bytes())));
    }
    table(vm, pairs)
}
