//! The interface ([`InputDriver`]) that lets a machine poll sockets while it handles a slow input.

use crate::connection::ConnectionId;
use crate::input::Input;
use crate::output::Outputs;
use std::fmt::Debug;
use std::time::Duration;

/// A driver that a machine calls during a long input. Without a driver, machines abort long work.
pub trait InputDriver: Debug {
    /// Returns the monotonic real time since an arbitrary origin.
    fn now(&self) -> Duration;

    fn must_stop(&self) -> bool;

    /// Delivers the input that has arrived and performs the resulting outputs.
    fn deliver_input(&self, interrupted: &mut dyn InterruptedMachine);
}

pub trait InterruptedMachine {
    /// Returns whether the machine can accept bytes from this connection now.
    fn takes(&self, connection: ConnectionId) -> bool;

    /// Handles an `Accepted`, `Received`, `Continue` or `DiskSynced` during the interrupted input.
    fn handle(&mut self, input: Input<'_>, out: &mut Outputs);
}
