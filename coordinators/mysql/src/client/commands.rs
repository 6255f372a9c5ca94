use super::{Client, Core};
use crate::error::SqlError;
use crate::packet::Reply;
use bytes::Bytes;

const QUIT: u8 = 0x01;
const INIT_DB: u8 = 0x02;
const QUERY: u8 = 0x03;
const PROCESS_KILL: u8 = 0x0c;
const PING: u8 = 0x0e;
const STATEMENT_PREPARE: u8 = 0x16;
const STATEMENT_LONG_DATA: u8 = 0x18;
const STATEMENT_CLOSE: u8 = 0x19;
const SET_OPTION: u8 = 0x1b;
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
            // These commands get no reply, and the model has no prepared statements.
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
            PROCESS_KILL => self.order_kill(core, i128::from(number(rest)), false),
            PING => Ok(()),
            STATEMENT_PREPARE => Err(SqlError::unprepared()),
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
