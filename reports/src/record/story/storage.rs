use super::{IntoNode, Story, ok};
use crate::record::history::{Access, Action, What};
use fencepost_faults::{Node, SimTime};

enum Request {
    Read(i64),
    Write { based_on: i64, value: i64, accepted: bool },
}

impl Story {
    pub(crate) fn reads(self, ms: u64, client: impl IntoNode, value: i64) -> Story {
        let acquisition = self.acquisition(client.node());
        self.access(ms, client.node(), acquisition, Request::Read(value))
    }

    pub(crate) fn writes(self, ms: u64, client: impl IntoNode, based_on: i64, value: i64) -> Story {
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
        let told = self.unanswered(sent, sent, node, action);
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

    pub(crate) fn late_read(self, ms: u64, client: u16, sent: u64, value: i64) -> Story {
        let node = Node::Client(client);
        let (acquisition, token) = self.acquisition(node);
        let told = self.waits_for_storage(sent, sent, client);
        let operation = told.operations;
        let what = What::Storage {
            operation,
            by: node,
            access: Access::Read,
            token,
            acquisition,
            accepted: true,
            before: value,
            after: value,
            based_on: None,
        };
        told.event(ms, Node::Storage, what)
    }

    pub(crate) fn waits_for_storage(mut self, from: u64, until: u64, client: u16) -> Story {
        let node = Node::Client(client);
        let (acquisition, _) = self.acquisition(node);
        self.operations += 1;
        self.unanswered(from, until, node, Action::Read { acquisition })
    }

    fn unanswered(self, from: u64, until: u64, node: Node, action: Action) -> Story {
        let operation = self.operations;
        let told = self.event(from, node, What::Invoke { operation, action });
        told.event(until, node, What::Info { operation, reason: "no answer in time".to_owned() })
    }

    fn acquisition(&self, process: Node) -> (u64, Option<u64>) {
        *self.held.get(&process).expect("the process was granted the lock")
    }

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
}
