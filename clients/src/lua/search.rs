//! Charges for pattern searches before Lua runs them, because no limit can interrupt Lua's matcher.

use super::meter;
use fencepost_lua_patterns::{Dialect, Failure, Matcher};
use luna_core::runtime::Value;
use luna_core::vm::{LuaError, Vm};

/// Charges for one search and returns the number of matches. Arguments: the text, the pattern, the
/// start position, and the kind of search ("first", "every" or "replace").
pub(super) fn charge_search(vm: &mut Vm, slot: u32, count: u32) -> Result<u32, LuaError> {
    let argument = |vm: &Vm, place| vm.nat_arg(slot, count, place);
    let (Value::Str(text), Value::Str(pattern), Value::Int(first), Value::Str(kind)) =
        (argument(vm, 0), argument(vm, 1), argument(vm, 2), argument(vm, 3))
    else {
        return Ok(0);
    };
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let Some(start) = start_of(first, text.len()) else { return Ok(0) };
    let kind = kind.as_bytes();
    // `^` anchors a pattern, except in string.gmatch, which treats `^` as an ordinary character.
    let (is_anchored, pattern) = match pattern.strip_prefix(b"^") {
        Some(rest) if kind != b"every" => (true, rest),
        _ => (false, pattern),
    };
    let mut matcher = Matcher::new((vm, meter::steps), Dialect::Lua54, (text, pattern));
    let (mut matches, mut at, mut last) = (0, start, None);
    while at <= text.len() {
        let found = match matcher.match_at(at) {
            Ok(found) => found.filter(|end| Some(*end) != last),
            Err(Failure::Pattern(_)) => break,
            Err(Failure::Raised(error)) => return Err(error),
        };
        matches += i64::from(found.is_some());
        if is_anchored || (kind == b"first" && found.is_some()) {
            break;
        }
        last = found.or(last);
        at = found.unwrap_or(at + 1);
    }
    Ok(vm.nat_return(slot, &[Value::Int(matches)]))
}

/// Converts Lua's start position (negative: from the end) to an offset, or `None` past the end.
fn start_of(first: i64, length: usize) -> Option<usize> {
    let back = usize::try_from(first.unsigned_abs()).unwrap_or(usize::MAX);
    match first {
        1.. => Some(back - 1).filter(|start| *start <= length),
        0 => Some(0),
        _ => Some(length.saturating_sub(back)),
    }
}
