//! A monitored primary with its replicas and the other Sentinels that watch it.

use super::{
    Address, SentinelConfig,
    attempt::Failover,
    core::{Context, Core},
    events::{name_instance, name_master},
    instance::{Instance, Kind, Watch},
    said::Said,
};
use fencepost_machine::{ConnectionId, Outputs};

/// A monitored primary.
#[derive(Debug)]
pub(crate) struct Master {
    /// The primary itself.
    pub(crate) node: Instance,
    /// Its replicas, in the order in which they were found.
    pub(crate) replicas: Vec<Instance>,
    /// The other Sentinels, in the order in which they were found.
    pub(crate) sentinels: Vec<Instance>,
    /// How many Sentinels must find it down.
    pub(crate) quorum: usize,
    /// How many replicas are reconfigured at a time.
    pub(crate) parallel_syncs: usize,
    /// Bounds the steps of a failover and the pause between two.
    pub(crate) failover_timeout_ms: i64,
    /// The epoch in which its present address was decided.
    pub(crate) config_epoch: u64,
    /// Whether enough Sentinels find it down.
    pub(crate) objectively_down: bool,
    /// When it was last found objectively down.
    pub(crate) objectively_down_since: i64,
    /// The run id for which we voted last.
    pub(crate) leader: Option<String>,
    /// The epoch of that vote.
    pub(crate) leader_epoch: u64,
    /// Our attempt to replace it.
    pub(crate) failover: Failover,
    /// What we last said of it.
    pub(crate) said: Option<Said>,
}

impl Master {
    /// A primary to be monitored with the settings of the configuration.
    pub(crate) fn new(config: &SentinelConfig, now: i64) -> Self {
        let name = config.master_name.clone();
        let replica = |address: &Address| {
            Instance::new(
                Kind::Replica,
                address.to_string(),
                address.clone(),
                config.down_after_ms,
                now,
            )
        };
        Self {
            node: Instance::new(
                Kind::Master,
                name,
                config.master.clone(),
                config.down_after_ms,
                now,
            ),
            replicas: config.known_replicas.iter().map(replica).collect(),
            sentinels: Vec::new(),
            quorum: config.quorum,
            parallel_syncs: config.parallel_syncs,
            failover_timeout_ms: config.failover_timeout_ms,
            config_epoch: 0,
            objectively_down: false,
            objectively_down_since: 0,
            leader: None,
            leader_epoch: 0,
            failover: Failover::default(),
            said: None,
        }
    }

    /// All instances: the primary, then its replicas, then the other Sentinels.
    pub(crate) fn instances(&self) -> impl Iterator<Item = &Instance> {
        std::iter::once(&self.node).chain(&self.replicas).chain(&self.sentinels)
    }

    /// All instances, to be changed.
    pub(crate) fn instances_mut(&mut self) -> impl Iterator<Item = &mut Instance> {
        std::iter::once(&mut self.node).chain(&mut self.replicas).chain(&mut self.sentinels)
    }

    /// One of them, by its place among all.
    pub(crate) fn instance_mut(&mut self, place: usize) -> Option<&mut Instance> {
        let replicas = self.replicas.len();
        match place {
            0 => Some(&mut self.node),
            place if place <= replicas => self.replicas.get_mut(place - 1),
            place => self.sentinels.get_mut(place - 1 - replicas),
        }
    }

    /// How closely its replicas are watched.
    pub(crate) fn watch(&self) -> Watch {
        let is_in_trouble = self.objectively_down || self.failover.in_progress();
        if is_in_trouble { Watch::Close } else { Watch::Usual }
    }

    /// The replica that was chosen for promotion.
    pub(crate) fn promoted(&self) -> Option<&Instance> {
        self.replicas.iter().find(|replica| replica.promoted)
    }

    /// The address to give to clients: that of the promoted replica as soon as it has said that it
    /// is a primary (`sentinelGetCurrentMasterAddress`).
    pub(crate) fn current_address(&self) -> &Address {
        match self.promoted() {
            Some(replica) if self.failover.promotion_seen() => &replica.address,
            _ => &self.node.address,
        }
    }

    /// Sends our hello to everybody as soon as possible (`sentinelForceHelloUpdateForMaster`).
    pub(crate) fn force_hello(&mut self) {
        self.instances_mut().for_each(Instance::force_hello);
    }

    /// Adds a replica unless it is known (`createSentinelRedisInstance` with `SRI_SLAVE`), and says
    /// so.
    pub(crate) fn add_replica(&mut self, address: Address, core: &mut Core) {
        if self.replicas.iter().any(|replica| replica.address == address) {
            return;
        }
        let (name, down_after_ms) = (address.to_string(), self.node.down_after_ms);
        let replica = Instance::new(Kind::Replica, name, address, down_after_ms, core.now);
        core.event("+slave", name_instance(&replica, &self.node));
        core.attention = true;
        core.unkept = true;
        self.replicas.push(replica);
    }

    /// Forgets the replicas, the vote and the failover, and connects anew (`sentinelResetMaster`).
    /// The other Sentinels are kept.
    pub(crate) fn reset(&mut self, context: &mut Context<'_>) {
        let now = context.core.now;
        for mut replica in self.replicas.drain(..) {
            close_links(&mut replica, context.out);
        }
        self.node.link.reset(now, context.out);
        self.node.subjectively_down = false;
        self.node.run_id = None;
        self.node.replication.master_host = None;
        self.node.role_reported = Kind::Master;
        self.node.role_reported_since = now;
        self.objectively_down = false;
        self.leader = None;
        self.failover = Failover::default();
        context.core.attention = true;
    }

    /// As [`Master::reset`], but the other Sentinels are forgotten too: `SENTINEL RESET`.
    pub(crate) fn reset_with_sentinels(&mut self, context: &mut Context<'_>) {
        for mut sentinel in self.sentinels.drain(..) {
            close_links(&mut sentinel, context.out);
        }
        self.reset(context);
        context.core.event("+reset-master", name_master(&self.node));
    }

    /// Monitors another address under the same name; the old one becomes a replica to be
    /// reconfigured when it returns (`sentinelResetMasterAndChangeAddress`).
    pub(crate) fn change_address(&mut self, new: Address, context: &mut Context<'_>) {
        let mut addresses: Vec<Address> =
            self.replicas.iter().map(|replica| replica.address.clone()).collect();
        addresses.retain(|address| !address.is(&new.host, new.port));
        if !self.node.address.is(&new.host, new.port) {
            addresses.push(self.node.address.clone());
        }
        self.reset(context);
        context.core.unkept = true;
        self.node.address = new;
        self.node.down_since = 0;
        self.objectively_down_since = 0;
        for address in addresses {
            self.add_replica(address, context.core);
        }
    }

    /// A connection broke or could not be opened. Returns whether it was one of ours.
    pub(crate) fn connection_lost(&mut self, connection: ConnectionId) -> bool {
        self.instances_mut().any(|instance| instance.link.lost(connection))
    }

    /// Sends what has gathered for anybody.
    pub(crate) fn flush(&mut self, out: &mut Outputs) {
        self.node.link.flush(out);
        self.replicas.iter_mut().for_each(|replica| replica.link.flush(out));
        self.sentinels.iter_mut().for_each(|sentinel| sentinel.link.flush(out));
    }

    /// Closes every connection, before the primary is no longer monitored.
    pub(crate) fn close(&mut self, out: &mut Outputs) {
        self.instances_mut().for_each(|instance| close_links(instance, out));
    }
}

/// Closes both connections to an instance that is about to be forgotten.
pub(crate) fn close_links(instance: &mut Instance, out: &mut Outputs) {
    instance.link.close_command(out);
    instance.link.close_pubsub(out);
}
