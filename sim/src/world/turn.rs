use super::agenda::{HostIndex, Occurrence};
use super::host::Software;
use super::state::{Due, State};
use super::tasks::TaskFuture;
use fencepost_clients::env::TaskKey;

pub(crate) enum Step {
    Boot,
    Crash,
    Poll(TaskKey, TaskFuture),
    Done(Option<Due>),
}

impl State {
    pub(crate) fn begin_turn(&mut self, host: HostIndex) -> Step {
        while let Some(occurrence) = self.take_due(host) {
            match occurrence {
                Occurrence::Boot => return Step::Boot,
                Occurrence::Crash => return Step::Crash,
                other => self.apply(host, other),
            }
        }
        match self.host(host).software {
            Software::Program(_) => self.continue_turn(host),
            Software::Machine(_) => {
                self.serve(host);
                self.end_turn(host)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn continue_turn(&mut self, host: HostIndex) -> Step {
        self.tasks.queue_woken();
        if !self.host(host).is_paused()
            && let Some((key, future)) = self.tasks.take_ready(host)
        {
            return Step::Poll(key, future);
        }
        self.end_turn(host)
    }

    #[inline(always)]
    fn end_turn(&mut self, host: HostIndex) -> Step {
        match self.next() {
            Some((at, whose)) if at <= self.now && whose == host => self.begin_turn(host),
            next => Step::Done(next),
        }
    }
}
