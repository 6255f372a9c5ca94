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
    pub(crate) db: usize,
    pub(crate) targets: Targets,
    /// Its last part is an instant that replicas are told as a span from now.
    pub(crate) is_relative: bool,
    pub(crate) first_span: usize,
    pub(crate) spans: usize,
}

/// Commands that wait for the end of the current command, script or transaction, in one run of
/// memory.
#[derive(Clone, Default, Debug)]
pub(crate) struct Effects {
    pub(crate) bytes: Vec<u8>,
    pub(crate) spans: Vec<Span>,
    pub(crate) items: Vec<Item>,
}

impl Effects {
    pub(crate) fn push<'p>(
        &mut self,
        db: usize,
        targets: Targets,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) {
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

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.items.clear();
    }
}
