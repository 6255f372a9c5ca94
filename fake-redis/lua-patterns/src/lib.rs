//! Matches Lua patterns and counts the steps. Matching a pattern such as `a*a*a*b` can take very
//! long. The matcher regularly calls its [`Meter`], which may end the script.
//!
//! ```
//! use fencepost_lua_patterns::{Dialect, Matcher};
//! use luna_core::{version::LuaVersion, vm::Vm};
//!
//! let mut vm = Vm::sandbox(LuaVersion::Lua54).build();
//! let texts = (&b"role:master"[..], &b"%a+$"[..]);
//! let mut matcher = Matcher::new((&mut vm, |_, _| Ok(())), Dialect::Lua54, texts);
//! assert!(matches!(matcher.match_at(0), Ok(None)));
//! assert!(matches!(matcher.match_at(5), Ok(Some(11))));
//! ```

#![forbid(unsafe_code)]

use luna_core::vm::{LuaError, Vm};

#[cfg(test)]
mod tests;

const CAPTURES_MAX: usize = 32;
const CHOICES_MAX: usize = 2_000;
const STEPS_PER_CHARGE: usize = 1_024;

const ESCAPE: u8 = b'%';

/// Charges a script for a number of steps, and fails if the script must end.
pub type Meter = fn(&mut Vm, usize) -> Result<(), LuaError>;

/// Version of Lua that defines the character classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Lua 5.1, which has no class `%g`. The caller cuts a pattern off at its first NUL.
    Lua51,
    Lua54,
}

#[derive(Debug)]
pub enum Failure {
    /// The pattern is invalid or too complex. The text is the error message.
    Pattern(&'static str),
    Raised(LuaError),
}

type Matched<T> = Result<T, Failure>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capture {
    /// A capture without an end.
    Open(usize),
    /// The position that `()` captures.
    Position(usize),
    Range(usize, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    text: usize,
    pattern: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Without(State),
    Fewer { first: usize, last: State },
    More { text: usize, item: usize, end: usize },
    Uncapture,
    Reopen { index: usize, start: usize },
}

pub struct Matcher<'m> {
    vm: &'m mut Vm,
    meter: Meter,
    dialect: Dialect,
    text: &'m [u8],
    pattern: &'m [u8],
    captures: Vec<Capture>,
    choices: Vec<Choice>,
    steps: usize,
}

impl<'m> Matcher<'m> {
    pub fn new(
        (vm, meter): (&'m mut Vm, Meter),
        dialect: Dialect,
        (text, pattern): (&'m [u8], &'m [u8]),
    ) -> Self {
        let (captures, choices) = (Vec::new(), Vec::new());
        Matcher { vm, meter, dialect, text, pattern, captures, choices, steps: 0 }
    }

    pub fn vm(&mut self) -> &mut Vm {
        self.vm
    }

    pub fn captures(&self) -> &[Capture] {
        &self.captures
    }

    pub fn match_at(&mut self, start: usize) -> Matched<Option<usize>> {
        self.captures.clear();
        self.choices.clear();
        let mut state = State { text: start, pattern: 0 };
        loop {
            self.spend(1)?;
            if state.pattern == self.pattern.len() {
                return Ok(Some(state.text));
            }
            state = match self.advance(state)? {
                Some(next) => next,
                None => match self.choose()? {
                    Some(next) => next,
                    None => return Ok(None),
                },
            };
        }
    }

    fn spend(&mut self, steps: usize) -> Matched<()> {
        self.steps += steps;
        if self.steps < STEPS_PER_CHARGE {
            return Ok(());
        }
        (self.meter)(self.vm, std::mem::take(&mut self.steps)).map_err(Failure::Raised)
    }

    fn at(&self, index: usize) -> Option<u8> {
        self.pattern.get(index).copied()
    }

    fn open_choice(&mut self, choice: Choice) -> Matched<()> {
        if self.choices.len() >= CHOICES_MAX {
            return Err(Failure::Pattern("pattern too complex"));
        }
        self.choices.push(choice);
        Ok(())
    }

    fn advance(&mut self, state: State) -> Matched<Option<State>> {
        let State { text, pattern } = state;
        let then = |text, pattern| Some(State { text, pattern });
        match (self.at(pattern), self.at(pattern + 1)) {
            (Some(b'('), Some(b')')) => {
                self.open(Capture::Position(text), State { pattern: pattern + 2, ..state })
            }
            (Some(b'('), _) => {
                self.open(Capture::Open(text), State { pattern: pattern + 1, ..state })
            }
            (Some(b')'), _) => self.close(State { pattern: pattern + 1, ..state }),
            (Some(b'$'), None) => Ok(then(text, pattern + 1).filter(|_| text == self.text.len())),
            (Some(ESCAPE), Some(b'b')) => {
                Ok(self.balanced(text, pattern + 2)?.and_then(|end| then(end, pattern + 4)))
            }
            (Some(ESCAPE), Some(b'f')) => {
                Ok(self.frontier(text, pattern + 2)?.and_then(|end| then(text, end)))
            }
            (Some(ESCAPE), Some(digit @ b'0'..=b'9')) => {
                Ok(self.repeated(text, digit)?.and_then(|end| then(end, pattern + 2)))
            }
            _ => self.item(state),
        }
    }

    fn item(&mut self, state: State) -> Matched<Option<State>> {
        let State { text, pattern: item } = state;
        let end = self.end_of_item(item)?;
        self.spend(end - item)?;
        let is_match = self.matches(text, item, end);
        let behind = State { text, pattern: end + 1 };
        match self.at(end) {
            Some(b'?') if is_match => {
                self.open_choice(Choice::Without(behind))?;
                Ok(Some(State { text: text + 1, ..behind }))
            }
            Some(b'?') => Ok(Some(behind)),
            Some(b'+') if !is_match => Ok(None),
            Some(repeat @ (b'*' | b'+')) => {
                let first = text + usize::from(repeat == b'+');
                let mut last = first;
                while self.matches(last, item, end) {
                    self.spend(end - item)?;
                    last += 1;
                }
                let last = State { text: last, ..behind };
                self.open_choice(Choice::Fewer { first, last })?;
                Ok(Some(last))
            }
            Some(b'-') => {
                self.open_choice(Choice::More { text, item, end })?;
                Ok(Some(behind))
            }
            _ => Ok(is_match.then_some(State { text: text + 1, pattern: end })),
        }
    }

    fn choose(&mut self) -> Matched<Option<State>> {
        while let Some(choice) = self.choices.pop() {
            match choice {
                Choice::Without(state) => return Ok(Some(state)),
                Choice::Fewer { first, last } if last.text > first => {
                    let last = State { text: last.text - 1, ..last };
                    self.choices.push(Choice::Fewer { first, last });
                    return Ok(Some(last));
                }
                Choice::More { text, item, end } if self.matches(text, item, end) => {
                    self.spend(end - item)?;
                    self.choices.push(Choice::More { text: text + 1, item, end });
                    return Ok(Some(State { text: text + 1, pattern: end + 1 }));
                }
                Choice::Fewer { .. } | Choice::More { .. } => {}
                Choice::Uncapture => drop(self.captures.pop()),
                Choice::Reopen { index, start } => self.captures[index] = Capture::Open(start),
            }
        }
        Ok(None)
    }

    fn open(&mut self, capture: Capture, next: State) -> Matched<Option<State>> {
        if self.captures.len() >= CAPTURES_MAX {
            return Err(Failure::Pattern("too many captures"));
        }
        self.open_choice(Choice::Uncapture)?;
        self.captures.push(capture);
        Ok(Some(next))
    }

    fn close(&mut self, next: State) -> Matched<Option<State>> {
        let open = |(index, part): (usize, &Capture)| match part {
            Capture::Open(start) => Some((index, *start)),
            _ => None,
        };
        let Some((index, start)) = self.captures.iter().enumerate().rev().find_map(open) else {
            return Err(Failure::Pattern("invalid pattern capture"));
        };
        self.open_choice(Choice::Reopen { index, start })?;
        self.captures[index] = Capture::Range(start, next.text);
        Ok(Some(next))
    }

    fn balanced(&mut self, text: usize, pattern: usize) -> Matched<Option<usize>> {
        let (Some(open), Some(close)) = (self.at(pattern), self.at(pattern + 1)) else {
            return Err(Failure::Pattern("unbalanced pattern"));
        };
        if self.text.get(text) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1_usize;
        for index in text + 1..self.text.len() {
            self.spend(1)?;
            let byte = self.text[index];
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(index + 1));
                }
            } else if byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    fn frontier(&mut self, text: usize, pattern: usize) -> Matched<Option<usize>> {
        if self.at(pattern) != Some(b'[') {
            return Err(Failure::Pattern("missing '[' after '%f' in pattern"));
        }
        let end = self.end_of_item(pattern)?;
        self.spend(end - pattern)?;
        let before = text.checked_sub(1).map_or(0, |index| self.text[index]);
        let behind = self.text.get(text).copied().unwrap_or(0);
        let is_frontier =
            !self.is_in_set(before, pattern, end - 1) && self.is_in_set(behind, pattern, end - 1);
        Ok(is_frontier.then_some(end))
    }

    fn repeated(&mut self, text: usize, digit: u8) -> Matched<Option<usize>> {
        let capture = usize::from(digit).checked_sub(usize::from(b'1'));
        let capture = capture.and_then(|index| self.captures.get(index));
        let part = match capture {
            Some(Capture::Range(start, end)) => &self.text[*start..*end],
            Some(Capture::Position(_)) => return Ok(None),
            _ => return Err(Failure::Pattern("invalid capture index")),
        };
        self.spend(part.len())?;
        Ok(self.text[text..].starts_with(part).then_some(text + part.len()))
    }

    fn end_of_item(&self, start: usize) -> Matched<usize> {
        match self.at(start) {
            Some(ESCAPE) if self.at(start + 1).is_none() => {
                Err(Failure::Pattern("malformed pattern (ends with '%')"))
            }
            Some(ESCAPE) => Ok(start + 2),
            Some(b'[') => self.end_of_set(start + 1),
            _ => Ok(start + 1),
        }
    }

    fn end_of_set(&self, start: usize) -> Matched<usize> {
        let mut index = start + usize::from(self.at(start) == Some(b'^'));
        loop {
            // A closing bracket is literal if it is the first character of a set.
            let byte = self.at(index);
            index += 1;
            match byte {
                None => return Err(Failure::Pattern("malformed pattern (missing ']')")),
                Some(ESCAPE) if self.at(index).is_some() => index += 1,
                _ => {}
            }
            if self.at(index) == Some(b']') {
                return Ok(index + 1);
            }
        }
    }

    fn matches(&self, text: usize, pattern: usize, end: usize) -> bool {
        let Some(byte) = self.text.get(text).copied() else { return false };
        match self.at(pattern) {
            Some(b'.') => true,
            Some(ESCAPE) => self.is_in_class(byte, pattern + 1),
            Some(b'[') => self.is_in_set(byte, pattern, end - 1),
            wanted => wanted == Some(byte),
        }
    }

    fn is_in_set(&self, byte: u8, start: usize, end: usize) -> bool {
        let is_negated = self.at(start + 1) == Some(b'^');
        let mut index = start + 1 + usize::from(is_negated);
        while index < end {
            let first = self.pattern[index];
            let is_in = if first == ESCAPE {
                index += 1;
                self.is_in_class(byte, index)
            } else if self.at(index + 1) == Some(b'-') && index + 2 < end {
                index += 2;
                (first..=self.pattern[index]).contains(&byte)
            } else {
                first == byte
            };
            if is_in {
                return !is_negated;
            }
            index += 1;
        }
        is_negated
    }

    fn is_in_class(&self, byte: u8, class: usize) -> bool {
        let class = self.pattern[class];
        let is_in = match class.to_ascii_lowercase() {
            b'a' => byte.is_ascii_alphabetic(),
            b'c' => byte.is_ascii_control(),
            b'd' => byte.is_ascii_digit(),
            b'g' if self.dialect == Dialect::Lua54 => byte.is_ascii_graphic(),
            b'l' => byte.is_ascii_lowercase(),
            b'p' => byte.is_ascii_punctuation(),
            b's' => byte.is_ascii_whitespace() || byte == 0x0B,
            b'u' => byte.is_ascii_uppercase(),
            b'w' => byte.is_ascii_alphanumeric(),
            b'x' => byte.is_ascii_hexdigit(),
            b'z' => byte == 0,
            _ => return class == byte,
        };
        is_in != class.is_ascii_uppercase()
    }
}
