//! Failure detection ([`Health`]), based on a member's silence and the end of its connection.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Health {
    heard: u64,
    cut_off: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceLimits {
    pub(crate) silence_us: u64,
    pub(crate) cut_off_us: u64,
}

impl Health {
    pub(crate) fn new(now: u64) -> Health {
        Health { heard: now, cut_off: None }
    }

    pub(crate) fn note_heard(&mut self, now: u64) {
        *self = Health::new(now);
    }

    pub(crate) fn cut_off(&mut self, now: u64) {
        self.cut_off.get_or_insert(now);
    }

    /// Restarts the member's timeouts after a pause of this server, as a real monitor does.
    pub(crate) fn reset(&mut self, now: u64) {
        self.heard = now;
        self.cut_off = self.cut_off.map(|_| now);
    }

    pub(crate) fn has_failed(&self, patience: SilenceLimits, now: u64) -> bool {
        self.due(patience) <= now
    }

    pub(crate) fn due(&self, patience: SilenceLimits) -> u64 {
        let silent = self.heard.saturating_add(patience.silence_us);
        let cut_off = self.cut_off.map(|at| at.saturating_add(patience.cut_off_us));
        cut_off.map_or(silent, |cut_off| cut_off.min(silent))
    }
}
