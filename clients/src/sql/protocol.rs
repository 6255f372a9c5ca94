//! The client's side of PostgreSQL's protocol 3.0, with extended queries, unnamed statements and
//! values as text. Like pgjdbc, the client sends a BEGIN and the statement after it in one write.

use crate::call_error::CallError;
use bytes::{Buf, Bytes, BytesMut};
use std::fmt;

const MESSAGE_MAX: usize = 1024 * 1024;

/// Declared parameter type. pgjdbc derives it from the Java type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Lets the server infer the type, as pgjdbc does for a `java.sql.Timestamp`.
    Unspecified,
    Varchar,
    Int8,
    Timestamp,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    pub kind: Kind,
    pub text: String,
}

impl Parameter {
    pub fn text(text: impl Into<String>) -> Parameter {
        Parameter { kind: Kind::Varchar, text: text.into() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatementResult {
    pub tag: String,
    pub rows: Vec<Vec<Option<String>>>,
}

impl StatementResult {
    pub fn count(&self) -> u64 {
        self.tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    pub fn is_true(&self) -> bool {
        let first = self.rows.first().and_then(|row| row.first());
        first.is_some_and(|value| value.as_deref() == Some("t"))
    }
}

impl Kind {
    fn oid(self) -> u32 {
        match self {
            Kind::Unspecified => 0,
            Kind::Varchar => 1_043,
            Kind::Int8 => 20,
            Kind::Timestamp => 1_114,
        }
    }
}

fn message(out: &mut Vec<u8>, kind: u8, body: &[&[u8]]) {
    let length = body.iter().map(|part| part.len()).sum::<usize>() + 4;
    out.push(kind);
    out.extend_from_slice(&(length as u32).to_be_bytes());
    body.iter().for_each(|part| out.extend_from_slice(part));
}

pub fn startup() -> Vec<u8> {
    let body = b"\0\x03\0\0user\0fencepost\0database\0fencepost\0client_encoding\0UTF8\0\0";
    [&((body.len() + 4) as u32).to_be_bytes()[..], body].concat()
}

/// Encodes a statement without the Sync message.
pub fn statement(out: &mut Vec<u8>, sql: &str, parameters: &[Parameter]) {
    let count = (parameters.len() as u16).to_be_bytes();
    let kinds: Vec<u8> = parameters.iter().flat_map(|one| one.kind.oid().to_be_bytes()).collect();
    message(out, b'P', &[b"\0", sql.as_bytes(), b"\0", &count, &kinds]);
    let mut values = Vec::new();
    for parameter in parameters {
        values.extend_from_slice(&(parameter.text.len() as u32).to_be_bytes());
        values.extend_from_slice(parameter.text.as_bytes());
    }
    // An empty list of format codes selects text for all values and result columns.
    message(out, b'B', &[b"\0\0\0\0", &count, &values, b"\0\0"]);
    message(out, b'D', &[b"P\0"]);
    message(out, b'E', &[b"\0\0\0\0\0"]);
}

pub fn sync(out: &mut Vec<u8>) {
    message(out, b'S', &[]);
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Key(u32),
    Row(Vec<Option<String>>),
    Complete(String),
    Error(Refusal),
    Ready {
        /// `true` if a transaction is open, including a failed transaction.
        in_transaction: bool,
    },
    /// `true` if the server is a standby (`in_hot_standby`).
    IsStandby(bool),
    Other,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub is_fatal: bool,
    pub code: String,
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Answer {
    /// Removes an answer from the buffer. Returns `None` if the answer is incomplete.
    pub fn take_from(input: &mut BytesMut) -> Result<Option<Answer>, CallError> {
        let Some(head) = input.first_chunk::<5>() else { return Ok(None) };
        let kind = head[0];
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if !(4..=MESSAGE_MAX).contains(&length) {
            return Err(CallError::Malformed(format!("a message of {length} bytes")));
        }
        if input.len() < length + 1 {
            return Ok(None);
        }
        let mut body = input.split_to(length + 1).freeze();
        body.advance(5);
        let short = || CallError::Malformed(format!("a short message of kind {kind}"));
        Answer::read(kind, body).map(Some).ok_or_else(short)
    }

    fn read(kind: u8, mut body: Bytes) -> Option<Answer> {
        Some(match kind {
            b'K' => Answer::Key(body.try_get_u32().ok()?),
            b'D' => Answer::Row(row(body)?),
            b'C' => Answer::Complete(string(&body)),
            b'E' => Answer::Error(refusal(&body)),
            b'S' if body.starts_with(b"in_hot_standby\0") => {
                Answer::IsStandby(body.ends_with(b"\0on\0"))
            }
            b'Z' => Answer::Ready { in_transaction: *body.first()? != b'I' },
            _ => Answer::Other,
        })
    }
}

fn string(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

fn row(mut body: Bytes) -> Option<Vec<Option<String>>> {
    let count = body.try_get_u16().ok()?;
    let mut values = Vec::new();
    for _ in 0..count {
        let length = body.try_get_i32().ok()?;
        let Ok(length) = usize::try_from(length) else {
            values.push(None);
            continue;
        };
        if body.len() < length {
            return None;
        }
        let value = body.split_to(length);
        values.push(Some(String::from_utf8_lossy(&value).into_owned()));
    }
    Some(values)
}

fn refusal(body: &[u8]) -> Refusal {
    let of = |kind: u8| {
        let mut fields = body.split(|byte| *byte == 0);
        fields.find(|field| field.first() == Some(&kind)).map(|field| string(&field[1..]))
    };
    Refusal {
        is_fatal: of(b'V').or_else(|| of(b'S')).is_some_and(|severity| severity == "FATAL"),
        code: of(b'C').unwrap_or_default(),
        message: of(b'M').unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_once_it_is_whole() {
        let whole = b"C\0\0\0\x0dUPDATE 3\0Z\0\0\0\x05T";
        for cut in 0..14 {
            let mut input = BytesMut::from(&whole[..cut]);
            assert_eq!(Answer::take_from(&mut input), Ok(None), "{cut} bytes");
        }
        let mut input = BytesMut::from(&whole[..]);
        let done = Answer::take_from(&mut input).unwrap();
        assert_eq!(done, Some(Answer::Complete("UPDATE 3".to_owned())));
        let ready = Answer::take_from(&mut input).unwrap();
        assert_eq!(ready, Some(Answer::Ready { in_transaction: true }));
        assert_eq!(StatementResult { tag: "UPDATE 3".to_owned(), rows: Vec::new() }.count(), 3);
    }

    #[test]
    fn what_cannot_be_an_answer_is_malformed() {
        for bytes in
            [&b"C\0\0\0\x03"[..], b"D\xff\xff\xff\xff", b"D\0\0\0\x06\0\x01", b"K\0\0\0\x04"]
        {
            let outcome = Answer::take_from(&mut BytesMut::from(bytes));
            assert!(matches!(outcome, Err(CallError::Malformed(_))), "{bytes:?}: {outcome:?}");
        }
    }

    #[test]
    fn a_refusal_has_its_state_and_says_whether_the_session_is_over() {
        let body = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0";
        let refusal = refusal(body);
        assert!(refusal.is_fatal);
        assert_eq!((&*refusal.code, &*refusal.message), ("57P01", "terminating connection"));
    }
}
