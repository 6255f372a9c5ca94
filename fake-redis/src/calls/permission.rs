use crate::protocol::error;
use crate::protocol::error::CommandError;
use crate::state::server::Server;

impl Server {
    pub(crate) fn check_write(&self) -> Result<(), CommandError> {
        self.check_disk()?;
        if !self.is_replica() && !self.replication.has_enough_replicas(&self.config) {
            return Err(error::NO_REPLICAS);
        }
        if self.is_replica() && self.config.replica_read_only {
            return Err(error::READ_ONLY);
        }
        Ok(())
    }

    pub(crate) fn check_disk(&self) -> Result<(), CommandError> {
        self.persistence.denied_write(&self.config).map_or(Ok(()), Err)
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.is_replica() && !self.replication.is_link_up() && !self.config.replica_serve_stale_data
    }
}
