use crate::code::{NOTIFICATION_XID, Operation, PING_XID};
use crate::connection::PEER_GREETING;
use crate::jute::{Read, Reader};
use crate::member::message::Message;
use fencepost_machine::wording::Speaker;

/// Formats messages, for example `create /lock- | reply 3: NoNode | event deleted /lock`.
pub fn zookeeper(speaker: Speaker, bytes: &[u8]) -> String {
    let (mut reader, mut words) = (Reader::new(bytes), Vec::new());
    if bytes.starts_with(PEER_GREETING) {
        reader = Reader::new(&bytes[4..]);
    }
    while let Ok(Some(frame)) = reader.buffer() {
        words.push(describe_frame(speaker, frame));
    }
    words.join(" | ")
}

fn describe_frame(speaker: Speaker, frame: &[u8]) -> String {
    let told = match speaker {
        Speaker::Client => request(frame),
        Speaker::Server => reply(frame),
    };
    match told {
        Ok(words) => words,
        Err(_) => Message::decode(frame).map_or_else(|| "?".to_owned(), |said| member(&said)),
    }
}

fn request(frame: &[u8]) -> Read<String> {
    if let Some(said) = Message::decode(frame) {
        return Ok(member(&said));
    }
    let reader = &mut Reader::new(frame);
    let (first, second) = (reader.int()?, reader.int()?);
    let Some(operation) = Operation::from_repr(second).filter(|_| first != 0 || frame.len() < 44)
    else {
        let reader = &mut Reader::new(frame);
        reader.int()?;
        reader.long()?;
        reader.int()?;
        return Ok(match reader.long()? {
            0 => "connect".to_owned(),
            session => format!("connect {session:#x}"),
        });
    };
    let name = format!("{operation:?}");
    let has_path = !matches!(
        operation,
        Operation::Ping
            | Operation::CloseSession
            | Operation::Multi
            | Operation::SetWatches
            | Operation::Auth
    );
    let path = if has_path { reader.string()?.unwrap_or_default() } else { String::new() };
    Ok(format!("{name} {path}").trim_end().to_owned())
}

fn reply(frame: &[u8]) -> Read<String> {
    if let Some(said) = Message::decode(frame) {
        return Ok(member(&said));
    }
    let reader = &mut Reader::new(frame);
    let xid = reader.int()?;
    if xid == 0 && frame.len() <= 37 {
        let (_, session) = (reader.int()?, reader.long()?);
        let granted = || format!("session {session:#x}");
        return Ok(if session == 0 { "session expired".to_owned() } else { granted() });
    }
    let (_, code) = (reader.long()?, reader.int()?);
    match (xid, code) {
        (NOTIFICATION_XID, _) => {
            let (kind, _) = (reader.int()?, reader.int()?);
            let names = ["created", "deleted", "data changed", "children changed"];
            let place = usize::try_from(kind - 1).unwrap_or(usize::MAX);
            let path = reader.text()?;
            Ok(format!("event {} {path}", names.get(place).unwrap_or(&"?")))
        }
        (PING_XID, _) => Ok("pong".to_owned()),
        (_, 0) => {
            let path = reader.string().ok().flatten().filter(|path| path.starts_with('/'));
            Ok(path.map_or_else(|| "ok".to_owned(), |path| format!("ok {path}")))
        }
        (_, code) => Ok(match crate::code::Refusal::from_repr(code) {
            Some(refusal) => format!("{refusal:?}"),
            None => format!("error {code}"),
        }),
    }
}

fn member(said: &Message) -> String {
    match said {
        Message::Hello(id) => format!("hello from member {id}"),
        Message::Notification(told) => {
            format!("{:?}, votes for {}", told.state, told.vote.leader)
        }
        Message::Snapshot(_) => "snapshot".to_owned(),
        Message::Committed(one) => format!("committed {:#x}", one.zxid),
        Message::Proposal(one) => format!("proposal {:#x}", one.zxid),
        Message::Ack { zxid } => format!("ack {zxid:#x}"),
        Message::Commit { zxid } => format!("commit {zxid:#x}"),
        Message::Forward(request) => format!("forward {:#x}", request.session),
        Message::Pong { .. } => "pong".to_owned(),
        other => {
            let words = format!("{other:?}");
            words.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
        }
    }
}
