use crate::connection::ConnectionId;
use crate::input::Input;
use crate::output::Outputs;
use std::fmt::Debug;
use std::time::Duration;

/// A driver that serves other connections while the machine handles a slow input.
pub trait InputDriver: Debug {
    /// Returns the monotonic real time since an arbitrary origin.
    fn now(&self) -> Duration;

    fn must_stop(&self) -> bool;

    /// Delivers pending inputs to the interrupted machine, and performs the resulting outputs.
    fn deliver_input(&self, interrupted: &mut dyn InterruptedMachine);
}

pub trait InterruptedMachine {
    /// Returns `false` if input from this connection must wait.
    fn takes(&self, connection: ConnectionId) -> bool;

    /// Handles an `Accepted`, `Received`, `Continue`, `DiskSynced` or `DiskFailed` input meanwhile.
    fn handle(&mut self, input: Input<'_>, out: &mut Outputs);
}
