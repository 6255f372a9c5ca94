//! The subset of RESP for the judge and the storage, and replies to client libraries' handshakes.

use bytes::{Bytes, BytesMut};
use fencepost_faults::Micros;
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::types::BytesFrame;

const VERSION: &str = "7.0.15";

pub(crate) fn next_command(buffer: &mut BytesMut) -> Result<Option<Vec<Bytes>>, ()> {
    match decode_bytes_mut(buffer) {
        Ok(Some((frame, _, _))) => words(&frame).map(Some).ok_or(()),
        Ok(None) => Ok(None),
        Err(_) => Err(()),
    }
}

pub(crate) fn words(frame: &BytesFrame) -> Option<Vec<Bytes>> {
    let BytesFrame::Array(items) = frame else { return None };
    let word = |item: &BytesFrame| match item {
        BytesFrame::BulkString(bytes) => Some(bytes.clone()),
        _ => None,
    };
    items.iter().map(word).collect::<Option<Vec<_>>>().filter(|words| !words.is_empty())
}

pub(crate) fn name(word: &Bytes) -> String {
    String::from_utf8_lossy(word).to_ascii_uppercase()
}

pub(crate) fn take_pair(words: &mut Vec<Bytes>, wanted: &str) -> Option<Bytes> {
    let place = (2..words.len().checked_sub(1)?).rev().find(|at| name(&words[*at]) == wanted)?;
    words.drain(place..place + 2).nth(1)
}

pub(crate) fn number<T: std::str::FromStr>(word: &Bytes) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

pub(crate) fn parse_token(word: Option<&Bytes>) -> Result<Option<u64>, String> {
    let refuse = |word| format!("expected an integer from 0 as the token, not {}", quoted(word));
    word.map(|word| number(word).ok_or_else(|| refuse(word))).transpose()
}

/// Returns the duration in a number of milliseconds, which may have a fraction. A negative number
/// counts as 0, because the validity has ended; a number above a year counts as a year.
pub(crate) fn milliseconds(word: &Bytes) -> Option<Micros> {
    const YEAR_MS: f64 = 366.0 * 86_400_000.0;
    let ms = number::<f64>(word).filter(|ms| !ms.is_nan())?;
    Some(Micros((ms.clamp(0.0, YEAR_MS) * 1_000.0) as u64))
}

/// Returns the word as part of an error, shortened and without line breaks.
pub(crate) fn quoted(word: &Bytes) -> String {
    const CHARACTERS_MAX: usize = 40;
    let text = String::from_utf8_lossy(word);
    let shown = text.chars().filter(|character| !character.is_control()).take(CHARACTERS_MAX);
    format!("'{}'", shown.collect::<String>())
}

pub(crate) fn answer_handshake(words: &[Bytes]) -> Option<String> {
    Some(match name(&words[0]).as_str() {
        "HELLO" => hello(words.get(1)),
        "AUTH" | "SELECT" | "QUIT" | "READONLY" | "RESET" => "+OK\r\n".to_owned(),
        "CLIENT" if words.len() == 2 && name(&words[1]) == "ID" => ":1\r\n".to_owned(),
        "CLIENT" => "+OK\r\n".to_owned(),
        "PING" => match words.get(1) {
            Some(text) => bulk(&String::from_utf8_lossy(text)),
            None => "+PONG\r\n".to_owned(),
        },
        "ECHO" if words.len() == 2 => bulk(&String::from_utf8_lossy(&words[1])),
        "INFO" => bulk(&format!("# Server\r\nredis_version:{VERSION}\r\nloading:0\r\n")),
        "COMMAND" => "*0\r\n".to_owned(),
        _ => return None,
    })
}

fn hello(version: Option<&Bytes>) -> String {
    let protocol: u8 = match version.map(number) {
        None => 2,
        Some(Some(protocol @ (2 | 3))) => protocol,
        Some(_) => return "-NOPROTO unsupported protocol version\r\n".to_owned(),
    };
    let head = if protocol == 3 { "%7\r\n" } else { "*14\r\n" };
    let pairs = [("server", bulk("redis")), ("version", bulk(VERSION))];
    let rest = [
        ("proto", format!(":{protocol}\r\n")),
        ("id", ":1\r\n".to_owned()),
        ("mode", bulk("standalone")),
        ("role", bulk("master")),
        ("modules", "*0\r\n".to_owned()),
    ];
    let entries = pairs.into_iter().chain(rest);
    let body: String = entries.map(|(key, value)| bulk(key) + &value).collect();
    head.to_owned() + &body
}

pub(crate) fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libraries_send_when_they_connect_is_answered_and_nothing_else() {
        let asked = |text: &str| {
            let words: Vec<Bytes> =
                text.split(' ').map(|word| Bytes::copy_from_slice(word.as_bytes())).collect();
            answer_handshake(&words)
        };
        assert!(asked("HELLO 3").unwrap().starts_with("%7\r\n$6\r\nserver\r\n"));
        assert!(asked("hello 2").unwrap().starts_with("*14\r\n"));
        assert!(asked("HELLO 9").unwrap().starts_with("-NOPROTO"));
        assert_eq!(asked("CLIENT SETINFO LIB-NAME x").unwrap(), "+OK\r\n");
        assert_eq!(asked("PING").unwrap(), "+PONG\r\n");
        assert_eq!(asked("FLUSHALL"), None);
    }

    #[test]
    fn pairs_are_taken_out_of_a_note() {
        let mut words: Vec<Bytes> =
            ["ACQUIRED", "orders", "7", "as", "b", "VALID", "900"].map(Bytes::from).to_vec();
        assert_eq!(take_pair(&mut words, "VALID").unwrap(), "900");
        assert_eq!(take_pair(&mut words, "AS").unwrap(), "b");
        assert_eq!(words, ["ACQUIRED", "orders", "7"]);
        let mut named: Vec<Bytes> = ["LOST", "AS"].map(Bytes::from).to_vec();
        assert_eq!(take_pair(&mut named, "AS"), None);
    }

    #[test]
    fn a_token_is_an_integer_and_may_be_absent() {
        let parsed = |text: &str| parse_token(Some(&Bytes::copy_from_slice(text.as_bytes())));
        assert_eq!(parse_token(None), Ok(None));
        assert_eq!(parsed("18446744073709551615"), Ok(Some(u64::MAX)));
        let refusal = "expected an integer from 0 as the token, not '0x1f'";
        assert_eq!(parsed("0x1f"), Err(refusal.to_owned()));
        assert!(["", "-1", "1.5", "18446744073709551616"].map(parsed).iter().all(Result::is_err));
    }

    #[test]
    fn milliseconds_may_have_a_fraction_and_are_a_number() {
        let read = |text: &str| milliseconds(&Bytes::copy_from_slice(text.as_bytes()));
        assert_eq!(read("900"), Some(Micros(900_000)));
        assert_eq!(read("900.25"), Some(Micros(900_250)));
        assert_eq!(read("-3"), Some(Micros(0)), "it is over");
        assert!(read("9223372036854775807").is_some());
        assert_eq!(["", "soon", "NaN", "9 s"].map(read), [None; 4]);
    }

    #[test]
    fn a_command_is_taken_off_only_when_it_is_whole() {
        let mut buffer = BytesMut::from("*1\r\n$4\r\nPI");
        assert_eq!(next_command(&mut buffer), Ok(None));
        buffer.extend_from_slice(b"NG\r\nrest");
        assert_eq!(next_command(&mut buffer), Ok(Some(vec![Bytes::from_static(b"PING")])));
        assert_eq!(&buffer[..], b"rest");
    }
}
