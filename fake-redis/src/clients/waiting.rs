//! WAIT and WAITAOF (`waitCommand`, `waitaofCommand`, `processClientsWaitingReplicas`).

use crate::protocol::error::{CommandError, UNBLOCKED, WAITAOF_WITHOUT_FILE};
use crate::protocol::reply::Reply;
use crate::state::blocking::Unblocking;
use crate::state::client_key::ClientKey;
use crate::state::replication::{Goal, Waiting};
use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

impl Server {
    pub(crate) fn is_reached(&self, goal: Goal, offset: u64) -> bool {
        match goal {
            Goal::Applied { replicas } => self.replication.acknowledged(offset) >= replicas,
            Goal::Synced { local, replicas } => {
                (!local || self.is_synced(offset)) && self.replication.synced(offset) >= replicas
            }
        }
    }

    pub(crate) fn write_progress(&self, goal: Goal, offset: u64, reply: &mut Reply) {
        match goal {
            Goal::Applied { .. } => reply.count(self.replication.acknowledged(offset)),
            Goal::Synced { .. } => {
                reply.array(2);
                reply.count(usize::from(self.is_synced(offset)));
                reply.count(self.replication.synced(offset));
            }
        }
    }

    fn is_synced(&self, offset: u64) -> bool {
        self.persistence.synced_offset().is_some_and(|synced| synced >= offset)
    }

    pub(crate) fn wait_until(&mut self, key: ClientKey, goal: Goal, timeout_ms: i64) {
        let offset = self.client(key).write_offset;
        let until_ms = (timeout_ms > 0).then(|| self.now_ms().saturating_add(timeout_ms));
        self.replication.wait(Waiting { client: key, offset, goal, until_ms });
        self.client_mut(key).service.block();
        self.schedule_waits();
    }

    pub(crate) fn serve_waiting(&mut self) {
        let is_served = |waiting: &&Waiting| self.is_reached(waiting.goal, waiting.offset);
        let served: Vec<Waiting> =
            self.replication.waiting().iter().filter(is_served).cloned().collect();
        self.answer(&served);
    }

    pub(crate) fn serve_waiting_for_disk(&mut self) {
        if !self.replication.waiting().is_empty() {
            self.serve_waiting();
        }
    }

    pub(crate) fn refuse_waiting_for_disk(&mut self) {
        let waits_for_disk =
            |waiting: &&Waiting| matches!(waiting.goal, Goal::Synced { local: true, .. });
        let refused: Vec<Waiting> =
            self.replication.waiting().iter().filter(waits_for_disk).cloned().collect();
        for waiting in &refused {
            self.release(waiting, Some(WAITAOF_WITHOUT_FILE));
        }
    }

    pub(crate) fn end_waits(&mut self) {
        let now = self.now_ms();
        let is_over = |waiting: &Waiting| waiting.until_ms.is_some_and(|until| until <= now);
        let over: Vec<Waiting> =
            self.replication.waiting().iter().filter(|waiting| is_over(waiting)).cloned().collect();
        self.answer(&over);
        self.schedule_waits();
    }

    pub(crate) fn disconnect_waiting(&mut self) {
        for waiting in self.replication.end_all_waits() {
            let mut reply = self.spares.reply();
            reply.protocol = self.client(waiting.client).protocol;
            reply.error(
                b"UNBLOCKED force unblock from blocking operation, instance state changed \
                 (master -> replica?)",
            );
            self.send_reply(waiting.client, &mut reply);
            self.spares.keep_reply(reply);
            self.disconnect(waiting.client);
        }
    }

    pub(crate) fn unblock_waiting(&mut self, client: ClientKey, how: Unblocking) -> bool {
        let mut waiting = self.replication.waiting().iter();
        let Some(waiting) = waiting.find(|waiting| waiting.client == client).cloned() else {
            return false;
        };
        self.release(&waiting, (how == Unblocking::Error).then_some(UNBLOCKED));
        true
    }

    fn answer(&mut self, answered: &[Waiting]) {
        for waiting in answered {
            self.release(waiting, None);
        }
    }

    fn release(&mut self, waiting: &Waiting, error: Option<CommandError>) {
        self.replication.end_wait(waiting);
        let mut reply = self.spares.reply();
        reply.protocol = self.client(waiting.client).protocol;
        match error {
            Some(error) => reply.error(&error.0),
            None => self.write_progress(waiting.goal, waiting.offset, &mut reply),
        }
        self.send_reply(waiting.client, &mut reply);
        self.spares.keep_reply(reply);
        self.client_mut(waiting.client).service.unblock();
        self.read_command(waiting.client);
    }

    fn schedule_waits(&mut self) {
        if let Some(first) =
            self.replication.waiting().iter().filter_map(|waiting| waiting.until_ms).min()
        {
            self.timers.set_at_latest(Timer::BlockedClient, WallTime(first.saturating_mul(1_000)));
        }
    }
}
