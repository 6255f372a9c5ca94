use crate::error::{Outcome, SqlError};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Word(String),
    Quoted(String),
    Text(String),
    Integer(String),
    Decimal(String),
    Parameter(u16),
    Symbol(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) raw: String,
    pub(super) position: usize,
}

impl Token {
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(own) if own == word)
    }

    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(&self.kind, Kind::Symbol(own) if own == symbol)
    }
}

/// Maximum length of a name in bytes. The server truncates longer names.
const NAME_MAX: usize = 63;

const LONG_SYMBOLS: &[&str] = &["::", "<=", ">=", "<>", "!=", "||", ":=", "=>"];

struct Reader {
    characters: Vec<char>,
    at: usize,
}

pub(super) fn tokens(query: &str) -> Outcome<Vec<Token>> {
    let mut reader = Reader { characters: query.chars().collect(), at: 0 };
    let mut tokens = Vec::new();
    loop {
        reader.skip_blank()?;
        let start = reader.at;
        if start == reader.characters.len() {
            return Ok(tokens);
        }
        let kind = reader.token()?;
        tokens.push(Token { kind, raw: reader.text(start), position: start + 1 });
    }
}

impl Reader {
    fn peek(&self, more: usize) -> Option<char> {
        self.characters.get(self.at + more).copied()
    }

    fn text(&self, start: usize) -> String {
        self.characters[start..self.at].iter().collect()
    }

    fn skip_while(&mut self, goes_on: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(&goes_on) {
            self.at += 1;
        }
    }

    fn skip_blank(&mut self) -> Outcome<()> {
        loop {
            self.skip_while(|c| c.is_ascii_whitespace() || c == '\u{b}');
            match (self.peek(0), self.peek(1)) {
                (Some('-'), Some('-')) => self.skip_while(|c| c != '\n' && c != '\r'),
                (Some('/'), Some('*')) => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Outcome<()> {
        let (start, mut depth) = (self.at, 0_u32);
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => (depth, self.at) = (depth + 1, self.at + 2),
                (Some('*'), Some('/')) => (depth, self.at) = (depth - 1, self.at + 2),
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(self.unterminated("/* comment", start)),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn unterminated(&self, what: &str, start: usize) -> SqlError {
        let rest: String = self.characters[start..].iter().collect();
        SqlError::new("42601", format!("unterminated {what} at or near \"{rest}\"")).at(start + 1)
    }

    fn token(&mut self) -> Outcome<Kind> {
        let first = self.peek(0).unwrap_or('\0');
        match first {
            '\'' => Ok(Kind::Text(self.string(false)?)),
            'e' | 'E' if self.peek(1) == Some('\'') => {
                self.at += 1;
                Ok(Kind::Text(self.string(true)?))
            }
            '"' => self.quoted(),
            '$' if self.peek(1).is_some_and(|c| c.is_ascii_digit()) => self.parameter(),
            '0'..='9' => self.number(),
            '.' if self.peek(1).is_some_and(|c| c.is_ascii_digit()) => self.number(),
            c if c.is_alphabetic() || c == '_' || !c.is_ascii() => {
                let start = self.at;
                self.skip_while(|c| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii());
                Ok(Kind::Word(cut(self.text(start).to_ascii_lowercase())))
            }
            _ => Ok(self.symbol(first)),
        }
    }

    fn symbol(&mut self, first: char) -> Kind {
        let two: String = [Some(first), self.peek(1)].into_iter().flatten().collect();
        if LONG_SYMBOLS.contains(&two.as_str()) {
            self.at += 2;
            return Kind::Symbol(if two == "!=" { "<>".to_owned() } else { two });
        }
        self.at += 1;
        Kind::Symbol(first.to_string())
    }

    fn string(&mut self, escapes: bool) -> Outcome<String> {
        let (start, mut text) = (self.at, String::new());
        self.at += 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('\''), Some('\'')) => {
                    text.push('\'');
                    self.at += 2;
                }
                (Some('\''), _) => {
                    self.at += 1;
                    return Ok(text);
                }
                (Some('\\'), Some(escaped)) if escapes => {
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        other => other,
                    });
                    self.at += 2;
                }
                (Some(c), _) => {
                    text.push(c);
                    self.at += 1;
                }
                (None, _) => return Err(self.unterminated("quoted string", start)),
            }
        }
    }

    fn quoted(&mut self) -> Outcome<Kind> {
        let (start, mut name) = (self.at, String::new());
        self.at += 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('"'), Some('"')) => {
                    name.push('"');
                    self.at += 2;
                }
                (Some('"'), _) => {
                    self.at += 1;
                    break;
                }
                (Some(c), _) => {
                    name.push(c);
                    self.at += 1;
                }
                (None, _) => return Err(self.unterminated("quoted identifier", start)),
            }
        }
        if name.is_empty() {
            let message = "zero-length delimited identifier at or near \"\"\"\"";
            return Err(SqlError::new("42601", message).at(start + 1));
        }
        Ok(Kind::Quoted(cut(name)))
    }

    fn parameter(&mut self) -> Outcome<Kind> {
        let start = self.at;
        self.at += 1;
        self.skip_while(|c| c.is_ascii_digit());
        let digits = self.text(start + 1);
        match digits.parse() {
            Ok(number) => Ok(Kind::Parameter(number)),
            Err(_) => {
                let message = format!("there is no parameter ${digits}");
                Err(SqlError::new("42P02", message).at(start + 1))
            }
        }
    }

    fn number(&mut self) -> Outcome<Kind> {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_digit());
        let mut is_whole = true;
        if self.peek(0) == Some('.') {
            is_whole = false;
            self.at += 1;
            self.skip_while(|c| c.is_ascii_digit());
        }
        let starts_name = |c: char| c.is_alphabetic() || c == '_';
        if self.peek(0).is_some_and(starts_name) {
            self.skip_while(|c| c.is_alphanumeric() || c == '_');
            // Like the real server, quote the number together with the name that follows.
            let raw: String = self.characters[start..self.at].iter().collect();
            let message = format!("trailing junk after numeric literal at or near \"{raw}\"");
            return Err(SqlError::new("42601", message).at(start + 1));
        }
        let text = self.text(start);
        Ok(if is_whole { Kind::Integer(text) } else { Kind::Decimal(text) })
    }
}

fn cut(mut name: String) -> String {
    let mut end = name.len().min(NAME_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}
