//! A model of a GemFire server with its distributed lock service, after Apache Geode 1.15.1.
//! *Measured* numbers come from real members, class names from Geode's source.
//!
//! | rule | from |
//! | --- | --- |
//! | Members agree on views. The oldest server is the coordinator and elder; if it fails, the next oldest server takes over. | `GMSJoinLeave`, `ElderInitProcessor` |
//! | Servers suspect a member that is silent for a member timeout, check it, and then remove it. This takes about 2.5 timeouts (measured: 2.65), or less if the member's connections have ended (measured: 1.2 to 2). | `GMSHealthMonitor` |
//! | After its own pause, a monitor acts as if every member had just sent a heartbeat. | `GMSHealthMonitor` |
//! | The lead member has weight 15, other members 10. A side that has lost at least half of the weight of its last view gives up (`forcedDisconnect`), and its servers join again as new members. | `GMSMembershipView` |
//! | One member, the grantor, decides on all locks. Waiters are served in order of arrival. | `DLockGrantor` |
//! | When a member departs, its locks are released. | `DLockGrantor` |
//! | A lease expires by the grantor's wall clock (measured: to the millisecond). | `DSClock`, `DLockGrantor` |
//! | If the grantor departs, the elder appoints another grantor, which asks every member for its locks before it grants any lock. Holders keep their locks. | `DLockRecoverGrantorProcessor` |
//! | A put into a region is complete when every member has it; an older version does not replace a newer one. | `DistributedRegion`, concurrency checks |
//!
//! The model makes **its own choices** on these points: the protocol (see [`GemFire`]); processes
//! have no vote and are never the grantor; the youngest server becomes grantor (in Geode, the first
//! member that asks for a lock); a majority of the configured servers founds a system; and the
//! smaller of two systems gives up. **Not modelled**: locators, a ring of neighbours that check
//! each other, suspended lock services, `becomeLockGrantor`, persistent regions, values other than
//! numbers, regions with LOCAL scope.
//!
//! ```
//! use fencepost_gemfire::{Config, GemFire};
//! use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
//!
//! let (now, mut out) = (Now::default(), Outputs::default());
//! let mut server = GemFire::new(Config::default(), now);
//! server.handle(Input::Timer, now, &mut out);
//! let connection = ConnectionId(0);
//! server.handle(Input::Accepted { connection, peer: "client-1:40000" }, now, &mut out);
//! server.handle(Input::Received { connection, bytes: b"join a\n" }, now, &mut out);
//! let joined = "joined 0 513 5000000\n".into();
//! assert!(out.list.contains(&Output::Send { connection, bytes: joined }));
//! ```

#![forbid(unsafe_code)]

mod config;
mod grantor;
mod health;
mod membership;
mod message;
mod request;
mod server;
#[cfg(test)]
mod tests;
mod view;

pub use config::{Config, MEMBER_TIMEOUT_US, Server};
pub use server::GemFire;
