//! Executes the commands of the protocol.

use super::{Client, Core};
use crate::error::SqlError;
use crate::packet::Reply;
use bytes::Bytes;

const QUIT: u8 = 0x01;
const INIT_DB: u8 = 0x02;
const QUERY: u8 = 0x03;
const FIELD_LIST: u8 = 0x04;
const STATISTICS: u8 = 0x09;
const PROCESS_KILL: u8 = 0x0c;
const PING: u8 = 0x0e;
const STATEMENT_PREPARE: u8 = 0x16;
const STATEMENT_EXECUTE: u8 = 0x17;
const STATEMENT_LONG_DATA: u8 = 0x18;
const STATEMENT_CLOSE: u8 = 0x19;
const STATEMENT_RESET: u8 = 0x1a;
const SET_OPTION: u8 = 0x1b;
const STATEMENT_FETCH: u8 = 0x1c;
const RESET_CONNECTION: u8 = 0x1f;

impl Client {
    pub(super) fn command(&mut self, core: &mut Core, body: &Bytes) {
        let (command, rest) = match body.split_first() {
            Some((command, rest)) => (*command, rest),
            None => (0, &[][..]),
        };
        match command {
            QUIT => return self.leave(core),
            QUERY => return self.query(core, rest),
            // These commands get no reply. The model has no prepared statements.
            STATEMENT_LONG_DATA | STATEMENT_CLOSE => {
                let reply = Reply::new(self.number);
                return self.finish(core, reply);
            }
            _ => {}
        }
        self.session.warnings = 0;
        self.session.no_index = false;
        let mut reply = Reply::new(self.number);
        let outcome = match command {
            INIT_DB => self.session.choose(&String::from_utf8_lossy(rest), &core.store),
            FIELD_LIST => Err(match self.session.database {
                None => SqlError::no_database(),
                Some(_) => SqlError::unsupported("COM_FIELD_LIST"),
            }),
            STATISTICS => {
                reply.packet(statistics(core).as_bytes());
                return self.finish(core, reply);
            }
            PROCESS_KILL => self.order_kill(core, i128::from(number(rest)), false),
            PING => Ok(()),
            STATEMENT_PREPARE => Err(SqlError::unprepared()),
            STATEMENT_EXECUTE if rest.len() < 9 => {
                Err(SqlError::new(1835, "HY000", "Malformed communication packet"))
            }
            STATEMENT_EXECUTE => Err(unknown_statement(rest, "mysqld_stmt_execute")),
            STATEMENT_RESET => Err(unknown_statement(rest, "mysqld_stmt_reset")),
            STATEMENT_FETCH => Err(unknown_statement(rest, "mysqld_stmt_fetch")),
            SET_OPTION if matches!(rest.first(), Some(2..)) || matches!(rest.get(1), Some(1..)) => {
                Err(SqlError::unknown_command())
            }
            SET_OPTION => {
                self.session.takes_several = rest.first().is_none_or(|option| *option == 0);
                reply.eof(self.session.status(), 0);
                return self.finish(core, reply);
            }
            RESET_CONNECTION => {
                core.locks.release_all(self.session.id);
                core.store.roll_back(self.session.id);
                self.session.reset();
                Ok(())
            }
            _ => Err(SqlError::unknown_command()),
        };
        match outcome {
            Ok(()) => reply.ok(self.session.status(), 0),
            Err(error) => {
                self.session.add_error(&error);
                reply.error(&error);
                if error == SqlError::killed() {
                    self.finish(core, reply);
                    return self.leave(core);
                }
            }
        }
        self.finish(core, reply);
    }
}

fn number(bytes: &[u8]) -> u32 {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
}

fn unknown_statement(rest: &[u8], function: &str) -> SqlError {
    let id = number(rest);
    let message = format!("Unknown prepared statement handler ({id}) given to {function}");
    SqlError::new(1243, "HY000", message)
}

fn statistics(core: &Core) -> String {
    let uptime = core.now.monotonic.0.saturating_sub(core.started_at) / 1_000_000;
    let (threads, questions) = (core.sessions.len(), core.questions);
    let average = questions * 1_000 / uptime.max(1);
    let (whole, rest) = (average / 1_000, average % 1_000);
    format!(
        "Uptime: {uptime}  Threads: {threads}  Questions: {questions}  Slow queries: 0  Opens: 0  \
         Open tables: 0  Queries per second avg: {whole}.{rest:03}"
    )
}
