//! Locks on ZooKeeper, and their client. Sources: articles 001 and 002; the recipes of the
//! ZooKeeper documentation; the source of ZooKeeper 3.8 (the Java client), Curator 5.4.0 and kazoo
//! 2.11.0. [`session`] queues a request. [`transport`] sends the encoded request ([`protocol`],
//! [`jute`]); [`watches`] stores its watch. After a lost connection, the transport connects to the
//! next of [`hosts`] with the session's number and password. [`ensemble`] opens sessions.
//!
//! Nodes are below `/<resource>`; the owner value is the name of the owner's node. The ttl is the
//! requested session timeout. A process has one session at a time and supports one thread.

pub mod curator;
pub mod ensemble;
pub mod hosts;
pub mod jute;
pub mod kazoo;
pub mod naive;
pub mod protocol;
pub mod session;
pub mod shared;
pub mod transport;
pub mod watches;

use crate::lock::{Acquisition, FencingToken, Lease, Release};
use bytes::Bytes;
use protocol::ZooKeeperError;

fn parent_of(resource: &str) -> String {
    format!("/{resource}")
}

fn lease_of(resource: &str, parent: &str, path: &str, token: Option<FencingToken>) -> Lease {
    let owner = Bytes::copy_from_slice(&path.as_bytes()[parent.len() + 1..]);
    Lease { resource: resource.to_owned(), owner, token, valid_until: None }
}

fn released(outcome: Result<bool, ZooKeeperError>) -> Release {
    match outcome {
        Ok(true) => Release::Released,
        Ok(false) => Release::NotHeld,
        Err(error) => Release::Unknown(error.to_string()),
    }
}

fn failed(error: &ZooKeeperError) -> Acquisition {
    match error {
        ZooKeeperError::ConnectionLoss
        | ZooKeeperError::SessionExpired
        | ZooKeeperError::SessionMoved => Acquisition::Unknown(error.to_string()),
        ZooKeeperError::NoNode | ZooKeeperError::NodeExists | ZooKeeperError::Server(_) => {
            Acquisition::Refused(error.to_string().into())
        }
    }
}

#[cfg(test)]
mod tests;
