//! The rules that can be broken.

use super::Meaning;
use crate::judge::finding::Kind;

/// What it means that this rule was broken.
pub fn of_kind(kind: Kind) -> Meaning {
    match kind {
        Kind::Overlap => OVERLAP,
        Kind::StaleWrite => STALE_WRITE,
        Kind::LostUpdate => LOST_UPDATE,
        Kind::Oversold => OVERSOLD,
        Kind::DuplicateNumber => DUPLICATE_NUMBER,
        Kind::NumberRegression => NUMBER_REGRESSION,
        Kind::TokenRegression => TOKEN_REGRESSION,
        Kind::TokenMissing => TOKEN_MISSING,
        Kind::FencedOut => FENCED_OUT,
        Kind::ForeignRelease => FOREIGN_RELEASE,
        Kind::WrongAnswer => WRONG_ANSWER,
        Kind::Stuck => STUCK,
        Kind::Deadlock => DEADLOCK,
        Kind::Starved => STARVED,
        Kind::HeldForever => HELD_FOREVER,
        Kind::Unavailable => UNAVAILABLE,
    }
}

const OVERLAP: Meaning = Meaning {
    what: "Two processes were in their critical sections at the same true instant.",
    how: "Each believed that it held the lock. Usually a lease ended, or a server forgot it, \
          while its holder went on.",
    helps: "No lease rules it out: a process cannot know that it stands still. Fencing tokens \
            that the storage checks keep it from doing damage.",
};

const STALE_WRITE: Meaning = Meaning {
    what: "The storage accepted a write of an earlier holder after a request of a later one.",
    how: "The earlier holder had lost its lock and did not know it, or its write was still on \
          its way.",
    helps: "Fencing tokens that the storage checks on every request.",
};

const LOST_UPDATE: Meaning = Meaning {
    what: "A holder read a value, worked on it, and wrote its result over a value that somebody \
           else had written in between.",
    how: "Two holders, as in an overlap or a stale write; here the data is damaged.",
    helps: "Fencing tokens, or a compare-and-set at the storage in place of a plain write.",
};

const OVERSOLD: Meaning = Meaning {
    what: "More was sold than there was in stock.",
    how: "Two holders both saw the last item. This is a lost update in the seckill workload.",
    helps: "Let the storage check and decrement in one statement; the lock then only saves \
            work.",
};

const DUPLICATE_NUMBER: Meaning = Meaning {
    what: "One number, such as an order number, was issued twice.",
    how: "Two holders read the same last number. This is a lost update in the sequence \
          workload.",
    helps: "A unique constraint or a sequence in the database.",
};

const NUMBER_REGRESSION: Meaning = Meaning {
    what: "A number was issued that is lower than one issued before.",
    how: "A late holder wrote back an older last number.",
    helps: "Fencing tokens, or a sequence in the database.",
};

const TOKEN_REGRESSION: Meaning = Meaning {
    what: "Fencing tokens did not grow in the order in which the servers granted the lock.",
    how: "The counter was lost or went back: a failover to a replica that had not received it, \
          a restart without persistence, or servers that share no counter.",
    helps: "Keep the counter where a failover or a restart does not lose it. The storage is \
            only as safe as the order of the tokens.",
};

const TOKEN_MISSING: Meaning = Meaning {
    what: "A lock that promises fencing tokens granted an acquisition without one.",
    how: "The answer that held the token was lost, or the server gave none.",
    helps: "Let the storage reject requests without a token.",
};

const FENCED_OUT: Meaning = Meaning {
    what: "Long after all faults had healed, the storage still rejected the rightful holder.",
    how: "The counter went back, so every new token is lower than the one the storage \
          remembers.",
    helps: "Keep the counter where a failover or a restart does not lose it.",
};

const FOREIGN_RELEASE: Meaning = Meaning {
    what: "A process removed a lock that another process had been granted.",
    how: "A release deletes the key without comparing its value, or compares and deletes in two \
          commands.",
    helps: "A random value for each acquisition, and a release by a script that compares and \
            deletes at once.",
};

const WRONG_ANSWER: Meaning = Meaning {
    what: "A lock told its caller for certain what is not so: refused, although its own value stood; \
           no longer held, although this very release had removed it; or given back, although it \
           stood on.",
    how: "A reply was lost. The client sent the command again and took the second answer for the \
          only one; or it took an error for a no.",
    helps: "Tell the caller that the outcome is unknown. A command that finds its caller's own \
            value says so: compare it before you refuse.",
};

const STUCK: Meaning = Meaning {
    what: "Nobody holds the lock and nobody gets it.",
    how: "The key has no expiry and its owner is gone, or processes wait for a message that \
          does not come.",
    helps: "Set the expiry in the command that takes the lock, and let waiters poll as well.",
};

const DEADLOCK: Meaning = Meaning {
    what: "Processes wait for the lock, nobody holds it, and nothing lies ahead that could wake one \
           of them.",
    how: "A message that says that the lock is free was missed, or was sent to somebody who is \
          gone, and whoever waits has set no timer.",
    helps: "Wait for no longer than a lease and ask again. Ask once more after subscribing and \
            before sleeping.",
};

const STARVED: Meaning = Meaning {
    what: "A process that waits is not served: it sleeps on a free lock, or one that asked later \
           gets a lock before it that promises an order.",
    how: "It was not told that the lock is free and asks too seldom, or its place in the queue \
          was not kept.",
    helps: "Wait for no longer than a lease and ask again. Keep a place in the queue for as long \
            as its process asks.",
};

const HELD_FOREVER: Meaning = Meaning {
    what: "A live holder kept the lock beyond the stated bound.",
    how: "The lock has no expiry, or its renewal never stops.",
    helps: "Bound how long one acquisition may be renewed.",
};

const UNAVAILABLE: Meaning = Meaning {
    what: "The lock was free and wanted, enough servers ran, and nobody got it within the stated \
           bound. Judged with --availability only.",
    how: "A failover was not over, a network was cut, several processes divided the servers among \
          them, or nobody told those who wait that the lock was free.",
    helps: "It is the price of a lock that is safe under a partition. Shorten what detects that a \
            server is down, and how long a client waits before it asks again.",
};
