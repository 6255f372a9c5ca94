//! Messages between members. Contents and order follow Zab, but the encoding is fencepost's own.

use crate::code::Operation;
use crate::config::MemberId;
use crate::jute::{Malformed, Read, Reader, Writer};
use crate::prepare::{Kind, Request};
use crate::transaction::Transaction;
use bytes::Bytes;

/// A vote. The later epoch wins, then the longer log, then the greater id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Vote {
    pub(crate) epoch: u32,
    pub(crate) zxid: i64,
    pub(crate) leader: MemberId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Looking,
    Following,
    Leading,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Notification {
    pub(crate) state: State,
    pub(crate) round: u64,
    pub(crate) vote: Vote,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Progress {
    pub(crate) last: i64,
    /// Earliest zxid to which the log can be truncated.
    pub(crate) base: i64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    Hello(MemberId),
    Notification(Notification),
    FollowerInfo {
        accepted: u32,
    },
    LeaderInfo {
        epoch: u32,
    },
    /// Accepts an epoch. A member that accepts it again (`is_new` is `false`) omits the epoch of
    /// its history.
    AckEpoch {
        current: u32,
        is_new: bool,
        progress: Progress,
    },
    /// Drops the log after this zxid, because the ensemble never agreed on it.
    Truncate {
        zxid: i64,
    },
    Snapshot(Bytes),
    Committed(Transaction),
    Proposal(Transaction),
    NewLeader {
        epoch: u32,
    },
    AckNewLeader,
    UpToDate,
    Ack {
        zxid: i64,
    },
    Commit {
        zxid: i64,
    },
    Ping,
    Pong {
        touched: Vec<(i64, i32)>,
    },
    Forward(Request),
    Sync {
        session: i64,
        cxid: i32,
    },
    Synced {
        session: i64,
        cxid: i32,
    },
    Revalidate {
        session: i64,
        timeout_ms: i32,
    },
    Revalidated {
        session: i64,
        is_valid: bool,
    },
}

impl Message {
    pub(crate) fn encode(&self) -> Bytes {
        let mut writer = Writer::frame();
        self.write(&mut writer);
        writer.framed()
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Message::Hello(id) => {
                writer.byte(0).byte(*id);
            }
            Message::Notification(notification) => notification.write(writer.byte(1)),
            Message::FollowerInfo { accepted } => write_epoch(*accepted, writer.byte(2)),
            Message::LeaderInfo { epoch } => write_epoch(*epoch, writer.byte(3)),
            Message::AckEpoch { current, is_new, progress } => {
                write_epoch(*current, writer.byte(4));
                writer.bool(*is_new).long(progress.last).long(progress.base);
            }
            Message::Truncate { zxid } => {
                writer.byte(5).long(*zxid);
            }
            Message::Snapshot(bytes) => {
                writer.byte(6).buffer(Some(bytes));
            }
            Message::Committed(transaction) => transaction.write(writer.byte(7)),
            Message::Proposal(transaction) => transaction.write(writer.byte(8)),
            Message::NewLeader { epoch } => write_epoch(*epoch, writer.byte(9)),
            Message::AckNewLeader => {
                writer.byte(10);
            }
            Message::UpToDate => {
                writer.byte(11);
            }
            Message::Ack { zxid } => {
                writer.byte(12).long(*zxid);
            }
            Message::Commit { zxid } => {
                writer.byte(13).long(*zxid);
            }
            Message::Ping => {
                writer.byte(14);
            }
            Message::Pong { touched } => {
                writer.byte(15).list(touched.iter(), |writer, (session, timeout_ms)| {
                    writer.long(*session).int(*timeout_ms);
                });
            }
            Message::Forward(request) => write_request(request, writer.byte(16)),
            Message::Sync { session, cxid } => {
                writer.byte(17).long(*session).int(*cxid);
            }
            Message::Synced { session, cxid } => {
                writer.byte(18).long(*session).int(*cxid);
            }
            Message::Revalidate { session, timeout_ms } => {
                writer.byte(19).long(*session).int(*timeout_ms);
            }
            Message::Revalidated { session, is_valid } => {
                writer.byte(20).long(*session).bool(*is_valid);
            }
        }
    }

    pub(crate) fn decode(frame: &[u8]) -> Read<Message> {
        let reader = &mut Reader::new(frame);
        let message = Message::read(reader)?;
        if reader.rest().is_empty() { Ok(message) } else { Err(Malformed) }
    }

    fn read(reader: &mut Reader<'_>) -> Read<Message> {
        Ok(match reader.byte()? {
            0 => Message::Hello(reader.byte()?),
            1 => Message::Notification(Notification::read(reader)?),
            2 => Message::FollowerInfo { accepted: read_epoch(reader)? },
            3 => Message::LeaderInfo { epoch: read_epoch(reader)? },
            4 => Message::AckEpoch {
                current: read_epoch(reader)?,
                is_new: reader.bool()?,
                progress: Progress { last: reader.long()?, base: reader.long()? },
            },
            5 => Message::Truncate { zxid: reader.long()? },
            6 => Message::Snapshot(Bytes::copy_from_slice(reader.buffer()?.ok_or(Malformed)?)),
            7 => Message::Committed(Transaction::read(reader)?),
            8 => Message::Proposal(Transaction::read(reader)?),
            9 => Message::NewLeader { epoch: read_epoch(reader)? },
            10 => Message::AckNewLeader,
            11 => Message::UpToDate,
            12 => Message::Ack { zxid: reader.long()? },
            13 => Message::Commit { zxid: reader.long()? },
            14 => Message::Ping,
            15 => {
                let touched = reader.list(|reader| Ok((reader.long()?, reader.int()?)))?;
                Message::Pong { touched: touched.ok_or(Malformed)? }
            }
            16 => Message::Forward(read_request(reader)?),
            17 => Message::Sync { session: reader.long()?, cxid: reader.int()? },
            18 => Message::Synced { session: reader.long()?, cxid: reader.int()? },
            19 => Message::Revalidate { session: reader.long()?, timeout_ms: reader.int()? },
            20 => Message::Revalidated { session: reader.long()?, is_valid: reader.bool()? },
            _ => return Err(Malformed),
        })
    }
}

impl Notification {
    fn write(&self, writer: &mut Writer) {
        let state = match self.state {
            State::Looking => 0,
            State::Following => 1,
            State::Leading => 2,
        };
        writer.byte(state).long(self.round.cast_signed());
        write_epoch(self.vote.epoch, writer);
        writer.long(self.vote.zxid).byte(self.vote.leader);
    }

    fn read(reader: &mut Reader<'_>) -> Read<Notification> {
        let state = match reader.byte()? {
            0 => State::Looking,
            1 => State::Following,
            2 => State::Leading,
            _ => return Err(Malformed),
        };
        let round = reader.long()?.cast_unsigned();
        let epoch = read_epoch(reader)?;
        let vote = Vote { epoch, zxid: reader.long()?, leader: reader.byte()? };
        Ok(Notification { state, round, vote })
    }
}

fn write_epoch(epoch: u32, writer: &mut Writer) {
    writer.int(epoch.cast_signed());
}

fn read_epoch(reader: &mut Reader<'_>) -> Read<u32> {
    Ok(reader.int()?.cast_unsigned())
}

fn write_request(request: &Request, writer: &mut Writer) {
    writer.long(request.session).int(request.cxid);
    match &request.kind {
        Kind::Client(operation, body) => {
            writer.byte(0).int(operation.number()).buffer(Some(body));
        }
        Kind::OpenSession { timeout_ms } => {
            writer.byte(1).int(*timeout_ms);
        }
        Kind::CloseSession => {
            writer.byte(2);
        }
        Kind::DeleteContainer(path) => {
            writer.byte(3).string(path);
        }
    }
}

fn read_request(reader: &mut Reader<'_>) -> Read<Request> {
    let (session, cxid) = (reader.long()?, reader.int()?);
    let kind = match reader.byte()? {
        0 => {
            let operation = Operation::of(reader.int()?).ok_or(Malformed)?;
            Kind::Client(operation, Bytes::copy_from_slice(reader.buffer()?.ok_or(Malformed)?))
        }
        1 => Kind::OpenSession { timeout_ms: reader.int()? },
        2 => Kind::CloseSession,
        3 => Kind::DeleteContainer(reader.text()?),
        _ => return Err(Malformed),
    };
    Ok(Request { session, cxid, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::Change;

    fn examples() -> Vec<Message> {
        let change = Change::Refused(-101);
        let transaction = Transaction { zxid: 7, session: 1, cxid: 2, time_ms: 3, change };
        let vote = Vote { epoch: 3, zxid: -1, leader: 2 };
        let request = |kind| Request { session: 1, cxid: 2, kind };
        let body = Bytes::from_static(b"abc");
        vec![
            Message::Hello(3),
            Message::Notification(Notification { state: State::Leading, round: 9, vote }),
            Message::FollowerInfo { accepted: 2 },
            Message::LeaderInfo { epoch: 3 },
            Message::AckEpoch {
                current: 1,
                is_new: true,
                progress: Progress { last: 1 << 33, base: 0 },
            },
            Message::Truncate { zxid: 4 },
            Message::Snapshot(Bytes::from_static(b"tree")),
            Message::Committed(transaction.clone()),
            Message::Proposal(transaction),
            Message::NewLeader { epoch: 3 },
            Message::AckNewLeader,
            Message::UpToDate,
            Message::Ack { zxid: 5 },
            Message::Commit { zxid: 5 },
            Message::Ping,
            Message::Pong { touched: vec![(1, 4_000)] },
            Message::Forward(request(Kind::Client(Operation::Multi, body))),
            Message::Forward(request(Kind::OpenSession { timeout_ms: 4 })),
            Message::Forward(request(Kind::CloseSession)),
            Message::Forward(request(Kind::DeleteContainer("/c".into()))),
            Message::Sync { session: 1, cxid: 2 },
            Message::Synced { session: 1, cxid: 2 },
            Message::Revalidate { session: 1, timeout_ms: 4 },
            Message::Revalidated { session: 1, is_valid: true },
        ]
    }

    #[test]
    fn a_message_reads_as_it_was_written_and_half_of_it_not_at_all() {
        for message in examples() {
            let frame = message.encode();
            assert_eq!(Message::decode(&frame[4..]), Ok(message));
            for end in 4..frame.len() {
                assert_eq!(Message::decode(&frame[4..end]), Err(Malformed), "{end}");
            }
        }
    }
}
