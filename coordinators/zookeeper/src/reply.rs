//! What a server sends to clients: replies, watch events, and the answer to the question for a
//! session.

use crate::code::{NOTIFICATION_XID, Refusal, result};
use crate::jute::Writer;
use crate::password;
use crate::tree::Outcome;
use crate::watches::Event;
use bytes::Bytes;

/// The state of a session in a watch event: connected.
const SYNC_CONNECTED: i32 = 3;

/// A reply: its header, then its record if nothing was refused.
pub(crate) fn reply(
    xid: i32,
    zxid: i64,
    answer: Result<impl FnOnce(&mut Writer), Refusal>,
) -> Bytes {
    let mut writer = Writer::frame();
    writer.int(xid).long(zxid);
    match answer {
        Ok(record) => record(writer.int(0)),
        Err(refusal) => {
            writer.int(refusal.number());
        }
    }
    writer.framed()
}

/// A reply that refuses.
pub(crate) fn refusal(xid: i32, zxid: i64, refusal: Refusal) -> Bytes {
    reply(xid, zxid, Err::<fn(&mut Writer), _>(refusal))
}

/// A reply without a record.
pub(crate) fn empty(xid: i32, zxid: i64) -> Bytes {
    reply(xid, zxid, Ok(|_: &mut Writer| {}))
}

/// A watch event.
pub(crate) fn event(event: Event, path: &str) -> Bytes {
    let mut writer = Writer::frame();
    writer.int(NOTIFICATION_XID).long(-1).int(0);
    writer.int(event as i32).int(SYNC_CONNECTED).java_string(path);
    writer.framed()
}

/// A session that was granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Granted {
    pub(crate) session: i64,
    pub(crate) timeout_ms: i32,
}

/// The answer to the question for a session; `None` says that the session is over.
pub(crate) fn session(granted: Option<Granted>, is_told_read_only: bool) -> Bytes {
    let mut writer = Writer::frame();
    writer.int(0);
    match granted {
        Some(Granted { session, timeout_ms }) => {
            writer.int(timeout_ms).long(session).buffer(Some(&password::of(session)));
        }
        None => {
            writer.int(0).long(0).buffer(Some(&[0; 16]));
        }
    }
    if is_told_read_only {
        writer.bool(false);
    }
    writer.framed()
}

/// What came of a transaction, as who asked for it reads it.
pub(crate) fn outcome(xid: i32, zxid: i64, outcome: &Outcome) -> Bytes {
    let mut writer = Writer::frame();
    writer.int(xid).long(zxid);
    match outcome {
        Outcome::Refused(code) => {
            writer.int(*code);
        }
        Outcome::Many(parts) => {
            writer.int(0);
            parts.iter().for_each(|part| write_part(part, &mut writer));
            writer.int(-1).bool(true).int(-1);
        }
        other => write_record(other, writer.int(0)),
    }
    writer.framed()
}

fn write_record(outcome: &Outcome, writer: &mut Writer) {
    match outcome {
        Outcome::Created { path, stat } => {
            writer.string(path);
            stat.iter().for_each(|stat| stat.write(writer));
        }
        Outcome::Changed(stat) => stat.write(writer),
        _ => {}
    }
}

fn write_part(part: &Outcome, writer: &mut Writer) {
    let kind = match part {
        Outcome::Created { stat: None, .. } => result::CREATE,
        Outcome::Created { stat: Some(_), .. } => result::CREATE2,
        Outcome::Deleted => result::DELETE,
        Outcome::Changed(_) => result::SET_DATA,
        Outcome::Refused(code) => return write_refused(*code, writer),
        _ => result::CHECK,
    };
    writer.int(kind).bool(false).int(0);
    write_record(part, writer);
}

/// A part of a multi that was refused, or would not have been.
pub(crate) fn write_refused(code: i32, writer: &mut Writer) {
    writer.int(result::ERROR).bool(false).int(code).int(code);
}
