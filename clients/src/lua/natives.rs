//! Lua functions for clocks and random numbers, which return without yielding.

use crate::env::{Draw, Env};
use luna_core::runtime::Value;
use luna_core::vm::{LuaError, Vm};
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

pub(super) struct Host {
    pub(super) env: Env,
    pub(super) retry: RangeInclusive<Duration>,
}

/// Result of `monotonic()` at the start of the run, in milliseconds. It exceeds every ttl, so a
/// script that returns a duration instead of a time fails in its first run. A float of this size
/// still resolves microseconds.
pub(super) const UPTIME_MS: f64 = (1_u64 << 27) as f64;

type Native = fn(&mut Vm, u32, u32) -> Result<u32, LuaError>;

pub(super) const NATIVES: [Native; 5] = [
    |vm, slot, _| answer(vm, slot, |_, host| Ok(Value::Int(host.env.wall_clock().as_millis()))),
    |vm, slot, _| {
        answer(vm, slot, |_, host| {
            Ok(Value::Float(UPTIME_MS + host.env.monotonic_clock().0 as f64 / 1_000.0))
        })
    },
    random_hex,
    |vm, slot, _| {
        answer(vm, slot, |_, host| {
            Ok(Value::Float(host.env.jitter(&host.retry).as_micros() as f64 / 1_000.0))
        })
    },
    |vm, slot, _| {
        answer(vm, slot, |_, host| {
            let bits = host.env.random(Draw::Jitter) >> 11;
            Ok(Value::Float(bits as f64 / (1_u64 << 53) as f64))
        })
    },
];

thread_local! {
    static HOST: RefCell<Option<Rc<Host>>> = const { RefCell::new(None) };
}

pub(super) fn on<R>(host: &Rc<Host>, body: impl FnOnce() -> R) -> R {
    HOST.set(Some(host.clone()));
    let result = body();
    HOST.set(None);
    result
}

fn answer(
    vm: &mut Vm,
    slot: u32,
    body: impl FnOnce(&mut Vm, &Host) -> Result<Value, LuaError>,
) -> Result<u32, LuaError> {
    let host = HOST.with_borrow(Clone::clone);
    let host = host.ok_or_else(|| {
        vm.rt_err(
            "clocks and random numbers are available only inside a function of the lock, such as \
             acquire or release",
        )
    })?;
    let value = body(vm, &host)?;
    Ok(vm.nat_return(slot, &[value]))
}

fn random_hex(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let bytes = match vm.nat_arg(slot, count, 0) {
        Value::Int(bytes @ 1..=1024) => bytes.unsigned_abs() as usize,
        _ => return Err(vm.rt_err("random_hex: expected 1 to 1024 bytes, like random_hex(20)")),
    };
    answer(vm, slot, |vm, host| {
        let mut digits = Vec::with_capacity(2 * bytes + 16);
        while digits.len() < 2 * bytes {
            let bits = host.env.random(Draw::Owner);
            digits.extend(
                (0..16).rev().map(|place| b"0123456789abcdef"[(bits >> (4 * place)) as usize & 15]),
            );
        }
        Ok(Value::Str(vm.heap.intern(&digits[..2 * bytes])))
    })
}
