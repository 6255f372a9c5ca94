//! Long inputs: a driver with a real clock polls its sockets during the input.

use crate::connection::ConnectionId;
use crate::input::Input;
use crate::output::Outputs;
use std::fmt::Debug;
use std::time::Duration;

/// A driver that a machine calls during a long input. Without one, the machine aborts long work.
pub trait Attendant: Debug {
    /// Monotonic real time since an arbitrary origin.
    fn now(&self) -> Duration;

    /// Returns whether the server must stop.
    fn is_leaving(&self) -> bool;

    /// Delivers what has arrived and performs the resulting outputs.
    fn attend(&self, interlude: &mut dyn Interlude);
}

/// A machine that is processing an input.
pub trait Interlude {
    /// Returns whether the machine accepts bytes of this connection now.
    fn takes(&self, connection: ConnectionId) -> bool;

    /// [`crate::Machine::handle`] at the time of the interrupted input, for `Accepted`, `Received`,
    /// `Continue` and `DiskSynced` only.
    fn handle(&mut self, input: Input<'_>, out: &mut Outputs);
}
