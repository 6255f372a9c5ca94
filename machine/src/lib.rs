//! The interface between a server without I/O ([`Machine`]) and its drivers, such as the simulated
//! world and `fencepost serve`.
//!
//! ```
//! use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
//!
//! /// Echoes the received bytes.
//! struct Echo;
//!
//! impl Machine for Echo {
//!     fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
//!         if let Input::Received { connection, bytes } = input {
//!             out.commands += 1;
//!             out.list.push(Output::Send { connection, bytes: bytes.to_vec().into() });
//!         }
//!     }
//! }
//!
//! let (connection, mut out) = (ConnectionId(0), Outputs::default());
//! Echo.handle(Input::Received { connection, bytes: b"hello" }, Now::default(), &mut out);
//! assert_eq!(out.list, [Output::Send { connection, bytes: "hello".into() }]);
//! ```
//!
//! The driver sends [`Input::Timer`] once at boot, performs [`Outputs`] in order, and sends
//! [`Input::Continue`] while [`Outputs::more`] is set. [`Disk`] models files, from which a driver
//! restarts a server as a new machine. The crate has no Cargo features.

#![forbid(unsafe_code)]

mod attend;
pub mod calendar;
mod clocks;
mod connection;
mod damage;
mod disk;
mod image;
mod input;
pub mod journal;
mod machine;
mod notice;
mod output;
pub mod peers;
mod sync_error;
mod tap;
pub mod wording;

pub use attend::{InputDriver, InterruptedMachine};
pub use clocks::{MonotonicTime, Now, WallTime};
pub use connection::ConnectionId;
pub use damage::{Damage, DiskFile, Response};
pub use disk::{Disk, DiskReply};
pub use image::DiskImage;
pub use input::{Input, OperatorAction};
pub use machine::Machine;
pub use notice::Notice;
pub use output::{Output, Outputs};
pub use sync_error::{SyncError, SyncOf};
pub use tap::{KeyChange, TapEvent};
