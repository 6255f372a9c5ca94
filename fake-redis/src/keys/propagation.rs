use crate::config::RedisVersion;
use crate::data::number;
use crate::state::effects::{Effects, Item, Targets};
use crate::state::server::{Anchor, Call, Effect, Server};

impl Server {
    fn is_propagating(&self) -> bool {
        !self.life.is_loading
            && (cfg!(test) || self.replication.wants_stream() || self.persistence.wants_stream())
    }

    pub(crate) fn add_effect(&mut self, db: usize, parts: &[&[u8]]) {
        self.add_effect_of(db, self.changes.targets, parts.iter().copied());
    }

    pub(crate) fn add_effect_of<'p>(
        &mut self,
        db: usize,
        targets: Targets,
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) {
        if self.is_propagating() && (targets.append_only || targets.replicas) {
            self.changes.note(db, targets, parts);
        }
    }

    #[inline]
    pub(crate) fn flush_effects(&mut self) {
        if self.changes.waiting() > 0 {
            self.flush_recorded_effects();
        }
    }

    fn flush_recorded_effects(&mut self) {
        let effects = self.changes.take();
        match effects.items() {
            [first, .., last] => {
                self.propagate(first.db, &[b"MULTI"]);
                self.propagate_each(&effects);
                self.propagate(last.db, &[b"EXEC"]);
            }
            _ => self.propagate_each(&effects),
        }
        self.changes.give_back(effects);
    }

    /// Propagates effects one by one, because expiry and eviction are not transactions.
    pub(crate) fn flush_effects_ungrouped(&mut self) {
        let effects = self.changes.take();
        self.propagate_each(&effects);
        self.changes.give_back(effects);
    }

    fn propagate_each(&mut self, effects: &Effects) {
        let mut parts: Vec<&[u8]> = Vec::with_capacity(8);
        for item in effects.items() {
            parts.clear();
            parts.extend(effects.parts(item));
            if item.is_relative {
                self.propagate_relative(*item, &parts);
            } else {
                self.propagate_to(item.targets, item.db, &parts);
            }
        }
    }

    pub(crate) fn propagate(&mut self, db: usize, args: &[&[u8]]) {
        self.propagate_to(Targets::ALL, db, args);
    }

    fn propagate_relative(&mut self, item: Item, args: &[&[u8]]) {
        let at = args.last().and_then(|at| number::parse_integer(at)).unwrap_or(0);
        let mut digits = itoa::Buffer::new();
        let span = digits.format(at.saturating_sub(self.now_ms()));
        let mut relative: Vec<&[u8]> = args.to_vec();
        match relative.as_mut_slice() {
            [_, _, _, word, time] => (*word, *time) = (b"PX", span.as_bytes()),
            [word, _, time] => (*word, *time) = (b"PEXPIRE", span.as_bytes()),
            _ => {}
        }
        if item.targets.append_only && self.persistence.wants_stream() {
            self.persistence.feed(item.db, args);
        }
        if item.targets.replicas {
            self.propagate_to(Targets::REPLICAS, item.db, &relative);
        }
    }

    fn propagate_to(&mut self, targets: Targets, db: usize, args: &[&[u8]]) {
        #[cfg(test)]
        self.statistics.propagated.push((db, args.iter().map(|part| part.to_vec()).collect()));
        if targets.append_only && self.persistence.wants_stream() {
            self.persistence.feed(db, args);
        }
        if targets.replicas && self.replication.wants_stream() {
            self.replication.feed(db, args);
        } else if targets.replicas
            && self.persistence.wants_stream()
            && self.config.version >= RedisVersion::V7_2
        {
            self.replication.count_without_replicas();
        }
    }
}

impl Call<'_> {
    pub(crate) fn replace_effect(&mut self, parts: &[&[u8]]) {
        self.effect = Effect::Replaced;
        self.server.add_effect(self.db, parts);
    }

    /// Propagates an absolute expiry time. Before 7.0, replicas get relative times unchanged.
    pub(crate) fn replace_timed_effect(&mut self, anchor: Anchor, before: &[&[u8]], at_ms: i64) {
        self.effect = Effect::Replaced;
        let server = &mut *self.server;
        if !server.is_propagating() {
            return;
        }
        let mut digits = itoa::Buffer::new();
        let at = digits.format(at_ms).as_bytes();
        let (first, targets) = (server.changes.waiting(), server.changes.targets);
        server.add_effect_of(self.db, targets, before.iter().copied().chain([at]));
        if anchor == Anchor::Now && server.config.version < RedisVersion::V7_0 {
            server.changes.make_relative(first);
        }
    }
}
