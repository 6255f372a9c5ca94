//! The bit library for 32-bit operations, as in Redis's lua_bit.c (Lua BitOp).

use crate::script::host::{Arguments, Native, Result, native};

/// 2^52 + 2^51. Added to a double, puts the rounded double modulo 2^32 into the sum's low 32 bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

pub(super) const FUNCTIONS: [(&str, Native); 12] = [
    ("tobit", native!(|call| bits(call, 1).map(signed))),
    ("bnot", native!(|call| bits(call, 1).map(|value| signed(!value)))),
    ("band", native!(|call| fold(call, |left, right| left & right))),
    ("bor", native!(|call| fold(call, |left, right| left | right))),
    ("bxor", native!(|call| fold(call, |left, right| left ^ right))),
    ("lshift", native!(|call| shift(call, |value, count| value << count))),
    ("rshift", native!(|call| shift(call, |value, count| value >> count))),
    ("arshift", native!(|call| shift(call, |value, count| (value as i32 >> count) as u32))),
    ("rol", native!(|call| shift(call, u32::rotate_left))),
    ("ror", native!(|call| shift(call, u32::rotate_right))),
    ("bswap", native!(|call| bits(call, 1).map(|value| signed(value.swap_bytes())))),
    ("tohex", native!(hexadecimal)),
];

fn bits(call: &Arguments<'_>, number: usize) -> Result<u32> {
    Ok((call.number(number)? + MAGIC).to_bits() as u32)
}

fn signed(value: u32) -> f64 {
    f64::from(value as i32)
}

fn fold(call: &Arguments<'_>, operation: fn(u32, u32) -> u32) -> Result<f64> {
    let mut value = bits(call, 1)?;
    for number in (2..=call.len()).rev() {
        value = operation(value, bits(call, number)?);
    }
    Ok(signed(value))
}

fn shift(call: &Arguments<'_>, operation: fn(u32, u32) -> u32) -> Result<f64> {
    let value = bits(call, 1)?;
    Ok(signed(operation(value, bits(call, 2)? & 31)))
}

/// Implements `bit.tohex`. A negative number of digits selects uppercase digits.
fn hexadecimal(call: &Arguments<'_>) -> Result<Vec<u8>> {
    let value = bits(call, 1)?;
    let wanted = if call.len() < 2 { 8 } else { bits(call, 2)? as i32 };
    let digits = if wanted < 0 { format!("{value:08X}") } else { format!("{value:08x}") };
    let count = wanted.unsigned_abs().min(8) as usize;
    Ok(digits.as_bytes()[8 - count..].to_vec())
}
