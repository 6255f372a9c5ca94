use crate::data::rdb::Origin;
use crate::state::client::Role;
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use fencepost_machine::{Notice, Output};

impl Server {
    pub(crate) fn report_role(&mut self) {
        let notice = match self.replication.primary() {
            Some((host, _)) => Notice::Follows { host: host.clone() },
            None => Notice::Leads,
        };
        self.outbox.push_output(Output::Notice(notice));
    }

    pub(crate) fn resume_history(&mut self, origin: &Origin) {
        self.replication.resume(origin, self.config.backlog_size);
        if self.is_replica() {
            self.client_mut(ClientKey::PRIMARY).db = origin.stream_db;
        }
    }

    pub(crate) fn follow(&mut self, host: &str, port: u16) {
        self.drop_link();
        self.replication.follow(host, port);
        self.report_role();
        self.disconnect_waiting();
        self.disconnect_blocked();
        self.connect_to_primary();
        self.schedule_replication();
    }

    pub(crate) fn follows(&self, host: &str, port: u16) -> bool {
        let primary = self.replication.primary();
        primary.is_some_and(|(known, at)| known.eq_ignore_ascii_case(host) && *at == port)
    }

    pub(crate) fn is_followed_by(&self, key: ClientKey) -> bool {
        self.client(key).role == Role::Replica
    }

    /// Makes the server a primary with the same history under a new id (`replicationUnsetMaster`).
    pub(crate) fn promote(&mut self) {
        if !self.is_replica() {
            return;
        }
        self.drop_link();
        self.replication.lead(self.random.hexadecimal(40), self.clock.seconds());
        self.report_role();
        self.disconnect_replicas();
        // A primary deletes expired keys; a replica does not.
        self.schedule_expiry();
        self.schedule_replication();
    }
}
