use std::borrow::Cow;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CommandError(pub(crate) Cow<'static, [u8]>);

/// Outcome of a command. A failing command must not have written a reply.
pub(crate) type CommandResult = Result<(), CommandError>;

impl CommandError {
    pub(crate) const fn fixed(text: &'static str) -> Self {
        CommandError(Cow::Borrowed(text.as_bytes()))
    }

    pub(crate) fn text(text: impl Into<Vec<u8>>) -> Self {
        CommandError(Cow::Owned(text.into()))
    }
}

macro_rules! errors {
    ($($name:ident = $text:literal;)*) => {
        $(pub(crate) const $name: CommandError = CommandError::fixed($text);)*
    };
}

// The texts are from Redis 7.0.15 and, for WAITAOF, from 7.2.
errors! {
    WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
    SYNTAX = "ERR syntax error";
    NOT_AN_INTEGER = "ERR value is not an integer or out of range";
    NOT_A_FLOAT = "ERR value is not a valid float";
    OUT_OF_RANGE = "ERR value is out of range";
    NOT_A_POSITIVE = "ERR value is out of range, must be positive";
    INDEX_OUT_OF_RANGE = "ERR index out of range";
    NO_SUCH_KEY = "ERR no such key";
    DB_OUT_OF_RANGE = "ERR DB index is out of range";
    OVERFLOW = "ERR increment or decrement would overflow";
    DECREMENT_OVERFLOW = "ERR decrement would overflow";
    NAN_OR_INFINITY = "ERR increment would produce NaN or Infinity";
    OFFSET_OUT_OF_RANGE = "ERR offset is out of range";
    STRING_TOO_LONG = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
    INVALID_STREAM_ID = "ERR Invalid stream ID specified as stream command argument";
    INVALID_CURSOR = "ERR invalid cursor";
    NOT_POSITIVE_TIMEOUT = "ERR timeout is negative";
    TIMEOUT_OUT_OF_RANGE = "ERR timeout is out of range";
    BAD_TIMEOUT = "ERR timeout is not an integer or out of range";
    HASH_NOT_AN_INTEGER = "ERR hash value is not an integer";
    HASH_NOT_A_FLOAT = "ERR hash value is not a float";
    NO_AUTH = "NOAUTH Authentication required.";
    NO_SCRIPT = "NOSCRIPT No matching script. Please use EVAL.";
    READ_ONLY = "READONLY You can't write against a read only replica.";
    NO_REPLICAS = "NOREPLICAS Not enough good replicas to write.";
    SAVE_FAILED = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to \
     persist to disk. Commands that may modify the data set are disabled, because this instance is \
     configured to report errors during writes if RDB snapshotting fails \
     (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB \
     error.";
    MASTER_DOWN = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to \
     'no'.";
    LOADING = "LOADING Redis is loading the dataset in memory";
    BUSY = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";
    WAITAOF_WITHOUT_FILE = "ERR WAITAOF cannot be used when numlocal is set but appendonly is \
     disabled.";
    UNBLOCKED = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
    EXEC_ABORT = "EXECABORT Transaction discarded because of previous errors.";
    NOT_IN_TRANSACTION = "ERR Command not allowed inside a transaction";
    REPLICA_KEYSPACE = "ERR Replica can't interact with the keyspace";
    SAME_OBJECT = "ERR source and destination objects are the same";
}
