//! Mistakes of Redis and of Sentinel.

use super::changes::{longer, without_nx, without_ttl};
use super::line::on;
use crate::operators::operator::{At, Operator};
use crate::operators::rule::redis::Rule;

pub(crate) const SERVERS: &[Operator] = &[
    on(
        "expired-key-seen",
        "an expired key is seen for 30 s more",
        Rule::Words(|call| longer(call, 30_000)),
    ),
    on(
        "key-ends-early",
        "a key ends 2 s before its time",
        Rule::Words(|call| longer(call, -2_000)),
    ),
    on(
        "never-expires",
        "keys with a time to live stay",
        Rule::Words(|call| longer(call, 9_000_000)),
    ),
    on(
        "set-loses-ttl",
        "SET NX drops the time to live",
        Rule::Words(|call| call.name() == "SET" && without_ttl(call)),
    ),
    on(
        "set-ignores-nx",
        "SET ignores NX, SETNX sets always",
        Rule::Words(|call| !call.is_script() && without_nx(call)),
    ),
    on(
        "del-leaves-key",
        "DEL answers and leaves the key",
        Rule::Unsent(|call| (call.name() == "DEL").then_some(":1\r\n")),
    ),
    on(
        "script-del-leaves-key",
        "DEL leaves the key if a script calls it",
        Rule::Words(|call| call.edit(&[("redis.call(\"del\"", "redis.call(\"exists\"")])),
    ),
    on(
        "script-loses-ttl",
        "PEXPIRE does nothing if a script calls it",
        Rule::Words(|call| {
            call.edit(&[("redis.call(\"pexpire\",KEYS[1]", "(function() end)(KEYS[1]")])
        }),
    ),
    on(
        "expire-does-nothing",
        "EXPIRE and PEXPIRE answer and do nothing",
        Rule::Unsent(|call| call.name().ends_with("EXPIRE").then_some(":1\r\n")),
    ),
    on(
        "expire-clears-ttl",
        "EXPIRE and PEXPIRE take the time to live away",
        Rule::Words(|call| {
            let is_it = call.name().ends_with("EXPIRE");
            if is_it {
                call.words = vec![b"PERSIST".to_vec(), call.words[1].clone()];
            }
            is_it
        }),
    ),
    on(
        "getset-sets-nothing",
        "GETSET reads and does not set",
        Rule::Words(|call| {
            let is_it = call.name() == "GETSET";
            if is_it {
                call.words = vec![b"GET".to_vec(), call.words[1].clone()];
            }
            is_it
        }),
    ),
    on(
        "get-sees-nothing",
        "GET never finds a key",
        Rule::Heard(|call, reply| {
            (call.name() == "GET" && reply.starts_with(b"$")).then_some("$-1\r\n")
        }),
    ),
    on(
        "script-get-sees-nothing",
        "GET finds no key if a script calls it",
        Rule::Words(|call| call.edit(&[("redis.call(\"get\",KEYS[1])", "false")])),
    ),
    on(
        "incr-adds-nothing",
        "INCR answers what it found",
        Rule::Words(|call| {
            call.edit(&[("redis.call(\"incr\",KEYS[2])", "redis.call(\"incrby\",KEYS[2],0)")])
        }),
    ),
    on(
        "wait-answers-at-once",
        "WAIT does not wait for replicas",
        Rule::Unsent(|call| (call.name() == "WAIT").then_some(":9\r\n")),
    ),
    on(
        "replica-acknowledges-ahead",
        "a replica acknowledges what it has not got",
        Rule::Claims("ACK", "99999999"),
    ),
    on(
        "offset-unknown",
        "a replica tells offset 1, so that the wrong one is promoted",
        Rule::Claims("slave_repl_offset:", "1"),
    ),
    on("vote-given-twice", "a Sentinel gives its vote to all that ask", Rule::VotesForAll)
        .at(At::Sentinels),
    on(
        "switch-not-told",
        "a Sentinel tells nobody that the primary changed",
        Rule::Silent("+switch-master"),
    )
    .at(At::Sentinels),
    on("message-lost", "what is published reaches nobody", Rule::Silent("message")),
];
