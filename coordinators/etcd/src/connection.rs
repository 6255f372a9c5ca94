use crate::http::Style;
use crate::watching::Watching;
use bytes::BytesMut;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) input: BytesMut,
    pub(crate) is_http: bool,
    pub(crate) is_told: bool,
    pub(crate) activity: Activity,
}

#[derive(Debug)]
pub(crate) enum Activity {
    Nothing,
    Calling(Style),
    Watching(Stream, Watching),
    KeepingAlive(Stream, VecDeque<Result<i64, String>>),
    Peer,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) style: Style,
    pub(crate) has_begun: bool,
}
