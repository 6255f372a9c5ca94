//! A model of a Chubby cell, after Burrows, "The Chubby lock service for loosely-coupled
//! distributed systems", OSDI 2006. Numbers in parentheses are sections of that paper.
//!
//! | rule | section |
//! | --- | --- |
//! | A cell is a small set of replicas, typically five, which elect a master. | 2.2 |
//! | The replicas promise the master not to elect another master for a few seconds (the master lease). They renew the promise while the master wins a majority of their votes. | 2.2 |
//! | Clients find the master by asking the replicas; a replica that is not the master names it. | 2.2 |
//! | The master acknowledges a write once a majority of the replicas has it. | 2.2 |
//! | Locks are advisory, and a lock is a node of the name space. | 2.4 |
//! | A sequencer is the name of the lock, its mode and its generation number, which increases when the lock goes from free to held. | 2.3, 2.4 |
//! | A recipient asks Chubby whether a sequencer is valid (`CheckSequencer`), or compares it with the latest sequencer that it has seen. | 2.4, 2.6 |
//! | If a lock becomes free because its holder has failed or is unreachable, no client gets it during the lock-delay that the holder requested (at most a minute). A released lock is free immediately. | 2.4 |
//! | A client's library receives events, such as `lock acquired` and `master failed over`. | 2.5 |
//! | A session lasts as long as client and master exchange KeepAlives. The master extends the session's lease when it creates the session, takes over, or answers a KeepAlive. | 2.8 |
//! | The master answers a KeepAlive when the lease is close to its end, and extends it by 12 s. An overloaded master may extend it by up to about 60 s. | 2.8, 3.1 |
//! | The master answers a KeepAlive early to deliver an event; the next KeepAlive acknowledges the event. | 2.8 |
//! | A new master has a new epoch number, and rejects calls with earlier epoch numbers. | 2.9 |
//! | A new master extends every session to the longest lease that the old master may have granted. | 2.9 |
//! | A new master accepts only KeepAlives, emits a fail-over event to each session, and waits until each session has acknowledged the event or ended. | 2.9 |
//!
//! The client's rules are in the `clients` crate, module `chubby`. The model makes **its own
//! choices** where the paper leaves points open: the protocol (see [`Chubby`]), waiters served in
//! order of arrival, KeepAlive answers in the last third of the lease, clock rates that differ by
//! up to a sixteenth, and Paxos on a single value. **Not modelled**: file contents and caches
//! (2.7), directories, ACLs, shared locks, ephemeral files, proxies, partitioning, backup.
//!
//! ```
//! use fencepost_chubby::{Chubby, Config};
//! use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs};
//!
//! let (now, mut out) = (Now::default(), Outputs::default());
//! let mut replica = Chubby::new(Config::default(), &DiskImage::default(), now);
//! replica.handle(Input::Timer, now, &mut out);
//! let connection = ConnectionId(0);
//! replica.handle(Input::Accepted { connection, peer: "client-1:40000" }, now, &mut out);
//! out.clear();
//! replica.handle(Input::Received { connection, bytes: b"master\n" }, now, &mut out);
//! assert_eq!(out.list[0], Output::Send { connection, bytes: "master here\n".into() });
//! ```

#![forbid(unsafe_code)]

mod config;
mod event;
mod master;
mod message;
mod replica;
mod request;
mod server;
mod state;
mod tap;
#[cfg(test)]
mod tests;
mod times;

pub use config::{Config, Member};
pub use server::Chubby;
pub use times::{LOCK_DELAY_MAX_US, MASTER_LEASE_US, SESSION_LEASE_MAX_US, SESSION_LEASE_US};
