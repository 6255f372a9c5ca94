//! Reads gRPC calls from the HTTP/2 frames of clients' connections.

use fencepost_machine::wording::Speaker;
use fluke_hpack::Decoder;
use std::collections::BTreeMap;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length (3 bytes), type, flags, and stream number (4 bytes): RFC 9113, section 4.1.
const FRAME_HEAD: usize = 9;
/// Compression flag (1 byte), and length of the message (4 bytes).
const MESSAGE_HEAD: usize = 5;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
/// The types of frames (RFC 9113, section 6), by number.
const NAMES: [&str; 10] = [
    "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY",
    "WINDOW_UPDATE", "CONTINUATION",
];
/// Start of a raft message between servers, whose length takes 8 bytes.
const RAFT_HEAD: &[u8] = &[0; 5];

#[derive(Default)]
pub(super) struct Connection {
    decoder: Option<Decoder<'static>>,
    unread: Vec<u8>,
    headers: Vec<u8>,
    paths: BTreeMap<u32, String>,
}

impl Connection {
    /// Returns each complete DATA frame as the path of its call, the message, and the message's
    /// integers in quotes, as in the JSON gateway.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        if self.decoder.is_none() && !bytes.starts_with(PREFACE) {
            return Vec::new();
        }
        let start = if self.decoder.is_none() { PREFACE.len() } else { 0 };
        self.unread.extend_from_slice(&bytes[start..]);
        self.decoder.get_or_insert_with(Decoder::new);
        let mut calls = Vec::new();
        while let Some(frame) = self.next_frame() {
            calls.extend(self.takes(frame));
        }
        calls
    }

    pub(super) fn is_open(&self) -> bool {
        self.decoder.is_some()
    }

    fn next_frame(&mut self) -> Option<Frame> {
        let frame = Frame::first_of(&self.unread)?;
        self.unread.drain(..FRAME_HEAD + frame.body.len());
        Some(frame)
    }

    fn takes(&mut self, frame: Frame) -> Option<Vec<u8>> {
        match frame.kind {
            HEADERS | CONTINUATION => {
                self.headers.extend_from_slice(frame.content()?);
                if frame.flags & END_HEADERS != 0 {
                    let block = std::mem::take(&mut self.headers);
                    let fields = self.decoder.as_mut()?.decode(&block).ok()?;
                    let path = fields.into_iter().find(|(name, _)| name == b":path")?.1;
                    self.paths.insert(frame.stream, String::from_utf8_lossy(&path).into_owned());
                }
                None
            }
            DATA => {
                let message = frame.content()?.get(MESSAGE_HEAD..)?;
                let path = self.paths.get(&frame.stream)?;
                Some([path.as_bytes(), b" ", message, numbers(message).as_bytes()].concat())
            }
            _ => None,
        }
    }
}

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    body: Vec<u8>,
}

impl Frame {
    fn first_of(bytes: &[u8]) -> Option<Frame> {
        let [a, b, c, kind, flags, stream @ ..] = *bytes.first_chunk::<FRAME_HEAD>()?;
        let end = FRAME_HEAD + u32::from_be_bytes([0, a, b, c]) as usize;
        let body = bytes.get(FRAME_HEAD..end)?.to_vec();
        Some(Frame { kind, flags, stream: u32::from_be_bytes(stream), body })
    }

    fn content(&self) -> Option<&[u8]> {
        let mut body = &self.body[..];
        if self.kind != CONTINUATION && self.flags & PADDED != 0 {
            let (&padding, rest) = body.split_first()?;
            body = rest.get(..rest.len().checked_sub(padding.into())?)?;
        }
        if self.kind == HEADERS && self.flags & PRIORITY != 0 {
            body = body.get(5..)?;
        }
        Some(body)
    }
}

/// Names the frames that a gRPC client or server sends, with the texts of DATA frames.
pub(super) fn wording(speaker: Speaker, bytes: &[u8]) -> String {
    match names(bytes.strip_prefix(PREFACE).unwrap_or(bytes)) {
        Some(names) => format!("HTTP/2 {names}"),
        None if bytes.first() == Some(&0) && !bytes.starts_with(RAFT_HEAD) => {
            "HTTP/2 part of a frame".to_owned()
        }
        None => fencepost_etcd::wording(speaker, bytes),
    }
}

/// Returns `None` unless the bytes are whole frames.
fn names(mut bytes: &[u8]) -> Option<String> {
    let mut words = Vec::new();
    while !bytes.is_empty() {
        let frame = Frame::first_of(bytes).filter(|frame| frame.stream <= i32::MAX as u32)?;
        words.push((*NAMES.get(usize::from(frame.kind))?).to_owned());
        if frame.kind == DATA {
            words.extend(texts(&frame.body));
        }
        bytes = &bytes[FRAME_HEAD + frame.body.len()..];
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn texts(message: &[u8]) -> impl Iterator<Item = String> {
    let runs = message.split(|byte| !byte.is_ascii_graphic());
    runs.filter(|run| run.len() >= 4).map(|run| String::from_utf8_lossy(run).into_owned())
}

fn numbers(message: &[u8]) -> String {
    let mut found = String::new();
    let mut rest = message;
    while let Some((tag, after)) = varint(rest) {
        let skipped = match tag & 7 {
            0 => {
                let Some((value, after)) = varint(after) else { break };
                found += &format!(" \"{}\"", value.cast_signed());
                Some(after)
            }
            1 => after.get(8..),
            2 => {
                varint(after).and_then(|(length, after)| after.get(usize::try_from(length).ok()?..))
            }
            5 => after.get(4..),
            _ => None,
        };
        let Some(skipped) = skipped else { break };
        rest = skipped;
    }
    found
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use fluke_hpack::Encoder;

    fn frame(kind: u8, flags: u8, stream: u32, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32).to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        [&head, body].concat()
    }

    fn call(encoder: &mut Encoder<'_>, stream: u32, path: &str, message: &[u8]) -> Vec<u8> {
        let block = encoder.encode([(&b":method"[..], &b"POST"[..]), (b":path", path.as_bytes())]);
        let framed = [&[0, 0, 0, 0, message.len() as u8], message].concat();
        [frame(HEADERS, END_HEADERS, stream, &block), frame(DATA, 1, stream, &framed)].concat()
    }

    #[test]
    fn a_call_has_its_path_and_its_numbers_also_if_it_arrives_in_pieces() {
        let mut encoder = Encoder::new();
        let revoke = call(&mut encoder, 1, "/etcdserverpb.Lease/LeaseRevoke", &[8, 0xac, 2]);
        let delete = call(&mut encoder, 3, "/etcdserverpb.KV/DeleteRange", b"\x0a\x06lock/b");
        let again = call(&mut encoder, 5, "/etcdserverpb.KV/DeleteRange", b"\x0a\x06lock/c");
        let mut connection = Connection::default();
        assert_eq!(connection.receive(PREFACE), [] as [Vec<u8>; 0]);
        assert_eq!(
            connection.receive(&revoke),
            [b"/etcdserverpb.Lease/LeaseRevoke \x08\xac\x02 \"300\"".to_vec()]
        );
        let both = [delete, again].concat();
        let found: Vec<Vec<u8>> = both.chunks(7).flat_map(|it| connection.receive(it)).collect();
        assert_eq!(
            found,
            [
                b"/etcdserverpb.KV/DeleteRange \x0a\x06lock/b".to_vec(),
                b"/etcdserverpb.KV/DeleteRange \x0a\x06lock/c".to_vec(),
            ]
        );
    }

    #[test]
    fn bytes_without_the_preface_are_no_calls() {
        let mut connection = Connection::default();
        assert_eq!(connection.receive(b"POST /v3/kv/txn HTTP/1.1\r\n\r\n{}"), [] as [Vec<u8>; 0]);
    }

    #[test]
    fn frames_are_named_and_told_from_raft_messages() {
        let told = |bytes: &[u8]| wording(Speaker::Client, bytes);
        let asked = call(&mut Encoder::new(), 1, "/etcdserverpb.KV/Put", b"\x0a\x06orders");
        assert_eq!(told(&asked), "HTTP/2 HEADERS DATA orders");
        assert_eq!(told(&[PREFACE, &frame(4, 0, 0, b"")].concat()), "HTTP/2 SETTINGS");
        assert_eq!(told(&frame(DATA, 1, 1, b"")), "HTTP/2 DATA");
        assert_eq!(told(&asked[..asked.len() - 1]), "HTTP/2 part of a frame");
        assert_eq!(told(&[0, 0, 0, 0, 0, 0, 0, 3, 8, 1, 16]), "raft");
        assert_eq!(told(b"POST /v3/kv/put HTTP/1.1\r\n\r\n"), "POST /v3/kv/put");
    }

    #[test]
    fn a_message_that_is_cut_off_has_the_numbers_before_the_cut() {
        assert_eq!(numbers(&[8, 1, 18, 2, 7, 7, 24, 0xff]), " \"1\"");
        assert_eq!(numbers(&[9, 1]), "");
    }
}
