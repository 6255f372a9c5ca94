//! CLIENT PAUSE: when it begins and ends.

use crate::state::server::{Pause, PauseScope, Server};
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

impl Server {
    /// Begins CLIENT PAUSE, or makes it longer and wider: the more severe of what was asked for is
    /// in force.
    pub(crate) fn pause_clients(&mut self, scope: PauseScope, until_ms: i64) {
        let asked = Pause { scope, until_ms };
        let pause = self.pause.map_or(asked, |old| Pause {
            scope: old.scope.max(scope),
            until_ms: old.until_ms.max(until_ms),
        });
        self.pause = Some(pause);
        self.timers.set(Timer::PauseEnd, Some(WallTime(pause.until_ms.saturating_mul(1_000))));
    }

    /// Ends CLIENT PAUSE: the commands that waited are served in the order in which their clients
    /// came.
    pub(crate) fn end_pause(&mut self) {
        self.pause = None;
        self.timers.set(Timer::PauseEnd, None);
        self.resume_postponed();
    }

    /// Has the commands looked at again that were held back.
    pub(crate) fn resume_postponed(&mut self) {
        let mut waiting: Vec<_> = self.connections.values().copied().collect();
        waiting.retain(|key| self.client(*key).postponed);
        waiting.sort_by_key(|key| self.client(*key).active_at);
        for key in waiting {
            let client = self.client_mut(key);
            client.postponed = false;
            client.queued = true;
            self.ready.push_back(key);
        }
    }
}
