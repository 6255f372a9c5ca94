//! Small histories for tests, told in whole milliseconds. Events may be told in any order: they are
//! sorted by time, and within one instant they keep the order in which they were told.

use crate::record::history::{
    Access, Action, Availability, Change, Event, FORMAT, Header, History, Keeping, StorageRule,
    VERSION, What, Workload,
};
use fencepost_faults::{Family, Micros, Node, Seed, SimTime};
use std::collections::BTreeMap;

/// The lock's key in every story.
pub(crate) const KEY: &str = "lock";

/// A history in the making.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    header: Header,
    events: Vec<Event>,
    operations: u64,
    /// The open operation of each process.
    open: BTreeMap<Node, u64>,
    /// The last acquisition that each process was granted.
    held: BTreeMap<Node, (u64, Option<u64>)>,
    /// The acquisition before that one.
    held_before: BTreeMap<Node, (u64, Option<u64>)>,
}

impl Story {
    pub(crate) fn new() -> Story {
        let header = Header {
            client: "single-node".to_owned(),
            fault: Family::None.into(),
            seed: Seed(7),
            resource: KEY.to_owned(),
            ttl_us: Micros::from_millis(10),
            quorum: 1,
            has_tokens: false,
            workload: Workload::Register,
            storage: StorageRule::Fenced,
            progress_bound_us: Micros::from_millis(1_000),
            faults_planned: 0,
            held_bound_us: None,
            lives_with_session: false,
            kept_as: None,
            order_bound_us: None,
            availability: None,
        };
        let (open, held, held_before) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Story { header, events: Vec::new(), operations: 0, open, held, held_before }
    }

    pub(crate) fn with_quorum(quorum: u16) -> Story {
        let mut story = Story::new();
        story.header.quorum = quorum;
        story.header.client = "redlock".to_owned();
        story
    }

    pub(crate) fn of_workload(workload: &str) -> Story {
        let mut story = Story::new();
        story.header.workload = workload.parse().expect("a workload");
        story
    }

    pub(crate) fn with_sessions() -> Story {
        let mut story = Story::new();
        story.header.lives_with_session = true;
        story.header.client = "curator-mutex".to_owned();
        story
    }

    /// A lock that is a key with a lease.
    pub(crate) fn with_leases() -> Story {
        let mut story = Story::with_sessions();
        story.header.kept_as = Some(Keeping::Lease);
        story.header.client = "etcd-mutex-unchecked".to_owned();
        story
    }

    /// A lock in a database.
    pub(crate) fn kept_as(keeping: Keeping) -> Story {
        let mut story = Story::new();
        story.header.kept_as = Some(keeping);
        story.header.client = "jdbc-5".to_owned();
        story
    }

    pub(crate) fn with_tokens(mut self) -> Story {
        self.header.has_tokens = true;
        self
    }

    pub(crate) fn under(mut self, fault: &str) -> Story {
        self.header.fault = fault.parse().expect("families");
        self.header.faults_planned = 1;
        self
    }

    pub(crate) fn ttl(mut self, ms: u64) -> Story {
        self.header.ttl_us = Micros::from_millis(ms);
        self
    }

    pub(crate) fn client(mut self, client: &str) -> Story {
        self.header.client = client.to_owned();
        self
    }

    pub(crate) fn progress_bound(mut self, ms: u64) -> Story {
        self.header.progress_bound_us = Micros::from_millis(ms);
        self
    }

    pub(crate) fn held_bound(mut self, ms: u64) -> Story {
        self.header.held_bound_us = Some(Micros::from_millis(ms));
        self
    }

    /// A lock that serves those who wait in the order in which they came.
    pub(crate) fn order_bound(mut self, ms: u64) -> Story {
        self.header.order_bound_us = Some(Micros::from_millis(ms));
        self
    }

    /// The lock is had within so many milliseconds while so many of the servers run.
    pub(crate) fn available_within(mut self, ms: u64, needed: u16, servers: u16) -> Story {
        let bound_us = Micros::from_millis(ms);
        self.header.availability = Some(Availability { bound_us, servers, needed });
        self
    }

    pub(crate) fn build(mut self) -> History {
        self.events.sort_by_key(|event| event.time_us);
        for (sequence, event) in self.events.iter_mut().enumerate() {
            event.sequence = sequence as u64;
        }
        History {
            format: FORMAT.to_owned(),
            version: VERSION,
            header: self.header,
            events: self.events,
        }
    }

    /// Any event.
    pub(crate) fn event(mut self, ms: u64, node: Node, what: What) -> Story {
        self.events.push(Event { sequence: 0, time_us: SimTime(ms * 1_000), node, what });
        self
    }

    fn invoke(mut self, ms: u64, node: Node, action: Action) -> Story {
        self.operations += 1;
        let operation = self.operations;
        self.open.insert(node, operation);
        self.event(ms, node, What::Invoke { operation, action })
    }

    fn close(&mut self, node: Node) -> u64 {
        self.open.remove(&node).expect("the process has an open operation")
    }

    // Processes.

    pub(crate) fn acquires(self, ms: u64, client: impl Who) -> Story {
        self.invoke(ms, client.node(), Action::Acquire)
    }

    pub(crate) fn hears(self, ms: u64, client: impl Who, owner: &str) -> Story {
        self.ok(ms, client.node(), owner, None, None)
    }

    pub(crate) fn hears_token(self, ms: u64, client: impl Who, owner: &str, token: u64) -> Story {
        self.ok(ms, client.node(), owner, Some(token), None)
    }

    pub(crate) fn hears_validity(self, ms: u64, client: u16, owner: &str, valid_ms: u64) -> Story {
        self.ok(ms, Node::Client(client), owner, None, Some(Micros::from_millis(valid_ms)))
    }

    fn ok(
        mut self,
        ms: u64,
        node: Node,
        owner: &str,
        token: Option<u64>,
        valid_for_us: Option<Micros>,
    ) -> Story {
        let operation = self.close(node);
        if let Some(before) = self.held.insert(node, (operation, token)) {
            self.held_before.insert(node, before);
        }
        let owner = Some(owner.to_owned());
        self.event(ms, node, What::Ok { operation, owner, token, valid_for_us, value: None })
    }

    pub(crate) fn fails(mut self, ms: u64, client: impl Who) -> Story {
        let operation = self.close(client.node());
        self.event(
            ms,
            client.node(),
            What::Fail { operation, reason: "held by another".to_owned() },
        )
    }

    pub(crate) fn info(mut self, ms: u64, client: impl Who) -> Story {
        let operation = self.close(client.node());
        self.event(
            ms,
            client.node(),
            What::Info { operation, reason: "the reply was lost".to_owned() },
        )
    }

    /// An acquire that is invoked, granted by redis-1 and known to be so at one instant.
    pub(crate) fn takes(self, ms: u64, client: impl Who, owner: &str) -> Story {
        self.grants(ms, client, owner).hears(ms, client, owner)
    }

    pub(crate) fn takes_with_token(
        self,
        ms: u64,
        client: impl Who,
        owner: &str,
        token: u64,
    ) -> Story {
        self.grants(ms, client, owner).hears_token(ms, client, owner, token)
    }

    pub(crate) fn releases(self, ms: u64, client: impl Who) -> Story {
        self.leaves(ms, client).left(ms, client)
    }

    /// A release is invoked.
    pub(crate) fn leaves(self, ms: u64, client: impl Who) -> Story {
        self.invoke(ms, client.node(), Action::Release)
    }

    /// The open operation ends, and its process knows how.
    pub(crate) fn left(mut self, ms: u64, client: impl Who) -> Story {
        let node = client.node();
        let operation = self.close(node);
        self.event(ms, node, ok(operation, None))
    }

    pub(crate) fn crashes(mut self, ms: u64, client: u16) -> Story {
        self.open.retain(|node, _| node.machine() != Node::Client(client));
        self.event(ms, Node::Client(client), What::Crashed)
    }

    pub(crate) fn starts(self, ms: u64, client: u16) -> Story {
        self.event(ms, Node::Client(client), What::Started)
    }

    pub(crate) fn loses(self, ms: u64, client: impl Who) -> Story {
        self.event(ms, client.node(), What::Lost)
    }

    /// A process that waits has sent nothing since an instant; the bound is 20 ms.
    pub(crate) fn silent(self, ms: u64, client: impl Who, since_ms: u64, ahead: bool) -> Story {
        let (since_us, bound_us) = (SimTime(since_ms * 1_000), Micros::from_millis(20));
        self.event(ms, client.node(), What::Silent { since_us, bound_us, ahead })
    }

    pub(crate) fn probe_acquires(self, ms: u64) -> Story {
        self.invoke(ms, Node::Probe, Action::Acquire)
    }

    pub(crate) fn probe_ok(self, ms: u64, owner: &str) -> Story {
        self.server(ms, 1, Change::Granted, owner, Some(Node::Probe)).ok(
            ms,
            Node::Probe,
            owner,
            None,
            None,
        )
    }

    pub(crate) fn probe_fails(mut self, ms: u64) -> Story {
        let operation = self.close(Node::Probe);
        self.event(ms, Node::Probe, What::Fail { operation, reason: "held by another".to_owned() })
    }

    pub(crate) fn probe_releases(mut self, ms: u64) -> Story {
        self = self.invoke(ms, Node::Probe, Action::Release);
        let operation = self.close(Node::Probe);
        self.event(ms, Node::Probe, ok(operation, None))
    }

    // Servers.

    /// What a server did, as a primary.
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

    /// What redis-1 did with another key for a process.
    pub(crate) fn keyed(
        self,
        ms: u64,
        key: &str,
        change: Change,
        value: &str,
        client: impl Who,
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

    /// Every grant and extension of a server says that the key has the ttl to live from there on.
    pub(crate) fn tells_leases(self) -> Story {
        let ttl = self.header.ttl_us;
        self.tells_leases_of(ttl)
    }

    /// The same of another span.
    pub(crate) fn tells_leases_of(mut self, lease: Micros) -> Story {
        for event in &mut self.events {
            if let What::Server { change: Change::Granted | Change::Extended, lease_us, .. } =
                &mut event.what
            {
                *lease_us = Some(lease);
            }
        }
        self
    }

    /// The same history with another kind of server.
    pub(crate) fn at_servers(mut self) -> Story {
        for event in &mut self.events {
            if let Node::Redis(number) = event.node {
                event.node = Node::Server(number);
            }
        }
        self
    }

    /// redis-1 grants; the acquire is invoked at that instant unless it is open already.
    pub(crate) fn grants(self, ms: u64, client: impl Who, owner: &str) -> Story {
        self.grants_at(ms, client, 1, owner)
    }

    pub(crate) fn grants_at(mut self, ms: u64, client: impl Who, redis: u16, owner: &str) -> Story {
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

    pub(crate) fn removed(self, ms: u64, owner: &str, client: impl Who) -> Story {
        self.removed_at(ms, 1, owner, client)
    }

    pub(crate) fn removed_at(self, ms: u64, redis: u16, owner: &str, client: impl Who) -> Story {
        self.server(ms, redis, Change::Removed, owner, Some(client.node()))
    }

    pub(crate) fn removed_on_replica(self, ms: u64, redis: u16, owner: &str) -> Story {
        self.replica(ms, redis, Change::Removed, owner)
    }

    pub(crate) fn replicated(self, ms: u64, redis: u16, owner: &str) -> Story {
        self.replica(ms, redis, Change::Granted, owner)
    }

    pub(crate) fn redis_crashes(self, ms: u64, redis: u16) -> Story {
        self.event(ms, Node::Redis(redis), What::Crashed)
    }

    pub(crate) fn redis_starts(self, ms: u64, redis: u16) -> Story {
        self.event(ms, Node::Redis(redis), What::Started)
    }

    // The storage. The access is made under the last acquisition of the process.

    pub(crate) fn reads(self, ms: u64, client: impl Who, value: i64) -> Story {
        let acquisition = self.acquisition(client.node());
        self.access(ms, client.node(), acquisition, Request::Read(value))
    }

    pub(crate) fn writes(self, ms: u64, client: impl Who, based_on: i64, value: i64) -> Story {
        let acquisition = self.acquisition(client.node());
        self.access(
            ms,
            client.node(),
            acquisition,
            Request::Write { based_on, value, accepted: true },
        )
    }

    pub(crate) fn rejects_write(self, ms: u64, client: u16, based_on: i64, value: i64) -> Story {
        let (acquisition, node) = (self.acquisition(Node::Client(client)), Node::Client(client));
        self.access(ms, node, acquisition, Request::Write { based_on, value, accepted: false })
    }

    /// A write under the acquisition before the last, invoked at `sent`.
    pub(crate) fn late_write(
        mut self,
        ms: u64,
        client: u16,
        sent: u64,
        based_on: i64,
        value: i64,
    ) -> Story {
        let node = Node::Client(client);
        let (acquisition, token) =
            *self.held_before.get(&node).or(self.held.get(&node)).expect("it was granted");
        self.operations += 1;
        let operation = self.operations;
        let action = Action::Write { acquisition, value, based_on };
        let told = self.event(sent, node, What::Invoke { operation, action });
        let told = told.event(
            sent,
            node,
            What::Info { operation, reason: "no answer in time".to_owned() },
        );
        let before = told.value_at(ms);
        let what = What::Storage {
            operation,
            by: node,
            access: Access::Write,
            token,
            acquisition,
            accepted: true,
            before,
            after: value,
            based_on: Some(based_on),
        };
        told.event(ms, Node::Storage, what)
    }

    fn acquisition(&self, process: Node) -> (u64, Option<u64>) {
        *self.held.get(&process).expect("the process was granted the lock")
    }

    /// The stored value just before an instant: that of the last accepted write; of none, what the
    /// first access says.
    fn value_at(&self, ms: u64) -> i64 {
        let writes = self.events.iter().filter(|event| event.time_us <= SimTime(ms * 1_000));
        let after = writes.filter_map(|event| match event.what {
            What::Storage { after, .. } => Some((event.time_us, after)),
            _ => None,
        });
        after.max_by_key(|(time, _)| *time).map_or(0, |(_, after)| after)
    }

    fn access(
        mut self,
        ms: u64,
        node: Node,
        acquisition: (u64, Option<u64>),
        request: Request,
    ) -> Story {
        let (acquisition, token) = acquisition;
        let untouched = !self.events.iter().any(|event| matches!(event.what, What::Storage { .. }));
        let (action, access, accepted, based_on, value) = match request {
            Request::Read(value) => (Action::Read { acquisition }, Access::Read, true, None, value),
            Request::Write { based_on, value, accepted } => (
                Action::Write { acquisition, value, based_on },
                Access::Write,
                accepted,
                Some(based_on),
                value,
            ),
        };
        let before = if untouched { based_on.unwrap_or(value) } else { self.value_at(ms) };
        let after = if accepted && access == Access::Write { value } else { before };
        self = self.invoke(ms, node, action);
        let operation = self.close(node);
        let by = node;
        let what = What::Storage {
            operation,
            by,
            access,
            token,
            acquisition,
            accepted,
            before,
            after,
            based_on,
        };
        let read = (access == Access::Read).then_some(value);
        let told = self.event(ms, Node::Storage, what);
        match accepted {
            true => told.event(ms, node, ok(operation, read)),
            false => told.event(
                ms,
                node,
                What::Fail { operation, reason: "the token is old".to_owned() },
            ),
        }
    }

    // Faults.

    pub(crate) fn fault_began(self, ms: u64, fault: u32, kind: &str, nodes: &[Node]) -> Story {
        let node = nodes.first().copied().unwrap_or(Node::Storage);
        let (kind, nodes) = (kind.parse().expect("a kind"), nodes.to_vec());
        self.event(ms, node, What::FaultBegan { fault, kind, nodes })
    }

    pub(crate) fn fault_ended(self, ms: u64, fault: u32, kind: &str, node: Node) -> Story {
        self.event(ms, node, What::FaultEnded { fault, kind: kind.parse().expect("a kind") })
    }

    pub(crate) fn healed(self, ms: u64) -> Story {
        self.event(ms, Node::Probe, What::Healed)
    }
}

/// Who acts in a story: the client of a number, or any node, like a thread of one.
pub(crate) trait Who: Copy {
    fn node(self) -> Node;
}

impl Who for u16 {
    fn node(self) -> Node {
        Node::Client(self)
    }
}

impl Who for Node {
    fn node(self) -> Node {
        self
    }
}

enum Request {
    Read(i64),
    Write { based_on: i64, value: i64, accepted: bool },
}

fn ok(operation: u64, value: Option<i64>) -> What {
    What::Ok { operation, owner: None, token: None, valid_for_us: None, value }
}
