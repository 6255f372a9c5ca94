//! The library struct: binary records. See lua_struct.c of Redis.

use crate::script::host::{Arguments, Native, Result, native, to_number};
use luna_core::runtime::Value;

/// The greatest size of an integer in bytes.
const INTEGER_SIZE_MAX: usize = 32;
/// What `!` without a number aligns to.
const NATIVE_ALIGNMENT: usize = 8;

pub(super) const FUNCTIONS: [(&str, Native); 3] = [
    ("pack", native!(pack)),
    ("unpack", native!(unpack)),
    ("size", native!(|call| size(call).map(|size| size as f64))),
];

/// A format that is read option by option.
struct Format<'c, 'l> {
    call: &'c Arguments<'l>,
    text: Vec<u8>,
    position: usize,
    is_big_endian: bool,
    alignment: usize,
}

/// One option of a format and the size of its item in bytes.
struct Item {
    option: u8,
    size: usize,
}

impl<'c, 'l> Format<'c, 'l> {
    /// The first argument, which is a C string.
    fn of(call: &'c Arguments<'l>) -> Result<Self> {
        let mut text = call.string(1)?.as_bytes().to_vec();
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        text.truncate(end);
        Ok(Format { call, text, position: 0, is_big_endian: false, alignment: 1 })
    }

    fn next(&mut self) -> Result<Option<Item>> {
        let Some(option) = self.text.get(self.position).copied() else { return Ok(None) };
        self.position += 1;
        let size = match option {
            b'b' | b'B' | b'x' => 1,
            b'h' | b'H' => 2,
            b'l' | b'L' | b'T' | b'd' => 8,
            b'f' => 4,
            b'c' => self.number(1)?,
            b'i' | b'I' => {
                let size = self.number(4)?;
                if size > INTEGER_SIZE_MAX {
                    let problem =
                        format!("integral size {size} is larger than limit of {INTEGER_SIZE_MAX}");
                    return self.call.fail(&problem);
                }
                size
            }
            _ => 0,
        };
        Ok(Some(Item { option, size }))
    }

    fn number(&mut self, default: usize) -> Result<usize> {
        let rest = &self.text[self.position..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Ok(default);
        }
        self.position += digits;
        let value = rest[..digits].iter().try_fold(0_i32, |value, digit| {
            value.checked_mul(10)?.checked_add(i32::from(digit - b'0'))
        });
        match value.map(usize::try_from) {
            Some(Ok(value)) => Ok(value),
            _ => self.call.fail("integral size overflow"),
        }
    }

    /// How many bytes are left out in front of an item at this position.
    fn padding(&self, position: usize, item: &Item) -> usize {
        if item.size == 0 || item.option == b'c' {
            return 0;
        }
        let size = item.size.min(self.alignment);
        size.wrapping_sub(position & size.wrapping_sub(1)) & size.wrapping_sub(1)
    }

    /// An option that stands for no item.
    fn control(&mut self, option: u8) -> Result<()> {
        match option {
            b' ' => {}
            b'>' => self.is_big_endian = true,
            b'<' => self.is_big_endian = false,
            b'!' => {
                let alignment = self.number(NATIVE_ALIGNMENT)?;
                if !alignment.is_power_of_two() {
                    return self.call.fail(&format!("alignment {alignment} is not a power of 2"));
                }
                self.alignment = alignment;
            }
            _ => {
                return self
                    .call
                    .wrong(1, &format!("invalid format option '{}'", char::from(option)));
            }
        }
        Ok(())
    }

    /// Bytes in the order of the format, from or to little-endian.
    fn ordered(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.is_big_endian {
            bytes.reverse();
        }
        bytes
    }
}

fn pack(call: &Arguments<'_>) -> Result<Vec<u8>> {
    let mut format = Format::of(call)?;
    let (mut packed, mut total, mut next) = (Vec::new(), 0_usize, 2);
    while let Some(mut item) = format.next()? {
        let padding = format.padding(total, &item);
        packed.resize(packed.len() + padding, 0);
        total += padding;
        match item.option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let bytes = integer_bytes(argument(call, next)?, item.size);
                packed.extend(format.ordered(bytes));
                next += 1;
            }
            b'x' => packed.push(0),
            b'f' => {
                packed
                    .extend(format.ordered((argument(call, next)? as f32).to_le_bytes().to_vec()));
                next += 1;
            }
            b'd' => {
                packed.extend(format.ordered(argument(call, next)?.to_le_bytes().to_vec()));
                next += 1;
            }
            b'c' | b's' => {
                pack_string(call, next, &mut item, &mut packed)?;
                next += 1;
            }
            other => format.control(other)?,
        }
        total += item.size;
    }
    Ok(packed)
}

/// A number; one that is missing is called nil, since C put one behind the arguments.
fn argument(call: &Arguments<'_>, number: usize) -> Result<f64> {
    if number > call.len() {
        call.wrong(number, "number expected, got nil")
    } else {
        call.number(number)
    }
}

fn pack_string(
    call: &Arguments<'_>,
    number: usize,
    item: &mut Item,
    packed: &mut Vec<u8>,
) -> Result<()> {
    if number > call.len() {
        return call.wrong(number, "string expected, got nil");
    }
    let text = call.string(number)?;
    let text = text.as_bytes();
    if item.size == 0 {
        item.size = text.len();
    }
    // C has counted the argument before it complains of it.
    let Some(part) = text.get(..item.size) else {
        return call.wrong(number + 1, "string too short");
    };
    packed.extend_from_slice(part);
    if item.option == b's' {
        packed.push(0);
        item.size += 1;
    }
    Ok(())
}

/// 2^64.
const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;
/// How many values a function of C may have on its stack.
const STACK_MAX: usize = 8_000;

/// The low bytes of a whole number, zeros beyond the eighth.
fn integer_bytes(number: f64, size: usize) -> Vec<u8> {
    // As the processors that Redis runs on convert it: what is too large is 0.
    let value = if number < 0.0 { number as i64 as u64 } else { number as u64 };
    let value = if number >= TOO_LARGE { 0 } else { value };
    let mut bytes = value.to_le_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

fn unpack(call: &Arguments<'_>) -> Result<Vec<Value>> {
    let mut format = Format::of(call)?;
    let data = call.string(2)?;
    let data = data.as_bytes();
    let Some(mut position) =
        usize::try_from(call.integer_or(3, 1)?).ok().and_then(|first| first.checked_sub(1))
    else {
        return call.wrong(3, "offset must be 1 or greater");
    };
    let mut results = Vec::new();
    while let Some(mut item) = format.next()? {
        if call.len() + results.len() + 2 > STACK_MAX {
            return call.fail("stack overflow (too many results)");
        }
        position = position.wrapping_add(format.padding(position, &item));
        check_length(call, data, position, item.size)?;
        match item.option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let bytes = format.ordered(data[position..position + item.size].to_vec());
                results.push(Value::Float(integer(&bytes, item.option.is_ascii_lowercase())));
            }
            b'x' => {}
            b'f' | b'd' => {
                let bytes = format.ordered(data[position..position + item.size].to_vec());
                results.push(Value::Float(float(&bytes)));
            }
            b'c' => {
                if item.size == 0 {
                    item.size = previous_size(call, &mut results)?;
                    check_length(call, data, position, item.size)?;
                }
                results.push(call.make_string(&data[position..position + item.size]));
            }
            b's' => {
                let rest = &data[position..];
                let Some(end) = rest.iter().position(|byte| *byte == 0) else {
                    return call.fail("unfinished string in data");
                };
                results.push(call.make_string(&rest[..end]));
                item.size = end + 1;
            }
            other => format.control(other)?,
        }
        position += item.size;
    }
    results.push(Value::Float((position + 1) as f64));
    Ok(results)
}

fn check_length(call: &Arguments<'_>, data: &[u8], position: usize, size: usize) -> Result<()> {
    if size <= data.len() && position <= data.len() - size {
        Ok(())
    } else {
        call.wrong(2, "data string too short")
    }
}

/// `c0` takes its size from the number read before.
fn previous_size(call: &Arguments<'_>, results: &mut Vec<Value>) -> Result<usize> {
    match to_number(results.pop().unwrap_or(Value::Nil)) {
        Some(size) if size >= 0.0 => Ok(size as usize),
        Some(_) => Ok(usize::MAX),
        None => call.fail("format 'c0' needs a previous size"),
    }
}

/// Of little-endian bytes; what is beyond the eighth counts for nothing.
fn integer(bytes: &[u8], is_signed: bool) -> f64 {
    let value = bytes.iter().take(8).rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    if !is_signed {
        return value as f64;
    }
    let mask = u64::MAX.wrapping_shl((bytes.len() as u32 * 8).wrapping_sub(1));
    let value = if value & mask == 0 { value } else { value | mask };
    value as i64 as f64
}

fn float(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0.0,
    }
}

fn size(call: &Arguments<'_>) -> Result<usize> {
    let mut format = Format::of(call)?;
    let mut position = 0_usize;
    while let Some(item) = format.next()? {
        position += format.padding(position, &item);
        match item.option {
            b's' => return call.wrong(1, "option 's' has no fixed size"),
            b'c' if item.size == 0 => return call.wrong(1, "option 'c0' has no fixed size"),
            option if !option.is_ascii_alphanumeric() => format.control(option)?,
            _ => {}
        }
        position += item.size;
    }
    Ok(position)
}
