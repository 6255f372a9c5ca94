//! Ends the runs of a thread with `EngineError::OutOfTime` soon after a deadline in real time.

use super::EngineError;
use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

const EVERY: u32 = 256;

pub(crate) fn set(deadline: Option<Instant>) {
    DEADLINE.set(deadline);
}

pub(super) struct Watch {
    deadline: Option<Instant>,
    instants: u32,
}

impl Watch {
    pub(super) fn start() -> Watch {
        Watch { deadline: DEADLINE.get(), instants: 0 }
    }

    #[inline]
    pub(super) fn check(&mut self) -> Result<(), EngineError> {
        self.instants = (self.instants + 1) % EVERY;
        if self.instants == 0 && self.deadline.is_some_and(is_past) {
            return Err(EngineError::OutOfTime);
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "it bounds real time, and no history shows it")]
fn is_past(deadline: Instant) -> bool {
    Instant::now() >= deadline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_given_up(instants: u32) -> bool {
        let mut watch = Watch::start();
        (0..instants).any(|_| watch.check().is_err())
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a deadline is an instant of real time")]
    fn a_run_is_given_up_soon_after_the_deadline_of_its_thread() {
        assert!(!is_given_up(10 * EVERY), "nobody has set one");
        set(Some(Instant::now()));
        assert!(is_given_up(EVERY));
        set(None);
        assert!(!is_given_up(10 * EVERY));
    }
}
