//! Values between RESP and Lua.
//!
//! The rules are those of `redisProtocolToLuaType` and `luaReplyToRedisReply` in script_lua.c. What
//! comes in was encoded by this crate a moment ago, so that it is walked over once, without a frame
//! in between.

use crate::data::number;
use crate::protocol::reply::{Protocol, Reply};
use mlua::{Error, Lua, Result, Table, Value};

/// How deep a script's result may nest: Lua's own stack ends before that in Redis ("reached lua
/// stack limit").
const DEPTH_MAX: usize = 1_000;

/// How many tables and bytes a result may have: a table may hold another twice, and that others.
const TABLES_MAX: usize = 1 << 20;
const LENGTH_MAX: usize = 256 << 20;

/// Reads one reply. An error reply becomes a table with `err`.
pub(crate) fn to_lua(lua: &Lua, bytes: &[u8]) -> Result<Value> {
    Reader { lua, rest: bytes }.value()
}

struct Reader<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
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

    fn string(&self, bytes: &[u8]) -> Result<Value> {
        self.lua.create_string(bytes).map(Value::String)
    }

    fn value(&mut self) -> Result<Value> {
        let Some((kind, rest)) = self.rest.split_first() else { return Ok(Value::Nil) };
        self.rest = rest;
        match kind {
            b'$' => match usize::try_from(self.length()) {
                Ok(length) => {
                    let content = self.content(length);
                    self.string(content)
                }
                Err(_) => Ok(Value::Boolean(false)),
            },
            b':' => Ok(Value::Number(self.length_exact() as f64)),
            b'+' => self.single("ok"),
            b'-' => self.error(),
            b'*' | b'>' => self.array(),
            b'_' => {
                self.line();
                Ok(Value::Nil)
            }
            b'#' => Ok(Value::Boolean(self.line() == b"t")),
            _ => self.resp3_value(*kind),
        }
    }

    fn length_exact(&mut self) -> i64 {
        crate::data::number::parse_integer(self.line()).unwrap_or(0)
    }

    fn resp3_value(&mut self, kind: u8) -> Result<Value> {
        match kind {
            b',' => {
                let number = crate::data::number::parse_double(self.line()).unwrap_or(f64::NAN);
                self.named("double", Value::Number(number))
            }
            b'(' => self.single("big_number"),
            b'=' => self.verbatim(),
            b'%' => self.map(),
            b'~' => self.set(),
            _ => Ok(Value::Nil),
        }
    }

    fn named(&self, name: &str, value: Value) -> Result<Value> {
        let table = self.lua.create_table_with_capacity(0, 1)?;
        table.raw_set(name, value)?;
        Ok(Value::Table(table))
    }

    fn single(&mut self, name: &str) -> Result<Value> {
        let line = self.line();
        self.named(name, self.string(line)?)
    }

    fn error(&mut self) -> Result<Value> {
        let line = self.line();
        let table = self.lua.create_table_with_capacity(0, 2)?;
        table.raw_set("err", self.string(line)?)?;
        table.raw_set("ignore_error_stats_update", true)?;
        Ok(Value::Table(table))
    }

    fn array(&mut self) -> Result<Value> {
        let Ok(length) = usize::try_from(self.length()) else { return Ok(Value::Boolean(false)) };
        let table = self.lua.create_table_with_capacity(length, 0)?;
        for index in 1..=length {
            table.raw_set(index, self.value()?)?;
        }
        Ok(Value::Table(table))
    }

    fn map(&mut self) -> Result<Value> {
        let content = self.lua.create_table()?;
        for _ in 0..self.length().max(0) {
            let key = self.value()?;
            let value = self.value()?;
            content.raw_set(key, value)?;
        }
        self.named("map", Value::Table(content))
    }

    fn set(&mut self) -> Result<Value> {
        let content = self.lua.create_table()?;
        for _ in 0..self.length().max(0) {
            content.raw_set(self.value()?, true)?;
        }
        self.named("set", Value::Table(content))
    }

    fn verbatim(&mut self) -> Result<Value> {
        let length = usize::try_from(self.length()).unwrap_or(0);
        let content = self.content(length);
        let (format, text) = content.split_at(content.len().min(3));
        let table = self.lua.create_table()?;
        table.raw_set("format", self.string(format)?)?;
        table.raw_set("string", self.string(text.get(1..).unwrap_or_default())?)?;
        self.named("verbatim_string", Value::Table(table))
    }
}

/// Writes what a script returned. `script` is the protocol that the script chose, by which it means
/// its booleans.
pub(crate) fn to_reply(value: &Value, script: Protocol, reply: &mut Reply) -> Result<()> {
    let start = reply.bytes().len();
    Writer { script, reply, start, tables: 0 }.value(value, 0)
}

struct Writer<'r> {
    script: Protocol,
    reply: &'r mut Reply,
    /// How long the reply was before.
    start: usize,
    /// How many tables have been written.
    tables: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            self.reply.error(b"ERR reached lua stack limit");
            return Ok(());
        }
        match value {
            Value::String(text) => self.reply.bulk(&text.as_bytes()),
            Value::Boolean(value) if self.script == Protocol::Resp3 => self.reply.boolean(*value),
            Value::Boolean(true) => self.reply.integer(1),
            Value::Integer(number) => self.reply.integer(*number),
            Value::Number(number) => self.reply.integer(number::truncated(*number)),
            Value::Table(table) => return self.table(table, depth),
            _ => self.reply.null(),
        }
        Ok(())
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<()> {
        self.tables += 1;
        if self.tables > TABLES_MAX || self.reply.bytes().len() - self.start > LENGTH_MAX {
            return Err(Error::runtime("the result of the script is too large"));
        }
        if let Value::String(text) = table.raw_get::<Value>("err")? {
            self.reply.error(&text.as_bytes());
        } else if let Value::String(text) = table.raw_get::<Value>("ok")? {
            self.reply.status_bytes(&text.as_bytes());
        } else if let Some(number) = as_number(&table.raw_get::<Value>("double")?) {
            self.reply.double(number);
        } else if let Value::Table(content) = table.raw_get::<Value>("map")? {
            self.map(&content, depth)?;
        } else if let Value::Table(content) = table.raw_get::<Value>("set")? {
            self.set(&content, depth)?;
        } else if let Value::String(digits) = table.raw_get::<Value>("big_number")? {
            self.reply.big_number(&digits.as_bytes());
        } else if let Value::Table(content) = table.raw_get::<Value>("verbatim_string")? {
            self.verbatim(&content)?;
        } else {
            self.array(table, depth)?;
        }
        Ok(())
    }

    /// Up to the first nil, as Redis does it.
    fn array(&mut self, table: &Table, depth: usize) -> Result<()> {
        let mut length = 0_usize;
        while !table.raw_get::<Value>(length + 1)?.is_nil() {
            length += 1;
        }
        self.reply.array(length);
        for index in 1..=length {
            self.value(&table.raw_get::<Value>(index)?, depth + 1)?;
        }
        Ok(())
    }

    fn map(&mut self, content: &Table, depth: usize) -> Result<()> {
        let pairs: Vec<(Value, Value)> = content.pairs().collect::<Result<_>>()?;
        self.reply.map(pairs.len());
        for (key, value) in &pairs {
            self.value(key, depth + 1)?;
            self.value(value, depth + 1)?;
        }
        Ok(())
    }

    fn set(&mut self, content: &Table, depth: usize) -> Result<()> {
        let members: Vec<(Value, Value)> = content.pairs().collect::<Result<_>>()?;
        self.reply.set(members.len());
        members.iter().try_for_each(|(member, _)| self.value(member, depth + 1))
    }

    fn verbatim(&mut self, content: &Table) -> Result<()> {
        match (content.raw_get::<Value>("format")?, content.raw_get::<Value>("string")?) {
            (Value::String(format), Value::String(text)) if format.as_bytes().len() >= 3 => {
                self.reply.verbatim(&format.as_bytes(), &text.as_bytes());
            }
            _ => self.reply.null(),
        }
        Ok(())
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}
