//! What leaves a server at the end of an input, and in which order.

use crate::state::server::Server;
use fencepost_machine::Output;

impl Server {
    /// Ends what was done in the middle of a script: that promises nothing which would have to be
    /// written first.
    pub(crate) fn finish_interlude(&mut self) {
        self.release_sends();
        self.outbox.say_more(self.roster.has_ready() && !self.life.is_asleep());
    }

    /// Ends an input: writes the append-only file, then lets the messages go unless something holds
    /// them back.
    pub(crate) fn finish_input(&mut self) {
        self.flush_append_only();
        self.flush_replication();
        if !self.life.is_asleep() {
            self.release_sends();
        }
        self.outbox.say_more(self.roster.has_ready() && !self.life.is_asleep());
        self.outbox.say_stopped(self.life.is_over());
        if self.life.is_over() {
            return;
        }
        if let Some(micros) = self.timers.rearm(self.clock.now()) {
            self.outbox.want(Output::WakeAfter { micros });
        }
    }
}
