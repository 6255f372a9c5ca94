use crate::call_error::CallError;
use bytes::{Buf, Bytes, BytesMut};

const LINE_MAX: usize = 2_048;
/// Maximum item size in bytes: twice the server's default.
const ITEM_MAX: usize = 2 * 1024 * 1024;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Line(String),
    Items(Vec<Item>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    pub value: Bytes,
    pub cas: Option<u64>,
}

impl Answer {
    /// Removes an answer from the buffer. Returns `None` if the answer is incomplete.
    pub(super) fn take_from(input: &mut BytesMut) -> Result<Option<Answer>, CallError> {
        let (mut at, mut items) = (0, Vec::new());
        loop {
            let Some((line, length)) = line(&input[at..])? else { return Ok(None) };
            at += length + 2;
            match line.strip_prefix("VALUE ") {
                Some(head) => {
                    let (length, cas) = head_of(head).ok_or_else(|| malformed(&line))?;
                    let Some(block) = input[at..].get(..length + 2) else { return Ok(None) };
                    if !block.ends_with(b"\r\n") {
                        return Err(malformed(&line));
                    }
                    let value = Bytes::copy_from_slice(&block[..length]);
                    items.push(Item { value, cas });
                    at += length + 2;
                }
                None if line == "END" => {
                    input.advance(at);
                    return Ok(Some(Answer::Items(items)));
                }
                None if !items.is_empty() => return Err(malformed(&line)),
                None => {
                    input.advance(at);
                    return answer_of(line).map(Some);
                }
            }
        }
    }

    pub(super) fn unexpected(&self) -> CallError {
        CallError::Malformed(format!("unexpected {self:?}"))
    }
}

fn line(input: &[u8]) -> Result<Option<(String, usize)>, CallError> {
    let end = input.windows(2).take(LINE_MAX).position(|pair| pair == b"\r\n");
    match end {
        Some(end) => Ok(Some((String::from_utf8_lossy(&input[..end]).into_owned(), end))),
        None if input.len() > LINE_MAX => {
            Err(CallError::Malformed(format!("a line of more than {LINE_MAX} bytes")))
        }
        None => Ok(None),
    }
}

/// Parses `key flags length [cas]` and returns the length and the cas id.
fn head_of(head: &str) -> Option<(usize, Option<u64>)> {
    let words: Vec<&str> = head.split(' ').collect();
    let length: usize = words.get(2)?.parse().ok().filter(|length| *length <= ITEM_MAX)?;
    match words[..] {
        [_, _, _] => Some((length, None)),
        [_, _, _, cas] => Some((length, Some(cas.parse().ok()?))),
        _ => None,
    }
}

fn answer_of(line: String) -> Result<Answer, CallError> {
    let is_error = line == "ERROR"
        || ["CLIENT_ERROR ", "SERVER_ERROR "].iter().any(|word| line.starts_with(word));
    if is_error { Err(CallError::Server(line)) } else { Ok(Answer::Line(line)) }
}

fn malformed(line: &str) -> CallError {
    CallError::Malformed(format!("the line '{line}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> (Result<Option<Answer>, CallError>, usize) {
        let mut input = BytesMut::from(bytes);
        let answer = Answer::take_from(&mut input);
        (answer, input.len())
    }

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let bytes: &[u8] = b"VALUE k 0 3 7\r\na\r\n\r\nEND\r\nSTORED\r\n";
        let items = vec![Item { value: Bytes::from_static(b"a\r\n").slice(..3), cas: Some(7) }];
        for length in 0..25 {
            assert_eq!(read(&bytes[..length]), (Ok(None), length));
        }
        assert_eq!(read(bytes), (Ok(Some(Answer::Items(items))), 8));
        assert_eq!(read(b"END\r\n"), (Ok(Some(Answer::Items(Vec::new()))), 0));
        let odd = Answer::Line("\u{fffd}".to_owned());
        assert_eq!(read(b"\xff\r\nx"), (Ok(Some(odd)), 1), "a byte that is no text");
        assert_eq!(read(b"STORED\r\nx"), (Ok(Some(Answer::Line("STORED".to_owned()))), 1));
    }

    #[test]
    fn what_the_server_refuses_did_not_happen_and_nonsense_may_have() {
        let error = |bytes: &[u8]| read(bytes).0.unwrap_err();
        for refusal in ["ERROR", "CLIENT_ERROR bad data chunk", "SERVER_ERROR out of memory"] {
            assert!(!error(format!("{refusal}\r\n").as_bytes()).may_have_applied());
        }
        for nonsense in
            ["VALUE k 0\r\n", "VALUE k 0 x\r\n", "VALUE k 0 1\r\nabc", "VALUE a b c d e\r\n"]
        {
            assert!(error(nonsense.as_bytes()).may_have_applied(), "{nonsense}");
        }
        assert!(error(&[b'x'; LINE_MAX + 2]).may_have_applied());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = read(&bytes);
            let _ = read(&[b"VALUE k 0 ", &bytes[..]].concat());
        }
    }
}
