//! A host's turn at an instant, step by step: first all that happens to it, then all that it does
//! about it. Must never run other people's code: where that is next, the turn stops and says so.

use super::agenda::{HostIndex, Occurrence};
use super::host::Software;
use super::state::{Due, State};
use super::tasks::TaskFuture;
use fencepost_clients::env::TaskKey;

/// Where a turn stops.
pub(crate) enum Step {
    /// The host's software starts; then its turn begins again.
    Boot,
    /// The host's software dies; then its turn begins again.
    Crash,
    /// This task is to be polled.
    Poll(TaskKey, TaskFuture),
    /// The turn is over; what comes next in the world.
    Done(Option<Due>),
}

impl State {
    /// Lets everything happen to a host that the agenda has for it at this instant, and has its
    /// server handle what came of it.
    pub(crate) fn begin_turn(&mut self, host: HostIndex) -> Step {
        while let Some(occurrence) = self.take_due(host) {
            match occurrence {
                Occurrence::Boot => return Step::Boot,
                Occurrence::Crash => return Step::Crash,
                other => self.apply(host, other),
            }
        }
        match self.host(host).software {
            Software::Program(_) => self.go_on_turn(host),
            Software::Machine(_) => {
                self.serve(host);
                self.end_turn(host)
            }
        }
    }

    /// The next task that is ready, unless the host is paused; after the last one, the turn ends.
    #[inline(always)]
    pub(crate) fn go_on_turn(&mut self, host: HostIndex) -> Step {
        self.tasks.queue_woken();
        if !self.host(host).is_paused()
            && let Some((key, future)) = self.tasks.take_ready(host)
        {
            return Step::Poll(key, future);
        }
        self.end_turn(host)
    }

    /// The turn is over unless something has become due at this instant meanwhile.
    #[inline(always)]
    fn end_turn(&mut self, host: HostIndex) -> Step {
        match self.next() {
            Some((at, whose)) if at <= self.now && whose == host => self.begin_turn(host),
            next => Step::Done(next),
        }
    }
}
