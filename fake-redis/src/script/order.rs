//! The order in which scripts iterate over tables, the same in each run. The array part comes
//! first. The other keys follow in the order in which Redis would visit them after insertion in
//! ascending order, except that keys with address hashes, such as tables, come last.

use super::host::{self, Native, Result, as_number, raise_text};
use super::limits::work;
use super::values::is_same;
use super::wrappers::{around, inner};
use super::{lend, shared};
use luna_core::runtime::{Gc, Table, Value};
use luna_core::vm::Vm;
use std::cmp::Ordering;

const DEPTH_MAX: usize = 3;
const INSTRUCTIONS_PER_KEY: usize = 32;
const PLACES_PER_INSTRUCTION: usize = 8;

pub(super) const WRAPPERS: [(&str, Native); 3] = [
    ("next", |vm, slot, count| around(vm, slot, count, next)),
    ("foreach", |vm, slot, count| around(vm, slot, count, foreach)),
    ("pairs", make_pairs),
];

type Pair = (Value, Value);

fn next(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let Value::Table(seen) = vm.nat_arg(slot, count, 0) else { return inner(vm, slot, count) };
    let last = vm.nat_arg(slot, count, 1);
    Ok(match next_pair(vm, shared::real(seen), last)? {
        Some((key, value)) => vm.nat_return(slot, &[key, value]),
        None => vm.nat_return(slot, &[Value::Nil]),
    })
}

fn next_pair(vm: &mut Vm, table: Gc<Table>, last: Value) -> Result<Option<Pair>> {
    let known = if last.is_nil() {
        None
    } else {
        lend::borrow(|run| run.walks.advance(table, last)).flatten()
    };
    known.map_or_else(|| first_pair_after(vm, table, last), Ok)
}

fn first_pair_after(vm: &mut Vm, table: Gc<Table>, last: Value) -> Result<Option<Pair>> {
    let pairs = pairs(vm, table)?;
    let position = if last.is_nil() {
        0
    } else {
        match pairs.iter().position(|(key, _)| is_same(*key, last)) {
            Some(index) => index as i64 + 1,
            None => return Err(raise_text(vm, b"invalid key to 'next'")),
        }
    };
    let numbered = pairs.iter().zip(1..).map(|((key, _), at)| (Value::Float(f64::from(at)), *key));
    let Value::Table(keys) = host::table(vm, numbered) else { return Ok(None) };
    lend::borrow(|run| {
        run.walks.begin(vm, table, keys, position);
        run.walks.advance(table, last)
    });
    let found = pairs.get(usize::try_from(position).unwrap_or(0)).copied();
    Ok(found)
}

fn make_pairs(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let (pairs, next) = (vm.nat_arg(slot, count, 0), vm.nat_arg(slot, count, 1));
    let Value::Native(pairs) = pairs else { return Ok(0) };
    let made = vm.native_with(pairs.f, Box::new([next]));
    Ok(vm.nat_return(slot, &[made]))
}

fn foreach(vm: &mut Vm, slot: u32, count: u32) -> Result<u32> {
    let (list, body) = (vm.nat_arg(slot, count, 0), vm.nat_arg(slot, count, 1));
    let (Value::Table(seen), Value::Closure(_) | Value::Native(_)) = (list, body) else {
        return inner(vm, slot, count);
    };
    let table = shared::real(seen);
    let mut last = Value::Nil;
    loop {
        let Some((key, value)) = next_pair(vm, table, last)? else { return Ok(0) };
        let returned = vm.call_value(body, &[key, value])?;
        if let Some(first) = returned.first().filter(|first| !first.is_nil()) {
            return Ok(vm.nat_return(slot, &[*first]));
        }
        last = key;
    }
}

/// Returns the pairs in iteration order. Fails if two keys differ only in their address.
pub(super) fn pairs(vm: &mut Vm, table: Gc<Table>) -> Result<Vec<Pair>> {
    work(vm, table.asize as usize / PLACES_PER_INSTRUCTION)?;
    let mut pairs = Vec::new();
    let mut last = Value::Nil;
    while let Ok(Some((key, value))) = table.next(last) {
        pairs.push((key, value));
        last = key;
    }
    work(vm, pairs.len() * INSTRUCTIONS_PER_KEY)?;
    let list = list_length(&pairs);
    let is_in_list = |pair: &Pair| index_of(pair.0).is_some_and(|index| index <= list);
    let (mut ordered, rest): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(is_in_list);
    ordered.sort_by_key(|pair| index_of(pair.0));
    let (hashed, mut others): (Vec<Pair>, Vec<Pair>) =
        rest.into_iter().partition(|pair| hash(pair.0).is_some());
    ordered.extend(as_hashed(hashed, others.len()));
    others.sort_by_cached_key(described);
    if others.windows(2).any(|two| described(&two[0]) == described(&two[1])) {
        return Err(raise_text(
            vm,
            b"fake-redis does not know the order of keys that differ only in their address",
        ));
    }
    ordered.extend(others);
    Ok(ordered)
}

fn index_of(key: Value) -> Option<u64> {
    let number = as_number(key)?;
    (number >= 1.0 && number <= f64::from(1 << 26) && number.fract() == 0.0)
        .then_some(number as u64)
}

/// Returns the length of the array part: the largest power of two that is more than half used.
fn list_length(pairs: &[Pair]) -> u64 {
    let mut counts = [0_u64; 28];
    for index in pairs.iter().filter_map(|pair| index_of(pair.0)) {
        counts[index.next_power_of_two().trailing_zeros() as usize] += 1;
    }
    let (mut length, mut sum) = (0, 0);
    for (power, count) in counts.iter().enumerate() {
        sum += count;
        if sum > (1 << power) / 2 {
            length = 1 << power;
        }
    }
    length
}

enum Hash {
    /// A hash that Lua reduces modulo the size of the hash part.
    Power(u32),
    /// A hash that Lua reduces modulo the size minus one, or modulo 1 if the size is 1.
    Odd(u32),
}

fn hash(key: Value) -> Option<Hash> {
    match key {
        Value::Str(text) => {
            let text = text.as_bytes();
            let step = |hash: u32, byte: &u8| {
                let mixed = (hash << 5).wrapping_add(hash >> 2).wrapping_add(u32::from(*byte));
                hash ^ mixed
            };
            Some(Hash::Power(text.iter().rev().fold(text.len() as u32, step)))
        }
        Value::Bool(value) => Some(Hash::Power(u32::from(value))),
        _ => {
            let bits = as_number(key)?.to_bits();
            Some(Hash::Odd((bits as u32).wrapping_add((bits >> 32) as u32)))
        }
    }
}

/// Sorts pairs into the order of a Lua 5.1 hash table after insertion in ascending order.
fn as_hashed(mut pairs: Vec<Pair>, others: usize) -> Vec<Pair> {
    pairs.sort_by(|left, right| compare(left.0, right.0));
    let size = (pairs.len() + others).next_power_of_two();
    let place_of = |key| match hash(key) {
        Some(Hash::Power(hash)) => hash as usize % size,
        Some(Hash::Odd(hash)) if as_number(key) != Some(0.0) => hash as usize % ((size - 1) | 1),
        _ => 0,
    };
    let mut nodes: Vec<Option<Pair>> = vec![None; size];
    let mut free = size;
    for pair in pairs {
        let place = place_of(pair.0);
        let Some(there) = nodes[place] else {
            nodes[place] = Some(pair);
            continue;
        };
        while free > 0 && nodes[free - 1].is_some() {
            free -= 1;
        }
        let Some(empty) = free.checked_sub(1) else { break };
        // A key outside its main position makes room for a key that belongs there.
        let (moved, stays) = if place_of(there.0) == place { (pair, there) } else { (there, pair) };
        nodes[empty] = Some(moved);
        nodes[place] = Some(stays);
    }
    nodes.into_iter().flatten().collect()
}

fn compare(left: Value, right: Value) -> Ordering {
    let rank = |value| match value {
        Value::Str(_) => 1,
        Value::Bool(_) => 2,
        _ => 0,
    };
    rank(left).cmp(&rank(right)).then_with(|| match (left, right) {
        (Value::Str(left), Value::Str(right)) => left.as_bytes().cmp(right.as_bytes()),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(&right),
        _ => {
            let number = |value| as_number(value).unwrap_or_default();
            number(left).total_cmp(&number(right))
        }
    })
}

fn described(pair: &Pair) -> Vec<u8> {
    let mut text = Vec::new();
    describe(pair.1, 0, &mut text);
    describe(pair.0, 0, &mut text);
    text
}

fn describe(value: Value, depth: usize, text: &mut Vec<u8>) {
    text.extend_from_slice(value.type_name().as_bytes());
    match value {
        Value::Str(content) => text.extend_from_slice(content.as_bytes()),
        Value::Bool(content) => text.push(u8::from(content)),
        Value::Table(table) if depth < DEPTH_MAX => describe_table(table, depth, text),
        Value::Closure(function) => {
            text.extend_from_slice(&function.proto.line_defined.to_be_bytes());
        }
        other => {
            let bits = as_number(other).map_or(0, f64::to_bits);
            // Flip bits so that the byte order of floating-point numbers is their numeric order.
            let ordered = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
            text.extend_from_slice(&ordered.to_be_bytes());
        }
    }
    text.push(0);
}

fn describe_table(table: Gc<Table>, depth: usize, text: &mut Vec<u8>) {
    let mut parts = Vec::new();
    let mut last = Value::Nil;
    while let Ok(Some((key, value))) = table.next(last) {
        let mut part = Vec::new();
        describe(key, depth + 1, &mut part);
        describe(value, depth + 1, &mut part);
        parts.push(part);
        last = key;
    }
    parts.sort();
    text.extend(parts.concat());
}
