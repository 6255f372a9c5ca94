use crate::state::pause::PauseScope;
use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

impl Server {
    pub(crate) fn pause_clients(&mut self, scope: PauseScope, until_ms: i64) {
        let until_ms = self.pause.extend(scope, until_ms);
        self.timers.set(Timer::PauseEnd, Some(WallTime(until_ms.saturating_mul(1_000))));
    }

    pub(crate) fn end_pause(&mut self) {
        self.pause.in_force = None;
        self.timers.set(Timer::PauseEnd, None);
        self.resume_postponed();
    }

    pub(crate) fn resume_postponed(&mut self) {
        let mut waiting: Vec<_> = self.roster.connected().collect();
        waiting.retain(|key| self.client(*key).service.is_postponed());
        waiting.sort_by_key(|key| self.client(*key).active_at);
        for key in waiting {
            self.client_mut(key).service.resume();
            self.roster.queue(key);
        }
    }
}
