//! What a server wants of its driver, and what leaves only at the end of an input.

use fencepost_machine::{Output, Outputs};

/// What a server wants of its driver. Messages wait here until the append-only file was written.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// What the current input made it want; swapped with the driver's.
    outputs: Outputs,
    /// Messages that leave at the end of the input.
    waiting: Vec<Output>,
}

impl Outbox {
    /// Exchanges what is wanted with what the driver brings, before an input and after it.
    pub(crate) fn swap(&mut self, drivers: &mut Outputs) {
        std::mem::swap(&mut self.outputs, drivers);
    }

    /// Wants something at once.
    pub(crate) fn want(&mut self, output: Output) {
        self.outputs.list.push(output);
    }

    /// What is wanted at once.
    pub(crate) fn outputs(&mut self) -> &mut Outputs {
        &mut self.outputs
    }

    /// Has a message leave at the end of the input.
    pub(crate) fn send(&mut self, message: Output) {
        self.waiting.push(message);
    }

    /// Lets the messages go.
    pub(crate) fn release(&mut self) {
        self.outputs.list.append(&mut self.waiting);
    }

    /// Takes the messages, which leave later by [`Outbox::release_held`].
    pub(crate) fn hold(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.waiting)
    }

    /// Lets messages go that were held.
    pub(crate) fn release_held(&mut self, held: Vec<Output>) {
        self.outputs.list.extend(held);
    }

    /// Counts a command.
    pub(crate) fn count_command(&mut self) {
        self.outputs.commands += 1;
    }

    /// Says whether there is more to do without any further input.
    pub(crate) fn say_more(&mut self, more: bool) {
        self.outputs.more = more;
    }

    /// Says whether the server has ended.
    pub(crate) fn say_stopped(&mut self, stopped: bool) {
        self.outputs.stopped = stopped;
    }
}
