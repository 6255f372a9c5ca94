//! Why mutants that make a difference break no rule.

use crate::fate::Outcome;

struct Reason {
    operators: &'static [&'static str],
    /// The locks; empty for all.
    locks: &'static [&'static str],
    why: &'static str,
}

/// The locks that live in a database session.
const SESSIONS: &[&str] = &[
    "pg-advisory",
    "select-for-update",
    "select-for-update-timeout",
    "mysql-get-lock",
    "mysql-get-lock-checked",
];

const REASONS: &[Reason] = &[
    Reason {
        operators: &[
            "not-held-read-as-released",
            "mc-not-found-unheard",
            "no-node-unheard",
            "none-deleted-read-as-one",
        ],
        locks: &[],
        why: "nothing of the lock stands after such a release, so that the answer does no harm; \
              the rule is about locks that stand on",
    },
    Reason {
        operators: &["switch-unheard", "switch-not-told"],
        locks: &[],
        why: "the old primary closes its connections when it is demoted, and the client asks the \
              Sentinels then",
    },
    Reason {
        operators: &["watches-not-set-again"],
        locks: &[],
        why: "the client tells every watcher that the connection is gone, and who waits looks \
              again (`zookeeper-lost-watch` does not, and is stuck)",
    },
    Reason {
        operators: &["waits-for-the-first"],
        locks: &[],
        why: "whoever has waited looks again who is in front (`waitDeletes` in etcd's \
              `concurrency/key.go`), so that it only waits more often",
    },
    Reason {
        operators: &["fsync-lies", "starts-empty"],
        locks: SESSIONS,
        why: "the lock is in the memory of the server and goes with the session, which a restart \
              ends, whatever the disk holds",
    },
    Reason {
        operators: &["clock-doubled", "clock-quick", "clock-halved", "clock-stuck"],
        locks: SESSIONS,
        why: "the lock has no end of its own: the server's clocks bound how long somebody waits, \
              and no more",
    },
    Reason {
        operators: &["isolation-dropped", "isolation-ignored"],
        locks: &["jdbc-4", "jdbc-5", "jdbc-5-app-id"],
        why: "the primary key decides between two INSERTs, and an UPDATE or DELETE that waited for \
              a row looks at its condition again (PostgreSQL, READ COMMITTED)",
    },
    Reason {
        operators: &["idle-bound-dropped"],
        locks: &[],
        why: "without the bound it is `select-for-update`: a paused holder keeps the lock",
    },
    Reason {
        operators: &["grant-read-as-refusal"],
        locks: &["reentrant-by-value"],
        why: "what it reads next is the value that it has just set, so that it has reentered",
    },
    Reason {
        operators: &["carried-out-twice"],
        locks: &["reentrant-by-value", "redlock-fencing"],
        why: "each of its commands does nothing the second time: SET NX finds the key, and the \
              release finds none",
    },
    Reason {
        operators: &["token-backwards", "token-coarse"],
        locks: &["redlock-fencing"],
        why: "its tokens are random values: backwards they are in no other order than before, and \
              a fourth of each is in the same order",
    },
    Reason {
        operators: &["renewal-refused-unheard"],
        locks: &["redisson", "redisson-wait", "redisson-fair"],
        why: "the watchdog tells nobody that a renewal was refused, it ends; one that goes on \
              renews what its own thread holds, and nothing else",
    },
    Reason {
        operators: &["none-read-as-one", "fsync-lies", "starts-empty"],
        locks: &["jdbc-5-app-id"],
        why: "every process has the same client id, so that the lock excludes nobody: one that is \
              granted once more, or lost, changes nothing",
    },
    Reason {
        operators: &["exists-wrong-node"],
        locks: &["zookeeper-semaphore"],
        why: "there is no such node, so that whoever waits looks again at once who is in front: it \
              asks more often, and for longer",
    },
];

/// The reason why a surviving mutant breaks no rule, if known.
pub(crate) fn reason(outcome: &Outcome) -> Option<&'static str> {
    let is_its = |reason: &&Reason| {
        reason.operators.contains(&outcome.operator.as_str())
            && (reason.locks.is_empty() || reason.locks.contains(&outcome.lock.as_str()))
    };
    REASONS.iter().find(is_its).map(|reason| reason.why)
}
