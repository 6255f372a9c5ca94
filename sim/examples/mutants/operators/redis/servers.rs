use super::changes::{longer, without_nx, without_ttl};
use super::line::{asks_on, on};
use crate::operators::operator::{At, Operator};
use crate::operators::rule::redis::Rule;

pub(crate) const SERVERS: &[Operator] = &[
    asks_on("expired-key-seen", "an expired key stays visible for 30 s", |call| {
        longer(call, 30_000)
    }),
    asks_on("key-ends-early", "a key expires 2 s early", |call| longer(call, -2_000)),
    asks_on("never-expires", "keys with a ttl never expire", |call| longer(call, 9_000_000)),
    asks_on("set-loses-ttl", "SET NX drops the ttl", |call| {
        call.name() == "SET" && without_ttl(call)
    }),
    asks_on("set-ignores-nx", "SET ignores NX; SETNX always sets", |call| {
        !call.is_script() && without_nx(call)
    }),
    on(
        "del-leaves-key",
        "DEL answers but keeps the key",
        Rule::Unsent(|call| (call.name() == "DEL").then_some(":1\r\n")),
    ),
    asks_on("script-del-leaves-key", "DEL keeps the key if a script calls it", |call| {
        call.edit(&[("redis.call(\"del\"", "redis.call(\"exists\"")])
    }),
    asks_on("script-loses-ttl", "PEXPIRE does nothing if a script calls it", |call| {
        call.edit(&[("redis.call(\"pexpire\",KEYS[1]", "(function() end)(KEYS[1]")])
    }),
    on(
        "expire-does-nothing",
        "EXPIRE and PEXPIRE answer but do nothing",
        Rule::Unsent(|call| call.name().ends_with("EXPIRE").then_some(":1\r\n")),
    ),
    asks_on("expire-clears-ttl", "EXPIRE and PEXPIRE remove the ttl", |call| {
        let is_it = call.name().ends_with("EXPIRE");
        if is_it {
            call.words = vec![b"PERSIST".to_vec(), call.words[1].clone()];
        }
        is_it
    }),
    asks_on("getset-sets-nothing", "GETSET reads but does not set", |call| {
        let is_it = call.name() == "GETSET";
        if is_it {
            call.words = vec![b"GET".to_vec(), call.words[1].clone()];
        }
        is_it
    }),
    on(
        "get-sees-nothing",
        "GET never finds a key",
        Rule::Heard(|call, reply| {
            (call.name() == "GET" && reply.starts_with(b"$")).then_some("$-1\r\n")
        }),
    ),
    asks_on("script-get-sees-nothing", "GET finds no key if a script calls it", |call| {
        call.edit(&[("redis.call(\"get\",KEYS[1])", "false")])
    }),
    asks_on("incr-adds-nothing", "INCR returns the old value", |call| {
        call.edit(&[("redis.call(\"incr\",KEYS[2])", "redis.call(\"incrby\",KEYS[2],0)")])
    }),
    on(
        "wait-answers-at-once",
        "WAIT does not wait for replicas",
        Rule::Unsent(|call| (call.name() == "WAIT").then_some(":9\r\n")),
    ),
    on(
        "replica-acknowledges-ahead",
        "a replica acknowledges writes that it does not have",
        Rule::Claims("ACK", "99999999"),
    ),
    on(
        "offset-unknown",
        "a replica reports offset 1, so the wrong replica is promoted",
        Rule::Claims("slave_repl_offset:", "1"),
    ),
    on("vote-given-twice", "a Sentinel votes for every candidate that asks", Rule::VotesForAll)
        .at(At::Sentinels),
    on(
        "switch-not-told",
        "a Sentinel does not announce a new primary",
        Rule::Silent("+switch-master"),
    )
    .at(At::Sentinels),
    on("message-lost", "published messages reach no subscriber", Rule::Silent("message")),
];
