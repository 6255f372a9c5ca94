//! A replica's connection to its primary.

use super::transfer::NotASnapshot;
use super::{Received, Replication, Step, Transfer};
use crate::protocol::outgoing::Outgoing;
use crate::protocol::request::{Limits, ProtocolError, Request, RequestReader};
use bytes::BytesMut;
use fencepost_machine::{ConnectionId, Output, Outputs};

/// How far the connection to the primary is (`REPL_STATE_*`).
#[derive(Debug, Default)]
pub(crate) enum Stage {
    /// There is none; the cron will try.
    #[default]
    Unconnected,
    /// It is being opened.
    Connecting,
    /// Both introduce themselves.
    Handshake,
    /// The snapshot is on its way.
    Transfer(Transfer),
    /// The stream is applied.
    Streaming,
}

/// The connection to the primary. It is there in every stage but the first.
#[derive(Debug, Default)]
pub(super) struct Link {
    stage: Stage,
    outgoing: Option<Outgoing<Step>>,
    /// When the primary last sent anything, in seconds of the wall clock.
    heard_at: i64,
    /// What was received of the stream and not applied.
    reader: RequestReader,
    /// The same, as it came, to be passed on once it is applied.
    unapplied: BytesMut,
}

impl Link {
    fn open(&mut self, outgoing: Outgoing<Step>, now_seconds: i64) {
        self.outgoing = Some(outgoing);
        self.stage = Stage::Connecting;
        self.heard_at = now_seconds;
    }

    /// Whether the stream is applied.
    fn is_up(&self) -> bool {
        matches!(self.stage, Stage::Streaming)
    }
}

impl Replication {
    /// How far the connection to the primary is.
    pub(crate) fn stage(&self) -> &Stage {
        &self.link.stage
    }

    /// Whether a replica's link to its primary is up and synchronised.
    pub(crate) fn is_link_up(&self) -> bool {
        self.link.is_up()
    }

    /// Whether a connection is the one to the primary.
    pub(crate) fn is_link(&self, connection: ConnectionId) -> bool {
        self.link.outgoing.as_ref().is_some_and(|outgoing| outgoing.id == connection)
    }

    /// For how many seconds the primary has sent nothing.
    pub(crate) fn silent_for(&self, now_seconds: i64) -> i64 {
        now_seconds - self.link.heard_at
    }

    /// Since when there is no link to the primary, in seconds of the wall clock.
    pub(crate) fn down_since(&self) -> Option<i64> {
        self.down_since
    }

    /// Whether this server's data is the history up to its offset, so that it may ask a primary to
    /// go on from there.
    pub(crate) fn may_continue(&self) -> bool {
        self.may_continue
    }

    /// Opens a connection to the primary if there is to be one and there is none.
    pub(crate) fn connect(&mut self, now_seconds: i64, out: &mut Outputs) {
        let Some((host, port)) = &self.primary else { return };
        if matches!(self.link.stage, Stage::Unconnected) {
            let outgoing = Outgoing::connect(&mut self.ids, host, *port, out);
            self.link.open(outgoing, now_seconds);
        }
    }

    /// The connection is open: both introduce themselves, beginning with what the caller sends.
    pub(crate) fn begin_handshake(&mut self) -> Option<&mut Outgoing<Step>> {
        let outgoing = self.link.outgoing.as_mut()?;
        outgoing.connected();
        self.link.stage = Stage::Handshake;
        Some(outgoing)
    }

    /// The connection to the primary, if there is one, to say something on it.
    pub(crate) fn outgoing(&mut self) -> Option<&mut Outgoing<Step>> {
        self.link.outgoing.as_mut()
    }

    /// The same while the stream is applied.
    pub(crate) fn streaming(&mut self) -> Option<&mut Outgoing<Step>> {
        if self.link.is_up() { self.link.outgoing.as_mut() } else { None }
    }

    /// Bytes came from the primary.
    pub(crate) fn hear(&mut self, bytes: &[u8], now_seconds: i64) {
        self.link.heard_at = now_seconds;
        if let Some(outgoing) = &mut self.link.outgoing {
            outgoing.receive(bytes);
        }
    }

    /// A snapshot is about to come.
    pub(crate) fn begin_transfer(&mut self, transfer: Transfer) {
        self.link.stage = Stage::Transfer(transfer);
    }

    /// Takes what has come of the snapshot: itself once it is complete, `None` before that.
    pub(crate) fn read_transfer(&mut self) -> Result<Option<Received>, NotASnapshot> {
        let (Stage::Transfer(transfer), Some(outgoing)) =
            (&mut self.link.stage, &mut self.link.outgoing)
        else {
            return Ok(None);
        };
        transfer.read(outgoing.undecoded())
    }

    /// The data is what the snapshot held: that of this history up to this offset.
    pub(crate) fn adopt(&mut self, id: &str, offset: u64) {
        self.history.adopt(id, offset);
    }

    /// The primary goes on from where the data stands, and calls the history by this id from here
    /// on. Returns whether that is another one.
    pub(crate) fn rename_history(&mut self, id: &str) -> bool {
        let is_new = id != self.history.id();
        if is_new {
            self.history.branch_off(id.to_owned());
        }
        is_new
    }

    /// The stream begins, after a snapshot or right away.
    pub(crate) fn begin_streaming(&mut self, backlog_size: usize) {
        self.history.keep(backlog_size);
        self.link.stage = Stage::Streaming;
        self.down_since = None;
        self.may_continue = true;
    }

    /// Takes up what has come of the stream.
    pub(crate) fn take_up(&mut self) {
        let link = &mut self.link;
        if let Some(outgoing) = &mut link.outgoing {
            let bytes = outgoing.undecoded().split();
            link.reader.feed(&bytes);
            link.unapplied.extend_from_slice(&bytes);
        }
    }

    /// The next command of the stream, if it is complete; hand it back by
    /// [`applied`](Self::applied).
    pub(crate) fn next_command(&mut self) -> Result<Option<Request>, ProtocolError> {
        let is_complete = self.link.reader.advance(Limits::of(usize::MAX))?;
        Ok(is_complete.then(|| self.link.reader.take()))
    }

    /// Takes back the memory of a command of the stream that was applied.
    pub(crate) fn give_back(&mut self, request: Request) {
        self.link.reader.give_back(request);
    }

    /// What was applied goes on to our own replicas; a transaction only once it is complete.
    pub(crate) fn pass_on_applied(&mut self) {
        let link = &mut self.link;
        let applied = link.unapplied.len() - link.reader.pending();
        let bytes = link.unapplied.split_to(applied);
        self.append_to_stream(&bytes);
    }

    /// Takes the connection to the primary, to close it; [`lose_link`](Self::lose_link) follows.
    pub(crate) fn take_outgoing(&mut self) -> Option<ConnectionId> {
        self.link.outgoing.take().map(|outgoing| outgoing.id)
    }

    /// The link is gone, and what came over it and was not applied. What was applied stays valid,
    /// so that the primary may be asked to go on from there. Returns whether the link was up.
    pub(crate) fn lose_link(&mut self, now_seconds: i64) -> bool {
        let was_up = self.link.is_up();
        let heard_at = self.link.heard_at;
        self.link = Link { heard_at, ..Link::default() };
        if was_up {
            self.down_since = Some(now_seconds);
        }
        was_up
    }

    /// What is to be sent to the primary.
    #[inline]
    pub(crate) fn take_message(&mut self) -> Option<Output> {
        self.link.outgoing.as_mut()?.take_message()
    }
}
