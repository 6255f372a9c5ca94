use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Channel,
    Pattern,
    ShardChannel,
}

pub(crate) type Names = IndexSet<Box<[u8]>, FxBuildHasher>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Subscriptions {
    channels: Names,
    patterns: Names,
    shard_channels: Names,
}

impl Subscriptions {
    pub(crate) fn of(&self, kind: Kind) -> &Names {
        match kind {
            Kind::Channel => &self.channels,
            Kind::Pattern => &self.patterns,
            Kind::ShardChannel => &self.shard_channels,
        }
    }

    fn of_mut(&mut self, kind: Kind) -> &mut Names {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::ShardChannel => &mut self.shard_channels,
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (Kind, &[u8])> {
        let kinds = [Kind::Channel, Kind::Pattern, Kind::ShardChannel];
        kinds.into_iter().flat_map(|kind| self.of(kind).iter().map(move |name| (kind, &**name)))
    }

    pub(super) fn add(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.of_mut(kind).insert(name.into())
    }

    pub(super) fn remove(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.of_mut(kind).swap_remove(name)
    }

    pub(crate) fn any(&self) -> bool {
        !(self.channels.is_empty() && self.patterns.is_empty() && self.shard_channels.is_empty())
    }
}
