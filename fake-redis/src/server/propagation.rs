//! Effects: what a command changed, as commands for replicas and the append-only file.

use super::Server;
use crate::args::Span;
use crate::config::RedisVersion;
use crate::number::{self, Decimal};

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
struct Item {
    db: usize,
    targets: Targets,
    /// Its last part is an instant that replicas are told as a span from now.
    is_relative: bool,
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

    fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.items.clear();
    }
}

impl Server {
    /// Whether anybody wants to know of effects.
    fn is_propagating(&self) -> bool {
        !self.loading
            && (cfg!(test) || self.replication.wants_stream() || self.persistence.wants_stream())
    }

    /// Notes a command that has the effect of what was just done in a database; it is propagated
    /// when the current command ends.
    pub(crate) fn add_effect(&mut self, db: usize, parts: &[&[u8]]) {
        self.add_effect_of(db, self.effect_targets, parts.iter().copied());
    }

    /// As [`Server::add_effect`] of a command whose last part is an instant; replicas are told the
    /// span from now on instead, which they add to their own clock (before 7.0).
    pub(crate) fn add_relative_effect(&mut self, db: usize, parts: &[&[u8]]) {
        let before = self.effects.items.len();
        self.add_effect(db, parts);
        self.effects.items[before..].iter_mut().for_each(|item| item.is_relative = true);
    }

    /// As [`Server::add_effect`], from any list of arguments.
    pub(crate) fn add_effect_of<'p>(
        &mut self,
        db: usize,
        targets: Targets,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) {
        if self.is_propagating() && (targets.append_only || targets.replicas) {
            self.effects.push(db, targets, parts);
        }
    }

    /// Propagates what was noted, in a MULTI and EXEC of its own if it is more than one command, as
    /// `propagatePendingCommands` does.
    pub(crate) fn flush_effects(&mut self) {
        if self.effects.items.is_empty() {
            return;
        }
        let mut effects = std::mem::take(&mut self.effects);
        let is_group = effects.items.len() > 1;
        let (first, last) = (effects.items[0], effects.items[effects.items.len() - 1]);
        if is_group {
            self.propagate(first.db, &[b"MULTI"]);
        }
        self.propagate_each(&effects);
        if is_group {
            self.propagate(last.db, &[b"EXEC"]);
        }
        effects.clear();
        self.effects = effects;
    }

    /// Propagates what was noted, each command on its own: what happens by itself is not a
    /// transaction.
    pub(crate) fn flush_effects_ungrouped(&mut self) {
        let mut effects = std::mem::take(&mut self.effects);
        self.propagate_each(&effects);
        effects.clear();
        self.effects = effects;
    }

    fn propagate_each(&mut self, effects: &Effects) {
        let mut parts: Vec<&[u8]> = Vec::with_capacity(8);
        for item in &effects.items {
            parts.clear();
            let spans = &effects.spans[item.first_span..item.first_span + item.spans];
            parts.extend(
                spans.iter().map(|span| &effects.bytes[span.start as usize..span.end as usize]),
            );
            if item.is_relative {
                self.propagate_relative(*item, &parts);
            } else {
                self.propagate_to(item.targets, item.db, &parts);
            }
        }
    }

    /// The one place through which every change of the data leaves: `args` is a complete command
    /// that repeats it in database `db`, with every time made absolute. Consumers put the SELECT in
    /// front themselves when the database changes.
    pub(crate) fn propagate(&mut self, db: usize, args: &[&[u8]]) {
        self.propagate_to(Targets::ALL, db, args);
    }

    /// Tells the append-only file the instant, and replicas the span.
    fn propagate_relative(&mut self, item: Item, args: &[&[u8]]) {
        let at = args.last().and_then(|at| number::parse_integer(at)).unwrap_or(0);
        let span = Decimal::of(at.saturating_sub(self.now_ms()));
        let mut relative: Vec<&[u8]> = args.to_vec();
        match relative.as_mut_slice() {
            [_, _, _, word, time] => (*word, *time) = (b"PX", span.as_bytes()),
            [word, _, time] => (*word, *time) = (b"PEXPIRE", span.as_bytes()),
            _ => {}
        }
        if item.targets.append_only && self.persistence.wants_stream() {
            self.feed_append_only(item.db, args);
        }
        if item.targets.replicas {
            self.propagate_to(Targets::REPLICAS, item.db, &relative);
        }
    }

    fn propagate_to(&mut self, targets: Targets, db: usize, args: &[&[u8]]) {
        #[cfg(test)]
        self.statistics.propagated.push((db, args.iter().map(|part| part.to_vec()).collect()));
        if targets.append_only && self.persistence.wants_stream() {
            self.feed_append_only(db, args);
        }
        if targets.replicas && self.replication.wants_stream() {
            self.feed_replicas(db, args);
        } else if targets.replicas
            && self.persistence.wants_stream()
            && self.config.version >= RedisVersion::V7_2
        {
            self.replication.count_unfollowed();
        }
    }
}
