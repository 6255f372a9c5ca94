//! Effects: what a command changed, as commands that wait for its end.

use crate::protocol::args::Span;

/// Who is told of an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Targets {
    /// The append-only file.
    pub(crate) append_only: bool,
    /// The replicas.
    pub(crate) replicas: bool,
}

impl Targets {
    /// Everybody.
    pub(crate) const ALL: Targets = Targets { append_only: true, replicas: true };
    /// Replicas only: what has no effect on data, such as PUBLISH.
    pub(crate) const REPLICAS: Targets = Targets { append_only: false, replicas: true };
}

/// One command among the effects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// The database.
    pub(crate) db: usize,
    /// Who is told.
    pub(crate) targets: Targets,
    /// Its last part is an instant that replicas are told as a span from now.
    pub(crate) is_relative: bool,
    first_span: usize,
    spans: usize,
}

/// Commands that wait for the end of the current command, script or transaction, in one run of
/// memory.
#[derive(Clone, Default, Debug)]
pub(crate) struct Effects {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    items: Vec<Item>,
}

impl Effects {
    fn push<'p>(&mut self, db: usize, targets: Targets, parts: impl IntoIterator<Item = &'p [u8]>) {
        let first_span = self.spans.len();
        for part in parts {
            let start = self.bytes.len() as u32;
            self.bytes.extend_from_slice(part);
            self.spans.push(Span { start, end: self.bytes.len() as u32 });
        }
        self.items.push(Item {
            db,
            targets,
            is_relative: false,
            first_span,
            spans: self.spans.len() - first_span,
        });
    }

    /// The commands in the order in which they were noted.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The parts of a command.
    pub(crate) fn parts(&self, item: &Item) -> impl Iterator<Item = &[u8]> {
        let spans = &self.spans[item.first_span..item.first_span + item.spans];
        spans.iter().map(|span| &self.bytes[span.start as usize..span.end as usize])
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.items.clear();
    }
}

/// What was changed and is not propagated, and what was changed and is not saved.
#[derive(Debug)]
pub(crate) struct Changes {
    effects: Effects,
    /// Who is told of effects: everybody, unless a script called `redis.set_repl`.
    targets: Targets,
    /// How many changes were made since the last save.
    unsaved: u64,
}

impl Default for Changes {
    fn default() -> Self {
        Changes { effects: Effects::default(), targets: Targets::ALL, unsaved: 0 }
    }
}

impl Changes {
    /// Counts a change of the data.
    pub(crate) fn count(&mut self) {
        self.unsaved += 1;
    }

    /// How many changes were made since the last save.
    pub(crate) fn unsaved(&self) -> u64 {
        self.unsaved
    }

    /// Takes back what was counted since there were so many: it was no change of the running
    /// command.
    pub(crate) fn count_back_to(&mut self, unsaved: u64) {
        self.unsaved = unsaved;
    }

    /// All changes are saved.
    pub(crate) fn saved(&mut self) {
        self.unsaved = 0;
    }

    /// Who is told of effects.
    pub(crate) fn targets(&self) -> Targets {
        self.targets
    }

    /// Tells these of effects until a script ends: `redis.set_repl`.
    pub(crate) fn set_targets(&mut self, targets: Targets) {
        self.targets = targets;
    }

    /// Notes an effect.
    pub(crate) fn note<'p>(
        &mut self,
        db: usize,
        targets: Targets,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) {
        self.effects.push(db, targets, parts);
    }

    /// How many effects wait.
    pub(crate) fn waiting(&self) -> usize {
        self.effects.items.len()
    }

    /// The effects from `first` on end with an instant that replicas are told as a span.
    pub(crate) fn make_relative(&mut self, first: usize) {
        self.effects.items[first..].iter_mut().for_each(|item| item.is_relative = true);
    }

    /// Forgets the effects: they go nowhere.
    pub(crate) fn forget(&mut self) {
        self.effects = Effects::default();
    }

    /// Takes the effects, to be propagated; [`Changes::give_back`] their memory.
    pub(crate) fn take(&mut self) -> Effects {
        std::mem::take(&mut self.effects)
    }

    /// Forgets effects that are propagated, and uses their memory again.
    pub(crate) fn give_back(&mut self, mut effects: Effects) {
        effects.clear();
        self.effects = effects;
    }
}
