//! Decodes the values that a script yields into [`Request`]s to the host.

use super::machine::Machine;
use bytes::Bytes;
use luna_core::runtime::Value;
use luna_core::vm::HostRootTicket;
use std::time::Duration;

const SPAN_MAX_MS: f64 = 86_400_000.0;

pub(super) enum Request {
    /// A Redis call. `place` is the number of the master, counted from 1, or 0 for the only server.
    Call {
        place: usize,
        words: Words,
        is_on_the_same_connection: bool,
    },
    Script {
        place: usize,
        source: Bytes,
        keys: usize,
        words: Words,
    },
    Sleep(Duration),
    Lost,
    All {
        function: HostRootTicket,
        items: Vec<HostRootTicket>,
    },
    Timeout {
        function: HostRootTicket,
        span: Duration,
        arguments: Vec<HostRootTicket>,
    },
    Spawn {
        function: HostRootTicket,
        arguments: Vec<HostRootTicket>,
    },
    Stop(i64),
    Other {
        operation: String,
        arguments: Vec<Datum>,
    },
    Misused(String),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Datum {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Bytes(Bytes),
    Foreign(&'static str),
}

#[derive(Default)]
pub(super) struct Words {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Words {
    fn push(&mut self, value: Value) -> Result<(), &'static str> {
        match value {
            Value::Str(text) => self.bytes.extend_from_slice(text.as_bytes()),
            other => {
                let text = number_text(other).ok_or(other.type_name())?;
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub(super) fn slices(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let slice = |end: &usize| &self.bytes[std::mem::replace(&mut start, *end)..*end];
        self.ends.iter().map(slice).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

fn number_text(value: Value) -> Option<String> {
    match value {
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some((number as i64).to_string())
        }
        Value::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

pub(super) fn request_of(machine: &mut Machine, values: &[Value]) -> Request {
    let Some((operation, arguments)) = values.split_first() else {
        return Request::Misused("a yield without a request".to_owned());
    };
    let Value::Str(operation) = operation else {
        return Request::Misused("a yield without a request".to_owned());
    };
    let operation = std::str::from_utf8(operation.as_bytes()).unwrap_or_default();
    read(machine, operation, arguments).unwrap_or_else(Request::Misused)
}

fn read(machine: &mut Machine, operation: &str, arguments: &[Value]) -> Result<Request, String> {
    let first = arguments.first().copied().unwrap_or(Value::Nil);
    let mut pin = |values: &[Value]| -> Vec<HostRootTicket> {
        values.iter().map(|value| machine.pin(*value)).collect()
    };
    Ok(match operation {
        "call" | "same" => call(arguments, operation == "same")?,
        "script" => script(arguments)?,
        "sleep" => Request::Sleep(span("sleep", first)?),
        "lost" => Request::Lost,
        "all" => {
            let kept = pin(arguments);
            let (function, items) = kept.split_first().ok_or("all: expected a function")?;
            Request::All { function: *function, items: items.to_vec() }
        }
        "timeout" => {
            let [function, span_ms, rest @ ..] = arguments else {
                return Err("timeout: expected milliseconds and a function".to_owned());
            };
            let span = span("timeout", *span_ms)?;
            Request::Timeout { function: pin(&[*function])[0], span, arguments: pin(rest) }
        }
        "spawn" => {
            let kept = pin(arguments);
            let (function, arguments) = kept.split_first().ok_or("spawn: expected a function")?;
            Request::Spawn { function: *function, arguments: arguments.to_vec() }
        }
        "stop" => match first {
            Value::Int(task) => Request::Stop(task),
            other => return Err(format!("stop: expected a task, got {}", describe(other))),
        },
        _ => {
            let arguments = arguments.iter().map(|value| datum(*value)).collect();
            Request::Other { operation: operation.to_owned(), arguments }
        }
    })
}

fn call(arguments: &[Value], is_on_the_same_connection: bool) -> Result<Request, String> {
    let (place, rest) = place_of(arguments)?;
    if rest.is_empty() {
        return Err("call: expected a command, like call(\"GET\", key)".to_owned());
    }
    let words = words_of("call", rest, 1)?;
    Ok(Request::Call { place, words, is_on_the_same_connection })
}

fn script(arguments: &[Value]) -> Result<Request, String> {
    let (place, rest) = place_of(arguments)?;
    let [source, keys, rest @ ..] = rest else {
        return Err("script: expected the script, its key or keys, and its arguments".to_owned());
    };
    let Value::Str(source) = source else {
        return Err(format!("script: expected a script as a string, got {}", describe(*source)));
    };
    let mut words = match keys {
        Value::Table(keys) => {
            let keys: Vec<Value> = (1..=keys.len()).map(|place| keys.get_int(place)).collect();
            words_of("script", &keys, 1)?
        }
        key => words_of("script", &[*key], 2)?,
    };
    let keys = words.len();
    for (value, number) in rest.iter().zip(3..) {
        words.push(*value).map_err(|kind| expected("script", number, kind))?;
    }
    Ok(Request::Script { place, source: Bytes::copy_from_slice(source.as_bytes()), keys, words })
}

fn place_of(arguments: &[Value]) -> Result<(usize, &[Value]), String> {
    match arguments.split_first() {
        Some((Value::Int(place), rest)) => Ok((place.unsigned_abs() as usize, rest)),
        _ => Err("call: expected a server".to_owned()),
    }
}

fn words_of(function: &str, values: &[Value], first: usize) -> Result<Words, String> {
    let mut words = Words::default();
    for (value, number) in values.iter().zip(first..) {
        words.push(*value).map_err(|kind| expected(function, number, kind))?;
    }
    Ok(words)
}

fn expected(function: &str, number: usize, kind: &str) -> String {
    format!("{function}: argument {number} is a {kind}: expected a string or a number")
}

fn span(function: &str, value: Value) -> Result<Duration, String> {
    let milliseconds = match value {
        Value::Int(number) => number as f64,
        Value::Float(number) => number,
        other => return Err(format!("{function}: expected milliseconds, got {}", describe(other))),
    };
    if !(0.0..=SPAN_MAX_MS).contains(&milliseconds) {
        let told = number_text(value).unwrap_or_default();
        return Err(format!("{function}: {told} ms: expected 0 to 86400000"));
    }
    // Waits last at least a microsecond, so that no loop runs forever at one instant.
    Ok(Duration::from_micros(((milliseconds * 1_000.0).round() as u64).max(1)))
}

fn describe(value: Value) -> String {
    number_text(value).unwrap_or_else(|| format!("a {}", value.type_name()))
}

fn datum(value: Value) -> Datum {
    match value {
        Value::Nil => Datum::Nil,
        Value::Bool(is_true) => Datum::Bool(is_true),
        Value::Int(number) => Datum::Int(number),
        Value::Float(number) => Datum::Float(number),
        Value::Str(text) => Datum::Bytes(Bytes::copy_from_slice(text.as_bytes())),
        other => Datum::Foreign(other.type_name()),
    }
}
