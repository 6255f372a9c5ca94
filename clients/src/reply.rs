use bytes::{Buf, Bytes, BytesMut};
use redis_protocol::resp2::decode::decode_range;
use redis_protocol::resp2::types::RangeFrame;

const REPLY_BYTES_MAX: usize = 1024 * 1024;

/// Maximum nesting of arrays. It limits the decoder's recursion.
const DEPTH_MAX: usize = 8;

const DIGITS_PLAIN_MAX: usize = 18;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    Status(Bytes),
    /// A [`Session`](crate::Session) returns an error reply only inside an array, as in `EXEC`.
    Error(String),
    Integer(i64),
    Bulk(Bytes),
    Array(Vec<Reply>),
    Nil,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidReply(pub String);

impl Reply {
    pub fn is_ok(&self) -> bool {
        matches!(self, Reply::Status(text) if text.as_ref() == b"OK")
    }

    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Reply::Status(bytes) | Reply::Bulk(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Reply]> {
        match self {
            Reply::Array(elements) => Some(elements),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn take_from(buffer: &mut BytesMut) -> Result<Option<Reply>, InvalidReply> {
        if buffer.is_empty() {
            return Ok(None);
        }
        match take_plain(buffer) {
            None => Reply::take_any_from(buffer),
            reply => Ok(reply),
        }
    }

    #[cold]
    fn take_any_from(buffer: &mut BytesMut) -> Result<Option<Reply>, InvalidReply> {
        if !nests_within_bound(buffer) {
            return Err(InvalidReply(format!("arrays nested deeper than {DEPTH_MAX}")));
        }
        match decode_range(buffer) {
            Ok(Some((frame, length))) => Ok(Some(take_frame(&frame, length, buffer))),
            Ok(None) if buffer.len() > REPLY_BYTES_MAX => {
                Err(InvalidReply(format!("more than {REPLY_BYTES_MAX} bytes")))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(InvalidReply(error.to_string())),
        }
    }
}

fn take_plain(buffer: &mut BytesMut) -> Option<Reply> {
    let (reply, length) = match &buffer[..] {
        [b'+', b'O', b'K', b'\r', b'\n', ..] => (Reply::Status(Bytes::from_static(b"OK")), 5),
        [b'$', b'-', b'1', b'\r', b'\n', ..] => (Reply::Nil, 5),
        [b':', rest @ ..] => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !(1..=DIGITS_PLAIN_MAX).contains(&digits)
                || rest.get(digits..digits + 2) != Some(b"\r\n")
            {
                return None;
            }
            let number = rest[..digits]
                .iter()
                .fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
            (Reply::Integer(number), digits + 3)
        }
        _ => return None,
    };
    if length == buffer.len() {
        buffer.clear();
    } else {
        buffer.advance(length);
    }
    Some(reply)
}

fn take_frame(frame: &RangeFrame, length: usize, buffer: &mut BytesMut) -> Reply {
    let plain = match frame {
        RangeFrame::Integer(number) => Some(Reply::Integer(*number)),
        RangeFrame::Null => Some(Reply::Nil),
        RangeFrame::SimpleString((start, end)) if &buffer[*start..*end] == b"OK" => {
            Some(Reply::Status(Bytes::from_static(b"OK")))
        }
        _ => None,
    };
    match plain {
        Some(reply) => {
            buffer.advance(length);
            reply
        }
        None => reply_of(frame, &buffer.split_to(length).freeze()),
    }
}

fn reply_of(frame: &RangeFrame, bytes: &Bytes) -> Reply {
    match frame {
        RangeFrame::SimpleString((start, end)) => Reply::Status(bytes.slice(*start..*end)),
        RangeFrame::Error((start, end)) => {
            Reply::Error(String::from_utf8_lossy(&bytes[*start..*end]).into_owned())
        }
        RangeFrame::Integer(number) => Reply::Integer(*number),
        RangeFrame::BulkString((start, end)) => Reply::Bulk(bytes.slice(*start..*end)),
        RangeFrame::Array(frames) => {
            Reply::Array(frames.iter().map(|frame| reply_of(frame, bytes)).collect())
        }
        RangeFrame::Null => Reply::Nil,
    }
}

/// Returns `false` for arrays nested deeper than [`DEPTH_MAX`]. The decoder rejects invalid input.
fn nests_within_bound(bytes: &[u8]) -> bool {
    let mut open = [0_usize; DEPTH_MAX];
    let mut depth = 0;
    let mut rest = bytes;
    while let Some((kind, count, after)) = split_line(rest) {
        rest = after;
        match (kind, count) {
            (b'*', Some(length)) if length > 0 => {
                if depth == DEPTH_MAX {
                    return false;
                }
                open[depth] = length;
                depth += 1;
                continue;
            }
            (b'$', Some(length)) => match rest.get(length.saturating_add(2)..) {
                Some(after) => rest = after,
                None => return true,
            },
            _ => {}
        }
        depth = depth_after_element(&mut open, depth);
        if depth == 0 {
            return true;
        }
    }
    true
}

fn depth_after_element(open: &mut [usize; DEPTH_MAX], mut depth: usize) -> usize {
    while depth > 0 {
        open[depth - 1] -= 1;
        if open[depth - 1] > 0 {
            break;
        }
        depth -= 1;
    }
    depth
}

fn split_line(bytes: &[u8]) -> Option<(u8, Option<usize>, &[u8])> {
    let kind = *bytes.first()?;
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let count =
        std::str::from_utf8(bytes.get(1..end)?).ok().and_then(|text| text.parse::<usize>().ok());
    Some((kind, count, &bytes[end + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn take(bytes: &[u8]) -> Result<Option<Reply>, InvalidReply> {
        Reply::take_from(&mut BytesMut::from(bytes))
    }

    #[test]
    fn every_kind_of_reply_is_understood() {
        let bulk = |text: &'static str| Reply::Bulk(Bytes::from_static(text.as_bytes()));
        for (bytes, expected) in [
            ("+OK\r\n", Reply::Status(Bytes::from_static(b"OK"))),
            ("+PONG\r\n", Reply::Status(Bytes::from_static(b"PONG"))),
            ("-ERR no\r\n", Reply::Error("ERR no".into())),
            (":-12\r\n", Reply::Integer(-12)),
            ("$-1\r\n", Reply::Nil),
            ("*-1\r\n", Reply::Nil),
            ("$5\r\na\r\nbc\r\n", bulk("a\r\nbc")),
            ("*0\r\n", Reply::Array(vec![])),
            (
                "*2\r\n$1\r\na\r\n*1\r\n:7\r\n",
                Reply::Array(vec![bulk("a"), Reply::Array(vec![Reply::Integer(7)])]),
            ),
        ] {
            assert_eq!(take(bytes.as_bytes()), Ok(Some(expected)), "{bytes:?}");
        }
    }

    #[test]
    fn replies_are_taken_one_by_one_and_leave_the_rest() {
        let mut buffer = BytesMut::from(&b":1\r\n$2\r\nab\r\n+O"[..]);
        assert_eq!(Reply::take_from(&mut buffer), Ok(Some(Reply::Integer(1))));
        assert_eq!(Reply::take_from(&mut buffer), Ok(Some(Reply::Bulk(Bytes::from_static(b"ab")))));
        assert_eq!(Reply::take_from(&mut buffer), Ok(None));
        assert_eq!(&buffer[..], b"+O");
    }

    #[test]
    fn rejects_arrays_nested_without_end() {
        assert!(take(b"*1\r\n".repeat(100_000).as_slice()).is_err());
        assert!(take(b"*2\r\n:1\r\n".repeat(100_000).as_slice()).is_err());
    }

    #[test]
    fn accepts_arrays_nested_as_deep_as_allowed() {
        let mut bytes = b"*1\r\n".repeat(DEPTH_MAX);
        bytes.extend_from_slice(b":1\r\n");
        assert!(matches!(take(&bytes), Ok(Some(Reply::Array(_)))));
        bytes.splice(0..0, b"*1\r\n".iter().copied());
        assert!(take(&bytes).is_err());
    }

    #[test]
    fn accepts_many_arrays_beside_each_other() {
        let mut bytes = b"*1000\r\n".to_vec();
        bytes.extend(b"*1\r\n:1\r\n".repeat(1_000));
        assert!(
            matches!(take(&bytes), Ok(Some(Reply::Array(elements))) if elements.len() == 1_000)
        );
    }

    #[test]
    fn rejects_a_reply_without_end() {
        let mut bytes = b"$99999999\r\n".to_vec();
        bytes.resize(REPLY_BYTES_MAX + 1, b'x');
        assert!(take(&bytes).is_err());
    }

    #[test]
    fn an_error_that_is_not_text_is_still_an_error() {
        assert!(matches!(take(b"-\xff\xfe\r\n"), Ok(Some(Reply::Error(_)))));
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"*2\r\n".to_vec()),
            Just(b"*-1\r\n".to_vec()),
            Just(b"*99999999999999999999\r\n".to_vec()),
            Just(b"*9223372036854775807\r\n".to_vec()),
            Just(b"$3\r\nabc\r\n".to_vec()),
            Just(b"$9223372036854775807\r\n".to_vec()),
            Just(b"$-5\r\n".to_vec()),
            Just(b":12\r\n".to_vec()),
            Just(b":x\r\n".to_vec()),
            Just(b":007\r\n".to_vec()),
            Just(b":-3\r\n".to_vec()),
            Just(b":+3\r\n".to_vec()),
            Just(b":999999999999999999\r\n".to_vec()),
            Just(b":9999999999999999999\r\n".to_vec()),
            Just(b":1\r".to_vec()),
            Just(b"$-1\r\n".to_vec()),
            Just(b"+OK\r\n".to_vec()),
            Just(b"+OKAY\r\n".to_vec()),
            Just(b"\r\n".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nonsense_never_panics(bytes in pieces()) {
            let _ = take(&bytes);
        }

        #[test]
        fn plain_replies_are_what_the_decoder_makes_of_them(bytes in pieces()) {
            let (mut ours, mut theirs) = (BytesMut::from(&bytes[..]), BytesMut::from(&bytes[..]));
            prop_assert_eq!(Reply::take_from(&mut ours), Reply::take_any_from(&mut theirs));
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn a_reply_split_anywhere_is_the_same_reply(
            text in "[a-z\r\n]{0,12}",
            cut in 0_usize..100,
        ) {
            let whole = format!("*2\r\n${}\r\n{}\r\n:5\r\n", text.len(), text);
            let cut = cut.min(whole.len() - 1);
            let mut buffer = BytesMut::from(&whole.as_bytes()[..cut]);
            prop_assert_eq!(Reply::take_from(&mut buffer), Ok(None));
            buffer.extend_from_slice(&whole.as_bytes()[cut..]);
            prop_assert_eq!(Reply::take_from(&mut buffer), take(whole.as_bytes()));
        }
    }
}
