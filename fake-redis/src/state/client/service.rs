use bitflags::bitflags;

bitflags! {
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    struct Marks: u8 {
        const QUEUED = 1;
        const POSTPONED = 1 << 1;
        const BLOCKED = 1 << 2;
        const CLOSING = 1 << 3;
        const ABORTING = 1 << 4;
    }
}

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Service(Marks);

impl Service {
    pub(crate) fn may_read(self) -> bool {
        !self.0.intersects(Marks::all().difference(Marks::ABORTING))
    }

    pub(crate) fn queue(&mut self) {
        self.0.insert(Marks::QUEUED);
    }

    pub(crate) fn take(&mut self) {
        self.0.remove(Marks::QUEUED);
    }

    pub(crate) fn postpone(&mut self) {
        self.0.insert(Marks::POSTPONED);
    }

    pub(crate) fn resume(&mut self) {
        self.0.remove(Marks::POSTPONED);
    }

    pub(crate) fn is_postponed(self) -> bool {
        self.0.contains(Marks::POSTPONED)
    }

    pub(crate) fn block(&mut self) {
        self.0.insert(Marks::BLOCKED);
    }

    pub(crate) fn unblock(&mut self) {
        self.0.remove(Marks::BLOCKED);
    }

    pub(crate) fn is_blocked(self) -> bool {
        self.0.contains(Marks::BLOCKED)
    }

    pub(crate) fn waits(self) -> bool {
        self.0.intersects(Marks::POSTPONED.union(Marks::BLOCKED))
    }

    pub(crate) fn close(&mut self) {
        self.0.insert(Marks::CLOSING);
    }

    pub(crate) fn is_closing(self) -> bool {
        self.0.contains(Marks::CLOSING)
    }

    pub(crate) fn abort(&mut self) {
        self.0.insert(Marks::ABORTING);
    }

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
