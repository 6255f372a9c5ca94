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
pub(crate) struct Subscriptions([Names; 3]);

impl Subscriptions {
    pub(crate) fn of(&self, kind: Kind) -> &Names {
        &self.0[kind as usize]
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (Kind, &[u8])> {
        let kinds = [Kind::Channel, Kind::Pattern, Kind::ShardChannel];
        kinds.into_iter().flat_map(|kind| self.of(kind).iter().map(move |name| (kind, &**name)))
    }

    pub(super) fn add(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.0[kind as usize].insert(name.into())
    }

    pub(super) fn remove(&mut self, kind: Kind, name: &[u8]) -> bool {
        self.0[kind as usize].swap_remove(name)
    }

    pub(crate) fn any(&self) -> bool {
        self.0.iter().any(|names| !names.is_empty())
    }
}
