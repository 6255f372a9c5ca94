//! Decodes requests (RESP or lines) and encodes replies (RESP) on the admin connection.

use bytes::{Buf, BytesMut};
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::types::BytesFrame;

const REQUEST_MAX: usize = 64 * 1024;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Ok,
    Text(&'static str),
    Number(i64),
    Lines(Vec<String>),
    Hello(u8),
    Wrong(String),
}

impl Answer {
    pub(super) fn encoded(&self) -> Vec<u8> {
        match self {
            Answer::Ok => b"+OK\r\n".to_vec(),
            Answer::Text(text) => format!("+{text}\r\n").into_bytes(),
            Answer::Number(number) => format!(":{number}\r\n").into_bytes(),
            Answer::Hello(protocol) => hello(*protocol).into_bytes(),
            Answer::Wrong(problem) => {
                format!("-ERR {}\r\n", problem.replace(['\r', '\n'], " ")).into_bytes()
            }
            Answer::Lines(lines) => {
                let bulk = |line: &String| format!("${}\r\n{line}\r\n", line.len());
                let all: String = lines.iter().map(bulk).collect();
                format!("*{}\r\n{all}", lines.len()).into_bytes()
            }
        }
    }
}

fn hello(protocol: u8) -> String {
    let head = if protocol == 3 { "%4" } else { "*8" };
    format!(
        "{head}\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n\
         $5\r\nproto\r\n:{protocol}\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
    )
}

pub(super) fn take_request(input: &mut BytesMut) -> Result<Option<Vec<String>>, &'static str> {
    if input.len() > REQUEST_MAX {
        return Err("Protocol error: a request of more than 64 KB");
    }
    if input.first() != Some(&b'*') {
        let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line = String::from_utf8_lossy(&input[..end]).into_owned();
        input.advance(end + 1);
        return Ok(Some(line.split_whitespace().map(str::to_owned).collect()));
    }
    match decode_bytes_mut(input) {
        Ok(Some((BytesFrame::Array(words), ..))) => {
            let word = |frame: &BytesFrame| match frame {
                BytesFrame::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                _ => String::new(),
            };
            Ok(Some(words.iter().map(word).collect()))
        }
        Ok(Some(_)) | Err(_) => Err("Protocol error: expected an array of bulk strings"),
        Ok(None) => Ok(None),
    }
}

pub(super) fn first_word(bytes: &[u8]) -> Option<String> {
    let mut input = BytesMut::from(bytes);
    take_request(&mut input).ok().flatten()?.into_iter().next()
}

pub(super) fn command(words: &[&str]) -> Vec<u8> {
    let bulk = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    let all: String = words.iter().map(bulk).collect();
    format!("*{}\r\n{all}", words.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_in_resp_or_as_lines_and_in_pieces() {
        let mut input = BytesMut::from(&command(&["CLOCK", "ADVANCE", "10s"])[..10]);
        assert_eq!(take_request(&mut input), Ok(None));
        input.extend_from_slice(&command(&["CLOCK", "ADVANCE", "10s"])[10..]);
        input.extend_from_slice(b"  judge \r\n");
        let words = |words: &[&str]| Ok(Some(words.iter().map(|word| word.to_string()).collect()));
        assert_eq!(take_request(&mut input), words(&["CLOCK", "ADVANCE", "10s"]));
        assert_eq!(take_request(&mut input), words(&["judge"]));
        assert_eq!(take_request(&mut input), Ok(None));
        assert!(take_request(&mut BytesMut::from("*1\r\n:5x\r\n")).is_err());
    }
}
