#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SqlError {
    pub(crate) code: u16,
    pub(crate) state: &'static str,
    /// Message in the client's character set, because the message may quote the client's text.
    pub(crate) message: Vec<u8>,
}

pub(crate) type Outcome<T> = Result<T, SqlError>;

const NEAR_MAX: usize = 80;
const NAME_MAX: usize = 100;

impl SqlError {
    pub(crate) fn new(code: u16, state: &'static str, message: impl Into<Vec<u8>>) -> SqlError {
        SqlError { code, state, message: message.into() }
    }

    pub(crate) fn syntax(near: &[u8], line: usize) -> SqlError {
        let start = "You have an error in your SQL syntax; check the manual that corresponds to \
                     your MariaDB server version for the right syntax to use near '";
        let end = format!("' at line {line}");
        let near = near.split(|byte| *byte == 0).next().unwrap_or(near);
        let quoted = cut(near, NEAR_MAX);
        SqlError::new(1064, "42000", [start.as_bytes(), &quoted, end.as_bytes()].concat())
    }

    pub(crate) fn unsupported(what: &str) -> SqlError {
        let message = format!("This version of MariaDB doesn't yet support '{what}'");
        SqlError::new(1235, "42000", message)
    }

    pub(crate) fn unknown_command() -> SqlError {
        SqlError::new(1047, "08S01", "Unknown command")
    }

    pub(crate) fn unknown_database(name: &str) -> SqlError {
        SqlError::new(1049, "42000", format!("Unknown database '{name}'"))
    }

    pub(crate) fn unknown_variable(name: &str) -> SqlError {
        SqlError::new(1193, "HY000", format!("Unknown system variable '{name}'"))
    }

    pub(crate) fn unknown_session(id: i128) -> SqlError {
        SqlError::new(1094, "HY000", format!("Unknown thread id: {id}"))
    }

    pub(crate) fn interrupted() -> SqlError {
        SqlError::new(1317, "70100", "Query execution was interrupted")
    }

    pub(crate) fn killed() -> SqlError {
        SqlError::new(1927, "70100", "Connection was killed")
    }

    pub(crate) fn unprepared() -> SqlError {
        let message = "This command is not supported in the prepared statement protocol yet";
        SqlError::new(1295, "HY000", message)
    }

    pub(crate) fn no_database() -> SqlError {
        SqlError::new(1046, "3D000", "No database selected")
    }

    pub(crate) fn bad_handshake() -> SqlError {
        SqlError::new(1043, "08S01", "Bad handshake")
    }

    pub(crate) fn too_deep() -> SqlError {
        let message = "Thread stack overrun:  267064 bytes used of a 299008 byte stack, and 32000 \
                       bytes needed. Consider increasing the thread_stack system variable.";
        SqlError::new(1436, "HY000", message)
    }

    pub(crate) fn deadlock() -> SqlError {
        let message = "Deadlock found when trying to get lock; try restarting transaction";
        SqlError::new(1213, "40001", message)
    }

    pub(crate) fn waited_too_long() -> SqlError {
        let message = "Lock wait timeout exceeded; try restarting transaction";
        SqlError::new(1205, "HY000", message)
    }

    pub(crate) fn in_progress() -> SqlError {
        let message = "Transaction characteristics can't be changed while a transaction is in \
                       progress";
        SqlError::new(1568, "25001", message)
    }

    pub(crate) fn name_too_long(name: &[u8]) -> SqlError {
        let quoted = cut(name, NAME_MAX);
        let message = [b"Identifier name '", &quoted[..], b"' is too long"].concat();
        SqlError::new(1059, "42000", message)
    }
}

fn cut(text: &[u8], longest: usize) -> Vec<u8> {
    if text.len() <= longest {
        return text.to_vec();
    }
    let mut end = longest - 3;
    while end > 0 && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    [&text[..end], b"..."].concat()
}
