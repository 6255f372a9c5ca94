use super::limits;
pub(super) use super::values::as_number;
use crate::config::RedisVersion;
use crate::data::number;
use luna_core::runtime::{Gc, LuaStr, Table, Value};
use luna_core::vm::{LuaError, Vm};
use std::cell::{Cell, RefCell, RefMut};

pub(super) type Result<T> = std::result::Result<T, LuaError>;

pub(super) type Native = fn(&mut Vm, u32, u32) -> Result<u32>;

/// Whole numbers below this bound have no exponent in C's `%.17g`.
pub(super) const PLAIN_MAX: u64 = 100_000_000_000_000_000;

/// Minimum length in bytes at which work on a string costs instructions.
const LONG: usize = 4_096;
const BYTES_PER_INSTRUCTION: usize = 16;
const STEPS_PER_CHECK: u32 = 1_024;
const INSTRUCTIONS_PER_STEP: usize = 16;

macro_rules! native {
    ($body:expr) => {
        |vm: &mut luna_core::vm::Vm, slot: u32, count: u32| {
            $crate::script::host::answer(vm, slot, count, $body)
        }
    };
}
pub(super) use native;

pub(super) fn answer<R: Answer>(
    vm: &mut Vm,
    slot: u32,
    count: u32,
    body: impl FnOnce(&Arguments<'_>) -> Result<R>,
) -> Result<u32> {
    let call = Arguments { vm: RefCell::new(vm), slot, count: count as usize, steps: Cell::new(0) };
    let answer = body(&call)?;
    let vm = call.vm.into_inner();
    let values = answer.into_values(vm);
    Ok(vm.nat_return(slot, &values))
}

pub(super) trait Answer {
    fn into_values(self, vm: &mut Vm) -> Vec<Value>;
}

impl Answer for () {
    fn into_values(self, _: &mut Vm) -> Vec<Value> {
        Vec::new()
    }
}

impl Answer for Value {
    fn into_values(self, _: &mut Vm) -> Vec<Value> {
        vec![self]
    }
}

impl Answer for Vec<Value> {
    fn into_values(self, _: &mut Vm) -> Vec<Value> {
        self
    }
}

impl Answer for f64 {
    fn into_values(self, _: &mut Vm) -> Vec<Value> {
        vec![Value::Float(self)]
    }
}

impl Answer for bool {
    fn into_values(self, _: &mut Vm) -> Vec<Value> {
        vec![Value::Bool(self)]
    }
}

impl Answer for Vec<u8> {
    fn into_values(self, vm: &mut Vm) -> Vec<Value> {
        vec![string(vm, &self)]
    }
}

/// The arguments of one call, counted from 1 and checked as in lauxlib.c of Lua 5.1.
pub(super) struct Arguments<'v> {
    vm: RefCell<&'v mut Vm>,
    slot: u32,
    count: usize,
    steps: Cell<u32>,
}

impl<'v> Arguments<'v> {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn vm(&self) -> RefMut<'_, &'v mut Vm> {
        self.vm.borrow_mut()
    }

    pub(super) fn value(&self, number: usize) -> Value {
        self.vm().nat_arg(self.slot, self.count as u32, number as u32 - 1)
    }

    pub(super) fn values(&self) -> Vec<Value> {
        (1..=self.count).map(|number| self.value(number)).collect()
    }

    pub(super) fn captured(&self, index: usize) -> Value {
        self.vm().nat_upval(self.slot, index)
    }

    pub(super) fn number(&self, number: usize) -> Result<f64> {
        match to_number(self.value(number)) {
            Some(value) => Ok(value),
            None => self.wrong_type(number, "number"),
        }
    }

    pub(super) fn integer(&self, number: usize) -> Result<i64> {
        self.number(number).map(|value| value as i64)
    }

    pub(super) fn integer_or(&self, number: usize, default: i64) -> Result<i64> {
        if self.value(number).is_nil() { Ok(default) } else { self.integer(number) }
    }

    pub(super) fn string(&self, number: usize) -> Result<Gc<LuaStr>> {
        let value = self.value(number);
        let text = to_string(&mut self.vm(), value);
        match text {
            Some(text) => self.charge(text.as_bytes().len()).map(|()| text),
            None => self.wrong_type(number, "string"),
        }
    }

    pub(super) fn charge(&self, bytes: usize) -> Result<()> {
        if bytes < LONG {
            return Ok(());
        }
        limits::work(&mut self.vm(), bytes / BYTES_PER_INSTRUCTION)
    }

    pub(super) fn step(&self, bytes: usize) -> Result<()> {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if !steps.is_multiple_of(STEPS_PER_CHECK) {
            return Ok(());
        }
        let mut vm = self.vm();
        limits::work(&mut vm, STEPS_PER_CHECK as usize * INSTRUCTIONS_PER_STEP)?;
        limits::check_memory(&mut vm, bytes)
    }

    pub(super) fn wrong_type<R>(&self, number: usize, wanted: &str) -> Result<R> {
        let given = if number > self.count { "no value" } else { self.value(number).type_name() };
        self.wrong(number, &format!("{wanted} expected, got {given}"))
    }

    pub(super) fn wrong<R>(&self, number: usize, problem: &str) -> Result<R> {
        let text = missing_argument(&mut self.vm(), self.slot);
        Err(raise_text(&mut self.vm(), &rewritten(&text, number, problem)))
    }

    /// Fails with a position in the message, like `luaL_error`.
    pub(super) fn fail<R>(&self, problem: &str) -> Result<R> {
        Err(self.vm().rt_err(problem))
    }

    /// Fails without a position in the message, like `luaG_runerror` called from C.
    pub(super) fn fail_plainly<R>(&self, problem: &str) -> Result<R> {
        Err(raise_text(&mut self.vm(), problem.as_bytes()))
    }

    pub(super) fn make_string(&self, bytes: &[u8]) -> Value {
        string(&mut self.vm(), bytes)
    }

    pub(super) fn make_table(&self, pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        table(&mut self.vm(), pairs)
    }
}

thread_local! {
    static NUMBER_CHECK: Cell<Option<Native>> = const { Cell::new(None) };
}

pub(super) fn set_number_check(wants_number: Native) {
    NUMBER_CHECK.set(Some(wants_number));
}

/// Returns the text of Lua's own error, because only Lua knows the position of the call.
fn missing_argument(vm: &mut Vm, slot: u32) -> Vec<u8> {
    let raised = NUMBER_CHECK.get().map(|function| function(vm, slot, 0));
    raised.and_then(Result::err).and_then(|error| text_of(error.0)).unwrap_or_default()
}

fn rewritten(text: &[u8], number: usize, problem: &str) -> Vec<u8> {
    const ARGUMENT: &[u8] = b"bad argument #1 to ";
    const OWN: &[u8] = b"calling ";
    let start = |wanted: &[u8]| text.windows(wanted.len()).position(|part| part == wanted);
    let end = text.windows(2).rposition(|part| part == b" (").unwrap_or(text.len());
    let (place, name, number) = match (start(ARGUMENT), start(OWN)) {
        (Some(at), _) => (&text[..at], &text[at + ARGUMENT.len()..end], number),
        // In a method call, Lua does not count the receiver as an argument.
        (None, Some(at)) if number > 1 => {
            let name = text[at + OWN.len()..end].strip_suffix(b" on bad self").unwrap_or_default();
            (&text[..at], name, number - 1)
        }
        _ => return [&text[..end], b" (", problem.as_bytes(), b")"].concat(),
    };
    let mut rewritten = place.to_vec();
    rewritten.extend_from_slice(format!("bad argument #{number} to ").as_bytes());
    rewritten.extend_from_slice(name);
    rewritten.extend_from_slice(format!(" ({problem})").as_bytes());
    rewritten
}

pub(super) fn string(vm: &mut Vm, bytes: &[u8]) -> Value {
    Value::Str(vm.heap.intern(bytes))
}

pub(super) fn table(vm: &mut Vm, pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
    let builder =
        pairs.into_iter().fold(vm.new_table(), |table, (key, value)| table.with(key, value));
    Value::Table(builder.build())
}

pub(super) fn field(vm: &mut Vm, table: Gc<Table>, name: &str) -> Value {
    let name = string(vm, name.as_bytes());
    table.get(name)
}

pub(super) fn raise_text(vm: &mut Vm, text: &[u8]) -> LuaError {
    LuaError(string(vm, text))
}

pub(super) fn raise_reply(vm: &mut Vm, text: &[u8]) -> LuaError {
    LuaError(problem_table(vm, text))
}

pub(super) fn problem_table(vm: &mut Vm, text: &[u8]) -> Value {
    named(vm, "err", text)
}

pub(super) fn named(vm: &mut Vm, name: &str, text: &[u8]) -> Value {
    let pair = (string(vm, name.as_bytes()), string(vm, text));
    table(vm, [pair])
}

pub(super) fn text_of(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::Str(text) => Some(text.as_bytes().to_vec()),
        _ => None,
    }
}

pub(super) fn to_number(value: Value) -> Option<f64> {
    match value {
        Value::Str(text) => read_number(text.as_bytes()),
        other => as_number(other),
    }
}

fn read_number(text: &[u8]) -> Option<f64> {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    let text = number::c_string(text);
    let text = &text[text.iter().take_while(|byte| is_space(byte)).count()..];
    let (value, length) = number::leading_double(text)?;
    text[length..].iter().all(is_space).then_some(value)
}

pub(super) fn to_string(vm: &mut Vm, value: Value) -> Option<Gc<LuaStr>> {
    match value {
        Value::Str(text) => Some(text),
        other => {
            let number = as_number(other)?;
            Some(vm.heap.intern(number_text(number).as_bytes()))
        }
    }
}

fn number_text(number: f64) -> String {
    if number.is_nan() {
        // C prints the sign of a NaN. The sign of a computed NaN depends on the processor.
        return String::from(if number.is_sign_negative() { "-nan" } else { "nan" });
    }
    number::general(number, 14)
}

/// Writes a number as the argument of a command: as `%.17g` before 7.2, and as `fpconv_dtoa` does
/// from then on. 7.2 has no special case for whole numbers, so 100000000 becomes `1e+8`.
pub(super) fn argument_text(number: f64, version: RedisVersion, take: impl FnOnce(&[u8])) {
    const WHOLE_MAX: u64 = 1 << 62;
    let whole = number as i64;
    let is_whole = whole as f64 == number;
    let is_plain = match version {
        RedisVersion::V6_2 | RedisVersion::V7_0 => {
            is_whole
                && (whole != 0 || number.is_sign_positive())
                && whole.unsigned_abs() < PLAIN_MAX
        }
        RedisVersion::V7_2 => false,
        RedisVersion::V8_4 => is_whole && whole.unsigned_abs() <= WHOLE_MAX,
    };
    if is_plain {
        take(itoa::Buffer::new().format(whole).as_bytes());
    } else if version < RedisVersion::V7_2 {
        take(number::double_text(number).as_bytes());
    } else {
        take(number::shortest_text(number).as_bytes());
    }
}
