use super::DEPTH_MAX;
use crate::script::host::{Arguments, Result};
use luna_core::runtime::Value;

const RESULTS_MAX: usize = 7_900;

/// Returns the next offset (-1 at the end) before the values, unless `limit` and `offset` are 0.
pub(super) fn unpack(call: &Arguments<'_>, limit: i64, offset: i64) -> Result<Vec<Value>> {
    let text = call.string(1)?;
    let text = text.as_bytes();
    let length = text.len();
    let Some(start) = usize::try_from(offset).ok().filter(|_| limit >= 0) else {
        // As in the C code, this message contains the length instead of the limit.
        let problem = format!(
            "Invalid request to unpack with offset of {} and limit of {length}.",
            offset as i32
        );
        return call.fail(&problem);
    };
    let Some(rest) = text.get(start..) else {
        return call
            .fail(&format!("Start offset {} greater than input length {length}.", offset as i32));
    };
    let takes_all = limit == 0 && offset == 0;
    let most = if takes_all { i64::from(i32::MAX) } else { limit };
    let mut cursor = Cursor { call, rest, depth: 0 };
    let mut values = Vec::new();
    while !cursor.rest.is_empty() && (values.len() as i64) < most {
        if values.len() >= RESULTS_MAX {
            return cursor.too_much();
        }
        let value = cursor.value()?;
        values.push(value);
    }
    if !takes_all {
        let next = if cursor.rest.is_empty() { -1.0 } else { (length - cursor.rest.len()) as f64 };
        values.insert(0, Value::Float(next));
    }
    Ok(values)
}

struct Cursor<'c, 'l> {
    call: &'c Arguments<'l>,
    rest: &'c [u8],
    depth: usize,
}

impl<'c> Cursor<'c, '_> {
    fn take(&mut self, length: usize) -> Result<&'c [u8]> {
        match self.rest.split_at_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => self.call.fail("Missing bytes in input."),
        }
    }

    fn too_much<R>(&self) -> Result<R> {
        self.call.fail(
            "stack overflow (too many return values at once; use unpack_one or \
         unpack_limit instead.)",
        )
    }

    fn unsigned(&mut self, size: usize) -> Result<u64> {
        Ok(self.take(size)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, size: usize) -> Result<i64> {
        let shift = 64 - 8 * size as u32;
        Ok((self.unsigned(size)? << shift) as i64 >> shift)
    }

    fn value(&mut self) -> Result<Value> {
        self.call.step(0)?;
        let kind = self.take(1)?[0];
        let number = match kind {
            0x00..=0x7F => f64::from(kind),
            0x80..=0x8F => return self.map(usize::from(kind & 0xF)),
            0x90..=0x9F => return self.array(usize::from(kind & 0xF)),
            0xA0..=0xBF => return self.string(usize::from(kind & 0x1F)),
            0xC0 => return Ok(Value::Nil),
            0xC2 => return Ok(Value::Bool(false)),
            0xC3 => return Ok(Value::Bool(true)),
            0xCA => f64::from(f32::from_bits(self.unsigned(4)? as u32)),
            0xCB => f64::from_bits(self.unsigned(8)?),
            // As in the C code, unsigned 64-bit numbers are interpreted as signed.
            0xCC..=0xCF => self.unsigned(1 << (kind - 0xCC))? as i64 as f64,
            0xD0..=0xD3 => self.signed(1 << (kind - 0xD0))? as f64,
            0xD9..=0xDB => {
                let length = self.unsigned(1 << (kind - 0xD9))? as usize;
                return self.string(length);
            }
            0xDC | 0xDD => {
                let length = self.unsigned(2 << (kind - 0xDC))? as usize;
                return self.array(length);
            }
            0xDE | 0xDF => {
                let length = self.unsigned(2 << (kind - 0xDE))? as usize;
                return self.map(length);
            }
            0xE0..=0xFF => f64::from(kind as i8),
            _ => return self.call.fail("Bad data format in input."),
        };
        Ok(Value::Float(number))
    }

    fn string(&mut self, length: usize) -> Result<Value> {
        self.take(length).map(|text| self.call.make_string(text))
    }

    fn descend(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { self.too_much() } else { Ok(()) }
    }

    fn array(&mut self, length: usize) -> Result<Value> {
        self.descend()?;
        let mut pairs = Vec::new();
        for index in 1..=length {
            pairs.push((Value::Float(index as f64), self.value()?));
        }
        self.depth -= 1;
        Ok(self.call.make_table(pairs))
    }

    fn map(&mut self, length: usize) -> Result<Value> {
        self.descend()?;
        let mut pairs = Vec::new();
        for _ in 0..length {
            let (key, value) = (self.value()?, self.value()?);
            match key {
                Value::Nil => return self.call.fail_plainly("table index is nil"),
                Value::Float(number) if number.is_nan() => {
                    return self.call.fail_plainly("table index is NaN");
                }
                key => pairs.push((key, value)),
            }
        }
        self.depth -= 1;
        Ok(self.call.make_table(pairs))
    }
}
