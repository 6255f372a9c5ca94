//! The expected texts are those of redis-server 7.0.15.

use crate::config::NodeConfig;
use crate::protocol::request::{Limits, RequestReader};
use crate::testing::Bench;
use proptest::collection::vec;
use proptest::prelude::*;
use redis_protocol::resp2::decode::decode;
use redis_protocol::resp2::types::{OwnedFrame, Resp2Frame};

#[track_caller]
fn check_closed(bytes: &[u8], expected: &str) {
    let mut bench = Bench::new();
    let reply = bench.raw(0, bytes);
    assert_eq!(String::from_utf8_lossy(&reply), format!("-ERR Protocol error: {expected}\r\n"));
    assert_eq!(bench.closed.len(), 1, "the connection is closed");
    assert_eq!(bench.raw(0, b"PING\r\n"), b"", "and nothing more is served on it");
}

#[test]
fn what_cannot_be_understood_is_answered_and_closes_the_connection() {
    check_closed(b"*x\r\n", "invalid multibulk length");
    check_closed(b"*+1\r\n", "invalid multibulk length");
    check_closed(b"*01\r\n", "invalid multibulk length");
    check_closed(b"*2147483648\r\n", "invalid multibulk length");
    check_closed(b"*1\r\nx\r\n", "expected '$', got 'x'");
    check_closed(b"*1\r\n$-1\r\n", "invalid bulk length");
    check_closed(b"*1\r\n$ 4\r\nPING\r\n", "invalid bulk length");
    check_closed(b"*1\r\n$536870913\r\n", "invalid bulk length");
    check_closed(b"'unbalanced\r\n", "unbalanced quotes in request");
    check_closed(b"GET \"a\"b\r\n", "unbalanced quotes in request");
}

#[test]
fn lines_without_an_end_are_given_up() {
    let long = |start: &[u8]| [start, &[b'1'; 66_000]].concat();
    check_closed(&long(b"get "), "too big inline request");
    check_closed(&long(b"*"), "too big mbulk count string");
    check_closed(&long(b"*1\r\n$"), "too big bulk count string");
}

#[test]
fn what_redis_does_not_look_at_is_not_looked_at() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.raw(0, b"*1\r\n$4\r\nPINGxx"),
        b"+PONG\r\n",
        "the end of a bulk is skipped unread"
    );
    assert_eq!(
        bench.raw(0, b"*0\r\n*-10\r\n\r\n  \r\nPING\r\n"),
        b"+PONG\r\n",
        "empty requests are no requests"
    );
    assert_eq!(bench.raw(0, b"PING\0\r\nPING\r\n"), b"", "C sees no line behind a NUL byte");
    assert_eq!(bench.raw(1, b"ECHO \"a\\x41\\n\"\n"), b"$3\r\naA\n\r\n");
}

#[test]
fn a_pipeline_is_served_one_command_an_input_and_in_order() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.raw(0, b"SET n 1\r\nINCR n\r\nGET n\r\nQUIT\r\nINCR n\r\n"),
        b"+OK\r\n:2\r\n$1\r\n2\r\n+OK\r\n"
    );
    assert_eq!(bench.closed.len(), 1);
    assert_eq!(bench.type_at(1, "GET n"), "$1|2", "what follows QUIT is not served");
}

#[test]
fn a_client_that_never_ends_its_request_is_dropped() {
    let mut bench =
        Bench::with(NodeConfig { client_query_buffer_limit: 100_000, ..NodeConfig::default() });
    bench.raw(0, b"*1\r\n$500000\r\n");
    for _ in 0..11 {
        bench.raw(0, &[b'x'; 10_000]);
    }
    assert_eq!(bench.closed.len(), 1);
}

fn request() -> impl Strategy<Value = Vec<u8>> {
    let names = [
        "SET", "GET", "DEL", "INCR", "HSET", "EXPIRE", "MULTI", "EXEC", "WATCH", "PING", "EVAL",
        "HELLO", "SUBSCRIBE", "nosuch",
    ];
    let argument = prop_oneof![
        Just(b"k".to_vec()),
        Just(b"10".to_vec()),
        Just(b"NX".to_vec()),
        vec(any::<u8>(), 0..12)
    ];
    let bulk = (proptest::sample::select(names.to_vec()), vec(argument, 0..5)).prop_map(
        |(name, arguments)| {
            let mut bytes =
                format!("*{}\r\n${}\r\n{name}\r\n", arguments.len() + 1, name.len()).into_bytes();
            for argument in arguments {
                bytes.extend(format!("${}\r\n", argument.len()).bytes());
                bytes.extend(argument);
                bytes.extend(b"\r\n");
            }
            bytes
        },
    );
    let inline =
        "(PING|GET k|SET k \"a b\"|INCR n|MULTI|EXEC|  ){1,2}\r?\n".prop_map(String::into_bytes);
    prop_oneof![3 => bulk, 1 => inline]
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "*", "$", "1", "3", "-1", "\r\n", "\r", "\n", "\0", "GET", "k", " ", "\"", "'",
        "99999999999", "*2\r\n$3\r\nGET\r\n",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..6),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn replies_to(pieces: impl Iterator<Item = Vec<u8>>) -> (Vec<u8>, usize) {
    let mut bench = Bench::new();
    let mut replies = Vec::new();
    for piece in pieces {
        replies.extend(bench.raw(0, &piece));
    }
    (replies, bench.closed.len())
}

fn read_all(bytes: &[u8]) -> (Vec<Vec<Vec<u8>>>, bool) {
    let limits = Limits::of(1 << 29);
    let mut reader = RequestReader::default();
    reader.feed(bytes);
    let mut requests = Vec::new();
    loop {
        match reader.advance(limits) {
            Ok(false) => return (requests, false),
            Err(_) => return (requests, true),
            Ok(true) => {
                let request = reader.take();
                requests.push(request.args().iter().map(<[u8]>::to_vec).collect());
                reader.give_back(request);
            }
        }
    }
}

/// redis-protocol requires errors to be text, but Redis repeats arbitrary bytes in errors.
fn frame_length(bytes: &[u8]) -> Option<usize> {
    let line = || bytes.windows(2).position(|end| end == b"\r\n").map(|end| end + 2);
    match bytes.first()? {
        b'-' => line(),
        b'*' => {
            let start = line()?;
            let count: i64 = std::str::from_utf8(&bytes[1..start - 2]).ok()?.parse().ok()?;
            (0..count).try_fold(start, |at, _| Some(at + frame_length(&bytes[at..])?))
        }
        _ => decode(bytes).ok().flatten().map(|(_, length)| length),
    }
}

#[test]
fn an_error_repeats_bytes_that_are_no_text_in_a_transaction_too() {
    let mut bench = Bench::new();
    bench.raw(0, b"MULTI\r\n");
    bench.raw(0, b"EXPIRE k 1 \"\\xff\"\r\n");
    let reply = bench.raw(0, b"EXEC\r\n");
    assert_eq!(reply, b"*1\r\n-ERR Unsupported option \xff\r\n");
    assert_eq!(frame_length(&reply), Some(reply.len()));
    assert_eq!(frame_length(&reply[..reply.len() - 1]), None, "a frame that was cut off is none");
    assert_eq!(frame_length(b"*2\r\n:1\r\n"), None, "nor is an array that lacks an element");
}

proptest! {
    #[test]
    fn where_the_bytes_are_split_makes_no_difference(
        requests in vec(request(), 1..8),
        cuts in vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let bytes = requests.concat();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec());
        prop_assert_eq!(replies_to(pieces), replies_to(std::iter::once(bytes.clone())));
    }

    #[test]
    fn noise_never_panics_and_splitting_it_makes_no_difference(bytes in noise()) {
        let whole = replies_to(std::iter::once(bytes.clone()));
        let single = replies_to(bytes.iter().map(|byte| vec![*byte]));
        prop_assert_eq!(whole, single);
    }

    #[test]
    fn what_redis_protocol_encodes_is_read_back(words in vec(vec(any::<u8>(), 0..20), 1..6)) {
        let frames = words.iter().map(|word| OwnedFrame::BulkString(word.clone())).collect();
        let frame = OwnedFrame::Array(frames);
        let mut bytes = vec![0; frame.encode_len(false)];
        redis_protocol::resp2::encode::encode(&mut bytes, &frame, false).unwrap();
        prop_assert_eq!(read_all(&bytes), (vec![words], false));
    }

    #[test]
    fn every_reply_is_a_frame(requests in vec(request(), 1..6)) {
        let greets = |request: &[u8]| request.windows(5).any(|part| part == b"HELLO");
        let (replies, _) = replies_to(requests.into_iter().filter(|request| !greets(request)));
        let mut rest = &replies[..];
        while !rest.is_empty() {
            let Some(length) = frame_length(rest) else {
                panic!("no frame: {:?}", String::from_utf8_lossy(rest));
            };
            rest = &rest[length..];
        }
    }
}
