//! Finds calls to undefined functions before the script runs.

use super::machine::Machine;
use super::source::Source;
use luna_core::frontend::lexer::Lexer;
use luna_core::frontend::token::{Token, TokenInfo};
use luna_core::version::LuaVersion;
use std::collections::BTreeSet;

pub(super) fn unknown_call(source: &Source, machine: &mut Machine) -> Option<String> {
    let tokens = tokens(&source.text);
    let defined = defined(&tokens);
    for (place, token) in tokens.iter().enumerate() {
        let Token::Name(name) = &token.tok else { continue };
        let is_field = place > 0 && is_selector(&tokens[place - 1].tok);
        if is_field || defined.contains(&**name) {
            continue;
        }
        let field = field_of(&tokens, place);
        let is_call = is_call(&tokens, place + 1) || field.is_some();
        if is_call && !machine.knows(name, None) {
            let names = machine.names(None);
            let missing = if is_missing(name) { ", which scripts do not have" } else { "" };
            let problem = format!("unknown function '{name}'{missing}: expected one of {names}");
            return Some(source.describe_at(token.line, token.span.start as usize, &problem));
        }
        if let Some((at, field)) = field
            && !machine.knows(name, Some(field))
        {
            let names = machine.names(Some(name));
            let problem = format!("unknown function '{name}.{field}': expected one of {names}");
            return Some(source.describe_at(at.line, at.span.start as usize, &problem));
        }
    }
    None
}

fn is_missing(name: &str) -> bool {
    const MISSING: [&str; 11] = [
        "collectgarbage", "coroutine", "debug", "dofile", "io", "load", "loadfile", "os",
        "package", "print", "require",
    ];
    MISSING.contains(&name)
}

/// Adds the name's position to `problem`, and may suggest a similar name for a missing function.
pub(super) fn describe_fact(source: &Source, problem: &str) -> String {
    let name = problem.strip_prefix("lock.").unwrap_or(problem);
    let name = name.split([' ', ':']).next().unwrap_or_default();
    let tokens = tokens(&source.text);
    let is_absent = [" is a nil", " is missing"].iter().any(|absent| problem.contains(absent));
    if let Some(token) = local(&tokens, name).filter(|_| is_absent) {
        let problem = format!("{name} is local: remove 'local'");
        return source.describe_at(token.line, token.span.start as usize, &problem);
    }
    let near = is_absent.then(|| nearest(name, functions(&tokens))).flatten();
    let problem = near.map_or(problem.to_owned(), |near| format!("{problem}, not '{near}'"));
    let is_named = |token: &&TokenInfo| match &token.tok {
        Token::Name(found) => &**found == near.unwrap_or(name),
        _ => false,
    };
    match tokens.iter().find(is_named) {
        Some(token) => source.describe_at(token.line, token.span.start as usize, &problem),
        None => source.describe(&problem),
    }
}

/// Returns the name in `local function name` or `local name`.
fn local<'t>(tokens: &'t [TokenInfo], name: &str) -> Option<&'t TokenInfo> {
    let is_name = |token: &TokenInfo| matches!(&token.tok, Token::Name(found) if &**found == name);
    tokens.windows(3).find_map(|three| match (&three[0].tok, &three[1].tok) {
        (Token::Local, Token::Function) if is_name(&three[2]) => Some(&three[2]),
        (Token::Local, _) if is_name(&three[1]) => Some(&three[1]),
        _ => None,
    })
}

fn functions(tokens: &[TokenInfo]) -> impl Iterator<Item = &str> {
    tokens.windows(2).filter_map(|pair| match (&pair[0].tok, &pair[1].tok) {
        (Token::Function, Token::Name(name)) => Some(&**name),
        _ => None,
    })
}

pub(super) fn nearest<'n>(name: &str, valid: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let near = valid.into_iter().map(|valid| (strsim::levenshtein(name, valid), valid)).min();
    near.filter(|(edits, _)| *edits <= 2).map(|(_, valid)| valid)
}

fn tokens(text: &str) -> Vec<TokenInfo> {
    let mut lexer = Lexer::new(text.as_bytes(), LuaVersion::Lua54);
    let next = || lexer.next_token().ok().filter(|token| token.tok != Token::Eof);
    std::iter::from_fn(next).collect()
}

fn defined(tokens: &[TokenInfo]) -> BTreeSet<&str> {
    let mut defined = BTreeSet::new();
    for (place, token) in tokens.iter().enumerate() {
        let Token::Name(name) = &token.tok else { continue };
        let before = place.checked_sub(1).map(|before| &tokens[before].tok);
        if before.is_some_and(is_selector) {
            continue;
        }
        let is_used = is_call(tokens, place + 1) || field_of(tokens, place).is_some();
        if !is_used || before == Some(&Token::Function) {
            defined.insert(&**name);
        }
    }
    defined
}

fn field_of(tokens: &[TokenInfo], place: usize) -> Option<(&TokenInfo, &str)> {
    let [dot, field, ..] = tokens.get(place + 1..)? else { return None };
    let Token::Name(name) = &field.tok else { return None };
    let is_call = dot.tok == Token::Dot && is_call(tokens, place + 3);
    is_call.then_some((field, &**name))
}

fn is_call(tokens: &[TokenInfo], place: usize) -> bool {
    let next = tokens.get(place).map(|token| &token.tok);
    matches!(next, Some(Token::LParen | Token::Str(_)))
}

fn is_selector(token: &Token) -> bool {
    matches!(token, Token::Dot | Token::Colon)
}
