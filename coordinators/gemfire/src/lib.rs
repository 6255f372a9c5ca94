//! A model of a GemFire server with its distributed lock service, after Apache Geode, the
//! open-source edition of the same code. Spring Integration's `GemfireLockRegistry` uses the
//! service through `Region.getDistributedLock`. Numbers in the table marked *measured* are of real
//! members 1.15.1; class names are of Geode's source.
//!
//! | rule | from |
//! | --- | --- |
//! | Members agree on views. The oldest server is the coordinator and elder; if it fails, the next one follows. | `GMSJoinLeave`, `ElderInitProcessor` |
//! | Servers suspect a member that is silent for a member timeout, check it for another, and then remove it. This takes about 2.5 timeouts (measured: 2.65), or less if its connections have ended (measured: 1.2 to 2). | `GMSHealthMonitor` |
//! | A monitor that was itself paused gives all members a heartbeat. | `GMSHealthMonitor` |
//! | The lead member weighs 15, others 10. A side that lost half of the weight of its last view gives up (`forcedDisconnect`), and joins again as another member. | `GMSMembershipView` |
//! | One member, the grantor, decides on all locks. Waiters are served in order of arrival. | `DLockGrantor` |
//! | The locks of a member that departs are released. | `DLockGrantor` |
//! | A lease ends by the wall clock of the grantor (measured: to the millisecond). | `DSClock`, `DLockGrantor` |
//! | If the grantor departs, the elder appoints another, which asks every member for its locks before it grants any. Holders keep their locks. | `DLockRecoverGrantorProcessor` |
//! | A put into a region is complete when every member has it; an older version does not replace a newer one. | `DistributedRegion`, concurrency checks |
//!
//! The model makes **its own choices** in these points. The protocol on the wire is in [`GemFire`].
//! Processes are members without a vote, and never the grantor. The elder appoints the youngest
//! server as grantor (in Geode, the first member that asks for a lock). A majority of the
//! configured servers founds a system (a real locator does so alone). The smaller of two systems
//! gives up.
//!
//! **Not modelled**: locators, a ring of neighbours that check each other (the coordinator checks
//! all), suspension of a whole lock service, `becomeLockGrantor`, persistent regions, values other
//! than numbers. A region with LOCAL scope refuses to lock, so the model omits it.
//!
//! The entry points are [`Config`] and [`GemFire`], a [`Machine`](fencepost_machine::Machine). The
//! crate has no features.
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
mod wording;

pub use config::{Config, MEMBER_TIMEOUT_US, Server};
pub use server::GemFire;
