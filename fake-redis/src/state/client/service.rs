//! Whether the next command of a client may be read and served.

use bitflags::bitflags;

bitflags! {
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    struct Marks: u8 {
        /// It waits in the queue of clients with a complete command.
        const QUEUED = 1;
        /// Its next command waits for CLIENT PAUSE to end.
        const POSTPONED = 1 << 1;
        /// It waits in a command that has not answered.
        const BLOCKED = 1 << 2;
        /// It is closed once its reply is sent.
        const CLOSING = 1 << 3;
        /// It breaks off when the command that is executed ends.
        const ABORTING = 1 << 4;
    }
}

/// What keeps a client from being served. Nothing more is read of one that is closing, or whose
/// last command waits or has not been answered.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Service(Marks);

impl Service {
    /// Whether what arrives of it is looked at now.
    pub(crate) fn may_read(self) -> bool {
        !self.0.intersects(Marks::all().difference(Marks::ABORTING))
    }

    /// It has a complete command and waits for its turn.
    pub(crate) fn queue(&mut self) {
        self.0.insert(Marks::QUEUED);
    }

    /// Its turn has come.
    pub(crate) fn take(&mut self) {
        self.0.remove(Marks::QUEUED);
    }

    /// Its command waits for the end of CLIENT PAUSE.
    pub(crate) fn postpone(&mut self) {
        self.0.insert(Marks::POSTPONED);
    }

    /// That has come.
    pub(crate) fn resume(&mut self) {
        self.0.remove(Marks::POSTPONED);
    }

    /// Whether its command waits for the end of CLIENT PAUSE.
    pub(crate) fn is_postponed(self) -> bool {
        self.0.contains(Marks::POSTPONED)
    }

    /// It waits in a command that has not answered.
    pub(crate) fn block(&mut self) {
        self.0.insert(Marks::BLOCKED);
    }

    /// That command has been answered.
    pub(crate) fn unblock(&mut self) {
        self.0.remove(Marks::BLOCKED);
    }

    /// Whether it waits in a command that has not answered.
    pub(crate) fn is_blocked(self) -> bool {
        self.0.contains(Marks::BLOCKED)
    }

    /// Whether a command of it waits, before it or in it.
    pub(crate) fn waits(self) -> bool {
        self.0.intersects(Marks::POSTPONED.union(Marks::BLOCKED))
    }

    /// It is closed once its reply is sent.
    pub(crate) fn close(&mut self) {
        self.0.insert(Marks::CLOSING);
    }

    /// Whether it is about to be closed.
    pub(crate) fn is_closing(self) -> bool {
        self.0.contains(Marks::CLOSING)
    }

    /// It breaks off when the command that is executed ends.
    pub(crate) fn abort(&mut self) {
        self.0.insert(Marks::ABORTING);
    }

    /// Whether it breaks off.
    pub(crate) fn is_aborting(self) -> bool {
        self.0.contains(Marks::ABORTING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_while_anything_waits() {
        type Change = fn(&mut Service);
        let undone: [(Change, Change); 3] = [
            (Service::queue, Service::take),
            (Service::postpone, Service::resume),
            (Service::block, Service::unblock),
        ];
        for (begin, end) in undone {
            let mut service = Service::default();
            begin(&mut service);
            assert!(!service.may_read(), "{service:?}");
            end(&mut service);
            assert!(service.may_read(), "{service:?}");
        }
    }

    #[test]
    fn one_reason_to_wait_does_not_end_another() {
        let mut service = Service::default();
        service.postpone();
        service.block();
        service.unblock();
        assert!(service.is_postponed() && service.waits() && !service.may_read());
        service.resume();
        assert!(service.may_read() && !service.waits());
    }

    #[test]
    fn who_is_closing_stays_so() {
        let mut service = Service::default();
        service.close();
        service.queue();
        service.take();
        assert!(service.is_closing() && !service.is_aborting() && !service.may_read());
    }
}
