use super::{
    Address, SentinelConfig,
    attempt::Failover,
    core::{Context, Core},
    events::{name_instance, name_master},
    hello_cache::OwnHello,
    instance::{Instance, Kind, Watch},
};
use fencepost_machine::{ConnectionId, Outputs};

#[derive(Debug)]
pub(crate) struct Master {
    pub(crate) node: Instance,
    pub(crate) replicas: Vec<Instance>,
    pub(crate) sentinels: Vec<Instance>,
    pub(crate) quorum: usize,
    pub(crate) parallel_syncs: usize,
    pub(crate) failover_timeout_ms: i64,
    pub(crate) config_epoch: u64,
    pub(crate) objectively_down: bool,
    pub(crate) objectively_down_since: i64,
    pub(crate) leader: Option<String>,
    pub(crate) leader_epoch: u64,
    pub(crate) failover: Failover,
    pub(crate) own_hello: Option<OwnHello>,
}

impl Master {
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
            own_hello: None,
        }
    }

    pub(crate) fn instances(&self) -> impl Iterator<Item = &Instance> {
        std::iter::once(&self.node).chain(&self.replicas).chain(&self.sentinels)
    }

    pub(crate) fn instances_mut(&mut self) -> impl Iterator<Item = &mut Instance> {
        std::iter::once(&mut self.node).chain(&mut self.replicas).chain(&mut self.sentinels)
    }

    pub(crate) fn instance_mut(&mut self, place: usize) -> Option<&mut Instance> {
        let replicas = self.replicas.len();
        match place {
            0 => Some(&mut self.node),
            place if place <= replicas => self.replicas.get_mut(place - 1),
            place => self.sentinels.get_mut(place - 1 - replicas),
        }
    }

    pub(crate) fn step_ends(&self) -> i64 {
        self.failover.step_since + self.failover_timeout_ms + 1
    }

    pub(crate) fn watch(&self) -> Watch {
        let is_in_trouble = self.objectively_down || self.failover.in_progress();
        if is_in_trouble { Watch::Close } else { Watch::Usual }
    }

    pub(crate) fn promoted(&self) -> Option<&Instance> {
        self.replicas.iter().find(|replica| replica.promoted)
    }

    /// Returns the primary's address or, once a promotion is confirmed, the promoted replica's
    /// (`sentinelGetCurrentMasterAddress`).
    pub(crate) fn current_address(&self) -> &Address {
        match self.promoted() {
            Some(replica) if self.failover.promotion_seen() => &replica.address,
            _ => &self.node.address,
        }
    }

    pub(crate) fn force_hello(&mut self) {
        self.instances_mut().for_each(Instance::force_hello);
    }

    pub(crate) fn add_replica(&mut self, address: Address, core: &mut Core) {
        if self.replicas.iter().any(|replica| replica.address == address) {
            return;
        }
        let (name, down_after_ms) = (address.to_string(), self.node.down_after_ms);
        let replica = Instance::new(Kind::Replica, name, address, down_after_ms, core.now);
        core.event("+slave", name_instance(&replica, &self.node));
        core.attention = true;
        core.unsaved = true;
        self.replicas.push(replica);
    }

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

    pub(crate) fn reset_with_sentinels(&mut self, context: &mut Context<'_>) {
        for mut sentinel in self.sentinels.drain(..) {
            close_links(&mut sentinel, context.out);
        }
        self.reset(context);
        context.core.event("+reset-master", name_master(&self.node));
    }

    /// Changes the primary; the old one becomes a replica (`sentinelResetMasterAndChangeAddress`).
    pub(crate) fn change_address(&mut self, new: Address, context: &mut Context<'_>) {
        let mut addresses: Vec<Address> =
            self.replicas.iter().map(|replica| replica.address.clone()).collect();
        addresses.retain(|address| !address.is(&new.host, new.port));
        if !self.node.address.is(&new.host, new.port) {
            addresses.push(self.node.address.clone());
        }
        self.reset(context);
        context.core.unsaved = true;
        self.node.address = new;
        self.node.down_since = 0;
        self.objectively_down_since = 0;
        for address in addresses {
            self.add_replica(address, context.core);
        }
    }

    pub(crate) fn connection_lost(&mut self, connection: ConnectionId) -> bool {
        self.instances_mut().any(|instance| instance.link.lost(connection))
    }

    pub(crate) fn flush(&mut self, out: &mut Outputs) {
        self.node.link.flush(out);
        self.replicas.iter_mut().for_each(|replica| replica.link.flush(out));
        self.sentinels.iter_mut().for_each(|sentinel| sentinel.link.flush(out));
    }

    pub(crate) fn close(&mut self, out: &mut Outputs) {
        self.instances_mut().for_each(|instance| close_links(instance, out));
    }
}

pub(crate) fn close_links(instance: &mut Instance, out: &mut Outputs) {
    instance.link.close_command(out);
    instance.link.close_pubsub(out);
}
