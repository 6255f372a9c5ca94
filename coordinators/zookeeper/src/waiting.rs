use crate::code::Operation;
use bytes::Bytes;
use fencepost_machine::ConnectionId;

#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) connection: ConnectionId,
    pub(crate) cxid: i32,
    pub(crate) what: RequestClass,
}

#[derive(Clone, Debug)]
pub(crate) enum RequestClass {
    Read(Operation, Bytes),
    Change,
    OpenSession,
    CloseSession,
    Sync(Bytes),
}
