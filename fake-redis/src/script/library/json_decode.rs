use super::DEPTH_MAX;
use crate::data::number;
use crate::script::host::{Arguments, Result};
use crate::state::scripts::Settings;
use luna_core::runtime::Value;

pub(super) const NULL: Value = Value::LightUserdata(std::ptr::null_mut());

pub(super) fn decode(call: &Arguments<'_>, settings: Settings) -> Result<Value> {
    if call.len() != 1 {
        return call.wrong(1, "expected 1 argument");
    }
    let text = call.string(1)?;
    let text = text.as_bytes();
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        return call.fail("JSON parser does not support UTF-16 or UTF-32");
    }
    let mut parser = Parser { call, settings, text, position: 0, depth: 0 };
    let first = parser.token();
    let value = parser.value(&first)?;
    let last = parser.token();
    match last.kind {
        Kind::End => Ok(value),
        _ => parser.expected("the end", &last),
    }
}

enum Kind {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    String(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Wrong(&'static str),
}

struct Token {
    kind: Kind,
    index: usize,
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Kind::ObjectBegin => "T_OBJ_BEGIN",
            Kind::ObjectEnd => "T_OBJ_END",
            Kind::ArrayBegin => "T_ARR_BEGIN",
            Kind::ArrayEnd => "T_ARR_END",
            Kind::String(_) => "T_STRING",
            Kind::Number(_) => "T_NUMBER",
            Kind::Boolean(_) => "T_BOOLEAN",
            Kind::Null => "T_NULL",
            Kind::Colon => "T_COLON",
            Kind::Comma => "T_COMMA",
            Kind::End => "T_END",
            Kind::Wrong(problem) => problem,
        }
    }
}

struct Parser<'c, 'l> {
    call: &'c Arguments<'l>,
    settings: Settings,
    text: &'c [u8],
    position: usize,
    depth: usize,
}

impl Parser<'_, '_> {
    fn ahead(&self, offset: usize) -> u8 {
        self.text.get(self.position + offset).copied().unwrap_or(0)
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn token(&mut self) -> Token {
        while matches!(self.ahead(0), b' ' | b'\t' | b'\n' | b'\r') {
            self.position += 1;
        }
        let index = self.position;
        let single = match self.ahead(0) {
            b'{' => Kind::ObjectBegin,
            b'}' => Kind::ObjectEnd,
            b'[' => Kind::ArrayBegin,
            b']' => Kind::ArrayEnd,
            b',' => Kind::Comma,
            b':' => Kind::Colon,
            0 => return Token { kind: Kind::End, index },
            _ => {
                let kind = self.longer_token();
                let index = if matches!(kind, Kind::Wrong(_)) { self.position } else { index };
                return Token { kind, index };
            }
        };
        self.position += 1;
        Token { kind: single, index }
    }

    fn longer_token(&mut self) -> Kind {
        for (word, kind) in [
            (b"true".as_slice(), Kind::Boolean(true)),
            (b"false".as_slice(), Kind::Boolean(false)),
            (b"null".as_slice(), Kind::Null),
        ] {
            if self.rest().starts_with(word) {
                self.position += word.len();
                return kind;
            }
        }
        match self.ahead(0) {
            b'"' => self.string().unwrap_or_else(Kind::Wrong),
            b'-' | b'0'..=b'9' if self.settings.takes_invalid || !self.is_invalid_number() => {
                self.number()
            }
            b'-' | b'0'..=b'9' => Kind::Wrong("invalid number"),
            b'i' | b'I' | b'n' | b'N' | b'+'
                if self.settings.takes_invalid && self.is_invalid_number() =>
            {
                self.number()
            }
            _ => Kind::Wrong("invalid token"),
        }
    }

    fn is_invalid_number(&self) -> bool {
        let minus = usize::from(self.ahead(0) == b'-');
        match self.ahead(minus) {
            b'+' if minus == 0 => true,
            b'0' => matches!(self.ahead(minus + 1), b'x' | b'X' | b'0'..=b'9'),
            first if first <= b'9' => false,
            _ => {
                let word = self.rest().get(minus..minus + 3).unwrap_or_default();
                word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"nan")
            }
        }
    }

    fn number(&mut self) -> Kind {
        match number::leading_double(self.rest()) {
            Some((value, length)) => {
                self.position += length;
                Kind::Number(value)
            }
            None => Kind::Wrong("invalid number"),
        }
    }

    fn string(&mut self) -> std::result::Result<Kind, &'static str> {
        let mut content = Vec::new();
        self.position += 1;
        loop {
            match self.ahead(0) {
                b'"' => break,
                0 => return Err("unexpected end of string"),
                b'\\' => self.escape(&mut content)?,
                byte => {
                    content.push(byte);
                    self.position += 1;
                }
            }
        }
        self.position += 1;
        Ok(Kind::String(content))
    }

    fn escape(&mut self, content: &mut Vec<u8>) -> std::result::Result<(), &'static str> {
        let byte = match self.ahead(1) {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 12,
            b'r' => b'\r',
            b'u' => return self.unicode_escape(content).ok_or("invalid unicode escape code"),
            _ => return Err("invalid escape code"),
        };
        content.push(byte);
        self.position += 2;
        Ok(())
    }

    fn unicode_escape(&mut self, content: &mut Vec<u8>) -> Option<()> {
        let mut point = self.hexadecimal(2)?;
        let mut length = 6;
        if point & 0xF800 == 0xD800 {
            let is_pair = point & 0x400 == 0 && self.ahead(6) == b'\\' && self.ahead(7) == b'u';
            let low = if is_pair { self.hexadecimal(8)? } else { return None };
            if low & 0xFC00 != 0xDC00 {
                return None;
            }
            point = ((point & 0x3FF) << 10 | low & 0x3FF) + 0x1_0000;
            length = 12;
        }
        content.extend_from_slice(char::from_u32(point)?.encode_utf8(&mut [0; 4]).as_bytes());
        self.position += length;
        Some(())
    }

    fn hexadecimal(&self, offset: usize) -> Option<u32> {
        (offset..offset + 4)
            .try_fold(0, |value, at| Some(value << 4 | char::from(self.ahead(at)).to_digit(16)?))
    }

    fn expected<R>(&self, wanted: &str, found: &Token) -> Result<R> {
        let (found, place) = (found.kind.name(), found.index + 1);
        self.call.fail(&format!("Expected {wanted} but found {found} at character {place}"))
    }

    fn value(&mut self, token: &Token) -> Result<Value> {
        self.call.step(0)?;
        Ok(match &token.kind {
            Kind::String(text) => self.call.make_string(text),
            Kind::Number(number) => Value::Float(*number),
            Kind::Boolean(value) => Value::Bool(*value),
            Kind::Null => NULL,
            Kind::ObjectBegin => return self.object(),
            Kind::ArrayBegin => return self.array(),
            _ => return self.expected("value", token),
        })
    }

    fn descend(&mut self) -> Result<()> {
        self.depth += 1;
        let depth_max = usize::try_from(self.settings.decode_depth_max).unwrap_or(1).min(DEPTH_MAX);
        if self.depth <= depth_max {
            return Ok(());
        }
        let (depth, position) = (self.depth, self.position);
        self.call.fail(&format!(
            "Found too many nested data structures ({depth}) at character {position}"
        ))
    }

    fn object(&mut self) -> Result<Value> {
        self.descend()?;
        let mut pairs = Vec::new();
        let mut token = self.token();
        if !matches!(token.kind, Kind::ObjectEnd) {
            loop {
                let Kind::String(key) = &token.kind else {
                    return self.expected("object key string", &token);
                };
                let key = self.call.make_string(key);
                let colon = self.token();
                if !matches!(colon.kind, Kind::Colon) {
                    return self.expected("colon", &colon);
                }
                let first = self.token();
                pairs.push((key, self.value(&first)?));
                let separator = self.token();
                match separator.kind {
                    Kind::ObjectEnd => break,
                    Kind::Comma => token = self.token(),
                    _ => return self.expected("comma or object end", &separator),
                }
            }
        }
        self.depth -= 1;
        Ok(self.call.make_table(pairs))
    }

    fn array(&mut self) -> Result<Value> {
        self.descend()?;
        let mut pairs = Vec::new();
        let mut token = self.token();
        if !matches!(token.kind, Kind::ArrayEnd) {
            for index in 1_u32.. {
                pairs.push((Value::Float(f64::from(index)), self.value(&token)?));
                let separator = self.token();
                match separator.kind {
                    Kind::ArrayEnd => break,
                    Kind::Comma => token = self.token(),
                    _ => return self.expected("comma or array end", &separator),
                }
            }
        }
        self.depth -= 1;
        Ok(self.call.make_table(pairs))
    }
}
