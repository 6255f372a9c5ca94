//! string.find, string.match, string.gmatch and string.gsub as in lstrlib.c of Lua 5.1.

use super::host::{Arguments, Native, Result, native, string, table, to_string};
use super::lend;
use super::limits::{check_memory, work};
use fencepost_lua_patterns::{Capture, Dialect, Failure, Matcher};
use luna_core::runtime::{Gc, LuaStr, Value};
use luna_core::vm::Vm;

const FUNCTIONS: [(&str, Native); 4] = [
    ("find", native!(|call| find(call, Wanted::Indices))),
    ("match", native!(|call| find(call, Wanted::Captures))),
    ("gmatch", native!(gmatch)),
    ("gsub", native!(gsub)),
];

pub(super) fn library(vm: &mut Vm) -> Value {
    let pairs =
        FUNCTIONS.map(|(name, function)| (string(vm, name.as_bytes()), vm.native(function)));
    table(vm, pairs)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Indices,
    Captures,
}

fn until_nul(pattern: &[u8]) -> &[u8] {
    pattern.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn matcher<'m>(vm: &'m mut Vm, text: &'m [u8], pattern: &'m [u8]) -> Matcher<'m> {
    Matcher::new((vm, work), Dialect::Lua51, (text, until_nul(pattern)))
}

fn raise<R>(vm: &mut Vm, failure: Failure) -> Result<R> {
    Err(match failure {
        Failure::Pattern(text) => vm.rt_err(text),
        Failure::Raised(error) => error,
    })
}

fn is_plain(pattern: &[u8]) -> bool {
    !until_nul(pattern).iter().any(|byte| b"^$*+?.([%-".contains(byte))
}

fn find(call: &Arguments<'_>, wanted: Wanted) -> Result<Vec<Value>> {
    let (text, pattern) = (call.string(1)?, call.string(2)?);
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let first = call.integer_or(3, 1)?;
    let start = match usize::try_from(first) {
        Ok(first) => first.saturating_sub(1),
        Err(_) => (text.len() + 1).saturating_sub(first.unsigned_abs() as usize).saturating_sub(1),
    };
    let start = start.min(text.len());
    let is_literal = wanted == Wanted::Indices && (call.value(4).truthy() || is_plain(pattern));
    if is_literal {
        return literal(call, text, pattern, start);
    }
    let anchored = pattern.strip_prefix(b"^");
    let mut vm = call.vm();
    let mut matcher = matcher(&mut vm, text, anchored.unwrap_or(pattern));
    let last = if anchored.is_some() { start } else { text.len() };
    for start in start..=last {
        match matcher.match_at(start) {
            Ok(None) => {}
            Ok(Some(end)) if wanted == Wanted::Captures => {
                return captures(&mut matcher, text, Some((start, end)));
            }
            Ok(Some(end)) => {
                let mut values = vec![Value::Float((start + 1) as f64), Value::Float(end as f64)];
                values.extend(captures(&mut matcher, text, None)?);
                return Ok(values);
            }
            Err(failure) => return raise(matcher.vm(), failure),
        }
    }
    Ok(vec![Value::Nil])
}

fn literal(call: &Arguments<'_>, text: &[u8], wanted: &[u8], start: usize) -> Result<Vec<Value>> {
    call.charge(text.len() - start)?;
    Ok(match memchr::memmem::find(&text[start..], wanted) {
        Some(at) => {
            let at = start + at;
            vec![Value::Float((at + 1) as f64), Value::Float((at + wanted.len()) as f64)]
        }
        None => vec![Value::Nil],
    })
}

fn captures(
    matcher: &mut Matcher<'_>,
    text: &[u8],
    whole: Option<(usize, usize)>,
) -> Result<Vec<Value>> {
    let count = matcher.captures().len();
    let count = if count == 0 && whole.is_some() { 1 } else { count };
    (0..count).map(|index| capture(matcher, text, index, whole)).collect()
}

fn capture(
    matcher: &mut Matcher<'_>,
    text: &[u8],
    index: usize,
    whole: Option<(usize, usize)>,
) -> Result<Value> {
    let part = match (matcher.captures().get(index).copied(), whole) {
        (Some(Capture::Range(start, end)), _) => &text[start..end],
        (Some(Capture::Position(at)), _) => return Ok(Value::Float((at + 1) as f64)),
        (Some(Capture::Open(_)), _) => {
            return raise(matcher.vm(), Failure::Pattern("unfinished capture"));
        }
        (None, Some((start, end))) if index == 0 => &text[start..end],
        (None, _) => return raise(matcher.vm(), Failure::Pattern("invalid capture index")),
    };
    Ok(string(matcher.vm(), part))
}

fn gmatch(call: &Arguments<'_>) -> Result<Value> {
    let (text, pattern) = (call.string(1)?, call.string(2)?);
    let place = lend::borrow(|run| {
        run.matched.push(0);
        run.matched.len() - 1
    });
    let place = Value::Float(place.unwrap_or(0) as f64);
    let captured = Box::new([Value::Str(text), Value::Str(pattern), place]);
    Ok(call.vm().native_with(native!(next_match), captured))
}

fn next_match(call: &Arguments<'_>) -> Result<Vec<Value>> {
    let (Value::Str(text), Value::Str(pattern), Value::Float(place)) =
        (call.captured(0), call.captured(1), call.captured(2))
    else {
        return Ok(Vec::new());
    };
    let (text, place) = (text.as_bytes(), place as usize);
    let position = lend::borrow(|run| run.matched.get(place).copied()).flatten().unwrap_or(0);
    let mut vm = call.vm();
    let mut matcher = matcher(&mut vm, text, pattern.as_bytes());
    for start in position..=text.len() {
        match matcher.match_at(start) {
            Ok(None) => {}
            Ok(Some(end)) => {
                let next = if end == start { end + 1 } else { end };
                lend::borrow(|run| run.matched[place] = next);
                return captures(&mut matcher, text, Some((start, end)));
            }
            Err(failure) => return raise(matcher.vm(), failure),
        }
    }
    Ok(Vec::new())
}

fn gsub(call: &Arguments<'_>) -> Result<Vec<Value>> {
    let (text, pattern) = (call.string(1)?, call.string(2)?);
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let count_max = call.integer_or(4, text.len() as i64 + 1)? as i32;
    let replacement = match call.value(3) {
        other @ (Value::Str(_) | Value::Int(_) | Value::Float(_)) => {
            to_string(&mut call.vm(), other).map(Replacement::Text)
        }
        Value::Table(_) => Some(Replacement::Table(call.value(3))),
        function @ (Value::Closure(_) | Value::Native(_)) => Some(Replacement::Function(function)),
        _ => None,
    };
    let Some(replacement) = replacement else {
        return call.wrong(3, "string/function/table expected");
    };
    let anchored = pattern.strip_prefix(b"^");
    let mut vm = call.vm();
    let mut matcher = matcher(&mut vm, text, anchored.unwrap_or(pattern));
    let (mut replaced, mut position, mut count) = (Vec::new(), 0, 0);
    while count < count_max {
        let found = match matcher.match_at(position) {
            Ok(found) => found,
            Err(failure) => return raise(matcher.vm(), failure),
        };
        if let Some(end) = found {
            count += 1;
            replacement.append(&mut matcher, text, (position, end), &mut replaced)?;
        }
        match found {
            Some(end) if end > position => position = end,
            _ if position < text.len() => {
                replaced.push(text[position]);
                position += 1;
            }
            _ => break,
        }
        if anchored.is_some() {
            break;
        }
    }
    replaced.extend_from_slice(&text[position..]);
    let made = string(matcher.vm(), &replaced);
    Ok(vec![made, Value::Float(f64::from(count))])
}

enum Replacement {
    Text(Gc<LuaStr>),
    Table(Value),
    Function(Value),
}

impl Replacement {
    fn append(
        &self,
        matcher: &mut Matcher<'_>,
        text: &[u8],
        whole: (usize, usize),
        replaced: &mut Vec<u8>,
    ) -> Result<()> {
        let value = match self {
            Replacement::Text(template) => {
                expand(matcher, text, whole, template.as_bytes(), replaced)?;
                return check_memory(matcher.vm(), replaced.len());
            }
            Replacement::Table(table) => {
                let key = capture(matcher, text, 0, Some(whole))?;
                index(matcher.vm(), *table, key)?
            }
            Replacement::Function(function) => {
                let values = captures(matcher, text, Some(whole))?;
                let returned = matcher.vm().call_value(*function, &values)?;
                returned.first().copied().unwrap_or(Value::Nil)
            }
        };
        if !value.truthy() {
            replaced.extend_from_slice(&text[whole.0..whole.1]);
            return Ok(());
        }
        let Some(part) = to_string(matcher.vm(), value) else {
            let problem = format!("invalid replacement value (a {})", value.type_name());
            return Err(matcher.vm().rt_err(&problem));
        };
        replaced.extend_from_slice(part.as_bytes());
        check_memory(matcher.vm(), replaced.len())
    }
}

fn expand(
    matcher: &mut Matcher<'_>,
    text: &[u8],
    whole: (usize, usize),
    template: &[u8],
    replaced: &mut Vec<u8>,
) -> Result<()> {
    let mut rest = template.iter();
    while let Some(byte) = rest.next() {
        if *byte != b'%' {
            replaced.push(*byte);
            continue;
        }
        match rest.next().copied().unwrap_or(0) {
            b'0' => {
                replaced.extend_from_slice(&text[whole.0..whole.1]);
                check_memory(matcher.vm(), replaced.len())?;
            }
            digit @ b'1'..=b'9' => {
                let value = capture(matcher, text, usize::from(digit - b'1'), Some(whole))?;
                let part = to_string(matcher.vm(), value);
                replaced.extend_from_slice(part.as_ref().map_or(b"", |part| part.as_bytes()));
                check_memory(matcher.vm(), replaced.len())?;
            }
            other => replaced.push(other),
        }
    }
    Ok(())
}

fn index(vm: &mut Vm, table: Value, key: Value) -> Result<Value> {
    if let Value::Table(plain) = table
        && plain.metatable().is_none()
    {
        return Ok(plain.get(key));
    }
    let read = vm.load(b"local table, key = ... return table[key]", b"=prelude");
    let Ok(read) = read else { return Ok(Value::Nil) };
    let values = vm.call_value(Value::Closure(read), &[table, key])?;
    Ok(values.first().copied().unwrap_or(Value::Nil))
}
