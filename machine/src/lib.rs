//! How a server without I/O meets the world: inputs in, outputs out.
//!
//! Every server that fencepost simulates is a [`Machine`], and everything that drives one (the
//! simulator's world, unit tests, `fencepost serve`) knows it only through this crate.
//!
//! ```
//! use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
//!
//! /// Sends back what it gets.
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
//! The driver sends [`Input::Timer`] once when the server boots, carries out what is in
//! [`Outputs`] in order, and sends [`Input::Continue`] for as long as [`Outputs::more`] asks for
//! it. [`Disk`] models the files for drivers that have no real ones. A restart is a new machine
//! with what the disk held.
//!
//! Besides these: [`Attendant`] and [`Interlude`] for what happens in the middle of an input,
//! [`journal`] for files with checksums, [`TapEvent`] and [`Notice`] for the judge, [`wording`] for pictures, [`calendar`] for dates. The
//! crate has no features.

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
mod tap;
pub mod wording;

pub use attend::{Attendant, Interlude};
pub use clocks::{MonotonicTime, Now, WallTime};
pub use connection::ConnectionId;
pub use damage::{Damage, DiskFile, Response};
pub use disk::{Disk, DiskReply};
pub use image::DiskImage;
pub use input::{Input, OperatorAction};
pub use machine::Machine;
pub use notice::Notice;
pub use output::{Output, Outputs};
pub use tap::{KeyChange, TapEvent};
