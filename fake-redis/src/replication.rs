//! A primary and its replicas. Must never know commands or persistence.

use crate::client::{Client, ClientKey};
use crate::config::NodeConfig;
use crate::machine::{ConnectionId, WallTime};
use crate::random::Random;
use crate::reply::Reply;
use crate::server::Server;

/// What a server knows of its replicas, or of its primary. These are the points at which the rest of the server meets replication.
#[derive(Debug, Clone)]
pub(crate) struct Replication {
    primary: Option<(String, u16)>,
    id: String,
    offset: u64,
}

impl Replication {
    /// The state of a server that starts.
    pub(crate) fn new(config: &NodeConfig, random: &mut Random) -> Self {
        Replication { primary: config.replica_of.clone(), id: random.hexadecimal(40), offset: 0 }
    }

    /// Whether this server follows a primary.
    pub(crate) fn is_replica(&self) -> bool {
        self.primary.is_some()
    }

    /// Whether a replica's link to its primary is up and synchronised.
    pub(crate) fn is_link_up(&self) -> bool {
        false
    }

    /// Whether effects are to be given to [`Server::feed_replicas`].
    pub(crate) fn wants_stream(&self) -> bool {
        false
    }

    /// How many bytes of the stream there were so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether enough replicas acknowledged lately for writes to be taken (`min-replicas-to-write`).
    pub(crate) fn has_enough_replicas(&self, config: &NodeConfig, _now: WallTime) -> bool {
        config.min_replicas_to_write == 0 || config.min_replicas_max_lag == 0
    }
}

impl Server {
    /// Starts replication when the server is up.
    pub(crate) fn start_replication(&mut self) {}

    /// Takes an effect for the stream to the replicas.
    pub(crate) fn feed_replicas(&mut self, _db: usize, _args: &[&[u8]]) {}

    /// Runs when [`crate::timers::Timer::Replication`] is due.
    pub(crate) fn replication_cron(&mut self) {}

    /// A connection that this server asked for is open.
    pub(crate) fn outgoing_connected(&mut self, _connection: ConnectionId) {}

    /// A connection that this server asked for could not be opened.
    pub(crate) fn outgoing_failed(&mut self, _connection: ConnectionId) {}

    /// Bytes arrived on a connection that no client opened; false if it is none of replication's.
    pub(crate) fn outgoing_received(&mut self, _connection: ConnectionId, _bytes: &[u8]) -> bool {
        false
    }

    /// A connection that no client opened was closed.
    pub(crate) fn outgoing_closed(&mut self, _connection: ConnectionId) {}

    /// A client's connection is gone; it may have been a replica's.
    pub(crate) fn client_gone(&mut self, _key: ClientKey, _client: &Client) {}

    /// The reply of ROLE.
    pub(crate) fn write_role(&self, reply: &mut Reply) {
        reply.array(3);
        reply.bulk(b"master");
        reply.count(self.replication.offset as usize);
        reply.array(0);
    }

    /// The section `# Replication` of INFO, without its title.
    pub(crate) fn replication_info(&self) -> String {
        let Replication { primary, id, offset } = &self.replication;
        let role = if primary.is_some() { "slave" } else { "master" };
        format!("role:{role}\r\nconnected_slaves:0\r\nmaster_replid:{id}\r\nmaster_repl_offset:{offset}\r\n")
    }
}
