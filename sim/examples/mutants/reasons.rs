use crate::fate::Outcome;

struct Reason {
    operators: &'static [&'static str],
    locks: &'static [&'static str],
    why: &'static str,
}

const SESSIONS: &[&str] = &[
    "pg-advisory", "select-for-update", "select-for-update-timeout", "mysql-get-lock",
    "mysql-get-lock-checked",
];

const REASONS: &[Reason] = &[
    Reason {
        operators: &[
            "not-held-read-as-released", "mc-not-found-unheard", "no-node-unheard",
            "gf-not-held-unheard", "none-deleted-read-as-one",
        ],
        locks: &[],
        why: "the lock is already gone, so wrongly reporting its release does no harm; only a lock \
              that remains after a reported release breaks a rule",
    },
    Reason {
        operators: &["switch-unheard", "switch-not-told"],
        locks: &[],
        why: "the old primary closes its connections when it is demoted, and the client then asks \
              the Sentinels",
    },
    Reason {
        operators: &["watches-not-set-again"],
        locks: &[],
        why: "the client notifies every watcher of a lost connection, and waiters check again \
              (`zookeeper-lost-watch` does not, and is stuck)",
    },
    Reason {
        operators: &["waits-for-the-first"],
        locks: &[],
        why: "after waiting, the client checks again which key is in front (`waitDeletes` in \
              etcd's `concurrency/key.go`), so it only waits more often",
    },
    Reason {
        operators: &["fsync-lies", "starts-empty"],
        locks: SESSIONS,
        why: "the server keeps the lock in memory and drops it with the session, which a restart \
              ends; the disk has no influence",
    },
    Reason {
        operators: &["clock-doubled", "clock-quick", "clock-halved", "clock-stuck"],
        locks: SESSIONS,
        why: "the lock never expires: the server's clocks only limit how long a client waits",
    },
    Reason {
        operators: &["isolation-dropped", "isolation-ignored"],
        locks: &["jdbc-4", "jdbc-5", "jdbc-5-app-id"],
        why: "the primary key decides between two INSERTs, and an UPDATE or DELETE that waited for \
              a row evaluates its condition again (PostgreSQL, READ COMMITTED)",
    },
    Reason {
        operators: &["idle-bound-dropped"],
        locks: &[],
        why: "without the timeout it is `select-for-update`: a paused holder keeps the lock",
    },
    Reason {
        operators: &["grant-read-as-refusal"],
        locks: &["reentrant-by-value"],
        why: "the client next reads its own value from the key, and so enters as if it were \
              re-entering",
    },
    Reason {
        operators: &["carried-out-twice"],
        locks: &["reentrant-by-value", "redlock-fencing"],
        why: "a repeated command of this lock has no effect: SET NX finds the key, and the release \
              finds no key",
    },
    Reason {
        operators: &["token-backwards", "token-coarse"],
        locks: &["redlock-fencing"],
        why: "its tokens are random values: neither a reversed order nor a division by four \
              changes how badly they are ordered",
    },
    Reason {
        operators: &["renewal-refused-unheard"],
        locks: &["redisson", "redisson-wait", "redisson-fair"],
        why: "the watchdog does not report a refused renewal, it just ends; a watchdog that \
              continues renews only the lock of its own thread",
    },
    Reason {
        operators: &["none-read-as-one", "fsync-lies", "starts-empty"],
        locks: &["jdbc-5-app-id"],
        why: "all processes have the same client id, so the lock excludes none of them: another \
              grant, or a loss, changes nothing",
    },
    Reason {
        operators: &["exists-wrong-node"],
        locks: &["zookeeper-semaphore"],
        why: "the waiter watches a node that does not exist, so it polls the queue instead of \
              waiting for a watch event",
    },
];

pub(crate) fn reason(outcome: &Outcome) -> Option<&'static str> {
    let is_its = |reason: &&Reason| {
        reason.operators.contains(&outcome.operator.as_str())
            && (reason.locks.is_empty() || reason.locks.contains(&outcome.lock.as_str()))
    };
    REASONS.iter().find(is_its).map(|reason| reason.why)
}
