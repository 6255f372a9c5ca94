//! Mistakes in taking a lock.

use super::changes::{granted, other_key, refused, stamped, taken, without_nx, without_ttl};
use super::line::{by, misheard, unsent, words};
use crate::operators::operator::{At, Of, Operator};
use crate::operators::resp::{Purpose, grant};
use crate::operators::rule::redis::Rule;

pub(crate) const TAKING: &[Operator] = &[
    words("nx-dropped", "takes the lock whoever has it", without_nx),
    words("ttl-dropped", "takes the lock for ever", without_ttl),
    words("ttl-tenfold", "takes the lock for ten times as long", |call| taken(call, 10, 1)),
    words("ttl-tenth", "takes the lock for a tenth of the time", |call| taken(call, 1, 10)),
    words("ttl-half", "takes the lock for half of the time", |call| taken(call, 1, 2)),
    words("ttl-in-wrong-unit", "gives milliseconds where seconds are meant", |call| {
        taken(call, 1_000, 1)
    }),
    words("ttl-in-finer-unit", "gives seconds where milliseconds are meant", |call| {
        taken(call, 1, 1_000)
    }),
    words("validity-not-reduced", "counts on the lease for a tenth longer than it lasts", |call| {
        taken(call, 9, 10)
    }),
    words("wrong-key-taken", "takes another key than it gives back", |call| {
        call.purpose == Purpose::Take && other_key(call)
    }),
    by("same-owner", "marks the lock by the same value as everybody", Rule::SameOwner),
    misheard("refusal-read-as-grant", "reads a refusal as a grant", granted),
    misheard("refusal-read-as-grant-once", "counts one refusal as a grant", granted)
        .at(At::First)
        .of(Of::Independent),
    misheard("error-read-as-grant", "takes an error for a grant", |call, reply| {
        let is_refusal = reply.starts_with(b"-") && !reply.starts_with(b"-NOSCRIPT");
        (call.purpose == Purpose::Take && is_refusal).then(|| grant(call))
    }),
    misheard("grant-read-as-refusal", "reads a grant as a refusal", refused),
    misheard("grant-read-as-refusal-once", "reads the grant of one server as a refusal", refused)
        .at(At::First)
        .of(Of::Independent),
    unsent("take-unsent", "counts on a lock that it did not ask for", |call| {
        (call.purpose == Purpose::Take).then(|| grant(call))
    }),
    unsent("take-unsent-once", "counts on the grant of one server that it did not ask", |call| {
        (call.purpose == Purpose::Take).then(|| grant(call))
    })
    .at(At::First)
    .of(Of::Independent),
    by("quorum-kept", "does not give back what fewer than three granted", Rule::KeepsFewerThan(3))
        .of(Of::Independent),
    unsent("wait-skipped", "does not wait for replicas", |call| {
        (call.name() == "WAIT").then_some(":9\r\n")
    }),
    misheard("wait-misread", "counts on replicas that did not answer", |call, _| {
        (call.name() == "WAIT").then_some(":9\r\n")
    }),
    misheard("token-constant", "gets the same token each time", |call, reply| {
        (call.does("incr") && reply.starts_with(b":")).then_some(":1\r\n")
    }),
    words("token-not-counted", "reads the counter of tokens and does not raise it", |call| {
        call.edit(&[("redis.call(\"incr\",KEYS[2])", "(redis.call(\"get\",KEYS[2]) or 1) + 0")])
    }),
    words("time-ahead", "writes times an hour ahead", |call| stamped(call, 3_600_000)),
    words("time-behind", "writes times an hour behind", |call| stamped(call, -3_600_000)),
];
