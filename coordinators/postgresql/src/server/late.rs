use super::Postgresql;
use crate::error::SqlError;
use crate::execute::Stop;
use crate::store::locks::{Link, Tag};
use crate::stream::Sender;
use fencepost_machine::ConnectionId;

impl Postgresql {
    pub(super) fn check_timers(&mut self) {
        let now = self.core.now.monotonic.0;
        let ids: Vec<ConnectionId> = self.clients.keys().copied().collect();
        for id in ids {
            let Some(client) = self.clients.get_mut(&id) else { continue };
            let is_due = |timer: Option<u64>| timer.is_some_and(|at| at <= now);
            let timers = client.timers;
            if matches!(client.blocked, Some(Stop::Sleep(until)) if until <= now) {
                self.resume(id);
                continue;
            }
            if is_due(timers.deadlock) && self.is_deadlocked(id) {
                continue;
            }
            let Some(client) = self.clients.get_mut(&id) else { continue };
            if is_due(timers.idle) {
                let error = client.idle_error();
                client.end(&mut self.core, &error);
            } else if client.sender.as_ref().and_then(Sender::ends_at).is_some_and(|at| at <= now) {
                client.leave(&mut self.core);
            } else if matches!(client.blocked, None | Some(Stop::Flush(_) | Stop::Standby(_))) {
            } else if is_due(timers.lock) {
                let message = "canceling statement due to lock timeout";
                client.interrupt(&mut self.core, &SqlError::new("55P03", message));
            } else if is_due(timers.statement) {
                let message = "canceling statement due to statement timeout";
                client.interrupt(&mut self.core, &SqlError::new("57014", message));
            }
        }
    }

    fn is_deadlocked(&mut self, id: ConnectionId) -> bool {
        let Some(client) = self.clients.get_mut(&id) else { return false };
        client.timers.deadlock = None;
        let Some(circle) = self.core.locks.deadlock_cycle(client.session.backend) else {
            return false;
        };
        let lines: Vec<String> = circle.iter().map(line).collect();
        let error = SqlError::new("40P01", "deadlock detected")
            .detail(lines.join("\n"))
            .hint("See server log for query details.");
        client.interrupt(&mut self.core, &error);
        true
    }
}

fn line(link: &Link) -> String {
    let what = match link.tag {
        Tag::Table(table) => format!("relation {} of database 5", table.0),
        Tag::Row(table, version) => {
            format!("tuple (0,{}) of relation {} of database 5", version.0, table.0)
        }
        Tag::Transaction(xid) => format!("transaction {}", xid.0),
        Tag::Advisory(key) => {
            format!("advisory lock [5,{},{},1]", (key >> 32) as u32, key as u32)
        }
        Tag::AdvisoryPair(first, second) => {
            format!("advisory lock [5,{},{},2]", first as u32, second as u32)
        }
    };
    let (waiter, mode, blocker) = (link.waiter.0, link.mode.name(), link.blocker.0);
    format!("Process {waiter} waits for {mode} on {what}; blocked by process {blocker}.")
}
