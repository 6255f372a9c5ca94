//! What happens in the middle of an input that takes long: a driver with a real clock is asked from
//! time to time to look at its sockets, and the machine serves what it may meanwhile.

use crate::connection::ConnectionId;
use crate::input::Input;
use crate::output::Outputs;
use std::fmt::Debug;
use std::time::Duration;

/// A driver that can be asked in the middle of an input. A machine without one is a function of its
/// inputs, and ends what takes too long itself.
pub trait Attendant: Debug {
    /// A real clock that only goes forward, from any origin.
    fn now(&self) -> Duration;

    /// Whether the server has to end.
    fn is_leaving(&self) -> bool;

    /// Hands on what arrived, and carries out what is wanted because of it.
    fn attend(&self, interlude: &mut dyn Interlude);
}

/// A machine in the middle of an input.
pub trait Interlude {
    /// Whether bytes of this connection can be handed on now.
    fn takes(&self, connection: ConnectionId) -> bool;

    /// As [`crate::Machine::handle`], at the instant at which the input began. Only `Accepted`,
    /// `Received`, `Continue` and `DiskSynced` mean anything.
    fn handle(&mut self, input: Input<'_>, out: &mut Outputs);
}
