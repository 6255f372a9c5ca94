//! Stops scripts at their limits, on SCRIPT KILL, and on shutdown.

use super::lend;
use super::run::Run;
use super::watch::{Ending, Watch};
use crate::state::busy::Busy;
use crate::state::server::DriverCalls;
use luna_core::runtime::Value;
use luna_core::vm::exec::{HOOK_MASK_COUNT, RustHookEvent};
use luna_core::vm::{LuaError, Vm};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

type Result<T> = std::result::Result<T, LuaError>;

/// Maximum number of instructions of a script without a driver (about a second outside tests).
const INSTRUCTIONS_MAX: i64 = if cfg!(any(test, fuzzing)) { 10_000_000 } else { 100_000_000 };

/// Number of instructions between two polls for other clients (about a millisecond).
const INSTRUCTIONS_PER_POLL: i64 = 100_000;

/// Maximum memory of a script in bytes. Redis has no such limit.
pub(super) const MEMORY_MAX: usize = if cfg!(any(test, fuzzing)) { 32 << 20 } else { 256 << 20 };

pub(super) fn begin(vm: &mut Vm) {
    let memory_max = vm.memory_used().saturating_add(MEMORY_MAX);
    vm.set_memory_cap(Some(memory_max));
    let has_driver = lend::borrow(|run| {
        let has_driver = run.server.long_script.driver_calls.as_ref().is_some();
        run.watch = Watch { has_driver, memory_max, ..Watch::default() };
        has_driver
    });
    if has_driver == Some(true) {
        vm.set_instr_budget(None);
        start_polling(vm);
    } else {
        vm.clear_rust_debug_hook();
        vm.set_instr_budget(Some(INSTRUCTIONS_MAX));
    }
}

pub(super) fn start_polling(vm: &mut Vm) {
    if lend::borrow(|run| run.watch.has_driver) == Some(true) {
        vm.set_rust_debug_hook(Some(on_count), HOOK_MASK_COUNT, INSTRUCTIONS_PER_POLL);
    }
}

fn on_count(vm: &mut Vm, _: RustHookEvent) {
    if poll() {
        vm.set_instr_budget(Some(1));
    }
}

fn poll() -> bool {
    let looked = keep_panic(|| {
        lend::borrow(|run| {
            if run.watch.ending.is_none() {
                run.watch.ending = run.poll();
            }
            run.watch.ending.is_some()
        })
    });
    match looked {
        Some(has_to_end) => has_to_end == Some(true),
        None => {
            end(Ending::Panicked);
            true
        }
    }
}

pub(super) fn work(vm: &mut Vm, units: usize) -> Result<()> {
    let units = i64::try_from(units).unwrap_or(i64::MAX);
    if let Some(left) = vm.instr_budget_remaining() {
        vm.set_instr_budget(Some(left.saturating_sub(units).max(1)));
        return if left > units { Ok(()) } else { Err(stop(vm, Ending::Bound)) };
    }
    let is_due = lend::borrow(|run| {
        run.watch.charged = run.watch.charged.saturating_add(units);
        let is_due = run.watch.has_driver && run.watch.charged >= INSTRUCTIONS_PER_POLL;
        if is_due {
            run.watch.charged = 0;
        }
        is_due
    });
    if is_due == Some(true) && poll() {
        return Err(failure(vm));
    }
    Ok(())
}

pub(super) fn check_memory(vm: &mut Vm, bytes: usize) -> Result<()> {
    let used = vm.memory_used().saturating_add(bytes);
    let memory_max = lend::borrow(|run| run.watch.memory_max).unwrap_or(usize::MAX);
    if used > memory_max { Err(stop(vm, Ending::Memory)) } else { Ok(()) }
}

pub(super) fn stop(vm: &mut Vm, ending: Ending) -> LuaError {
    end(ending);
    failure(vm)
}

fn end(ending: Ending) {
    lend::borrow(|run| run.watch.ending = run.watch.ending.or(Some(ending)));
}

/// Scripts cannot catch this error (`has_to_end` in prelude.lua).
fn failure(vm: &mut Vm) -> LuaError {
    let text = ending(vm).map(|ending| ending.to_string()).unwrap_or_default();
    LuaError(Value::Str(vm.heap.intern(text.as_bytes())))
}

/// Returns why the script must end, if so. Also works after the script has caught Lua's own error.
pub(super) fn ending(vm: &Vm) -> Option<Ending> {
    let (has_no_budget, memory) = (vm.instr_budget_remaining().is_none(), vm.memory_used());
    lend::borrow(|run| {
        let watch = &mut run.watch;
        if watch.ending.is_none() && memory > watch.memory_max {
            watch.ending = Some(Ending::Memory);
        } else if watch.ending.is_none() && has_no_budget && !watch.has_driver {
            watch.ending = Some(Ending::Bound);
        }
        watch.ending
    })
    .flatten()
}

thread_local! {
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

pub(super) fn resume_panic() {
    if let Some(panic) = PANIC.take() {
        resume_unwind(panic);
    }
}

pub(super) fn keep_panic<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| PANIC.set(Some(panic))).ok()
}

impl Run<'_> {
    fn poll(&mut self) -> Option<Ending> {
        let DriverCalls { driver, call_driver } =
            self.server.long_script.driver_calls.as_ref().cloned()?;
        let threshold = self.server.config.busy_reply_threshold;
        let elapsed = driver.now().saturating_sub(self.began.unwrap_or(Duration::ZERO));
        let is_long = threshold > 0 && elapsed >= Duration::from_millis(threshold.unsigned_abs());
        if !is_long && !driver.must_stop() {
            return None;
        }
        let busy = Busy { caller: self.caller, has_written: self.has_written, is_killed: false };
        let busy = call_driver(self.server, &*driver, busy);
        if self.server.life.is_over {
            return Some(Ending::ServerStopped);
        }
        busy.is_killed.then_some(Ending::Killed)
    }
}

pub(super) fn has_driver() -> bool {
    lend::borrow(|run| run.watch.has_driver) == Some(true)
}
