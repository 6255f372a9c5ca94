use super::Command;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

#[derive(Debug)]
pub(crate) struct Table(IndexMap<&'static [u8], &'static Command, FxBuildHasher>);

impl Table {
    pub(crate) fn new(rows: impl Iterator<Item = &'static Command>) -> Self {
        Table(rows.map(|command| (command.name.as_bytes(), command)).collect())
    }

    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &'static Command> {
        self.0.values().copied()
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<&'static Command> {
        const NAME_LENGTH_MAX: usize = 24;
        let mut lower = [0; NAME_LENGTH_MAX];
        let lower = lower.get_mut(..name.len())?;
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        self.0.get(&*lower).copied()
    }
}
