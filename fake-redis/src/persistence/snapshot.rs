use crate::data::rdb;
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use bytes::Bytes;

impl Server {
    pub(crate) fn snapshot(&self) -> Bytes {
        let origin = self.replication.origin(self.client(ClientKey::PRIMARY).db);
        let version = self.config.version.text();
        rdb::write(
            &self.keyspace,
            &rdb::About { version, seconds: self.clock.seconds(), origin: origin.as_ref() },
        )
    }
}
