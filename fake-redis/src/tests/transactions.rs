use crate::testing::{Bench, check, check_on};

#[test]
fn what_fails_in_the_middle_is_not_undone() {
    check(&[
        ("SET s text", "+OK"),
        ("MULTI", "+OK"),
        ("SET a 1", "+QUEUED"),
        ("INCR s", "+QUEUED"),
        ("SET b 2", "+QUEUED"),
        ("EXEC", "*3|+OK|-ERR value is not an integer or out of range|+OK"),
        ("MGET a b", "*2|$1|1|$1|2"),
    ]);
}

#[test]
fn a_transaction_with_a_command_that_was_refused_does_not_happen() {
    check(&[
        ("MULTI", "+OK"),
        ("SET a 1", "+QUEUED"),
        ("NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: "),
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
        ("EXISTS a", ":0"),
        ("EXEC", "-ERR EXEC without MULTI"),
        ("DISCARD", "-ERR DISCARD without MULTI"),
    ]);
}

#[test]
fn a_change_of_a_watched_key_by_anybody_cancels() {
    check(&[
        ("WATCH k", "+OK"),
        ("1>SET k other", "+OK"),
        ("MULTI", "+OK"),
        ("SET k mine", "+QUEUED"),
        ("EXEC", "*-1"),
        ("GET k", "$5|other"),
        ("MULTI", "+OK"),
        ("SET k mine", "+QUEUED"),
        ("EXEC", "*1|+OK"),
    ]);
}

#[test]
fn only_what_changes_a_watched_key_cancels() {
    check(&[
        ("SET k v", "+OK"),
        ("WATCH k", "+OK"),
        ("1>GET k", "$1|v"),
        ("1>SET other v", "+OK"),
        ("1>DEL nokey", ":0"),
        ("MULTI", "+OK"),
        ("EXEC", "*0"),
        ("WATCH k", "+OK"),
        ("1>EXPIRE k 100", ":1"),
        ("MULTI", "+OK"),
        ("EXEC", "*-1"),
        ("WATCH k", "+OK"),
        ("1>SELECT 1", "+OK"),
        ("1>SET k v", "+OK"),
        ("MULTI", "+OK"),
        ("EXEC", "*0"),
        ("WATCH k", "+OK"),
        ("1>FLUSHALL", "+OK"),
        ("MULTI", "+OK"),
        ("EXEC", "*-1"),
    ]);
}

#[test]
fn a_watched_key_that_expires_cancels_though_nobody_looked() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[
            ("DEBUG SET-ACTIVE-EXPIRE 0", "+OK"),
            ("SET k v PX 100", "+OK"),
            ("WATCH k", "+OK"),
            ("+101", ""),
            ("MULTI", "+OK"),
            ("EXEC", "*-1"),
            // The key had expired before WATCH, so it has not changed.
            ("WATCH k", "+OK"),
            ("MULTI", "+OK"),
            ("PING", "+QUEUED"),
            ("EXEC", "*1|+PONG"),
        ],
    );
}

#[test]
fn unwatch_and_discard_forget_what_was_watched() {
    check(&[
        ("WATCH k", "+OK"),
        ("1>SET k v", "+OK"),
        ("UNWATCH", "+OK"),
        ("MULTI", "+OK"),
        ("EXEC", "*0"),
        ("WATCH k", "+OK"),
        ("MULTI", "+OK"),
        ("DISCARD", "+OK"),
        ("1>SET k w", "+OK"),
        ("MULTI", "+OK"),
        ("EXEC", "*0"),
        ("MULTI", "+OK"),
        ("MULTI", "-ERR MULTI calls can not be nested"),
        ("WATCH k", "-ERR WATCH inside MULTI is not allowed"),
        ("EXEC", "*0"),
    ]);
}

#[test]
fn nobody_gets_in_between_the_commands_of_a_transaction() {
    let mut bench = Bench::new();
    let pipeline = b"MULTI\r\nINCR n\r\nINCR n\r\nEXEC\r\n";
    bench.raw(0, &pipeline[..15]);
    assert_eq!(bench.type_at(1, "GET n"), "$-1");
    bench.raw(0, &pipeline[15..]);
    assert_eq!(bench.type_at(1, "GET n"), "$1|2");
    assert_eq!(bench.propagated(), "MULTI | INCR n | INCR n | EXEC");
}

/// This test would take seconds if each key were compared with all others.
#[test]
fn thousands_of_keys_are_watched_once_each() {
    let mut bench = Bench::new();
    let names: Vec<String> = (0..20_000).map(|number| format!("k{}", number % 10_000)).collect();
    let words: Vec<&[u8]> = std::iter::once("WATCH")
        .chain(names.iter().map(String::as_str))
        .map(str::as_bytes)
        .collect();
    bench.words(1, &words);
    bench.run("SET k9999 v");
    assert_eq!(bench.type_at(1, "MULTI"), "+OK");
    assert_eq!(bench.type_at(1, "PING"), "+QUEUED");
    assert_eq!(bench.type_at(1, "EXEC"), "*-1");
    bench.run("SET k1 v");
    check_on(&mut bench, &[("1>MULTI", "+OK"), ("1>PING", "+QUEUED"), ("1>EXEC", "*1|+PONG")]);
}
