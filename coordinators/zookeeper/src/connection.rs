use crate::code::PING_XID;
use crate::config::MemberId;
use bytes::{Buf, Bytes, BytesMut};

/// First bytes that a member sends. As a client's frame length, they would exceed the limit.
pub(crate) const PEER_GREETING: &[u8; 4] = b"fpzk";

/// Interval in milliseconds at which the real server checks for idle connections.
const IDLE_STEP_MS: u64 = 10_000;

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) input: BytesMut,
    pub(crate) identity: Identity,
    pub(crate) host: String,
    idle_until_ms: u64,
}

#[derive(Debug, Default)]
pub(crate) enum Identity {
    #[default]
    Unknown,
    Client(Client),
    Peer(Option<MemberId>),
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) stage: Stage,
    pub(crate) session: i64,
    pub(crate) timeout_ms: i32,
    pub(crate) is_told_read_only: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Connecting,
    /// The server reads no further frame until it answers the connect request.
    Establishing,
    Established,
}

const PING: [i32; 3] = [8, PING_XID, 11];

pub(crate) fn is_ping(message: &[u8]) -> bool {
    let ping = PING.iter().flat_map(|word| word.to_be_bytes());
    message.iter().copied().eq(ping)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    Incomplete,
    Frame(Bytes),
    Oversized,
}

pub(crate) fn cut(input: &mut BytesMut, frame_max: usize) -> Cut {
    match peek(input, frame_max) {
        Peeked::Incomplete => Cut::Incomplete,
        Peeked::Oversized => Cut::Oversized,
        Peeked::Whole(length) => {
            input.advance(4);
            Cut::Frame(input.split_to(length).freeze())
        }
    }
}

enum Peeked {
    Incomplete,
    Oversized,
    Whole(usize),
}

fn peek(input: &BytesMut, frame_max: usize) -> Peeked {
    let Some((length, rest)) = input.split_first_chunk() else { return Peeked::Incomplete };
    match usize::try_from(i32::from_be_bytes(*length)) {
        Ok(length) if length > frame_max => Peeked::Oversized,
        Ok(length) if rest.len() >= length => Peeked::Whole(length),
        Ok(_) => Peeked::Incomplete,
        Err(_) => Peeked::Oversized,
    }
}

impl Connection {
    pub(crate) fn new(peer: &str, idle_until_ms: u64) -> Connection {
        let host = peer.rsplit_once(':').map_or(peer, |(host, _)| host).to_owned();
        Connection { input: BytesMut::new(), identity: Identity::Unknown, host, idle_until_ms }
    }

    pub(crate) fn touch(&mut self, now_ms: u64) {
        let timeout_ms = match &self.identity {
            Identity::Client(client) => client.timeout_ms,
            Identity::Unknown | Identity::Peer(_) => 0,
        };
        self.idle_until_ms = idle_until(timeout_ms, now_ms);
    }

    pub(crate) fn idle_due(&self) -> Option<u64> {
        (!matches!(self.identity, Identity::Peer(_))).then_some(self.idle_until_ms)
    }

    pub(crate) fn is_idle(&self, now_ms: u64) -> bool {
        self.idle_due().is_some_and(|due| due <= now_ms)
    }

    pub(crate) fn is_ready(&self, frame_max: usize) -> bool {
        let Identity::Client(client) = &self.identity else { return false };
        client.stage != Stage::Establishing
            && !matches!(peek(&self.input, frame_max), Peeked::Incomplete)
    }
}

impl Client {
    pub(crate) fn new() -> Client {
        Client { stage: Stage::Connecting, session: 0, timeout_ms: 0, is_told_read_only: false }
    }
}

pub(crate) fn idle_until(timeout_ms: i32, now_ms: u64) -> u64 {
    let timeout = u64::try_from(timeout_ms).ok().filter(|timeout| *timeout > 0);
    ((now_ms + timeout.unwrap_or(IDLE_STEP_MS)) / IDLE_STEP_MS + 1) * IDLE_STEP_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_cut_off_one_by_one() {
        let mut input = BytesMut::from(&b"\0\0\0\x02ab\0\0\0\x01"[..]);
        assert_eq!(cut(&mut input, 9), Cut::Frame(Bytes::from_static(b"ab")));
        assert_eq!(cut(&mut input, 9), Cut::Incomplete);
        input.extend_from_slice(b"c");
        assert_eq!(cut(&mut input, 9), Cut::Frame(Bytes::from_static(b"c")));
    }

    #[test]
    fn lengths_that_no_frame_has_are_seen_at_once() {
        for length in [[0, 0, 0, 10], [255; 4]] {
            assert_eq!(cut(&mut BytesMut::from(&length[..]), 9), Cut::Oversized);
        }
    }

    #[test]
    fn a_ping_is_a_message_by_itself() {
        let ping = [0, 0, 0, 8, 255, 255, 255, 254, 0, 0, 0, 11];
        assert!(is_ping(&ping));
        assert!(!is_ping(&[ping, ping].concat()), "whatever comes with it may be more");
        assert!(!is_ping(&ping[..8]) && !is_ping(&[]));
    }
}
