use crate::{Config, Memcached};
use fencepost_machine::KeyChange;
use fencepost_testing::Bench;
use proptest::prelude::*;

fn answers<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
    let mut bench = Bench::new(|_, now| Memcached::new(Config::default(), now));
    let connection = bench.connect();
    pieces.into_iter().for_each(|bytes| bench.send(connection, bytes));
    bench.take(connection)
}

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let words: &[&[u8]] = &[
        b"set ", b"add ", b"cas ", b"get ", b"gets ", b"gat ", b"delete ", b"incr ", b"touch ",
        b"flush_all ", b"a ", b"0 ", b"1 ", b"-1 ", b"2147483647 ", b"99999999999999999999 ",
        b"noreply", b"\r\n", b"\n", b"\r", b"\0", b" ", b"\xff",
    ];
    let word = prop::sample::select(words).prop_map(<[u8]>::to_vec);
    let piece = prop_oneof![8 => word, 1 => prop::collection::vec(any::<u8>(), 0..20)];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in hostile()) {
        answers([&bytes[..]]);
    }

    #[test]
    fn a_command_that_is_cut_short_is_waited_for(length in 0_usize..18) {
        let whole = b"set k 0 0 4\r\nabcd\r\n";
        prop_assert_eq!(answers([&whole[..length]]), b"");
    }

    #[test]
    fn a_line_without_an_end_ends_the_connection(
        length in 2_049_usize..9_000,
        size in 1_usize..3_000,
    ) {
        let line = vec![b'x'; length];
        let after: &[u8] = b"\r\nversion\r\n";
        prop_assert_eq!(answers(line.chunks(size).chain([after])), b"");
    }

    #[test]
    fn bytes_in_pieces_are_answered_as_the_same_bytes_at_once(
        bytes in hostile(),
        size in 1_usize..20,
    ) {
        let (whole, split) = (answers([&bytes[..]]), answers(bytes.chunks(size)));
        prop_assert_eq!(String::from_utf8_lossy(&whole), String::from_utf8_lossy(&split));
    }
}

#[test]
fn one_connection_too_many_is_refused_in_memcacheds_own_words() {
    let config = Config { connections_max: 2, ..Config::default() };
    let mut bench = Bench::new(|_, now| Memcached::new(config, now));
    let [first, second, third] = [(); 3].map(|()| bench.connect());
    assert_eq!((bench.unread(first), bench.unread(second)), (&b""[..], &b""[..]));
    assert_eq!(bench.take(third), b"ERROR Too many open connections\r\n");
    assert_eq!(bench.closed, [third]);
}

#[test]
fn a_value_that_is_too_large_removes_the_old_one_and_reports_it() {
    let config = Config { tap_prefix: Some("lock".into()), ..Config::default() };
    let mut bench = Bench::new(|_, now| Memcached::new(config, now));
    let connection = bench.connect();
    bench.send(connection, b"set lock 0 0 1\r\na\r\nset lock 0 0 2000000\r\n");
    let changes: Vec<KeyChange> = bench.taps.iter().map(|tap| tap.change).collect();
    assert_eq!(changes, [KeyChange::Granted, KeyChange::Removed]);
}
