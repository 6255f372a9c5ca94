use super::changes::{WITHOUT_OWNER_CHECK, given_back, other_key, scaled};
use super::line::{asks, by, hears, unsent};
use crate::operators::operator::{At, Of, Operator};
use crate::operators::resp::Purpose;
use crate::operators::rule::redis::Rule;

pub(crate) const KEEPING: &[Operator] = &[
    asks("compare-dropped", "releases the lock even if another process has it", |call| {
        call.purpose == Purpose::Release && call.edit(&WITHOUT_OWNER_CHECK)
    }),
    asks("compare-inverted", "releases the lock only if another process has it", |call| {
        let edits = [("== ARGV[1]", "~= ARGV[1]"), ("ARGV[3]) == 0", "ARGV[3]) == 1")];
        call.purpose == Purpose::Release && call.edit(&edits)
    }),
    asks("delete-instead-of-script", "deletes the key instead of running the script", |call| {
        let is_script = call.purpose == Purpose::Release && call.is_script();
        if is_script {
            call.words = vec![b"DEL".to_vec(), call.words[3].clone()];
        }
        is_script
    }),
    asks("release-of-wrong-key", "releases a different key", |call| {
        call.purpose == Purpose::Release && other_key(call)
    }),
    asks("release-of-wrong-owner", "releases the lock with a different owner", |call| {
        let place = call.owner_at().filter(|_| call.purpose == Purpose::Release);
        place.is_some_and(|place| {
            call.words[place].push(b'x');
            true
        })
    }),
    unsent("release-unsent", "does not release the lock", given_back),
    unsent("release-unsent-once", "does not release the lock on one server", given_back)
        .at(At::First)
        .of(Of::Independent),
    hears("not-held-read-as-released", "reports a lost lock as released", |call, reply| {
        let is_not_held = matches!(reply, b":0\r\n" | b"$-1\r\n");
        (call.purpose == Purpose::Release && is_not_held).then_some(":1\r\n")
    }),
    hears("released-read-as-not-held", "reports a released lock as lost", |call, reply| {
        let told = if call.does("hexists") { "$-1\r\n" } else { ":0\r\n" };
        (call.purpose == Purpose::Release && reply == b":1\r\n").then_some(told)
    }),
    by("owner-not-compared", "treats every owner that it reads as itself", Rule::OwnerIsMine),
    hears("owner-not-seen", "sees no owner where there is one", |call, reply| {
        (call.name() == "GET" && reply.starts_with(b"$")).then_some("$-1\r\n")
    }),
    unsent("renewal-unsent", "does not renew the lease", |call| {
        let set = if call.name() == "SET" { "+OK\r\n" } else { ":1\r\n" };
        (call.purpose == Purpose::Renew).then_some(set)
    }),
    asks("renewal-tenth", "renews the lease for a tenth of the ttl", |call| {
        call.purpose == Purpose::Renew && scaled(call, 1, 10)
    }),
    asks("renewal-tenfold", "renews the lease for ten times the ttl", |call| {
        call.purpose == Purpose::Renew && scaled(call, 10, 1)
    }),
    asks("renewal-not-compared", "renews the lease even if another process has it", |call| {
        call.purpose == Purpose::Renew && call.edit(&WITHOUT_OWNER_CHECK)
    }),
    asks("renewal-of-wrong-key", "renews a different key", |call| {
        call.purpose == Purpose::Renew && other_key(call)
    }),
    hears(
        "renewal-refused-unheard",
        "does not notice that a renewal was refused",
        |call, reply| (call.purpose == Purpose::Renew && reply == b":0\r\n").then_some(":1\r\n"),
    ),
    hears(
        "renewal-granted-unheard",
        "does not notice that a renewal was granted",
        |call, reply| (call.purpose == Purpose::Renew && reply == b":1\r\n").then_some(":0\r\n"),
    ),
    asks("wakes-nobody", "wakes no waiter", |call| {
        call.edit(&[("redis.call(\"publish\"", "redis.call(\"exists\"")])
    }),
    asks("queue-not-left", "stays in the queue after its release", |call| {
        call.edit(&[("redis.call(\"lpop\",KEYS[2])", "local kept = 0")])
    }),
    asks("queue-jumped", "does not check who is first in the queue", |call| {
        call.edit(&[(
            "(redis.call(\"exists\",KEYS[2]) == 0 or redis.call(\"lindex\",KEYS[2],0) == ARGV[2])",
            "true",
        )])
    }),
    unsent("stays-with-old-primary", "does not ask the Sentinels for the primary", |call| {
        let first = "*2\r\n$7\r\nredis-1\r\n$4\r\n6379\r\n";
        let is_it = |word: &Vec<u8>| word.eq_ignore_ascii_case(b"get-master-addr-by-name");
        call.words.get(1).is_some_and(is_it).then_some(first)
    })
    .at(At::Sentinels),
    by(
        "switch-unheard",
        "does not notice that the primary changed",
        Rule::Silent("+switch-master"),
    )
    .at(At::Sentinels),
];
