use crate::error::{Outcome, SqlError};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Word(String),
    Name(Vec<u8>),
    Text(Vec<u8>),
    Number(String),
    Symbol(&'static str),
    End,
}

const SYMBOLS: &[&str] = &[
    "<=>", "@@", ":=", "!=", "<>", "<=", ">=", "<<", ">>", "||", "&&", "(", ")", ",", ";", "=",
    "<", ">", "!", "-", "+", "*", "/", "%", "&", "|", "^", "~", ".", "@", "?", "{", "}", ":",
];

pub(crate) fn tokens(text: &[u8], at: usize) -> Outcome<(Vec<Token>, bool)> {
    let mut reader = Reader { text, at, has_comment: false };
    let mut tokens = Vec::new();
    loop {
        reader.skip_blanks()?;
        let start = reader.at;
        let kind = reader.token()?;
        let (is_end, is_semicolon) = (kind == Kind::End, kind == Kind::Symbol(";"));
        let end = reader.at;
        tokens.push(Token { kind, start, end });
        if is_semicolon {
            tokens.push(Token { kind: Kind::End, start: end, end });
        }
        if is_end || is_semicolon {
            return Ok((tokens, reader.has_comment));
        }
    }
}

pub(crate) fn rest(text: &[u8], at: usize) -> usize {
    let mut reader = Reader { text, at, has_comment: false };
    let _ = reader.skip_blanks();
    reader.at
}

pub(crate) fn wrong(text: &[u8], at: usize) -> SqlError {
    let lines = text[..at].iter().filter(|byte| **byte == b'\n').count();
    SqlError::syntax(&text[at..], lines + 1)
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    has_comment: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) -> Outcome<()> {
        loop {
            let rest = self.rest();
            let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
            let after = &rest[blanks..];
            let is_dashed = after.starts_with(b"--")
                && after.get(2).is_none_or(|byte| is_blank(*byte) || byte.is_ascii_control());
            let skipped = if after.starts_with(b"#") || is_dashed {
                let end = after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len());
                self.has_comment = true;
                end
            } else if after.starts_with(b"/*!") || after.starts_with(b"/*M!") {
                return Err(SqlError::unsupported("/*!"));
            } else if after.starts_with(b"/*") {
                let end = after[2..].windows(2).position(|pair| pair == b"*/");
                let at = self.at + blanks;
                let end = end.ok_or_else(|| wrong(self.text, at))?;
                self.has_comment = true;
                end + 4
            } else {
                0
            };
            self.at += blanks + skipped;
            if skipped == 0 {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Outcome<Kind> {
        let Some(first) = self.rest().first().copied() else { return Ok(Kind::End) };
        match first {
            b'\'' | b'"' => self.quoted(first, true).map(Kind::Text),
            b'`' => self.quoted(first, false).map(Kind::Name),
            b'0'..=b'9' => self.number(),
            b'.' if self.rest().get(1).is_some_and(u8::is_ascii_digit) => self.number(),
            _ if is_word(first) => Ok(Kind::Word(self.word())),
            _ => {
                let rest = self.rest();
                let found = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes()));
                let symbol = *found.ok_or_else(|| wrong(self.text, self.at))?;
                self.at += symbol.len();
                Ok(Kind::Symbol(symbol))
            }
        }
    }

    fn word(&mut self) -> String {
        let length = self.rest().iter().take_while(|byte| is_word(**byte)).count();
        let word = String::from_utf8_lossy(&self.rest()[..length]).into_owned();
        self.at += length;
        word
    }

    fn number(&mut self) -> Outcome<Kind> {
        let start = self.at;
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits(self.rest());
        if self.rest().first() == Some(&b'.') {
            self.at += 1;
            self.at += digits(self.rest());
        }
        if self.rest().first().is_some_and(|byte| is_word(*byte)) {
            return Err(SqlError::unsupported("a number that contains letters"));
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        Ok(Kind::Number(text))
    }

    fn quoted(&mut self, quote: u8, escapes: bool) -> Outcome<Vec<u8>> {
        let start = self.at;
        let mut text = Vec::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            match (rest.first(), rest.get(1)) {
                (None, _) => return Err(wrong(self.text, start)),
                (Some(byte), Some(next)) if *byte == quote && *next == quote => {
                    text.push(quote);
                    self.at += 2;
                }
                (Some(byte), _) if *byte == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                (Some(b'\\'), Some(next)) if escapes => {
                    escaped(&mut text, *next);
                    self.at += 2;
                }
                (Some(byte), _) => {
                    text.push(*byte);
                    self.at += 1;
                }
            }
        }
    }
}

fn escaped(text: &mut Vec<u8>, letter: u8) {
    match letter {
        b'0' => text.push(0),
        b'b' => text.push(8),
        b'n' => text.push(b'\n'),
        b'r' => text.push(b'\r'),
        b't' => text.push(b'\t'),
        b'Z' => text.push(26),
        // These characters keep their backslash, because LIKE interprets it.
        b'%' | b'_' => text.extend([b'\\', letter]),
        _ => text.push(letter),
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 11 | 12)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}
