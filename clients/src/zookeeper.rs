//! The locks on ZooKeeper, and their client. Nodes are below `/` and the name of the resource, and
//! the owner value is the name of the owner's node. A process has one session, whose timeout is the
//! ttl.

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
