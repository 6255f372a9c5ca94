//! What leaves a server at the end of an input, and in which order.

use crate::state::server::Server;
use fencepost_machine::Output;

impl Server {
    /// Ends what was done in the middle of a script: that promises nothing which would have to be
    /// written first.
    pub(crate) fn finish_interlude(&mut self) {
        self.release_sends();
        self.outputs.more = !self.ready.is_empty() && self.asleep_until.is_none();
    }

    /// Ends an input: writes the append-only file, then lets the messages go unless something holds
    /// them back.
    pub(crate) fn finish_input(&mut self) {
        if self.ready.is_empty() {
            self.broadcast_changes();
        }
        self.flush_append_only();
        self.flush_replication();
        if self.asleep_until.is_none() {
            self.release_sends();
        }
        self.outputs.more = !self.ready.is_empty() && self.asleep_until.is_none();
        self.outputs.stopped = self.stopped;
        if self.stopped {
            return;
        }
        if let Some(micros) = self.timers.rearm(self.now) {
            self.outputs.list.push(Output::WakeAfter { micros });
        }
    }
}
