//! Builds short histories for tests. Times are in milliseconds, and events are sorted by time.

mod processes;
pub(crate) mod random;
mod servers;
mod storage;

use crate::record::history::{
    Action, Availability, Ended, Event, FORMAT, Header, History, Keeping, SyncFails, VERSION, What,
    WhyEnded,
};
use fencepost_faults::{Micros, Node, Seed, SimTime};
use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) const KEY: &str = "lock";

#[derive(Clone, Debug)]
pub(crate) struct Story {
    header: Header,
    events: Vec<Event>,
    ended: Option<Ended>,
    operations: u64,
    open: BTreeMap<Node, u64>,
    held: BTreeMap<Node, (u64, Option<u64>)>,
    held_before: BTreeMap<Node, (u64, Option<u64>)>,
}

impl Story {
    pub(crate) fn new() -> Story {
        let header = Header {
            seed: Seed(7),
            ttl_us: Micros::from_millis(10),
            progress_bound_us: Micros::from_millis(1_000),
            ..Header::bare("single-node", KEY)
        };
        let (open, held, held_before) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Story { header, events: Vec::new(), ended: None, operations: 0, open, held, held_before }
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

    pub(crate) fn with_leases() -> Story {
        let mut story = Story::with_sessions();
        story.header.kept_as = Some(Keeping::Lease);
        story.header.client = "etcd-mutex-unchecked".to_owned();
        story
    }

    pub(crate) fn with_lock_delay(mut self, ms: u64) -> Story {
        self.header.lock_delay_us = Some(Micros::from_millis(ms));
        self.header.kept_as = Some(Keeping::Session);
        self.header.client = "chubby".to_owned();
        self
    }

    pub(crate) fn renewing(mut self) -> Story {
        self.header.renews = true;
        self
    }

    pub(crate) fn syncs_fail(mut self, from: u64, until: u64) -> Story {
        let at = |ms: u64| SimTime(ms * 1_000);
        self.header.sync_fails = Some(SyncFails { from_us: at(from), until_us: at(until) });
        self
    }

    pub(crate) fn unseen() -> Story {
        let mut story = Story::new();
        story.header.locks_unseen = true;
        story
    }

    pub(crate) fn kept_as(keeping: Keeping) -> Story {
        let mut story = Story::new();
        story.header.kept_as = Some(keeping);
        story.header.lives_with_session = keeping == Keeping::Membership;
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

    pub(crate) fn order_bound(mut self, ms: u64) -> Story {
        self.header.order_bound_us = Some(Micros::from_millis(ms));
        self
    }

    pub(crate) fn available_within(mut self, ms: u64, needed: u16, servers: u16) -> Story {
        let bound_us = Micros::from_millis(ms);
        self.header.availability =
            Some(Availability { bound_us, servers, needed, between_faults: false });
        self
    }

    pub(crate) fn between_faults(mut self) -> Story {
        let rule = self.header.availability.as_mut().expect("a bound on availability");
        rule.between_faults = true;
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
            ended: self.ended,
        }
    }

    pub(crate) fn runs_out_of_time(mut self, ms: u64) -> Story {
        let at_us = SimTime(ms * 1_000);
        self.ended = Some(Ended { at_us, why: WhyEnded::TimeLimit });
        self
    }

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

    pub(crate) fn fault_began(self, ms: u64, fault: u32, kind: &str, nodes: &[Node]) -> Story {
        let node = nodes.first().copied().unwrap_or(Node::Storage);
        let (kind, nodes) = (kind.parse().expect("a kind"), nodes.to_vec());
        self.event(ms, node, What::FaultBegan { fault, kind, nodes })
    }

    pub(crate) fn fault_ended(self, ms: u64, fault: u32, kind: &str, node: Node) -> Story {
        self.event(ms, node, What::FaultEnded { fault, kind: kind.parse().expect("a kind") })
    }

    /// Adds a fault that lasts for `ms`. The event of its end names only the first node.
    pub(crate) fn faulted(self, ms: Range<u64>, fault: u32, kind: &str, nodes: &[Node]) -> Story {
        self.fault_began(ms.start, fault, kind, nodes).fault_ended(ms.end, fault, kind, nodes[0])
    }

    pub(crate) fn healed(self, ms: u64) -> Story {
        self.event(ms, Node::Probe, What::Healed)
    }
}

pub(crate) trait IntoNode: Copy {
    fn node(self) -> Node;
}

impl IntoNode for u16 {
    fn node(self) -> Node {
        Node::Client(self)
    }
}

impl IntoNode for Node {
    fn node(self) -> Node {
        self
    }
}

fn ok(operation: u64, value: Option<i64>) -> What {
    What::Ok { operation, owner: None, token: None, valid_for_us: None, value }
}
