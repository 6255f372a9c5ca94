//! JSON as Go reads it, with the words of its errors: clients of the gateway see them.
//!
//! Reading is lazy, as in the real gateway: a value is checked as a whole, and then taken apart one
//! level at a time. What is not asked for is never looked at.

use std::collections::BTreeMap;

/// How deep values may be nested.
const DEPTH_MAX: usize = 10_000;

/// Why bytes are no JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Broken {
    /// There is nothing.
    Empty,
    /// It ends too early.
    CutShort,
    /// A byte that cannot stand where it stands.
    Syntax(String),
}

type Scan<T> = Result<T, Broken>;

/// Goes over the bytes without keeping anything.
struct Scanner<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Scan<u8> {
        self.bytes.get(self.at).copied().ok_or(Broken::CutShort)
    }

    fn next(&mut self) -> Scan<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Scan<()> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                byte if byte < 0x20 => return Err(unexpected(byte, "in string literal")),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Scan<()> {
        match self.next()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let byte = self.next()?;
                    if !byte.is_ascii_hexdigit() {
                        return Err(unexpected(byte, "in \\u hexadecimal character escape"));
                    }
                }
                Ok(())
            }
            byte => Err(unexpected(byte, "in string escape code")),
        }
    }

    fn digits(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn digit(&mut self, place: &str) -> Scan<()> {
        let byte = self.next()?;
        if byte.is_ascii_digit() { Ok(()) } else { Err(unexpected(byte, place)) }
    }

    fn number(&mut self, first: u8) -> Scan<()> {
        let first = if first == b'-' { self.next()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            byte => return Err(unexpected(byte, "in numeric literal")),
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Scan<()> {
        for expected in word.bytes().skip(1) {
            let byte = self.next()?;
            if byte != expected {
                let place = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(unexpected(byte, &place));
            }
        }
        Ok(())
    }

    /// Goes over the key of an object's member and the colon behind it.
    fn key(&mut self) -> Scan<()> {
        self.skip_space();
        match self.next()? {
            b'"' => self.string()?,
            byte => return Err(unexpected(byte, "looking for beginning of object key string")),
        }
        self.skip_space();
        match self.next()? {
            b':' => Ok(()),
            byte => Err(unexpected(byte, "after object key")),
        }
    }

    /// Goes over one value, whatever it holds. `nest` are the ends that open values wait for.
    fn value(&mut self) -> Scan<()> {
        let mut nest: Vec<u8> = Vec::new();
        loop {
            if self.begin(&mut nest)? {
                continue;
            }
            // A value is over; so may be what it stands in.
            loop {
                let Some(end) = nest.last().copied() else { return Ok(()) };
                self.skip_space();
                match self.next()? {
                    b',' if end == b'}' => break self.key()?,
                    b',' => break,
                    byte if byte == end => {
                        nest.pop();
                    }
                    byte if end == b'}' => {
                        return Err(unexpected(byte, "after object key:value pair"));
                    }
                    byte => return Err(unexpected(byte, "after array element")),
                }
            }
        }
    }

    /// Goes over a scalar or an empty value, or into one that is not empty: then true.
    fn begin(&mut self, nest: &mut Vec<u8>) -> Scan<bool> {
        self.skip_space();
        match self.next()? {
            b'"' => self.string()?,
            b't' => self.word("true")?,
            b'f' => self.word("false")?,
            b'n' => self.word("null")?,
            byte @ (b'-' | b'0'..=b'9') => self.number(byte)?,
            open @ (b'{' | b'[') => {
                let end = if open == b'{' { b'}' } else { b']' };
                if nest.len() >= DEPTH_MAX {
                    return Err(Broken::Syntax("exceeded max depth".to_owned()));
                }
                self.skip_space();
                if self.peek()? == end {
                    self.at += 1;
                    return Ok(false);
                }
                if open == b'{' {
                    self.key()?;
                }
                nest.push(end);
                return Ok(true);
            }
            byte => return Err(unexpected(byte, "looking for beginning of value")),
        }
        Ok(false)
    }
}

fn unexpected(byte: u8, place: &str) -> Broken {
    let shown = match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        0x07 => "'\\a'".to_owned(),
        0x08 => "'\\b'".to_owned(),
        0x0c => "'\\f'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        0x0b => "'\\v'".to_owned(),
        byte if byte < 0x20 || byte == 0x7f => format!("'\\x{byte:02x}'"),
        byte if (0x80..0xa0).contains(&byte) || byte == 0xad => format!("'\\u{byte:04x}'"),
        0xa0 => "'\\u00a0'".to_owned(),
        byte => format!("'{}'", char::from(byte)),
    };
    Broken::Syntax(format!("invalid character {shown} {place}"))
}

/// The first value of the bytes, without the space around it, and what follows it.
pub(crate) fn first(bytes: &[u8]) -> Scan<(&[u8], &[u8])> {
    let mut scanner = Scanner { bytes, at: 0 };
    scanner.skip_space();
    let start = scanner.at;
    if start == bytes.len() {
        return Err(Broken::Empty);
    }
    scanner.value()?;
    Ok((&bytes[start..scanner.at], &bytes[scanner.at..]))
}

/// The only value of the bytes.
fn only(bytes: &[u8]) -> Result<&[u8], String> {
    match first(bytes) {
        Ok((value, rest)) => {
            let mut rest = rest.iter().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
            match rest.next() {
                None => Ok(value),
                Some(byte) => match unexpected(*byte, "after top-level value") {
                    Broken::Syntax(text) => Err(text),
                    Broken::Empty | Broken::CutShort => Ok(value),
                },
            }
        }
        Err(Broken::Empty | Broken::CutShort) => Err("unexpected end of JSON input".to_owned()),
        Err(Broken::Syntax(text)) => Err(text),
    }
}

/// What kind of value it is, in the words of an error.
fn kind(value: &[u8]) -> String {
    match value.first() {
        Some(b'"') => "string".to_owned(),
        Some(b'{') => "object".to_owned(),
        Some(b'[') => "array".to_owned(),
        Some(b't' | b'f') => "bool".to_owned(),
        _ => "number".to_owned(),
    }
}

fn mismatch(value: &[u8], wanted: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {wanted}", kind(value))
}

fn is_null(value: &[u8]) -> bool {
    value == b"null"
}

/// The characters of a string that has its quotes.
pub(crate) fn text(value: &[u8]) -> String {
    let inner = value.get(1..value.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains(&b'\\') {
        return String::from_utf8_lossy(inner).into_owned();
    }
    let lossy = format!("\"{}\"", String::from_utf8_lossy(inner));
    serde_json::from_str(&lossy).unwrap_or_else(|_| unpaired(&lossy))
}

/// A string with half a surrogate pair in it, which Go replaces.
fn unpaired(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.trim_matches('"');
    while let Some(at) = rest.find("\\u") {
        plain.push_str(&rest[..at]);
        plain.push('\u{fffd}');
        rest = rest.get(at + 6..).unwrap_or_default();
    }
    plain + rest
}

/// The members of an object: of two with one name the last counts.
pub(crate) struct Fields<'b>(BTreeMap<String, &'b [u8]>);

impl<'b> Fields<'b> {
    /// The members of a value that must be an object, or null.
    pub(crate) fn of(value: &'b [u8]) -> Result<Fields<'b>, String> {
        if is_null(value) {
            return Ok(Fields(BTreeMap::new()));
        }
        if value.first() != Some(&b'{') {
            return Err(mismatch(value, "map[string]json.RawMessage"));
        }
        let mut scanner = Scanner { bytes: value, at: 1 };
        let mut members = BTreeMap::new();
        loop {
            scanner.skip_space();
            let start = scanner.at;
            if scanner.key().is_err() {
                return Ok(Fields(members));
            }
            let name = value[start..scanner.at].iter().rposition(|byte| *byte == b'"');
            let name = text(&value[start..=start + name.unwrap_or(0)]);
            scanner.skip_space();
            let start = scanner.at;
            let _ = scanner.value();
            members.insert(name, &value[start..scanner.at]);
            scanner.skip_space();
            let _ = scanner.next();
        }
    }

    /// A member by its name in the protocol, or in camel case, which is preferred.
    pub(crate) fn get(&self, name: &str) -> Option<&'b [u8]> {
        self.0.get(&camel(name)).or_else(|| self.0.get(name)).copied()
    }

    pub(crate) fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(value) if is_null(value) => Ok(Vec::new()),
            Some(value) if value.first() == Some(&b'"') => super::base64::decode(&text(value)),
            // A list of numbers is one of bytes, too.
            Some(value) if value.first() == Some(&b'[') => {
                list(value)?.into_iter().map(byte).collect()
            }
            Some(value) => Err(mismatch(value, "[]uint8")),
        }
    }

    pub(crate) fn int(&self, name: &str) -> Result<i64, String> {
        self.get(name).map_or(Ok(0), |value| int(value, "int64"))
    }

    pub(crate) fn bool(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None | Some(b"false") => Ok(false),
            Some(b"true") => Ok(true),
            Some(value) if is_null(value) => Ok(false),
            Some(value) => Err(mismatch(value, "bool")),
        }
    }

    /// A member of an enumeration, as a name or a number.
    pub(crate) fn choice(&self, name: &str, of: &Choice) -> Result<i32, String> {
        self.get(name).map_or(Ok(0), |value| of.read(value))
    }

    pub(crate) fn list(&self, name: &str) -> Result<Vec<&'b [u8]>, String> {
        self.get(name).map_or_else(|| Ok(Vec::new()), list)
    }

    /// A member that is a message: none if it is absent or null.
    pub(crate) fn message(&self, name: &str) -> Option<&'b [u8]> {
        self.get(name).filter(|value| !is_null(value))
    }
}

fn list(value: &[u8]) -> Result<Vec<&[u8]>, String> {
    if is_null(value) {
        return Ok(Vec::new());
    }
    if value.first() != Some(&b'[') {
        return Err(mismatch(value, "[]json.RawMessage"));
    }
    let (mut scanner, mut elements) = (Scanner { bytes: value, at: 1 }, Vec::new());
    loop {
        scanner.skip_space();
        if matches!(scanner.peek(), Ok(b']') | Err(_)) {
            return Ok(elements);
        }
        let start = scanner.at;
        let _ = scanner.value();
        elements.push(&value[start..scanner.at]);
        scanner.skip_space();
        if !matches!(scanner.next(), Ok(b',')) {
            return Ok(elements);
        }
    }
}

fn byte(value: &[u8]) -> Result<u8, String> {
    match value.first() {
        Some(b'"' | b't' | b'f' | b'{' | b'[') => Err(mismatch(value, "uint8")),
        _ => {
            let number = int(value, "uint8")?;
            let wrong =
                format!("json: cannot unmarshal number {number} into Go value of type uint8");
            u8::try_from(number).map_err(|_| wrong)
        }
    }
}

/// A whole number, which may stand in quotes.
fn int(value: &[u8], wanted: &str) -> Result<i64, String> {
    let bare = match value {
        [b'"', inner @ .., b'"'] => only(inner)?,
        value => value,
    };
    if is_null(bare) {
        return Ok(0);
    }
    if !matches!(bare.first(), Some(b'-' | b'0'..=b'9')) {
        return Err(mismatch(bare, wanted));
    }
    let digits = String::from_utf8_lossy(bare);
    let wrong = || format!("json: cannot unmarshal number {digits} into Go value of type {wanted}");
    digits.parse().map_err(|_| wrong())
}

/// An enumeration of the protocol.
pub(crate) struct Choice {
    /// Its name in Go.
    pub(crate) name: &'static str,
    /// Its members, from 0.
    pub(crate) members: &'static [&'static str],
}

impl Choice {
    pub(crate) fn read(&self, value: &[u8]) -> Result<i32, String> {
        if let [b'"', inner @ .., b'"'] = value {
            let found = self.members.iter().position(|member| member.as_bytes() == inner);
            let inner = String::from_utf8_lossy(inner);
            return found
                .and_then(|at| i32::try_from(at).ok())
                .ok_or_else(|| format!("unknown value \"{inner}\" for enum {}", self.name));
        }
        let number = int(value, self.name)?;
        i32::try_from(number).map_err(|_| {
            format!("json: cannot unmarshal number {number} into Go value of type {}", self.name)
        })
    }
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// Writes a string as Go does: what could end a script in a page is escaped, too.
pub(crate) fn quote(text: &str) -> String {
    let plain = serde_json::to_string(text).unwrap_or_default();
    let plain = plain.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    plain.replace("\\b", "\\u0008").replace("\\f", "\\u000c")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> String {
        match first(text.as_bytes()) {
            Err(Broken::Syntax(text)) => text,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn errors_have_the_words_of_go() {
        assert_eq!(broken("x"), "invalid character 'x' looking for beginning of value");
        assert_eq!(
            broken("{x"),
            "invalid character 'x' looking for beginning of object key string"
        );
        assert_eq!(broken("{\"a\" 1"), "invalid character '1' after object key");
        assert_eq!(broken("{\"a\":1 2"), "invalid character '2' after object key:value pair");
        assert_eq!(broken("[1 2"), "invalid character '2' after array element");
        assert_eq!(broken("trux"), "invalid character 'x' in literal true (expecting 'e')");
        assert_eq!(broken("\"\\x"), "invalid character 'x' in string escape code");
        assert_eq!(broken("\"\n"), "invalid character '\\n' in string literal");
        assert_eq!(broken("-x"), "invalid character 'x' in numeric literal");
        assert_eq!(first(b"[1,"), Err(Broken::CutShort));
        assert_eq!(first(b" \n"), Err(Broken::Empty));
        assert_eq!(broken(&"[".repeat(DEPTH_MAX + 1)), "exceeded max depth");
    }

    #[test]
    fn values_are_taken_apart_one_level_at_a_time() {
        let (value, rest) = first(b" {\"a_b\": [1, {}, \"]\"], \"aB\":\"7\" } {").expect("a value");
        assert_eq!(rest, b" {");
        let fields = Fields::of(value).expect("an object");
        assert_eq!(fields.int("a_b"), Ok(7), "camel case is preferred");
        let fields = Fields::of(b"{\"l\":[1, {} ,\"]\"]}").expect("an object");
        assert_eq!(fields.list("l"), Ok(vec![&b"1"[..], b"{}", b"\"]\""]));
    }
}
