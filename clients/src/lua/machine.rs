//! Lua states ([`Machine`]), each with one script. Threads reuse states, which are slow to create.

use super::meter::{self, MEMORY, METERS};
use super::natives::NATIVES;
use super::search::charge_search;
use super::source::{CHUNK, Source, placed};
use luna_core::runtime::{CoroStatus, Value};
use luna_core::version::LuaVersion;
use luna_core::vm::{HostRootTicket, LuaError, Vm};
use std::cell::RefCell;
use std::cmp::Ordering;

/// Limit on a script's instructions at one instant of virtual time.
pub(super) const INSTRUCTIONS: i64 = 200_000;
/// Number of instructions charged for each resumption of a coroutine.
const RESUMPTION: i64 = 50;
/// Memory growth in bytes after which the machine collects garbage before its next use.
const GARBAGE: usize = 256 << 10;
const IDLE_MAX: usize = 32;

pub(super) const PARTS: usize = 6;

pub(super) struct Machine {
    vm: Vm,
    digest: [u8; 20],
    instantiate: Value,
    knows: Value,
    names: Value,
    factory: Value,
    at_first: usize,
}

thread_local! {
    static IDLE: RefCell<Vec<Machine>> = const { RefCell::new(Vec::new()) };
}

pub(super) enum Resumed {
    Asks(Vec<Value>),
    Returned(Vec<Value>),
}

impl Machine {
    pub(super) fn take(source: &Source) -> Result<Machine, String> {
        let idle = IDLE.with_borrow_mut(|idle| {
            let place = idle.iter().position(|one| one.digest == source.digest);
            place.map(|place| idle.swap_remove(place))
        });
        idle.map_or_else(|| Machine::new(source), Ok)
    }

    pub(super) fn recycle(mut self) {
        self.vm.unpin_all();
        self.pin_own();
        self.vm.set_instr_budget(None);
        self.vm.set_memory_cap(None);
        if self.vm.memory_used() > self.at_first + GARBAGE {
            self.vm.collect_garbage();
        }
        if self.vm.memory_used() > self.at_first + GARBAGE {
            return;
        }
        let _ = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            if idle.len() < IDLE_MAX {
                idle.push(self);
            }
        });
    }

    fn new(source: &Source) -> Result<Machine, String> {
        let mut vm = Vm::sandbox(LuaVersion::Lua54)
            .open_base()
            .open_math()
            .open_string()
            .open_table()
            .open_coroutine()
            .build();
        let name = format!("={CHUNK}");
        let told = |error: luna_core::frontend::SyntaxError| {
            String::from_utf8_lossy(&error.render(CHUNK.as_bytes())).into_owned()
        };
        // Load the unchanged text first, to report its syntax errors.
        vm.load(source.text.as_bytes(), name.as_bytes()).map_err(told)?;
        let prelude = vm.load(include_bytes!("prelude.lua"), b"=prelude").map_err(told)?;
        let mut natives = vec![vm.native(order), vm.native(charge_search)];
        natives.extend(METERS.into_iter().chain(NATIVES).map(|native| vm.native(native)));
        let made = vm.call_value(Value::Closure(prelude), &natives);
        let made = made.map_err(|error| vm.error_text(&error))?;
        let [instantiate, knows, names] = made[..] else {
            return Err("the prelude returned something else".to_owned());
        };
        let text = format!("return function(_ENV, ...) {}\nend", source.text);
        let factory = vm.load(text.as_bytes(), name.as_bytes()).map_err(told)?;
        let factory = vm.call_value(Value::Closure(factory), &[]);
        let factory = factory.map_err(|error| vm.error_text(&error))?;
        let factory = factory.first().copied().unwrap_or(Value::Nil);
        let digest = source.digest;
        let mut machine = Machine { vm, digest, instantiate, knows, names, factory, at_first: 0 };
        machine.pin_own();
        machine.vm.collect_garbage();
        machine.at_first = machine.vm.memory_used();
        Ok(machine)
    }

    fn pin_own(&mut self) {
        for value in [self.instantiate, self.knows, self.names, self.factory] {
            self.vm.pin_host(value);
        }
    }

    pub(super) fn instantiate(&mut self, masters: i64) -> Result<[Value; PARTS], String> {
        self.arm(INSTRUCTIONS);
        let arguments = [self.factory, Value::Int(masters)];
        let made = self.vm.call_value(self.instantiate, &arguments);
        let made = made.map_err(|error| {
            let traceback = self.vm.take_error_traceback().unwrap_or_default();
            placed(self.text_of(error.0), &traceback)
        })?;
        made.try_into().map_err(|_| "the prelude returned something else".to_owned())
    }

    pub(super) fn knows(&mut self, name: &str, field: Option<&str>) -> bool {
        let mut arguments = vec![self.string(name.as_bytes())];
        arguments.extend(field.map(|field| self.string(field.as_bytes())));
        self.vm.set_instr_budget(None);
        let known = self.vm.call_value(self.knows, &arguments);
        known.is_ok_and(|values| values.first().is_some_and(|value| value.truthy()))
    }

    pub(super) fn names(&mut self, library: Option<&str>) -> String {
        let library = library.map_or(Value::Nil, |name| self.string(name.as_bytes()));
        self.vm.set_instr_budget(None);
        let names = self.vm.call_value(self.names, &[library]).unwrap_or_default();
        names.first().map(|names| self.text_of(*names)).unwrap_or_default()
    }

    pub(super) fn begin(&mut self, function: HostRootTicket) -> HostRootTicket {
        let function = self.read(function);
        let coroutine = self.vm.create_coroutine(function);
        self.vm.pin_host(coroutine)
    }

    /// Returns the coroutine's traceback, followed by the coroutine's first function, which Lua
    /// omits after a tail call.
    pub(super) fn traceback(&self, coroutine: HostRootTicket) -> String {
        let Value::Coro(one) = self.read(coroutine) else { return String::new() };
        let levels = one.error_traceback.as_deref().unwrap_or_default();
        let mut levels = String::from_utf8_lossy(levels).into_owned();
        if let Value::Closure(body) = one.body {
            let source = String::from_utf8_lossy(body.proto.source.as_bytes());
            let (source, line) = (source.trim_start_matches('='), body.proto.line_defined);
            levels += &format!("\n{source}:{line}: in the called function");
        }
        levels
    }

    pub(super) fn line_of(&self, function: HostRootTicket) -> u32 {
        match self.read(function) {
            Value::Closure(one) => one.proto.line_defined,
            _ => 0,
        }
    }

    pub(super) fn resume(
        &mut self,
        coroutine: HostRootTicket,
        values: Vec<Value>,
        instructions: i64,
    ) -> (Result<Resumed, LuaError>, i64) {
        let coroutine = self.read(coroutine);
        self.arm(instructions - RESUMPTION);
        let outcome = self.vm.resume_coroutine(coroutine, values);
        let left = self.vm.instr_budget_remaining().unwrap_or(0);
        let is_over = matches!(coroutine, Value::Coro(one) if one.status == CoroStatus::Dead);
        let outcome = outcome.map(|values| match is_over {
            true => Resumed::Returned(values),
            false => Resumed::Asks(values),
        });
        (outcome, left)
    }

    fn arm(&mut self, instructions: i64) {
        self.vm.set_instr_budget(Some(instructions.max(1)));
        self.vm.set_memory_cap(Some(MEMORY));
    }

    pub(super) fn pin(&mut self, value: Value) -> HostRootTicket {
        self.vm.pin_host(value)
    }

    pub(super) fn unpin(&mut self, ticket: HostRootTicket) {
        let _ = self.vm.unpin(ticket);
    }

    pub(super) fn read(&self, ticket: HostRootTicket) -> Value {
        self.vm.read_host(ticket).unwrap_or(Value::Nil)
    }

    pub(super) fn string(&mut self, bytes: &[u8]) -> Value {
        Value::Str(self.vm.heap.intern(bytes))
    }

    pub(super) fn list(&mut self, values: &[Value]) -> Value {
        let list = self.vm.new_table();
        let numbered = values.iter().zip(1_i64..);
        let list = numbered
            .filter(|(value, _)| !value.is_nil())
            .fold(list, |list, (value, number)| list.with(number, *value));
        Value::Table(list.build())
    }

    pub(super) fn field(&mut self, table: Value, name: &str) -> Value {
        let Value::Table(table) = table else { return Value::Nil };
        let name = self.string(name.as_bytes());
        table.get(name)
    }

    pub(super) fn text_of(&self, value: Value) -> String {
        match value {
            Value::Str(text) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Bool(is_true) => is_true.to_string(),
            Value::Nil => "an error that is nil: expected a message, like error('...')".to_owned(),
            other => format!("an error that is a {}", other.type_name()),
        }
    }
}

/// Sorts a table's keys by their values, because addresses differ between runs.
fn order(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let Value::Table(table) = vm.nat_arg(slot, count, 0) else {
        return Ok(vm.nat_return(slot, &[Value::Bool(false)]));
    };
    let (mut keys, mut last) = (Vec::new(), Value::Nil);
    while let Ok(Some((key, _))) = table.next(last) {
        if rank(key).is_none() {
            return Ok(vm.nat_return(slot, &[Value::Nil]));
        }
        keys.push(key);
        last = key;
    }
    meter::work(vm, keys.len())?;
    keys.sort_by(|a, b| compare(*a, *b));
    let list = vm.new_table();
    let list = keys.iter().zip(1_i64..).fold(list, |list, (key, place)| list.with(place, *key));
    let list = Value::Table(list.build());
    Ok(vm.nat_return(slot, &[list]))
}

fn rank(key: Value) -> Option<u8> {
    match key {
        Value::Int(_) | Value::Float(_) => Some(0),
        Value::Str(_) => Some(1),
        Value::Bool(_) => Some(2),
        _ => None,
    }
}

fn compare(a: Value, b: Value) -> Ordering {
    let number = |value| match value {
        Value::Int(number) => number as f64,
        Value::Float(number) => number,
        _ => 0.0,
    };
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(&b),
        (Value::Str(a), Value::Str(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(&b),
        (a, b) => rank(a).cmp(&rank(b)).then(number(a).total_cmp(&number(b))),
    }
}
