use super::Xid;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) next: Xid,
    pub(crate) running: BTreeSet<Xid>,
    pub(crate) own: Option<Xid>,
    pub(crate) command: u32,
}

impl Snapshot {
    pub(crate) fn sees(&self, xid: Xid, command: u32) -> bool {
        if self.own == Some(xid) {
            return command < self.command;
        }
        self.includes(xid)
    }

    pub(crate) fn includes(&self, xid: Xid) -> bool {
        xid < self.next && !self.running.contains(&xid)
    }

    pub(crate) fn xmin(&self) -> Xid {
        self.running.first().copied().unwrap_or(self.next)
    }
}
