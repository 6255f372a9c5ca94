//! The server as its driver sees it: inputs in, outputs out.
//!
//! In: an [`Input`](fencepost_machine::Input). `node` dispatches it: `admission` and `dispatch`
//! select and admit commands, `following` applies the primary's stream, `loading` reads the disk,
//! `cron` runs timers, `interlude` serves clients during a script. Out: what `finish` releases.

pub(crate) mod admission;
pub(crate) mod cron;
pub(crate) mod dispatch;
pub(crate) mod finish;
pub(crate) mod following;
pub(crate) mod interlude;
pub(crate) mod loading;
pub(crate) mod node;
mod operator;
