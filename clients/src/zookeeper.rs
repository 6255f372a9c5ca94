//! The locks on ZooKeeper, and the client that they are made with.
//!
//! Sources: article 001 ("ephemeral sequential nodes give a lock and a queue of those who wait"),
//! article 002 ("such nodes are deleted when their client disconnects", which is not so: they are
//! deleted when their **session** ends), the recipes of the ZooKeeper documentation, and the source
//! of the libraries: ZooKeeper 3.8 (the Java client), Curator 5.4.0, kazoo 2.11.0.
//!
//! A request goes from a lock to a server and back through these files: [`session`] queues it,
//! [`transport`] gives it an xid and sends it as [`protocol`] encodes it in [`jute`]; the reply is
//! matched with it there, and its watch kept in [`watches`]. When a server falls silent the
//! transport fails what is in flight with a connection loss and goes to the next of [`hosts`], with
//! the number and the password of the session; that server tells whether the session is over.
//! [`ensemble`] begins a new session then. [`curator`] is the client that most Java programs have
//! on top.
//!
//! All locks keep their nodes below `/` and the name of the resource. The ttl of the settings is
//! the timeout of the session that is asked for. The owner that a lease names is the name of its
//! node. A process has one session, so a lock has no threads: they would share it.

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

/// How a release ended whose deletion ended so.
fn released(outcome: Result<bool, ZooKeeperError>) -> Release {
    match outcome {
        Ok(true) => Release::Released,
        Ok(false) => Release::NotHeld,
        Err(error) => Release::Unknown(error.to_string()),
    }
}

/// How an acquire ended that an error ended. Unless the server refused the request, a node may
/// stand.
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
