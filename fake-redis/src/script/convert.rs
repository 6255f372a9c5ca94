//! Converts values between RESP and Lua (`redisProtocolToLuaType`, `luaReplyToRedisReply`).

use super::host::{Result, as_number, field, named, raise_text, string, table};
use super::{order, shared};
use crate::data::number;
use crate::protocol::reply::{Protocol, Reply};
use luna_core::runtime::{Gc, Table, Value};
use luna_core::vm::Vm;

/// Maximum nesting of a result. Redis fails at Lua's own limit ("reached lua stack limit").
const DEPTH_MAX: usize = 1_000;

/// Maximum number of tables in a result, because one table may occur in it many times.
const TABLES_MAX: usize = 1 << 20;
const LENGTH_MAX: usize = 256 << 20;

pub(super) fn to_lua(vm: &mut Vm, bytes: &[u8]) -> Value {
    Reader { vm, rest: bytes }.value()
}

pub(super) fn counted_error(vm: &mut Vm, text: &[u8]) -> Value {
    let err = (string(vm, b"err"), string(vm, text));
    let counted = (string(vm, b"ignore_error_stats_update"), Value::Bool(true));
    table(vm, [err, counted])
}

pub(super) fn line_of(reply: &[u8]) -> &[u8] {
    reply.split(|byte| *byte == b'\r').next().unwrap_or_default()
}

struct Reader<'v, 'a> {
    vm: &'v mut Vm,
    rest: &'a [u8],
}

impl<'a> Reader<'_, 'a> {
    fn line(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| *byte == b'\r').unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 2..).unwrap_or_default();
        line
    }

    fn length(&mut self) -> i64 {
        crate::data::number::parse_integer(self.line()).unwrap_or(-1)
    }

    fn content(&mut self, length: usize) -> &'a [u8] {
        let (content, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest.get(2..).unwrap_or_default();
        content
    }

    fn value(&mut self) -> Value {
        let Some((kind, rest)) = self.rest.split_first() else { return Value::Nil };
        self.rest = rest;
        match kind {
            b'$' => match usize::try_from(self.length()) {
                Ok(length) => {
                    let content = self.content(length);
                    string(self.vm, content)
                }
                Err(_) => Value::Bool(false),
            },
            b':' => Value::Float(self.length_exact() as f64),
            b'+' => self.single("ok"),
            b'-' => self.error(),
            b'*' | b'>' => self.array(),
            b'_' => {
                self.line();
                Value::Nil
            }
            b'#' => Value::Bool(self.line() == b"t"),
            _ => self.resp3_value(*kind),
        }
    }

    fn length_exact(&mut self) -> i64 {
        crate::data::number::parse_integer(self.line()).unwrap_or(0)
    }

    fn resp3_value(&mut self, kind: u8) -> Value {
        match kind {
            b',' => {
                let number = crate::data::number::parse_double(self.line()).unwrap_or(f64::NAN);
                self.named("double", Value::Float(number))
            }
            b'(' => self.single("big_number"),
            b'=' => self.verbatim(),
            b'%' => self.map(),
            b'~' => self.set(),
            _ => Value::Nil,
        }
    }

    fn named(&mut self, name: &str, value: Value) -> Value {
        let name = string(self.vm, name.as_bytes());
        table(self.vm, [(name, value)])
    }

    fn single(&mut self, name: &str) -> Value {
        let line = self.line();
        named(self.vm, name, line)
    }

    fn error(&mut self) -> Value {
        let line = self.line();
        counted_error(self.vm, line)
    }

    fn array(&mut self) -> Value {
        let Ok(length) = usize::try_from(self.length()) else { return Value::Bool(false) };
        let pairs: Vec<(Value, Value)> =
            (1..=length).map(|index| (Value::Float(index as f64), self.value())).collect();
        table(self.vm, pairs)
    }

    fn map(&mut self) -> Value {
        let length = self.length().max(0);
        let pairs: Vec<(Value, Value)> =
            (0..length).map(|_| (self.value(), self.value())).collect();
        let content = table(self.vm, pairs);
        self.named("map", content)
    }

    fn set(&mut self) -> Value {
        let length = self.length().max(0);
        let pairs: Vec<(Value, Value)> =
            (0..length).map(|_| (self.value(), Value::Bool(true))).collect();
        let content = table(self.vm, pairs);
        self.named("set", content)
    }

    fn verbatim(&mut self) -> Value {
        let length = usize::try_from(self.length()).unwrap_or(0);
        let content = self.content(length);
        let (format, text) = content.split_at(content.len().min(3));
        let format = (string(self.vm, b"format"), string(self.vm, format));
        let text = text.get(1..).unwrap_or_default();
        let text = (string(self.vm, b"string"), string(self.vm, text));
        let content = table(self.vm, [format, text]);
        self.named("verbatim_string", content)
    }
}

/// Converts a result to a reply. `script` is the protocol version that the script selected.
pub(super) fn to_reply(
    vm: &mut Vm,
    value: Value,
    script: Protocol,
    reply: &mut Reply,
) -> Result<()> {
    let start = reply.bytes().len();
    Writer { vm, script, reply, start, tables: 0 }.value(value, 0)
}

struct Writer<'r> {
    vm: &'r mut Vm,
    script: Protocol,
    reply: &'r mut Reply,
    start: usize,
    tables: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: Value, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            self.reply.error(b"ERR reached lua stack limit");
            return Ok(());
        }
        match value {
            Value::Str(text) => self.reply.bulk(text.as_bytes()),
            Value::Bool(value) if self.script == Protocol::Resp3 => self.reply.boolean(value),
            Value::Bool(true) => self.reply.integer(1),
            Value::Int(number) => self.reply.integer(number),
            Value::Float(number) => self.reply.integer(number::truncated(number)),
            Value::Table(table) => return self.table(table, depth),
            _ => self.reply.null(),
        }
        Ok(())
    }

    fn table(&mut self, table: Gc<Table>, depth: usize) -> Result<()> {
        self.tables += 1;
        if self.tables > TABLES_MAX || self.reply.bytes().len() - self.start > LENGTH_MAX {
            return Err(raise_text(
                self.vm,
                b"runtime error: the result of the script is too large",
            ));
        }
        if let Value::Str(text) = field(self.vm, table, "err") {
            self.reply.error(text.as_bytes());
        } else if let Value::Str(text) = field(self.vm, table, "ok") {
            self.reply.status_bytes(text.as_bytes());
        } else if let Some(number) = as_number(field(self.vm, table, "double")) {
            self.reply.double(number);
        } else if let Value::Table(content) = field(self.vm, table, "map") {
            self.map(content, depth)?;
        } else if let Value::Table(content) = field(self.vm, table, "set") {
            self.set(content, depth)?;
        } else if let Value::Str(digits) = field(self.vm, table, "big_number") {
            self.reply.big_number(digits.as_bytes());
        } else if let Value::Table(content) = field(self.vm, table, "verbatim_string") {
            self.verbatim(content);
        } else {
            self.array(table, depth)?;
        }
        Ok(())
    }

    fn array(&mut self, table: Gc<Table>, depth: usize) -> Result<()> {
        let mut length = 0;
        while !table.get_int(length + 1).is_nil() {
            length += 1;
        }
        self.reply.array(length as usize);
        for index in 1..=length {
            self.value(table.get_int(index), depth + 1)?;
        }
        Ok(())
    }

    fn map(&mut self, content: Gc<Table>, depth: usize) -> Result<()> {
        let pairs = order::pairs(self.vm, shared::real(content))?;
        self.reply.map(pairs.len());
        for (key, value) in pairs {
            self.value(key, depth + 1)?;
            self.value(value, depth + 1)?;
        }
        Ok(())
    }

    fn set(&mut self, content: Gc<Table>, depth: usize) -> Result<()> {
        let members = order::pairs(self.vm, shared::real(content))?;
        self.reply.set(members.len());
        members.into_iter().try_for_each(|(member, _)| self.value(member, depth + 1))
    }

    fn verbatim(&mut self, content: Gc<Table>) {
        match (field(self.vm, content, "format"), field(self.vm, content, "string")) {
            (Value::Str(format), Value::Str(text)) if format.as_bytes().len() >= 3 => {
                self.reply.verbatim(format.as_bytes(), text.as_bytes());
            }
            _ => self.reply.null(),
        }
    }
}
