use super::changes::{granted, other_key, refused, stamped, taken, without_nx, without_ttl};
use super::line::{asks, by, hears, unsent};
use crate::operators::operator::{At, Of, Operator};
use crate::operators::resp::{Purpose, grant};
use crate::operators::rule::redis::Rule;

pub(crate) const TAKING: &[Operator] = &[
    asks("nx-dropped", "takes the lock even if another process has it", without_nx),
    asks("ttl-dropped", "takes the lock without an expiry", without_ttl),
    asks("ttl-tenfold", "takes the lock for ten times the ttl", |call| taken(call, 10, 1)),
    asks("ttl-tenth", "takes the lock for a tenth of the ttl", |call| taken(call, 1, 10)),
    asks("ttl-half", "takes the lock for half of the ttl", |call| taken(call, 1, 2)),
    asks("ttl-in-wrong-unit", "sends milliseconds instead of seconds", |call| {
        taken(call, 1_000, 1)
    }),
    asks("ttl-in-finer-unit", "sends seconds instead of milliseconds", |call| {
        taken(call, 1, 1_000)
    }),
    asks("validity-not-reduced", "relies on the lease for a tenth longer than it lasts", |call| {
        taken(call, 9, 10)
    }),
    asks("wrong-key-taken", "acquires a different key from the one it releases", |call| {
        call.purpose == Purpose::Take && other_key(call)
    }),
    by("same-owner", "uses the same owner value as every other process", Rule::SameOwner),
    hears("refusal-read-as-grant", "reads a refusal as a grant", granted),
    hears("refusal-read-as-grant-once", "counts one refusal as a grant", granted)
        .at(At::First)
        .of(Of::Independent),
    hears("error-read-as-grant", "reads an error as a grant", |call, reply| {
        let is_refusal = reply.starts_with(b"-") && !reply.starts_with(b"-NOSCRIPT");
        (call.purpose == Purpose::Take && is_refusal).then(|| grant(call))
    }),
    hears("grant-read-as-refusal", "reads a grant as a refusal", refused),
    hears("grant-read-as-refusal-once", "reads one server's grant as a refusal", refused)
        .at(At::First)
        .of(Of::Independent),
    unsent("take-unsent", "relies on a lock that it did not request", |call| {
        (call.purpose == Purpose::Take).then(|| grant(call))
    }),
    unsent("take-unsent-once", "counts the grant of a server that it did not ask", |call| {
        (call.purpose == Purpose::Take).then(|| grant(call))
    })
    .at(At::First)
    .of(Of::Independent),
    by(
        "quorum-kept",
        "does not release grants of fewer than three servers",
        Rule::KeepsFewerThan(3),
    )
    .of(Of::Independent),
    unsent("wait-skipped", "does not wait for replicas", |call| {
        (call.name() == "WAIT").then_some(":9\r\n")
    }),
    hears("wait-misread", "counts replicas that did not acknowledge", |call, _| {
        (call.name() == "WAIT").then_some(":9\r\n")
    }),
    hears("token-constant", "gets the same token each time", |call, reply| {
        (call.does("incr") && reply.starts_with(b":")).then_some(":1\r\n")
    }),
    asks("token-not-counted", "reads the token counter without incrementing it", |call| {
        call.edit(&[("redis.call(\"incr\",KEYS[2])", "(redis.call(\"get\",KEYS[2]) or 1) + 0")])
    }),
    asks("time-ahead", "writes times an hour ahead", |call| stamped(call, 3_600_000)),
    asks("time-behind", "writes times an hour behind", |call| stamped(call, -3_600_000)),
];
