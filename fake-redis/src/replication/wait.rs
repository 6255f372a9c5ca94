//! Clients that wait until replicas have acknowledged their writes: WAIT (`waitCommand`, `processClientsWaitingReplicas`). Must never
//! know what they wrote.

use super::Replication;
use crate::client::ClientKey;
use crate::machine::WallTime;
use crate::server::Server;
use crate::timers::Timer;

/// A client in WAIT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Waiting {
    /// Who waits.
    pub(super) client: ClientKey,
    /// Until that much of the stream is acknowledged.
    offset: u64,
    /// By that many replicas.
    replicas: usize,
    /// When it is answered at the latest, in wall-clock milliseconds; `None` is never.
    until_ms: Option<i64>,
}

impl Replication {
    /// How many replicas have acknowledged that much of the stream.
    pub(crate) fn acknowledged(&self, offset: u64) -> usize {
        self.replicas.iter().filter(|replica| replica.acknowledged >= offset).count()
    }
}

impl Server {
    /// Blocks a client until enough replicas have what it wrote, or the time is up. Replicas are asked for an acknowledgement at once.
    pub(crate) fn wait_for_replicas(&mut self, key: ClientKey, replicas: usize, timeout_ms: i64) {
        let offset = self.client(key).write_offset;
        let until_ms = (timeout_ms > 0).then(|| self.now_ms().saturating_add(timeout_ms));
        self.replication.waiting.push(Waiting { client: key, offset, replicas, until_ms });
        self.replication.wants_acknowledgements = true;
        self.client_mut(key).blocked = true;
        self.schedule_waits();
    }

    /// Answers those for whom enough replicas have acknowledged.
    pub(super) fn serve_waiting(&mut self) {
        let replication = &self.replication;
        let is_served = |waiting: &Waiting| replication.acknowledged(waiting.offset) >= waiting.replicas;
        let served: Vec<Waiting> = replication.waiting.iter().filter(|waiting| is_served(waiting)).cloned().collect();
        self.answer(&served);
    }

    /// Answers those whose time is up; runs when [`Timer::BlockedClient`] is due.
    pub(crate) fn end_waits(&mut self) {
        let now = self.now_ms();
        let is_over = |waiting: &Waiting| waiting.until_ms.is_some_and(|until| until <= now);
        let over: Vec<Waiting> = self.replication.waiting.iter().filter(|waiting| is_over(waiting)).cloned().collect();
        self.answer(&over);
        self.schedule_waits();
    }

    /// This server is no longer a primary: who waits is disconnected (`disconnectAllBlockedClients`).
    pub(super) fn disconnect_waiting(&mut self) {
        for waiting in std::mem::take(&mut self.replication.waiting) {
            let mut reply = self.spare_reply();
            reply.protocol = self.client(waiting.client).protocol;
            reply
                .error(b"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)");
            self.send_reply(waiting.client, &mut reply);
            self.spare_replies.push(reply);
            self.disconnect(waiting.client);
        }
    }

    fn answer(&mut self, answered: &[Waiting]) {
        for waiting in answered {
            self.replication.waiting.retain(|other| other != waiting);
            let mut reply = self.spare_reply();
            reply.protocol = self.client(waiting.client).protocol;
            reply.count(self.replication.acknowledged(waiting.offset));
            self.send_reply(waiting.client, &mut reply);
            self.spare_replies.push(reply);
            self.client_mut(waiting.client).blocked = false;
            self.look_for_command(waiting.client);
        }
    }

    fn schedule_waits(&mut self) {
        if let Some(first) = self.replication.waiting.iter().filter_map(|waiting| waiting.until_ms).min() {
            self.timers.set_at_latest(Timer::BlockedClient, WallTime(first.saturating_mul(1_000)));
        }
    }
}
