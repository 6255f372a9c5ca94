use crate::protocol::args::{Args, ArgumentVector};
use crate::state::command_info::Flags;

#[derive(Clone, Debug, Default)]
pub(crate) struct Transaction {
    is_open: bool,
    queue: Vec<ArgumentVector>,
    pub(crate) flags: Flags,
    /// Flags that at least one queued command lacks (`cmd_inv_flags`).
    pub(crate) missing_flags: Flags,
    is_invalid: bool,
    pub(crate) has_failed_watch: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Invalid,
    WatchFailed,
    Execute(Vec<ArgumentVector>),
}

impl Transaction {
    pub(crate) fn open(&mut self) -> bool {
        !std::mem::replace(&mut self.is_open, true)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Queues a command, unless the transaction is already bound to fail (`queueMultiCommand`).
    pub(crate) fn queue(&mut self, flags: Flags, args: Args<'_>) {
        if !self.is_invalid && !self.has_failed_watch {
            self.flags |= flags;
            self.missing_flags |= !flags;
            self.queue.push(ArgumentVector::of(args.iter()));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn mark_invalid(&mut self) {
        self.is_invalid |= self.is_open;
    }

    pub(crate) fn end(&mut self) -> Ending {
        match std::mem::take(self) {
            Transaction { is_invalid: true, .. } => Ending::Invalid,
            Transaction { has_failed_watch: true, .. } => Ending::WatchFailed,
            Transaction { queue, .. } => Ending::Execute(queue),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(prepare: impl FnOnce(&mut Transaction)) -> Transaction {
        let mut transaction = Transaction::default();
        prepare(&mut transaction);
        let command = ArgumentVector::of([&b"set"[..], b"a", b"1"]);
        transaction.queue(Flags::WRITE, command.as_args());
        transaction
    }

    #[test]
    fn a_command_outside_of_it_does_not_spoil_it() {
        let mut transaction = Transaction::default();
        transaction.mark_invalid();
        assert!(transaction.open());
        assert!(matches!(transaction.end(), Ending::Execute(queue) if queue.is_empty()));
    }

    #[test]
    fn what_fails_anyhow_keeps_nothing() {
        let spoilt = |transaction: &mut Transaction| {
            transaction.open();
            transaction.mark_invalid();
        };
        let overtaken = |transaction: &mut Transaction| transaction.has_failed_watch = true;
        assert_eq!((queued(spoilt).len(), queued(overtaken).len()), (0, 0));
        let mut kept = queued(|transaction| assert!(transaction.open()));
        assert_eq!((kept.len(), kept.flags), (1, Flags::WRITE));
        assert!(!kept.open(), "it is open");
        assert!(matches!(kept.end(), Ending::Execute(queue) if queue.len() == 1));
        assert!(!kept.is_open() && kept.len() == 0, "it is over");
    }

    #[test]
    fn spoilt_comes_before_overtaken() {
        let mut transaction = Transaction { has_failed_watch: true, ..Transaction::default() };
        transaction.open();
        assert!(matches!(transaction.clone().end(), Ending::WatchFailed));
        transaction.mark_invalid();
        assert!(matches!(transaction.end(), Ending::Invalid));
    }
}
