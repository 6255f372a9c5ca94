//! The cmsgpack library and its function `pack`, as in Redis's lua_cmsgpack.c.

use super::message_unpack;
use crate::script::host::{Arguments, Native, Result, as_number, native};
use crate::script::{order, shared};
use luna_core::runtime::{Gc, Table, Value};

const NESTING_MAX: usize = 16;

pub(super) const FUNCTIONS: [(&str, Native); 4] = [
    ("pack", native!(pack)),
    ("unpack", native!(|call| message_unpack::unpack(call, 0, 0))),
    ("unpack_one", native!(|call| message_unpack::unpack(call, 1, call.integer_or(2, 0)?))),
    (
        "unpack_limit",
        native!(|call| message_unpack::unpack(call, call.integer(2)?, call.integer_or(3, 0)?)),
    ),
];

pub(super) const NOTES: [(&str, &str); 4] = [
    ("_NAME", "cmsgpack"),
    ("_VERSION", "lua-cmsgpack 0.4.0"),
    ("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo"),
    ("_DESCRIPTION", "MessagePack C implementation for Lua"),
];

fn pack(call: &Arguments<'_>) -> Result<Vec<u8>> {
    if call.len() == 0 {
        return call.wrong(0, "MessagePack pack needs input.");
    }
    let mut packed = Vec::new();
    call.values().into_iter().try_for_each(|value| pack_value(call, value, 0, &mut packed))?;
    Ok(packed)
}

fn pack_value(
    call: &Arguments<'_>,
    value: Value,
    level: usize,
    packed: &mut Vec<u8>,
) -> Result<()> {
    call.step(packed.len())?;
    match value {
        Value::Str(text) => pack_string(text.as_bytes(), packed),
        Value::Bool(value) => packed.push(if value { 0xC3 } else { 0xC2 }),
        Value::Int(_) | Value::Float(_) => {
            pack_number(as_number(value).unwrap_or_default(), packed)
        }
        Value::Table(table) if level < NESTING_MAX => {
            return pack_table(call, table, level, packed);
        }
        _ => packed.push(0xC0),
    }
    Ok(())
}

fn pack_string(text: &[u8], packed: &mut Vec<u8>) {
    match text.len() {
        length @ 0..32 => packed.push(0xA0 | length as u8),
        length @ 32..=0xFF => packed.extend_from_slice(&[0xD9, length as u8]),
        length => pack_length(length, (0xDA, 0xDB), packed),
    }
    packed.extend_from_slice(text);
}

fn pack_length(length: usize, (short, long): (u8, u8), packed: &mut Vec<u8>) {
    if let Ok(length) = u16::try_from(length) {
        packed.push(short);
        packed.extend_from_slice(&length.to_be_bytes());
    } else {
        packed.push(long);
        packed.extend_from_slice(&(length as u32).to_be_bytes());
    }
}

fn pack_number(number: f64, packed: &mut Vec<u8>) {
    let whole = number as i64;
    // 2^63 does not fit into an i64, but the saturating cast hides this.
    if whole as f64 == number && number < 9_223_372_036_854_775_808.0 {
        return pack_integer(whole, packed);
    }
    let short = number as f32;
    if f64::from(short) == number {
        packed.push(0xCA);
        packed.extend_from_slice(&short.to_be_bytes());
    } else {
        packed.push(0xCB);
        packed.extend_from_slice(&number.to_be_bytes());
    }
}

fn pack_integer(number: i64, packed: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let (kind, size) = match number {
        -32..=127 => return packed.push(number as u8),
        128..=0xFF => (0xCC, 1),
        0x100..=0xFFFF => (0xCD, 2),
        0x1_0000..=0xFFFF_FFFF => (0xCE, 4),
        0x1_0000_0000.. => (0xCF, 8),
        -128..=-33 => (0xD0, 1),
        -32_768..=-129 => (0xD1, 2),
        -2_147_483_648..=-32_769 => (0xD2, 4),
        ..=-2_147_483_649 => (0xD3, 8),
    };
    packed.push(kind);
    packed.extend_from_slice(&bytes[8 - size..]);
}

fn pack_table(
    call: &Arguments<'_>,
    table: Gc<Table>,
    level: usize,
    packed: &mut Vec<u8>,
) -> Result<()> {
    let table = shared::real(table);
    let pairs = order::pairs(&mut call.vm(), table)?;
    let mut longest = Some(0_i32);
    for (key, _) in &pairs {
        let key = as_number(*key).filter(|key| *key > 0.0 && f64::from(*key as i32) == *key);
        longest = longest.zip(key).map(|(longest, key)| longest.max(key as i32));
    }
    if longest.is_some_and(|longest| longest as usize == pairs.len()) {
        pack_array(call, table, pairs.len(), level, packed)
    } else {
        pack_map(call, &pairs, level, packed)
    }
}

fn pack_array(
    call: &Arguments<'_>,
    table: Gc<Table>,
    length: usize,
    level: usize,
    packed: &mut Vec<u8>,
) -> Result<()> {
    match length {
        0..=15 => packed.push(0x90 | length as u8),
        _ => pack_length(length, (0xDC, 0xDD), packed),
    }
    (1..=length as i64)
        .try_for_each(|index| pack_value(call, table.get_int(index), level + 1, packed))
}

fn pack_map(
    call: &Arguments<'_>,
    pairs: &[(Value, Value)],
    level: usize,
    packed: &mut Vec<u8>,
) -> Result<()> {
    match pairs.len() {
        length @ 0..=15 => packed.push(0x80 | length as u8),
        length => pack_length(length, (0xDE, 0xDF), packed),
    }
    for (key, value) in pairs {
        pack_value(call, *key, level + 1, packed)?;
        pack_value(call, *value, level + 1, packed)?;
    }
    Ok(())
}
