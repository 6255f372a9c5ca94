use super::{IntoNode, KEY, Story};
use crate::record::history::{Change, What};
use fencepost_faults::{Micros, Node};

impl Story {
    pub(crate) fn server(
        self,
        ms: u64,
        redis: u16,
        change: Change,
        value: &str,
        by: Option<Node>,
    ) -> Story {
        let (key, value) = (KEY.to_owned(), Some(value.to_owned()));
        let what =
            What::Server { key, change, value, by, primary: true, token: None, lease_us: None };
        self.event(ms, Node::Redis(redis), what)
    }

    /// Server 1 sets the lease of the lock `a`. `None` removes the expiry.
    pub(crate) fn sets_lease(self, ms: u64, client: u16, lease_ms: Option<u64>) -> Story {
        let (key, value) = (KEY.to_owned(), Some("a".to_owned()));
        let (by, change) = (Some(client.node()), Change::Extended);
        let lease_us = lease_ms.map(Micros::from_millis);
        let what = What::Server { key, change, value, by, primary: true, token: None, lease_us };
        self.event(ms, Node::Redis(1), what)
    }

    pub(crate) fn keyed(
        self,
        ms: u64,
        key: &str,
        change: Change,
        value: &str,
        client: impl IntoNode,
    ) -> Story {
        let (key, value, by) = (key.to_owned(), Some(value.to_owned()), Some(client.node()));
        let what =
            What::Server { key, change, value, by, primary: true, token: None, lease_us: None };
        self.event(ms, Node::Redis(1), what)
    }

    fn replica(self, ms: u64, redis: u16, change: Change, value: &str) -> Story {
        let (key, value) = (KEY.to_owned(), Some(value.to_owned()));
        self.event(
            ms,
            Node::Redis(redis),
            What::Server {
                key,
                change,
                value,
                by: None,
                primary: false,
                token: None,
                lease_us: None,
            },
        )
    }

    pub(crate) fn with_recorded_leases(self) -> Story {
        let ttl = self.header.ttl_us;
        self.with_recorded_leases_of(ttl)
    }

    pub(crate) fn with_recorded_leases_of(mut self, lease: Micros) -> Story {
        for event in &mut self.events {
            if let What::Server { change: Change::Granted | Change::Extended, lease_us, .. } =
                &mut event.what
            {
                *lease_us = Some(lease);
            }
        }
        self
    }

    pub(crate) fn at_servers(mut self) -> Story {
        for event in &mut self.events {
            if let Node::Redis(number) = event.node {
                event.node = Node::Server(number);
            }
        }
        self
    }

    pub(crate) fn grants(self, ms: u64, client: impl IntoNode, owner: &str) -> Story {
        self.grants_at(ms, client, 1, owner)
    }

    pub(crate) fn grants_at(
        mut self,
        ms: u64,
        client: impl IntoNode,
        redis: u16,
        owner: &str,
    ) -> Story {
        let node = client.node();
        if !self.open.contains_key(&node) {
            self = self.acquires(ms, client);
        }
        self.server(ms, redis, Change::Granted, owner, Some(node))
    }

    pub(crate) fn expires(self, ms: u64, owner: &str) -> Story {
        self.expires_at(ms, 1, owner)
    }

    pub(crate) fn expires_at(self, ms: u64, redis: u16, owner: &str) -> Story {
        self.server(ms, redis, Change::Expired, owner, None)
    }

    pub(crate) fn removed(self, ms: u64, owner: &str, client: impl IntoNode) -> Story {
        self.removed_at(ms, 1, owner, client)
    }

    pub(crate) fn removed_at(
        self,
        ms: u64,
        redis: u16,
        owner: &str,
        client: impl IntoNode,
    ) -> Story {
        self.server(ms, redis, Change::Removed, owner, Some(client.node()))
    }

    pub(crate) fn removed_on_replica(self, ms: u64, redis: u16, owner: &str) -> Story {
        self.replica(ms, redis, Change::Removed, owner)
    }

    pub(crate) fn replicated(self, ms: u64, redis: u16, owner: &str) -> Story {
        self.replica(ms, redis, Change::Granted, owner)
    }

    pub(crate) fn restored_on_replica(self, ms: u64, redis: u16, owner: &str) -> Story {
        self.replica(ms, redis, Change::Restored, owner)
    }

    pub(crate) fn redis_crashes(self, ms: u64, redis: u16) -> Story {
        self.event(ms, Node::Redis(redis), What::Crashed)
    }

    pub(crate) fn redis_starts(self, ms: u64, redis: u16) -> Story {
        self.event(ms, Node::Redis(redis), What::Started)
    }
}
