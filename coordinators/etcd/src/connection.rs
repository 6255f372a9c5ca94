//! What a connection is for at the moment.

use crate::http::Style;
use crate::watching::Watching;
use bytes::BytesMut;
use std::collections::VecDeque;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) input: BytesMut,
    /// Whether its first line was seen to be HTTP.
    pub(crate) is_http: bool,
    /// Whether the client was told to send its body.
    pub(crate) is_told: bool,
    pub(crate) doing: Doing,
}

/// What a connection is for at the moment.
#[derive(Debug)]
pub(crate) enum Doing {
    Nothing,
    /// Waits for the answer to a call.
    Calling(Style),
    Watching(Stream, Watching),
    KeepingAlive(Stream, VecDeque<Result<i64, String>>),
    /// Another member speaks on it.
    Peer,
}

/// An answer in many parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) style: Style,
    pub(crate) has_begun: bool,
}
