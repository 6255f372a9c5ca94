use super::{Replica, Replication};
use crate::state::client_key::ClientKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    Applied { replicas: usize },
    Synced { local: bool, replicas: usize },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    pub(crate) client: ClientKey,
    pub(crate) offset: u64,
    pub(crate) goal: Goal,
    pub(crate) until_ms: Option<i64>,
}

impl Replication {
    pub(crate) fn acknowledged(&self, offset: u64) -> usize {
        let has_it = |replica: &&Replica| replica.is_online() && replica.acknowledged >= offset;
        self.replicas.iter().filter(has_it).count()
    }

    pub(crate) fn synced(&self, offset: u64) -> usize {
        let has_it = |replica: &&Replica| replica.is_online() && replica.synced >= offset;
        self.replicas.iter().filter(has_it).count()
    }

    pub(crate) fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    pub(crate) fn wait(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
        self.wants_acknowledgements = true;
    }

    pub(crate) fn end_wait(&mut self, waiting: &Waiting) {
        self.waiting.retain(|other| other != waiting);
    }

    pub(crate) fn end_all_waits(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.waiting)
    }
}
