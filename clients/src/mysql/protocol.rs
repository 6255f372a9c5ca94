//! Client side of the MySQL protocol: login without a password, and text queries.

use crate::call_error::CallError;
use bytes::{Buf, Bytes, BytesMut};
use std::fmt;

const BODY_MAX: usize = 1024 * 1024;
/// Flags for long passwords, protocol 4.1, transactions, secure connections and auth plugins.
const CAPABILITIES: u32 = 1 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;
const UTF8MB4: u8 = 45;

/// Rows, with values as text and `None` for NULL.
pub type Rows = Vec<Vec<Option<String>>>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub code: u16,
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

fn packet(number: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    [&(body.len() as u32).to_le_bytes()[..3], &[number], &body].concat()
}

pub fn login() -> Vec<u8> {
    let sizes = [0, 0, 0, 1, UTF8MB4];
    let user = b"root\0\0mysql_native_password\0";
    packet(1, &[&CAPABILITIES.to_le_bytes(), &sizes, &[0; 23], user])
}

pub fn query(sql: &str) -> Vec<u8> {
    packet(0, &[b"\x03", sql.as_bytes()])
}

pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

pub fn take(input: &mut BytesMut) -> Result<Option<Bytes>, CallError> {
    let Some(head) = input.first_chunk::<4>() else { return Ok(None) };
    let length = usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16;
    if length > BODY_MAX {
        return Err(CallError::Malformed(format!("a packet of {length} bytes")));
    }
    if input.len() < length + 4 {
        return Ok(None);
    }
    let mut body = input.split_to(length + 4).freeze();
    body.advance(4);
    Ok(Some(body))
}

pub fn session_of(greeting: &[u8]) -> Result<u32, CallError> {
    let after = |text: &[u8]| text.iter().position(|byte| *byte == 0).map(|end| end + 1);
    let id = after(greeting).and_then(|at| greeting.get(at..)?.first_chunk::<4>());
    let id = id.filter(|_| greeting.first() == Some(&10));
    let malformed = || CallError::Malformed("a greeting of another protocol".to_owned());
    id.map(|id| u32::from_le_bytes(*id)).ok_or_else(malformed)
}

#[derive(Debug, Default)]
pub struct Answer {
    columns: Option<usize>,
    has_head: bool,
    rows: Rows,
}

impl Answer {
    pub fn read(&mut self, body: &[u8]) -> Result<Option<Result<Rows, Refusal>>, CallError> {
        let malformed = |what: &str| Err(CallError::Malformed(what.to_owned()));
        let is_end = body.first() == Some(&0xfe) && body.len() < 9;
        match (body.first(), self.columns) {
            (None, _) => malformed("an empty packet"),
            (Some(0xff), _) => Ok(Some(Err(refusal(body)))),
            (Some(0), None) => Ok(Some(Ok(Rows::new()))),
            (Some(0xfe), None) => malformed("an unsupported authentication method"),
            (Some(count), None) => {
                self.columns = Some(usize::from(*count));
                Ok(None)
            }
            (_, Some(_)) if is_end && !self.has_head => {
                self.has_head = true;
                Ok(None)
            }
            (_, Some(_)) if is_end => Ok(Some(Ok(std::mem::take(&mut self.rows)))),
            (_, Some(_)) if !self.has_head => Ok(None),
            (_, Some(count)) => match row(body, count) {
                Some(row) => {
                    self.rows.push(row);
                    Ok(None)
                }
                None => malformed("a short row"),
            },
        }
    }
}

fn refusal(body: &[u8]) -> Refusal {
    let code = body.get(1..3).map_or(0, |code| u16::from_le_bytes([code[0], code[1]]));
    let rest = body.get(3..).unwrap_or_default();
    let text = if rest.first() == Some(&b'#') { rest.get(6..).unwrap_or_default() } else { rest };
    Refusal { code, message: String::from_utf8_lossy(text).into_owned() }
}

fn row(mut rest: &[u8], count: usize) -> Option<Vec<Option<String>>> {
    let mut values = Vec::new();
    for _ in 0..count {
        let (first, after) = rest.split_first()?;
        let (length, after) = match *first {
            0xfb => {
                values.push(None);
                rest = after;
                continue;
            }
            0xfc => {
                let (length, after) = after.split_first_chunk::<2>()?;
                (usize::from(u16::from_le_bytes(*length)), after)
            }
            0xfd.. => return None,
            length => (usize::from(length), after),
        };
        values.push(Some(String::from_utf8_lossy(after.get(..length)?).into_owned()));
        rest = &after[length..];
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bodies: &[&[u8]]) -> Result<Option<Result<Rows, Refusal>>, CallError> {
        let mut answer = Answer::default();
        for (at, body) in bodies.iter().enumerate() {
            let outcome = answer.read(body)?;
            if outcome.is_some() {
                assert_eq!(at, bodies.len() - 1, "it is over too early");
                return Ok(outcome);
            }
        }
        Ok(None)
    }

    #[test]
    fn a_packet_is_taken_once_it_is_whole() {
        let whole = b"\x02\0\0\x01ab\x01\0\0\x02c";
        for cut in 0..6 {
            assert_eq!(take(&mut BytesMut::from(&whole[..cut])), Ok(None), "{cut} bytes");
        }
        let mut input = BytesMut::from(&whole[..]);
        assert_eq!(take(&mut input), Ok(Some("ab".into())));
        assert_eq!(take(&mut input), Ok(Some("c".into())));
        let long = take(&mut BytesMut::from(&b"\xff\xff\xff\0"[..]));
        assert!(matches!(long, Err(CallError::Malformed(_))));
    }

    #[test]
    fn a_result_is_read_up_to_its_second_end() {
        let end = b"\xfe\0\0\x02\0";
        let rows = read(&[b"\x02", b"a", b"b", end, b"\x011\xfb", b"\x00\x02xy", end]);
        let text = |text: &str| Some(text.to_owned());
        let expected = vec![vec![text("1"), None], vec![text(""), text("xy")]];
        assert_eq!(rows, Ok(Some(Ok(expected))));
        assert_eq!(read(&[b"\x01", b"a", end]), Ok(None));
        assert_eq!(read(&[b"\0\0\0\x02\0\0\0"]), Ok(Some(Ok(Rows::new()))));
    }

    #[test]
    fn a_refusal_can_come_after_the_columns() {
        let error = b"\xff\xbd\x04#40001Deadlock found";
        let refused = Refusal { code: 1213, message: "Deadlock found".to_owned() };
        assert_eq!(read(&[error]), Ok(Some(Err(refused.clone()))));
        assert_eq!(read(&[b"\x01", b"a", b"\xfe\0\0\x02\0", error]), Ok(Some(Err(refused))));
        let early = b"\xff\x10\x04Too many connections";
        let refused = Refusal { code: 1040, message: "Too many connections".to_owned() };
        assert_eq!(read(&[early]), Ok(Some(Err(refused))));
    }

    #[test]
    fn what_cannot_be_an_answer_is_malformed() {
        let end = b"\xfe\0\0\x02\0";
        for bodies in [&[&b""[..]][..], &[b"\xfe"], &[b"\x01", b"a", end, b"\x05ab"]] {
            assert!(matches!(read(bodies), Err(CallError::Malformed(_))), "{bodies:?}");
        }
        assert!(session_of(b"\x0a5.5.5\0\x07\0\0\0rest").is_ok_and(|id| id == 7));
        assert!(session_of(b"\x0a5.5.5\0\x07\0").is_err());
        assert!(session_of(b"\x09old\0\x07\0\0\0").is_err());
    }

    #[test]
    fn a_text_keeps_its_quotes() {
        assert_eq!(quoted("it's a \\"), "'it''s a \\\\'");
    }
}
