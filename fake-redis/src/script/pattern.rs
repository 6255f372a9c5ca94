//! Matches Lua 5.1 patterns in bounded time, unlike Lua's own matcher.

use super::host::Result;
use super::limits::work;
use luna_core::vm::{LuaError, Vm};

const CAPTURES_MAX: usize = 32;
const CHOICES_MAX: usize = 2_000;
const STEPS_PER_POLL: usize = 4_096;

const ESCAPE: u8 = b'%';

pub(super) enum Failure {
    Pattern(&'static str),
    Raised(LuaError),
}

type Matched<T> = std::result::Result<T, Failure>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Capture {
    Open(usize),
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

pub(super) struct Matcher<'m> {
    vm: &'m mut Vm,
    text: &'m [u8],
    pattern: &'m [u8],
    pub(super) captures: Vec<Capture>,
    choices: Vec<Choice>,
    steps: usize,
}

impl<'m> Matcher<'m> {
    pub(super) fn new(vm: &'m mut Vm, text: &'m [u8], pattern: &'m [u8]) -> Self {
        let (captures, choices) = (Vec::new(), Vec::new());
        Matcher { vm, text, pattern, captures, choices, steps: 0 }
    }

    pub(super) fn vm(&mut self) -> &mut Vm {
        self.vm
    }

    pub(super) fn match_at(&mut self, start: usize) -> Matched<Option<usize>> {
        self.captures.clear();
        self.choices.clear();
        let mut state = State { text: start, pattern: 0 };
        loop {
            self.step()?;
            if self.at(state.pattern) == 0 {
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

    fn step(&mut self) -> Matched<()> {
        self.steps += 1;
        if self.steps < STEPS_PER_POLL {
            return Ok(());
        }
        work(self.vm, std::mem::take(&mut self.steps)).map_err(Failure::Raised)
    }

    fn at(&self, index: usize) -> u8 {
        self.pattern.get(index).copied().unwrap_or(0)
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
            (b'(', b')') => {
                self.open(Capture::Position(text), State { pattern: pattern + 2, ..state })
            }
            (b'(', _) => self.open(Capture::Open(text), State { pattern: pattern + 1, ..state }),
            (b')', _) => self.close(State { pattern: pattern + 1, ..state }),
            (b'$', 0) => Ok(then(text, pattern + 1).filter(|_| text == self.text.len())),
            (ESCAPE, b'b') => {
                Ok(self.balanced(text, pattern + 2)?.and_then(|end| then(end, pattern + 4)))
            }
            (ESCAPE, b'f') => Ok(self.frontier(text, pattern + 2)?.and_then(|end| then(text, end))),
            (ESCAPE, digit @ b'0'..=b'9') => {
                Ok(self.repeated(text, digit)?.and_then(|end| then(end, pattern + 2)))
            }
            _ => self.item(state),
        }
    }

    fn item(&mut self, state: State) -> Matched<Option<State>> {
        let State { text, pattern: item } = state;
        let end = self.end_of_item(item)?;
        let is_match = self.matches(text, item, end);
        let behind = State { text, pattern: end + 1 };
        match self.at(end) {
            b'?' if is_match => {
                self.open_choice(Choice::Without(behind))?;
                Ok(Some(State { text: text + 1, ..behind }))
            }
            b'?' => Ok(Some(behind)),
            b'+' if !is_match => Ok(None),
            repeat @ (b'*' | b'+') => {
                let first = text + usize::from(repeat == b'+');
                let mut last = first;
                while self.matches(last, item, end) {
                    self.step()?;
                    last += 1;
                }
                let last = State { text: last, ..behind };
                self.open_choice(Choice::Fewer { first, last })?;
                Ok(Some(last))
            }
            b'-' => {
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
        let (open, close) = (self.at(pattern), self.at(pattern + 1));
        if open == 0 || close == 0 {
            return Err(Failure::Pattern("unbalanced pattern"));
        }
        if self.text.get(text) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1_usize;
        for index in text + 1..self.text.len() {
            self.step()?;
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
        if self.at(pattern) != b'[' {
            return Err(Failure::Pattern("missing '[' after '%f' in pattern"));
        }
        let end = self.end_of_item(pattern)?;
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
        Ok(self.text[text..].starts_with(part).then_some(text + part.len()))
    }

    fn end_of_item(&self, start: usize) -> Matched<usize> {
        match self.at(start) {
            ESCAPE if self.at(start + 1) == 0 => {
                Err(Failure::Pattern("malformed pattern (ends with '%')"))
            }
            ESCAPE => Ok(start + 2),
            b'[' => self.end_of_set(start + 1),
            _ => Ok(start + 1),
        }
    }

    fn end_of_set(&self, start: usize) -> Matched<usize> {
        let mut index = start + usize::from(self.at(start) == b'^');
        loop {
            // The first character of a set is literal even if it is a bracket.
            let byte = self.at(index);
            index += 1;
            match byte {
                0 => return Err(Failure::Pattern("malformed pattern (missing ']')")),
                ESCAPE if self.at(index) != 0 => index += 1,
                _ => {}
            }
            if self.at(index) == b']' {
                return Ok(index + 1);
            }
        }
    }

    fn matches(&self, text: usize, pattern: usize, end: usize) -> bool {
        let Some(byte) = self.text.get(text).copied() else { return false };
        match self.at(pattern) {
            b'.' => true,
            ESCAPE => is_in_class(byte, self.at(pattern + 1)),
            b'[' => self.is_in_set(byte, pattern, end - 1),
            wanted => wanted == byte,
        }
    }

    fn is_in_set(&self, byte: u8, start: usize, end: usize) -> bool {
        let is_negated = self.at(start + 1) == b'^';
        let mut index = start + 1 + usize::from(is_negated);
        while index < end {
            let first = self.at(index);
            let is_in = if first == ESCAPE {
                index += 1;
                is_in_class(byte, self.at(index))
            } else if self.at(index + 1) == b'-' && index + 2 < end {
                index += 2;
                (first..=self.at(index)).contains(&byte)
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
}

fn is_in_class(byte: u8, class: u8) -> bool {
    let is_in = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
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

impl Failure {
    pub(super) fn raised<R>(self, vm: &mut Vm) -> Result<R> {
        Err(match self {
            Failure::Pattern(text) => vm.rt_err(text),
            Failure::Raised(error) => error,
        })
    }
}
