use crate::code::{NOTIFICATION_XID, Refusal, result};
use crate::jute::Writer;
use crate::password;
use crate::tree::Outcome;
use crate::watches::Event;
use bytes::Bytes;

const SYNC_CONNECTED: i32 = 3;

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

pub(crate) fn refusal(xid: i32, zxid: i64, refusal: Refusal) -> Bytes {
    reply(xid, zxid, Err::<fn(&mut Writer), _>(refusal))
}

pub(crate) fn empty(xid: i32, zxid: i64) -> Bytes {
    reply(xid, zxid, Ok(|_: &mut Writer| {}))
}

pub(crate) fn event(event: Event, path: &str) -> Bytes {
    let mut writer = Writer::frame();
    writer.int(NOTIFICATION_XID).long(-1).int(0);
    writer.int(event as i32).int(SYNC_CONNECTED).string(path);
    writer.framed()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Granted {
    pub(crate) session: i64,
    pub(crate) timeout_ms: i32,
}

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

pub(crate) fn write_refused(code: i32, writer: &mut Writer) {
    writer.int(result::ERROR).bool(false).int(code).int(code);
}
