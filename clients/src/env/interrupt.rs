//! An application that interrupts a call of its lock: what the call waits for fails, once, and the
//! lock's own code hears of it, cleans up and returns.
//!
//! [`Env::interrupting`] begins it. What the call waits for next on a connection fails with
//! `Interrupted`; what it waits for on a clock is over at once. From then on, until the call ends,
//! the lock tries no further ([`Env::is_interrupted`], [`Env::left`]), but what it does to clean up
//! waits as usual. Tasks that the lock has beside the call hear nothing of it.

use super::{Env, Monotonic};
use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// How far the interrupt of a thread has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Stage {
    /// There is none.
    #[default]
    None,
    /// The call has not heard it, and is not polled now.
    Pending,
    /// The call has not heard it, and is being polled.
    Polled,
    /// The call has heard it.
    Heard,
}

/// The interrupt of one thread.
#[derive(Debug, Default)]
pub(super) struct Interrupt(Cell<Stage>);

impl Interrupt {
    /// Whether somebody who would have to wait now hears it instead. True once.
    pub(super) fn is_heard_here(&self) -> bool {
        let is_heard = self.0.get() == Stage::Polled;
        if is_heard {
            self.0.set(Stage::Heard);
        }
        is_heard
    }

    /// What comes of a poll: instead of having to wait, one who is interrupted fails.
    pub(super) fn fails<T>(&self, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match poll.is_pending() && self.is_heard_here() {
            true => Poll::Ready(Err(io::ErrorKind::Interrupted.into())),
            false => poll,
        }
    }

    fn moves(&self, from: Stage, to: Stage) {
        if self.0.get() == from {
            self.0.set(to);
        }
    }
}

impl Env {
    /// Interrupts a call of the lock that is under way, and runs it to its end.
    pub async fn interrupting<T>(&self, mut call: Pin<&mut impl Future<Output = T>>) -> T {
        self.interrupt.0.set(Stage::Pending);
        let _ends = Ends(&self.interrupt);
        std::future::poll_fn(|context| {
            self.interrupt.moves(Stage::Pending, Stage::Polled);
            let poll = call.as_mut().poll(context);
            self.interrupt.moves(Stage::Polled, Stage::Pending);
            poll
        })
        .await
    }

    /// Whether the call that this thread is in was interrupted and has heard it: it tries no
    /// further.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.0.get() == Stage::Heard
    }

    /// What is left until the deadline of a call: nothing once it was interrupted.
    pub fn left(&self, deadline: Monotonic) -> Duration {
        match self.is_interrupted() {
            true => Duration::ZERO,
            false => deadline.since(self.monotonic_clock()),
        }
    }
}

/// The interrupt of a call that ends, or is dropped.
struct Ends<'i>(&'i Interrupt);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.0.set(Stage::None);
    }
}
