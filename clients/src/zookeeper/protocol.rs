//! Records of ZooKeeper's client protocol (`zookeeper.jute` of ZooKeeper 3.8).

use super::jute::{Decoder, Encoder, Malformed};
use bytes::Bytes;
use std::time::Duration;

pub const NOTIFICATION_XID: i32 = -1;
pub const PING_XID: i32 = -2;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ZooKeeperError {
    /// The connection was lost before the answer, or the client could not connect.
    #[error("connection loss")]
    ConnectionLoss,
    /// The session has ended at the servers, or the client has given up the session.
    #[error("session expired")]
    SessionExpired,
    #[error("session moved")]
    SessionMoved,
    #[error("no node")]
    NoNode,
    #[error("node exists")]
    NodeExists,
    #[error("the server answered error {0}")]
    Server(i32),
}

impl ZooKeeperError {
    fn of_code(code: i32) -> ZooKeeperError {
        match code {
            -4 => ZooKeeperError::ConnectionLoss,
            -101 => ZooKeeperError::NoNode,
            -110 => ZooKeeperError::NodeExists,
            -112 => ZooKeeperError::SessionExpired,
            -118 => ZooKeeperError::SessionMoved,
            code => ZooKeeperError::Server(code),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CreateMode {
    Persistent,
    /// A node that the server numbers in sequence, and deletes when the creating session ends.
    EphemeralSequential,
    /// A node that the server deletes some time after its last child is gone.
    Container,
}

impl CreateMode {
    fn flag(self) -> i32 {
        match self {
            CreateMode::Persistent => 0,
            CreateMode::EphemeralSequential => 3,
            CreateMode::Container => 4,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Creates an empty node without access restrictions. `path` has no sequence number.
    Create {
        path: String,
        mode: CreateMode,
    },
    Delete {
        path: String,
    },
    /// Reads a node's stat. A watch can be set even if the node does not exist.
    Exists {
        path: String,
        watch: bool,
    },
    /// Reads a node's data and stat. A watch can be set only if the node exists.
    GetData {
        path: String,
        watch: bool,
    },
    /// Reads the names of a node's children. A watch can be set only if the node exists.
    GetChildren {
        path: String,
        watch: bool,
    },
    Ping,
    /// Sets watches again after a reconnect. The server immediately reports missed events.
    SetWatches {
        /// Zxid of the last transaction that the client has seen.
        relative_zxid: i64,
        data: Vec<String>,
        /// Watches on nodes that did not exist.
        exist: Vec<String>,
        child: Vec<String>,
    },
}

impl Request {
    pub fn encode(&self, xid: i32) -> Vec<u8> {
        let header = Encoder::frame().int(xid).int(self.code());
        match self {
            // One ACL entry, `ZooDefs.Ids.OPEN_ACL_UNSAFE`: everyone has all permissions (31).
            Request::Create { path, mode } => header
                .string(path)
                .buffer(b"")
                .int(1)
                .int(31)
                .string("world")
                .string("anyone")
                .int(mode.flag()),
            Request::Delete { path } => header.string(path).int(-1),
            Request::Exists { path, watch }
            | Request::GetData { path, watch }
            | Request::GetChildren { path, watch } => header.string(path).boolean(*watch),
            Request::Ping => header,
            Request::SetWatches { relative_zxid, data, exist, child } => {
                header.long(*relative_zxid).strings(data).strings(exist).strings(child)
            }
        }
        .finish()
    }

    fn code(&self) -> i32 {
        match self {
            Request::Create { mode: CreateMode::Container, .. } => 19,
            Request::Create { .. } => 1,
            Request::Delete { .. } => 2,
            Request::Exists { .. } => 3,
            Request::GetData { .. } => 4,
            Request::GetChildren { .. } => 8,
            Request::Ping => 11,
            Request::SetWatches { .. } => 101,
        }
    }

    pub fn decode(&self, reply: &mut Decoder) -> Result<Response, Malformed> {
        match self {
            Request::Create { .. } => {
                let path = reply.string()?;
                // The client ignores the stat in the answer for a container (`create2`).
                Ok(Response::Path(path))
            }
            Request::Exists { .. } => Ok(Response::Stat(Stat::decode(reply)?)),
            Request::GetData { .. } => {
                reply.buffer()?;
                Ok(Response::Stat(Stat::decode(reply)?))
            }
            Request::GetChildren { .. } => Ok(Response::Children(reply.strings()?)),
            Request::Delete { .. } | Request::Ping | Request::SetWatches { .. } => {
                Ok(Response::Nothing)
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Response {
    Path(String),
    Stat(Stat),
    Children(Vec<String>),
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Zxid of the transaction that created the node.
    pub czxid: i64,
    pub ephemeral_owner: i64,
}

impl Stat {
    fn decode(reply: &mut Decoder) -> Result<Stat, Malformed> {
        let czxid = reply.long()?;
        let (_mzxid, _ctime, _mtime) = (reply.long()?, reply.long()?, reply.long()?);
        let (_version, _cversion, _aversion) = (reply.int()?, reply.int()?, reply.int()?);
        let ephemeral_owner = reply.long()?;
        let (_data_length, _children, _pzxid) = (reply.int()?, reply.int()?, reply.long()?);
        Ok(Stat { czxid, ephemeral_owner })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplyHeader {
    pub xid: i32,
    /// Zxid of the server's last applied transaction; 0 or less if the server sends none.
    pub zxid: i64,
    pub error: Option<ZooKeeperError>,
}

impl ReplyHeader {
    pub fn decode(reply: &mut Decoder) -> Result<ReplyHeader, Malformed> {
        let (xid, zxid, code) = (reply.int()?, reply.long()?, reply.int()?);
        Ok(ReplyHeader { xid, zxid, error: (code != 0).then(|| ZooKeeperError::of_code(code)) })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credentials {
    /// Id of the session; 0 before the first server has answered.
    pub session: i64,
    pub password: Bytes,
}

impl Credentials {
    pub fn none() -> Credentials {
        Credentials { session: 0, password: Bytes::from_static(&[0; 16]) }
    }
}

pub fn connect_request(last_zxid: i64, timeout: Duration, known: &Credentials) -> Vec<u8> {
    let timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    Encoder::frame()
        .int(0)
        .long(last_zxid)
        .int(timeout_ms)
        .long(known.session)
        .buffer(&known.password)
        .boolean(false)
        .finish()
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConnectResponse {
    Accepted {
        /// Session timeout chosen by the server.
        timeout: Duration,
        credentials: Credentials,
    },
    Expired,
}

impl ConnectResponse {
    pub fn decode(reply: &mut Decoder) -> Result<ConnectResponse, Malformed> {
        let (_protocol, timeout_ms) = (reply.int()?, reply.int()?);
        let credentials = Credentials { session: reply.long()?, password: reply.buffer()? };
        match u64::try_from(timeout_ms) {
            Ok(ms) if ms > 0 => {
                Ok(ConnectResponse::Accepted { timeout: Duration::from_millis(ms), credentials })
            }
            _ => Ok(ConnectResponse::Expired),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeChange {
    Created,
    Deleted,
    Data,
    Children,
}

pub fn notification(reply: &mut Decoder) -> Result<(NodeChange, String), Malformed> {
    let (kind, _state) = (reply.int()?, reply.int()?);
    let change = match kind {
        1 => NodeChange::Created,
        2 => NodeChange::Deleted,
        3 => NodeChange::Data,
        4 => NodeChange::Children,
        other => return Err(Malformed(format!("an event of type {other}"))),
    };
    Ok((change, reply.string()?))
}

#[cfg(test)]
mod tests;
