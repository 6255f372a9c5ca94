use super::operator::{Operator, constructors};
use super::rule::Edits;

constructors!(
    PostgreSql,
    asks = lock(Asks: Edits),
    hears = lock(Answers: Edits),
    asks_on = server(Asks: Edits),
    answers_on = server(Answers: Edits),
);

const FALSE: &str = "D\0\0\0\x0b\0\x01\0\0\0\x01f";
const TRUE: &str = "D\0\0\0\x0b\0\x01\0\0\0\x01t";

pub(crate) const TABLE: &[Operator] = &[
    asks("for-update-dropped", "reads the row without locking it", &[(" FOR UPDATE", "")]),
    asks(
        "owner-not-looked-at",
        "changes the row even if another process owns it",
        &[("AND CLIENT_ID=$3", "AND LOCK_KEY=$1"), ("AND locked_by = $2", "AND name = $1")],
    ),
    asks(
        "expiry-not-looked-at",
        "takes a row that has not expired",
        &[
            ("CREATED_DATE<$", "CREATED_DATE>$"),
            ("EXPIRED_AFTER<$", "EXPIRED_AFTER>$"),
            ("lock_until <= $4", "lock_until >  $4"),
            ("lock_until <= timezone", "lock_until >  timezone"),
        ],
    ),
    asks(
        "expired-never-taken",
        "never takes an expired row",
        &[
            ("CREATED_DATE<$", "CREATED_DATE=$"),
            ("EXPIRED_AFTER<$", "EXPIRED_AFTER=$"),
            ("lock_until <= $4", "lock_until  = $4"),
            ("lock_until <= timezone", "lock_until  = timezone"),
        ],
    ),
    asks(
        "isolation-dropped",
        "does not request a serializable transaction",
        &[("BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN")],
    ),
    asks(
        "row-not-deleted",
        "deletes no row",
        &[("DELETE FROM INT_LOCK WHERE REGION=$2", "DELETE FROM INT_LOCK WHERE REGION=$1")],
    ),
    asks(
        "pg-ttl-tenth",
        "takes the lock for a tenth of the ttl",
        &[("0000 milliseconds", "000 milliseconds ")],
    ),
    asks(
        "pg-wrong-unlock",
        "releases a different key",
        &[("pg_advisory_unlock($1)", "pg_advisory_unlock(1)")],
    ),
    asks(
        "idle-bound-dropped",
        "the server never ends an idle transaction",
        &[("SET LOCAL idle_in_transaction_session_timeout = '", "SET LOCAL lock_timeout = '")],
    ),
    hears("false-read-as-true", "reads a refusal as a grant", &[(FALSE, TRUE)]),
    hears("true-read-as-false", "reads a grant as a refusal", &[(TRUE, FALSE)]),
    hears(
        "none-read-as-one",
        "counts a row that was not changed",
        &[("UPDATE 0", "UPDATE 1"), ("INSERT 0 0", "INSERT 0 1")],
    ),
    hears(
        "one-read-as-none",
        "does not count the row that it changed",
        &[("UPDATE 1", "UPDATE 0"), ("INSERT 0 1", "INSERT 0 0")],
    ),
    hears("deleted-read-as-none", "reports a released lock as lost", &[("DELETE 1", "DELETE 0")]),
    hears(
        "none-deleted-read-as-one",
        "reports a lost lock as released",
        &[("DELETE 0", "DELETE 1")],
    ),
    asks_on("row-lock-ignored", "SELECT ... FOR UPDATE locks no row", &[(" FOR UPDATE", "")]),
    answers_on(
        "advisory-lock-shared",
        "pg_try_advisory_lock grants every request",
        &[(FALSE, TRUE)],
    ),
    asks_on(
        "isolation-ignored",
        "SERIALIZABLE behaves like READ COMMITTED",
        &[("BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN")],
    ),
    asks_on(
        "conflict-overwrites",
        "ON CONFLICT DO UPDATE ignores its condition",
        &[
            ("WHERE shedlock.lock_until <= $4", ""),
            ("AND shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP)", ""),
        ],
    ),
];
