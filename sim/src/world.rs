//! The simulated world, with hosts, a network, servers, tasks, and an agenda of events.

pub(crate) mod agenda;
pub(crate) mod ahead;
pub(crate) mod carrier;
pub(crate) mod disks;
pub(crate) mod failing_syncs;
pub(crate) mod host;
pub(crate) mod kernel;
pub(crate) mod network;
pub(crate) mod node_clock;
mod note_wire;
mod priorities;
pub(crate) mod recorder;
pub(crate) mod server;
mod service;
mod set_timers;
pub(crate) mod socket;
pub(crate) mod state;
pub(crate) mod tasks;
mod timers;
mod traffic;
mod traps;
mod turn;
mod unfinished;
pub(crate) mod wire_log;
