use super::{Dialect, Failure, Matcher};
use luna_core::runtime::Value;
use luna_core::version::LuaVersion;
use luna_core::vm::{LuaError, Vm};
use proptest::prelude::*;

fn charge(vm: &mut Vm, steps: usize) -> Result<(), LuaError> {
    let left = vm.instr_budget_remaining().unwrap() - i64::try_from(steps).unwrap();
    vm.set_instr_budget(Some(left.max(1)));
    if left > 0 { Ok(()) } else { Err(LuaError(Value::Nil)) }
}

fn found(text: &[u8], pattern: &[u8]) -> Option<Option<(usize, usize)>> {
    let mut vm = Vm::sandbox(LuaVersion::Lua54).build();
    vm.set_instr_budget(Some(10_000_000));
    let anchored = pattern.strip_prefix(b"^");
    let last = if anchored.is_some() { 0 } else { text.len() };
    let texts = (text, anchored.unwrap_or(pattern));
    let mut matcher = Matcher::new((&mut vm, charge), Dialect::Lua54, texts);
    for start in 0..=last {
        match matcher.match_at(start) {
            Ok(None) => {}
            Ok(Some(end)) => return Some(Some((start, end))),
            Err(Failure::Pattern(_)) => return None,
            Err(Failure::Raised(_)) => panic!("10,000,000 steps"),
        }
    }
    Some(None)
}

/// Searches with luna's matcher, which rejects captures without an end, unlike `found`.
fn found_by_lua(text: &[u8], pattern: &[u8]) -> Option<Option<(usize, usize)>> {
    match luna_core::pattern::find(text, pattern, 0) {
        Ok(found) => Some(found.map(|found| (found.start, found.end))),
        Err(_) => None,
    }
}

fn steps(text: &str, pattern: &str) -> Option<i64> {
    const BUDGET: i64 = 1_000_000;
    let mut vm = Vm::sandbox(LuaVersion::Lua54).build();
    vm.set_instr_budget(Some(BUDGET));
    let texts = (text.as_bytes(), pattern.as_bytes());
    let mut matcher = Matcher::new((&mut vm, charge), Dialect::Lua54, texts);
    let ended = matcher.match_at(0);
    let left = matcher.vm().instr_budget_remaining().unwrap();
    ended.is_ok().then_some(BUDGET - left)
}

proptest! {
    #[test]
    fn the_matcher_finds_what_lua_finds(
        text in "[abAB01 ().\\x00]{0,12}",
        pattern in r"\^?([abA0.]|%[aAdgswlx01b.]|\[\^?[ab0-9%\]-]{1,4}\]|[-*+?()$%\[]|\(\)|%b\(\)|%f\[%w\]|%1){0,7}",
    ) {
        let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
        let lua = found_by_lua(text, pattern);
        let is_unfinished = lua.is_none() && found(text, pattern).is_some();
        let opened = pattern.iter().filter(|byte| **byte == b'(').count();
        prop_assert!(lua == found(text, pattern) || (is_unfinished && opened > 0));
    }
}

#[test]
fn a_pattern_that_backtracks_without_end_is_stopped() {
    let text = "a".repeat(60);
    for pattern in ["a*".repeat(30), "a-".repeat(30), "a?".repeat(60), "%g+".repeat(20)] {
        assert_eq!(steps(&text, &format!("{pattern}b")), None, "{pattern}b");
    }
}

#[test]
fn an_item_costs_its_length() {
    let set = format!("[{}]*", "b".repeat(1_000));
    assert!(steps("bbb", &set) >= Some(3_000), "{set}");
    let text = "a".repeat(2_000);
    assert!(steps(&text, "(a-)%1b") > Some(900_000) || steps(&text, "(a-)%1b").is_none());
}
