//! A replica's connection to its primary.

use super::{Step, Transfer};
use crate::protocol::outgoing::Outgoing;
use crate::protocol::request::RequestReader;
use bytes::BytesMut;
use fencepost_machine::{ConnectionId, Output};

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

/// The connection to the primary, and what has gathered of the stream to our own replicas.
#[derive(Debug, Default)]
pub(crate) struct Link {
    /// How far it is.
    pub(crate) stage: Stage,
    /// The connection.
    pub(crate) outgoing: Option<Outgoing<Step>>,
    /// When the primary last sent anything, in seconds of the wall clock.
    pub(crate) heard_at: i64,
    /// What was received of the stream and not applied.
    pub(crate) reader: RequestReader,
    /// The same, as it came, to be passed on once it is applied.
    pub(crate) unapplied: BytesMut,
    /// What the stream has gained for our own replicas in this input.
    pub(crate) stream: BytesMut,
}

impl Link {
    /// Whether the stream is applied.
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.stage, Stage::Streaming)
    }

    /// What is to be sent to the primary.
    pub(crate) fn take_message(&mut self) -> Option<Output> {
        self.outgoing.as_mut()?.take_message()
    }

    /// Whether a connection is the one to the primary.
    pub(crate) fn is(&self, connection: ConnectionId) -> bool {
        self.outgoing.as_ref().is_some_and(|outgoing| outgoing.id == connection)
    }
}
