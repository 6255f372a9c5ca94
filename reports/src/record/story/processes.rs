use super::{IntoNode, Story, ok};
use crate::record::history::{Action, Change, GivingUp, What};
use fencepost_faults::{Micros, Node, SimTime};

impl Story {
    pub(crate) fn acquires(self, ms: u64, client: impl IntoNode) -> Story {
        self.invoke(ms, client.node(), Action::Acquire)
    }

    pub(crate) fn hears(self, ms: u64, client: impl IntoNode, owner: &str) -> Story {
        self.ok(ms, client.node(), owner, None, None)
    }

    pub(crate) fn hears_token(
        self,
        ms: u64,
        client: impl IntoNode,
        owner: &str,
        token: u64,
    ) -> Story {
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

    pub(crate) fn fails(self, ms: u64, client: impl IntoNode) -> Story {
        self.fails_because(ms, client, "held by another")
    }

    pub(crate) fn fails_because(mut self, ms: u64, client: impl IntoNode, why: &str) -> Story {
        let operation = self.close(client.node());
        self.event(ms, client.node(), What::Fail { operation, reason: why.to_owned() })
    }

    pub(crate) fn info(mut self, ms: u64, client: impl IntoNode) -> Story {
        let operation = self.close(client.node());
        self.event(
            ms,
            client.node(),
            What::Info { operation, reason: "the reply was lost".to_owned() },
        )
    }

    pub(crate) fn gives_up(self, ms: u64, client: impl IntoNode, how: GivingUp) -> Story {
        let node = client.node();
        let operation = *self.open.get(&node).expect("the process has an open operation");
        self.event(ms, node, What::GivenUp { operation, how })
    }

    pub(crate) fn cancels(self, ms: u64, client: impl IntoNode) -> Story {
        self.gives_up(ms, client, GivingUp::Cancelled).info(ms, client)
    }

    pub(crate) fn takes(self, ms: u64, client: impl IntoNode, owner: &str) -> Story {
        self.grants(ms, client, owner).hears(ms, client, owner)
    }

    pub(crate) fn takes_with_token(
        self,
        ms: u64,
        client: impl IntoNode,
        owner: &str,
        token: u64,
    ) -> Story {
        self.grants(ms, client, owner).hears_token(ms, client, owner, token)
    }

    pub(crate) fn releases(self, ms: u64, client: impl IntoNode) -> Story {
        self.leaves(ms, client).left(ms, client)
    }

    pub(crate) fn leaves(self, ms: u64, client: impl IntoNode) -> Story {
        self.invoke(ms, client.node(), Action::Release)
    }

    pub(crate) fn extends(self, ms: u64, client: impl IntoNode) -> Story {
        self.invoke(ms, client.node(), Action::Extend)
    }

    pub(crate) fn left(mut self, ms: u64, client: impl IntoNode) -> Story {
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

    pub(crate) fn loses(self, ms: u64, client: impl IntoNode) -> Story {
        self.event(ms, client.node(), What::Lost)
    }

    pub(crate) fn silent(
        self,
        ms: u64,
        client: impl IntoNode,
        since_ms: u64,
        ahead: bool,
    ) -> Story {
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
}
