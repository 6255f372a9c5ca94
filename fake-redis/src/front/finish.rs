use crate::state::server::Server;
use fencepost_machine::{Notice, Output};

impl Server {
    pub(crate) fn finish_interlude(&mut self) {
        self.release_sends();
        self.outbox.outputs.more = self.roster.has_ready() && !self.life.is_asleep;
    }

    pub(crate) fn finish_input(&mut self) {
        self.flush_append_only();
        self.flush_replication();
        if !self.life.is_asleep {
            self.release_sends();
        }
        self.outbox.outputs.more = self.roster.has_ready() && !self.life.is_asleep;
        self.outbox.outputs.stopped = self.life.is_over;
        if self.life.is_over {
            return;
        }
        if let Some(refused) = self.persistence.failures.take_change(&self.config) {
            self.outbox.push_output(Output::Notice(Notice::Writes { refused }));
        }
        if let Some(micros) = self.timers.rearm(self.clock.now) {
            self.outbox.push_output(Output::WakeAfter { micros });
        }
    }
}
