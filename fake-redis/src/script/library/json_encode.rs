use super::DEPTH_MAX;
use crate::data::number;
use crate::script::host::{Arguments, Result, as_number};
use crate::script::{order, shared};
use crate::state::scripts::{Invalid, Settings};
use luna_core::runtime::{Gc, Table, Value};

pub(super) fn encode(call: &Arguments<'_>, settings: Settings) -> Result<Vec<u8>> {
    if call.len() != 1 {
        return call.wrong(1, "expected 1 argument");
    }
    let mut encoder = Encoder { call, settings, json: Vec::new() };
    encoder.value(call.value(1), 0)?;
    Ok(encoder.json)
}

struct Encoder<'c, 'l> {
    call: &'c Arguments<'l>,
    settings: Settings,
    json: Vec<u8>,
}

impl Encoder<'_, '_> {
    fn value(&mut self, value: Value, depth: usize) -> Result<()> {
        self.call.step(self.json.len())?;
        match value {
            Value::Str(text) => self.string(text.as_bytes()),
            Value::Int(_) | Value::Float(_) => {
                return self.number(as_number(value).unwrap_or_default());
            }
            Value::Bool(true) => self.json.extend_from_slice(b"true"),
            Value::Bool(false) => self.json.extend_from_slice(b"false"),
            Value::Nil => self.json.extend_from_slice(b"null"),
            Value::LightUserdata(pointer) if pointer.is_null() => {
                self.json.extend_from_slice(b"null")
            }
            Value::Table(table) => return self.table(table, depth + 1),
            other => return self.refuse(other, "type not supported"),
        }
        Ok(())
    }

    fn refuse<R>(&self, value: Value, reason: &str) -> Result<R> {
        self.call.fail(&format!("Cannot serialise {}: {reason}", value.type_name()))
    }

    fn string(&mut self, text: &[u8]) {
        self.json.push(b'"');
        for byte in text {
            match byte {
                b'"' | b'\\' | b'/' => self.json.extend_from_slice(&[b'\\', *byte]),
                8 => self.json.extend_from_slice(b"\\b"),
                b'\t' => self.json.extend_from_slice(b"\\t"),
                b'\n' => self.json.extend_from_slice(b"\\n"),
                12 => self.json.extend_from_slice(b"\\f"),
                b'\r' => self.json.extend_from_slice(b"\\r"),
                0..32 | 127 => self.json.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                _ => self.json.push(*byte),
            }
        }
        self.json.push(b'"');
    }

    fn number(&mut self, number: f64) -> Result<()> {
        if number.is_finite() {
            let digits = usize::try_from(self.settings.precision).unwrap_or(1);
            self.json.extend_from_slice(number::general(number, digits).as_bytes());
            return Ok(());
        }
        let text: &[u8] = match self.settings.invalid_out {
            Invalid::Refuse => {
                return self.refuse(Value::Float(number), "must not be NaN or Inf");
            }
            Invalid::Null => b"null",
            Invalid::Write if number.is_nan() => b"nan",
            Invalid::Write if number > 0.0 => b"inf",
            Invalid::Write => b"-inf",
        };
        self.json.extend_from_slice(text);
        Ok(())
    }

    fn table(&mut self, table: Gc<Table>, depth: usize) -> Result<()> {
        let depth_max = usize::try_from(self.settings.encode_depth_max).unwrap_or(1).min(DEPTH_MAX);
        if depth > depth_max {
            return self.call.fail(&format!("Cannot serialise, excessive nesting ({depth})"));
        }
        let table = shared::real(table);
        let pairs = order::pairs(&mut self.call.vm(), table)?;
        match self.array_length(table, &pairs)? {
            Some(length) if length > 0 => self.array(table, length, depth),
            _ => self.object(&pairs, depth),
        }
    }

    fn array_length(&self, table: Gc<Table>, pairs: &[(Value, Value)]) -> Result<Option<i64>> {
        let (mut longest, mut items) = (0_i64, 0_i64);
        for (key, _) in pairs {
            match as_number(*key) {
                Some(key) if key.floor() == key && key >= 1.0 => longest = longest.max(key as i64),
                _ => return Ok(None),
            }
            items += 1;
        }
        let (ratio, safe) =
            (i64::from(self.settings.sparse_ratio), i64::from(self.settings.sparse_safe));
        if ratio > 0 && longest > items.saturating_mul(ratio) && longest > safe {
            if !self.settings.sparse_convert {
                return self.refuse(Value::Table(table), "excessively sparse array");
            }
            return Ok(None);
        }
        Ok(Some(longest))
    }

    fn array(&mut self, table: Gc<Table>, length: i64, depth: usize) -> Result<()> {
        self.json.push(b'[');
        for index in 1..=length {
            if index > 1 {
                self.json.push(b',');
            }
            self.value(table.get_int(index), depth)?;
        }
        self.json.push(b']');
        Ok(())
    }

    fn object(&mut self, pairs: &[(Value, Value)], depth: usize) -> Result<()> {
        self.json.push(b'{');
        let mut is_first = true;
        for (key, value) in pairs.iter().copied() {
            if !std::mem::take(&mut is_first) {
                self.json.push(b',');
            }
            match key {
                Value::Str(text) => self.string(text.as_bytes()),
                Value::Int(_) | Value::Float(_) => {
                    self.json.push(b'"');
                    self.number(as_number(key).unwrap_or_default())?;
                    self.json.push(b'"');
                }
                other => return self.refuse(other, "table key must be a number or string"),
            }
            self.json.push(b':');
            self.value(value, depth)?;
        }
        self.json.push(b'}');
        Ok(())
    }
}
