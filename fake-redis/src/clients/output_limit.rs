//! Enforces `client-output-buffer-limit` (`checkClientOutputBufferLimits` in networking.c).

use crate::config::{OutputLimit, OutputLimits};
use crate::state::client::{Client, Role};
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::{ConnectionId, Output, WallTime};

fn limit_of(client: &Client, limits: &OutputLimits, backlog_size: usize) -> OutputLimit {
    let mut limit = match client.role {
        Role::Replica => limits.replica,
        _ if client.subscriptions().any() => limits.pubsub,
        _ => limits.normal,
    };
    if client.role == Role::Replica && limit.hard > 0 {
        limit.hard = limit.hard.max(backlog_size as u64);
    }
    limit
}

impl Server {
    pub(crate) fn output_waits(&mut self, connection: ConnectionId, bytes: usize) {
        if let Some(key) = self.roster.client_of(connection) {
            self.client_mut(key).output.bytes = bytes;
            self.check_output_limit(key);
        }
    }

    pub(crate) fn check_output_limits(&mut self) {
        let mut waiting: Vec<ClientKey> = self.roster.connected().collect();
        waiting.retain(|key| self.client(*key).output.bytes > 0);
        waiting.into_iter().for_each(|key| self.check_output_limit(key));
    }

    fn check_output_limit(&mut self, key: ClientKey) {
        let now = self.clock.seconds();
        let limit =
            limit_of(self.client(key), &self.config.output_limits, self.config.backlog_size);
        let output = &mut self.client_mut(key).output;
        if output.breaks(limit, now) {
            return self.abort_client(key);
        }
        if let Some(since) = output.over_soft_since {
            let due = WallTime((since + limit.soft_seconds + 1).saturating_mul(1_000_000));
            self.timers.set_at_latest(Timer::OutputLimit, due);
        }
    }

    pub(crate) fn abort_client(&mut self, key: ClientKey) {
        if let Some(connection) = self.client(key).connection {
            self.outbox.send(Output::Abort { connection });
            self.forget_client(key);
        }
    }
}
