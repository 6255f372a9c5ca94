//! The expected results are those of redis-server 7.0.15.

use crate::testing::{Bench, readable};

fn answer(bench: &mut Bench, script: &str) -> String {
    let reply = bench.words(0, &[b"EVAL", script.as_bytes(), b"0"]);
    let reply = reply.strip_suffix(b"\r\n").unwrap_or(&reply);
    reply.escape_ascii().to_string().replace("\\r\\n", "|")
}

#[test]
fn libraries_answer_as_those_of_redis() {
    let lines: Vec<&str> = include_str!("answers.txt").lines().skip(1).collect();
    assert!(lines.len() > 190, "{} lines", lines.len());
    let mut bench = Bench::new();
    let differing: Vec<String> = lines
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1], answer(&mut bench, pair[0])))
        .filter(|(_, expected, answered)| answered != expected)
        .map(|(script, expected, answered)| {
            format!("{script}\n  expected {expected}\n  answered {answered}")
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn what_scripts_set_of_cjson_is_the_servers_and_goes_with_script_flush() {
    let mut first = Bench::new();
    assert_eq!(answer(&mut first, "return cjson.encode_number_precision(3)"), ":3");
    let encode = "return cjson.encode(1.23456)";
    assert_eq!(answer(&mut first, encode), "$4|1.23");
    assert_eq!(
        answer(&mut Bench::new(), encode),
        "$7|1.23456",
        "another server on the same thread"
    );
    assert_eq!(answer(&mut first, encode), "$4|1.23");
    assert_eq!(first.run("SCRIPT FLUSH"), "+OK");
    assert_eq!(answer(&mut first, encode), "$7|1.23456");
}

#[test]
fn data_that_nests_deeper_than_a_stack_is_refused() {
    let mut bench = Bench::new();
    let deep = "cjson.decode_max_depth(1000000) return cjson.decode(string.rep('[', 100000))";
    assert!(
        answer(&mut bench, deep)
            .starts_with("-ERR user_script:1: Found too many nested data structures (1001)")
    );
    let deep = "cjson.encode_max_depth(1000000) local t = {} t[1] = t return cjson.encode(t)";
    assert!(
        answer(&mut bench, deep)
            .starts_with("-ERR user_script:1: Cannot serialise, excessive nesting (1001)")
    );
    let deep = "return cmsgpack.unpack(string.rep('\\145', 100000))";
    assert!(
        answer(&mut bench, deep)
            .starts_with("-ERR user_script:1: stack overflow (too many return values")
    );
    assert_eq!(readable(&bench.words(0, &[b"PING"])), "+PONG");
}
