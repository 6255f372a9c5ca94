use crate::testing::{Bench, check_on};

fn filled(policy: &str) -> Bench {
    let mut bench = Bench::new();
    for number in 0..20 {
        let ttl = if number % 2 == 0 {
            format!(" PX {}", 1_000_000 - number * 1_000)
        } else {
            String::new()
        };
        bench.run(&format!("SET key:{number} {}{ttl}", "x".repeat(200)));
        bench.pass(1);
    }
    bench.run(&format!("CONFIG SET maxmemory-policy {policy}"));
    bench.propagated();
    bench
}

#[test]
fn without_eviction_commands_that_need_memory_are_refused() {
    let mut bench = filled("noeviction");
    let refused = "-OOM command not allowed when used memory > 'maxmemory'.";
    check_on(
        &mut bench,
        &[
            ("CONFIG SET maxmemory 2000", "+OK"),
            ("SET k v", refused),
            ("DEL key:1", ":1"),
            ("DBSIZE", ":19"),
        ],
    );
    check_on(&mut bench, &[("MULTI", "+OK"), ("GET k", refused)]);
}

#[test]
fn volatile_policies_spare_keys_that_never_expire() {
    for policy in ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"] {
        let mut bench = filled(policy);
        check_on(&mut bench, &[("CONFIG SET maxmemory 4000", "+OK")]);
        let alive =
            bench.run("EXISTS key:1 key:3 key:5 key:7 key:9 key:11 key:13 key:15 key:17 key:19");
        assert_eq!(alive, ":10", "{policy}");
        assert!(bench.propagated().starts_with("DEL key:"), "{policy}");
    }
}

#[test]
fn the_key_that_ends_first_goes_first() {
    let mut bench = filled("volatile-ttl");
    bench.run("CONFIG SET maxmemory 5000");
    check_on(&mut bench, &[("EXISTS key:18", ":0"), ("EXISTS key:0", ":1")]);
}

#[test]
fn the_key_that_was_not_used_for_longest_goes_first() {
    let mut bench = filled("allkeys-lru");
    bench.run("GET key:0");
    bench.run("CONFIG SET maxmemory 5000");
    check_on(&mut bench, &[("EXISTS key:0", ":1"), ("EXISTS key:1", ":0")]);
}

#[test]
fn memory_that_was_taken_is_given_back() {
    let mut bench = Bench::new();
    for line in [
        "SET a 1", "APPEND a 23456", "HSET h f v", "HSET h f longer", "SET a x", "INCR n",
        "RENAME h i", "COPY i j", "HDEL i f",
    ] {
        bench.run(line);
    }
    assert!(bench.node.server_mut().used_memory() > 0);
    bench.run("DEL a n j");
    assert_eq!(bench.node.server_mut().used_memory(), 0);
}

/// A script with `#!lua` but without `allow-oom` fails before it runs if memory is over the limit.
#[test]
fn memory_without_a_bound_is_never_full() {
    let mut bench = Bench::new();
    bench.run("CONFIG SET maxmemory 1");
    let refused = "-OOM command not allowed when used memory > 'maxmemory'.";
    let script: &[&[u8]] = &[b"EVAL", b"#!lua\nreturn 1", b"0"];
    assert_eq!(crate::testing::readable(&bench.words(0, script)), refused);
    bench.run("CONFIG SET maxmemory 0");
    assert_eq!(crate::testing::readable(&bench.words(0, script)), ":1");
}
