use super::transfer::NotASnapshot;
use super::{Received, Replication, Step, Transfer};
use crate::protocol::outgoing::Outgoing;
use crate::protocol::request::{Limits, ProtocolError, Request, RequestReader};
use bytes::BytesMut;
use fencepost_machine::{ConnectionId, Output, Outputs};

#[derive(Debug, Default)]
pub(crate) enum Stage {
    #[default]
    Unconnected,
    Connecting,
    Handshake,
    Transfer(Transfer),
    Streaming,
}

#[derive(Debug, Default)]
pub(super) struct Link {
    stage: Stage,
    outgoing: Option<Outgoing<Step>>,
    heard_at: i64,
    reader: RequestReader,
    unapplied: BytesMut,
}

impl Link {
    fn open(&mut self, outgoing: Outgoing<Step>, now_seconds: i64) {
        self.outgoing = Some(outgoing);
        self.stage = Stage::Connecting;
        self.heard_at = now_seconds;
    }

    fn is_up(&self) -> bool {
        matches!(self.stage, Stage::Streaming)
    }
}

impl Replication {
    pub(crate) fn stage(&self) -> &Stage {
        &self.link.stage
    }

    pub(crate) fn is_link_up(&self) -> bool {
        self.link.is_up()
    }

    pub(crate) fn is_link(&self, connection: ConnectionId) -> bool {
        self.link.outgoing.as_ref().is_some_and(|outgoing| outgoing.id == connection)
    }

    pub(crate) fn silent_for(&self, now_seconds: i64) -> i64 {
        now_seconds - self.link.heard_at
    }

    pub(crate) fn connect(&mut self, now_seconds: i64, out: &mut Outputs) {
        let Some((host, port)) = &self.primary else { return };
        if matches!(self.link.stage, Stage::Unconnected) {
            let outgoing = Outgoing::connect(&mut self.ids, host, *port, out);
            self.link.open(outgoing, now_seconds);
        }
    }

    pub(crate) fn begin_handshake(&mut self) -> Option<&mut Outgoing<Step>> {
        let outgoing = self.link.outgoing.as_mut()?;
        outgoing.connected();
        self.link.stage = Stage::Handshake;
        Some(outgoing)
    }

    pub(crate) fn outgoing(&mut self) -> Option<&mut Outgoing<Step>> {
        self.link.outgoing.as_mut()
    }

    pub(crate) fn streaming(&mut self) -> Option<&mut Outgoing<Step>> {
        if self.link.is_up() { self.link.outgoing.as_mut() } else { None }
    }

    pub(crate) fn receive_from_primary(&mut self, bytes: &[u8], now_seconds: i64) {
        self.link.heard_at = now_seconds;
        if let Some(outgoing) = &mut self.link.outgoing {
            outgoing.receive(bytes);
        }
    }

    pub(crate) fn begin_transfer(&mut self, transfer: Transfer) {
        self.link.stage = Stage::Transfer(transfer);
    }

    pub(crate) fn read_transfer(&mut self) -> Result<Option<Received>, NotASnapshot> {
        let (Stage::Transfer(transfer), Some(outgoing)) =
            (&mut self.link.stage, &mut self.link.outgoing)
        else {
            return Ok(None);
        };
        transfer.read(outgoing.undecoded())
    }

    pub(crate) fn adopt(&mut self, id: &str, offset: u64) {
        self.history.adopt(id, offset);
    }

    pub(crate) fn rename_history(&mut self, id: &str) -> bool {
        let is_new = id != self.history.id();
        if is_new {
            self.history.branch_off(id.to_owned());
        }
        is_new
    }

    pub(crate) fn begin_streaming(&mut self, backlog_size: usize) {
        self.history.keep(backlog_size);
        self.link.stage = Stage::Streaming;
        self.down_since = None;
        self.may_continue = true;
    }

    pub(crate) fn read_received(&mut self) {
        let link = &mut self.link;
        if let Some(outgoing) = &mut link.outgoing {
            let bytes = outgoing.undecoded().split();
            link.reader.feed(&bytes);
            link.unapplied.extend_from_slice(&bytes);
        }
    }

    pub(crate) fn next_command(&mut self) -> Result<Option<Request>, ProtocolError> {
        let is_complete = self.link.reader.advance(Limits::of(usize::MAX))?;
        Ok(is_complete.then(|| self.link.reader.take()))
    }

    pub(crate) fn give_back(&mut self, request: Request) {
        self.link.reader.give_back(request);
    }

    pub(crate) fn forward_applied(&mut self) {
        let link = &mut self.link;
        let applied = link.unapplied.len() - link.reader.pending();
        let bytes = link.unapplied.split_to(applied);
        self.append_to_stream(&bytes);
    }

    pub(crate) fn take_outgoing(&mut self) -> Option<ConnectionId> {
        self.link.outgoing.take().map(|outgoing| outgoing.id)
    }

    pub(crate) fn lose_link(&mut self, now_seconds: i64) -> bool {
        let was_up = self.link.is_up();
        let heard_at = self.link.heard_at;
        self.link = Link { heard_at, ..Link::default() };
        if was_up {
            self.down_since = Some(now_seconds);
        }
        was_up
    }

    #[inline]
    pub(crate) fn take_message(&mut self) -> Option<Output> {
        self.link.outgoing.as_mut()?.take_message()
    }
}
