//! The effects of a command, recorded as commands for the append-only file and the replicas.

use crate::protocol::args::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Targets {
    pub(crate) append_only: bool,
    pub(crate) replicas: bool,
}

impl Targets {
    pub(crate) const ALL: Targets = Targets { append_only: true, replicas: true };
    pub(crate) const REPLICAS: Targets = Targets { append_only: false, replicas: true };
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) db: usize,
    pub(crate) targets: Targets,
    pub(crate) is_relative: bool,
    first_span: usize,
    spans: usize,
}

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

    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

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

#[derive(Debug)]
pub(crate) struct Changes {
    effects: Effects,
    pub(crate) targets: Targets,
    pub(crate) unsaved: u64,
}

impl Default for Changes {
    fn default() -> Self {
        Changes { effects: Effects::default(), targets: Targets::ALL, unsaved: 0 }
    }
}

impl Changes {
    pub(crate) fn note<'p>(
        &mut self,
        db: usize,
        targets: Targets,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) {
        self.effects.push(db, targets, parts);
    }

    pub(crate) fn waiting(&self) -> usize {
        self.effects.items.len()
    }

    pub(crate) fn make_relative(&mut self, first: usize) {
        self.effects.items[first..].iter_mut().for_each(|item| item.is_relative = true);
    }

    pub(crate) fn forget(&mut self) {
        self.effects = Effects::default();
    }

    pub(crate) fn take(&mut self) -> Effects {
        std::mem::take(&mut self.effects)
    }

    pub(crate) fn give_back(&mut self, mut effects: Effects) {
        effects.clear();
        self.effects = effects;
    }
}
