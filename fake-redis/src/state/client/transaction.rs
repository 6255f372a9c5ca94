//! The state of a transaction (MULTI).

use crate::protocol::args::{Args, ArgumentVector};
use crate::state::command_info::Flags;

#[derive(Clone, Debug, Default)]
pub(crate) struct Transaction {
    is_open: bool,
    queue: Vec<ArgumentVector>,
    flags: Flags,
    is_spoilt: bool,
    is_overtaken: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Spoilt,
    Overtaken,
    Execute(Vec<ArgumentVector>),
}

impl Transaction {
    pub(crate) fn open(&mut self) -> bool {
        !std::mem::replace(&mut self.is_open, true)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn queue(&mut self, flags: Flags, args: Args<'_>) {
        if !self.is_spoilt && !self.is_overtaken {
            self.flags |= flags;
            self.queue.push(ArgumentVector::of(args.iter()));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn flags(&self) -> Flags {
        self.flags
    }

    pub(crate) fn spoil(&mut self) {
        self.is_spoilt |= self.is_open;
    }

    pub(crate) fn overtake(&mut self) {
        self.is_overtaken = true;
    }

    pub(crate) fn forget_overtaken(&mut self) {
        self.is_overtaken = false;
    }

    pub(crate) fn is_overtaken(&self) -> bool {
        self.is_overtaken
    }

    pub(crate) fn end(&mut self) -> Ending {
        match std::mem::take(self) {
            Transaction { is_spoilt: true, .. } => Ending::Spoilt,
            Transaction { is_overtaken: true, .. } => Ending::Overtaken,
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
        transaction.spoil();
        assert!(transaction.open());
        assert!(matches!(transaction.end(), Ending::Execute(queue) if queue.is_empty()));
    }

    #[test]
    fn what_fails_anyhow_keeps_nothing() {
        let spoilt = |transaction: &mut Transaction| {
            transaction.open();
            transaction.spoil();
        };
        assert_eq!((queued(spoilt).len(), queued(Transaction::overtake).len()), (0, 0));
        let mut kept = queued(|transaction| assert!(transaction.open()));
        assert_eq!((kept.len(), kept.flags()), (1, Flags::WRITE));
        assert!(!kept.open(), "it is open");
        assert!(matches!(kept.end(), Ending::Execute(queue) if queue.len() == 1));
        assert!(!kept.is_open() && kept.len() == 0, "it is over");
    }

    #[test]
    fn spoilt_comes_before_overtaken() {
        let mut transaction = Transaction::default();
        transaction.overtake();
        transaction.open();
        assert!(matches!(transaction.clone().end(), Ending::Overtaken));
        transaction.spoil();
        assert!(matches!(transaction.end(), Ending::Spoilt));
    }
}
